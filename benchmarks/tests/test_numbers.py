"""Decimals and percentages in prose come from records, from a transcript, or are listed here.

On the pages, the role `record` reads a figure from `benchmarks/results`. The README cannot use a
role, so its figures are compared with the records here, and so are the marks of stale figures.
"""

import json
import re
import sys
from pathlib import Path

import pytest

from benchmarks import RELEASE
from benchmarks.bench_sanity import passed
from benchmarks.readme import FIGURES, mark_figures
from benchmarks.stale import MARK
from tradeoff._extras import HOLES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS / "_ext"))

import record_value  # noqa: E402
from record_value import value  # noqa: E402

NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)+%?|(?<![\w.])\d+%")
MARKED_README = (ROOT / "README.md").read_text(encoding="utf-8")
README = MARKED_README.replace(MARK, "")
QUICKSTART = (DOCS / "quickstart.md").read_text(encoding="utf-8")
TRANSCRIPT = QUICKSTART.partition("## Evaluate a model")[2].partition("## Read the answer")[0]

EVERYWHERE = {
    "95%": "the default level of intervals",
    "5%": "what is left of it",
    "1.5": "the margin around the balanced slope",
    "0.4": "λ of the recall of the earlier headline, at which some records were measured",
    "0.8": "a limit or a recall that a reader might ask for",
    "3.11": "a version of Python",
    "10%": "sizes of losses that the verdict and the filter name",
}
"""Constants of the library, with what they are."""

HERE = {
    "encoders.md": {"0.7": "a temperature"},
    "scale.md": {
        "1.1": "111 over 100",
        "3.1": "a billion times 3,072 bytes",
        "0.023": "an assumed price",
        "0.04": "an assumed price",
        "0.40": "an assumed price",
        "0.008": "half of the width that the formula below gives",
    },
    "README.md": {
        "30%": "how the samples of the transcript were made",
        "0.5": "a version of another package",
        "2.0": "the license",
    },
    "quickstart.md": {"30%": "how the samples were made", "0.70": "how the samples were made"},
    "benchmarks.md": {
        "0.1": "a difference that was set",
        "7%": "a bar, also in the benchmark",
        "1.5": "a bar, and the width of a blur, both in the benchmarks",
        "1%": "the level of a test, also in the benchmark",
        "0.146": "computed from the distribution of the benchmark",
        "0.01": "a bar, also in the benchmark",
        "0.7": "a bar, also in the benchmark",
        "0.55": "a bar, also in the benchmark",
    },
    "memorization.md": {
        "0.32.0": "a version of another package",
        "0.01": "the level of a test, also in the benchmark",
        "1%": "a share of copies that was planted",
    },
    "sweep.md": {
        "1.0": "a temperature of the tutorial",
        "20%": "a width that was set",
    },
    "papers.md": {
        "1.97": "published",
        "1.58": "published",
        "1.57": "published",
        "6.2": "the number of a published table",
        "60%": "how the samples were made",
        "40%": "how the samples were made",
        "0.6": "how the samples were made",
        "0.5": "half of a symmetric distribution",
    },
    "decide.md": {"0.6": "an example of a bar"},
    "choosing.md": {
        "20%": "a fault that was planted",
        "50%": "a fault that was planted",
    },
    "estimates.md": {
        "31%": "an example",
        "0.2": "how the samples were made",
        "0.5": "how the samples were made",
    },
    "metrics.md": {"0.1": "asserted in tests/neighbors", "0.38": "a closed form"},
    "report.md": {"0.71": "an example of a value", "0.74": "an example of a limit"},
    "prompts.md": {"30%": "how the samples were made", "0.7": "a temperature that was set"},
    "meaning.md": {
        "0.75": "the example above it",
        "0.15": "the example above it",
        "0.1": "the example above it",
    },
    "filter.md": {
        "0.9": "a scale of latents that was set",
        "92.5": "figures of the paper",
        "89.9": "figures of the paper",
        "90.0": "figures of the paper",
        "55.8": "figures of the paper",
        "2.5": "a budget",
    },
    "sanity.md": {
        "0.05": "a rule of the checks",
        "0.26": "values in the record of the checks, which are lists",
        "0.28": "values in the record of the checks, which are lists",
        "0.21": "values in the record of the checks, which are lists",
        "0.2": "a closed form",
        "0.25": "a rule of the checks",
        "0.1": "a rule of the checks",
        "0.95": "a rule of the checks",
    },
    "theory.md": {
        "0.97": "a remark with its size, about a method that is not recommended",
        "0.383": "a closed form",
    },
    "train.md": {
        "3.5": "a constant of published code",
        "99.5%": "the table below it",
        "0.10": "a bar, also in the benchmark",
        "0.1": "a slope",
    },
    "security.md": {
        "0.1.0": "a version",
        "2.0": "a license",
        **{hole.fixed: "a version, which test_bounds.py compares" for hole in HOLES.values()},
    },
}
"""Figures of single pages that need no record, each with a reason."""

FREE = {
    "errata.md": "constants of formulas, each of which a test computes",
    "status.md": "says which figures have no record yet",
    "changelog.md": "figures of past versions",
    "contributing.md": "no figures of results",
}
"""Pages that are not looked at."""


def prose(text):
    """The text without code, formulas, roles, links and numbered parts of papers."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"\$\$.*?\$\$|\$[^$]*\$", "", text, flags=re.DOTALL)
    text = re.sub(r"`[^`]*`", "", text)
    text = re.sub(r"\b(?:figure|table|section)s? [\d.]+(?:(?:,| and| to) [\d.]+)*", "", text)
    return re.sub(r"\]\([^)]*\)", "]", text)


def pages():
    return sorted(page for page in DOCS.glob("*.md") if page.name not in FREE)


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_figures_of_a_page_have_a_source(page):
    allowed = EVERYWHERE.keys() | HERE.get(page.name, {}).keys()
    if page.name in ("quickstart.md", "index.md", "report.md"):
        allowed |= set(NUMBER.findall(TRANSCRIPT))
    found = set(NUMBER.findall(prose(page.read_text(encoding="utf-8")))) - allowed
    assert not found, "use the role `record`, or say in HERE where these come from"


@pytest.mark.parametrize(("said", "source"), FIGURES.items())
def test_a_figure_of_the_readme_is_that_of_its_record(said, source):
    assert said in " ".join(README.split())
    assert said.split()[-1] == value(source)


@pytest.mark.parametrize("name", ["precision", "recall"])
def test_the_number_of_passed_sanity_checks_is_that_of_the_record(name):
    rows = json.loads((ROOT / "benchmarks/results/sanity.json").read_text())["rows"]
    text = " ".join((DOCS / "status.md").read_text(encoding="utf-8").split())
    said = {
        "precision": r"passes (\d+) of 30 rows for precision",
        "recall": r"and (\d+) of 30 for recall",
    }
    (found,) = re.findall(said[name], text)
    assert int(found) == passed(rows, name)


def test_figures_of_the_readme_come_from_release_benchmarks():
    assert {source.partition(" > ")[0] for source in FIGURES.values()} <= set(RELEASE)


def test_stale_figures_of_the_readme_are_marked_and_no_others():
    """`python -m benchmarks.stale --readme` repairs what this finds."""
    assert mark_figures(MARKED_README) == MARKED_README


def test_all_figures_of_the_readme_are_compared():
    allowed = EVERYWHERE.keys() | HERE["README.md"].keys()
    allowed |= {said.split()[-1] for said in FIGURES}
    assert set(NUMBER.findall(prose(README))) <= allowed


def test_lists_have_no_entry_that_nothing_uses():
    for name, figures in HERE.items():
        place = (ROOT if name == "README.md" else DOCS) / name
        unused = figures.keys() - set(NUMBER.findall(prose(place.read_text(encoding="utf-8"))))
        assert not unused, f"{name}: {unused}"


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Results with one record, whose figures are a list and a text."""
    row = {"case": "both", "times": [5.84, 2.0], "recall, precision": "0.25, 1.00"}
    (tmp_path / "made.json").write_text(json.dumps({"name": "made", "rows": [row]}))
    monkeypatch.setattr(record_value, "RESULTS", tmp_path)


def test_one_entry_of_a_list_or_of_a_text(made):
    assert value("made > both > times[0] > .1f") == "5.8"
    assert value("made > both > recall, precision[0]") == "0.25"


def test_a_figure_that_is_not_in_a_record_is_an_error(made):
    with pytest.raises(KeyError, match="no single figure 'hours' of 'both'"):
        value("made > both > hours > .0f")
