"""Decimals and percentages in prose come from records, from a transcript, or are listed here.

On the pages, the role `record` reads a figure from `benchmarks/results`. The README cannot use a
role, so its figures are compared with the records here.
"""

import re
import sys
from pathlib import Path

import pytest

from tradeoff._extras import HOLES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS / "_ext"))

from record_value import value  # noqa: E402

NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)+%?|(?<![\w.])\d+%")
README = (ROOT / "README.md").read_text(encoding="utf-8")
TRANSCRIPT = README.partition("<!-- transcript -->")[2].partition("<!-- end of transcript -->")[0]

TOTAL = "metrics > total, {}, reduced grid > {}"
FIGURES = {
    "precision and recall is 0.085": "real > CIFAR-10, N = 5,000, mean > ours: error > .3f",
    "true classes reaches 0.063": "real > CIFAR-10, N = 5,000, mean > oracle: error > .3f",
    "al. 0.096": "real > CIFAR-10, N = 5,000, mean > simon-2019: error > .3f",
    "(Sajjadi et al.) 0.125": "real > CIFAR-10, N = 5,000, mean > sajjadi-2018: error > .3f",
    "tradeoff reports 0.873": "real > CIFAR-10, N = 5,000, q = 10 > ours: recall, precision[1]",
    "the true precision is 0.50": "real > CIFAR-10, N = 5,000, q = 10 > true recall, precision[1]",
    "difference was reported in 55": "verdict > all cases, false alarms > false alarms",
    "reported in 55 of 2030": "verdict > all cases, false alarms > runs",
    "loss was named in 1": "verdict > all cases, wrong kind > wrong kind",
    "named in 1 of 805": "verdict > all cases, wrong kind > runs",
    "above the true loss in 3": "verdict > all cases, limit above truth > limit above truth",
    "in all of 40": "verdict > images, N = 500, 20% foreign > runs",
    "of ten in 8 of 10": "verdict > images, N = 500, 2 of 10 classes dropped > runs",
    "clipped density passes 18": TOTAL.format("clipped density and coverage", "fidelity"),
    "clipped coverage 15": TOTAL.format("clipped density and coverage", "diversity"),
    ", density 13": TOTAL.format("density and coverage", "fidelity"),
    "and coverage 13": TOTAL.format("density and coverage", "diversity"),
    "improved precision 10": TOTAL.format("improved precision and recall", "fidelity"),
    "improved recall 6": TOTAL.format("improved precision and recall", "diversity"),
    "they take 0.9": "neighbors > 2,048 columns > ratio > .1f",
    "and 1.3": "neighbors > 384 columns > ratio > .1f",
    "takes 0.3": "memory > 1,000,000 + 20,000, 64 columns, stored reference > gigabytes > .1f",
    "samples take 2.2": "profile > scores, 10⁶ + 10⁶ > ratio > .1f",
    "log-ratios 6.1": "profile > held-out errors, 10⁶ + 10⁶ > ratio > .1f",
}
"""What the README says before a figure, the figure, and where it comes from."""

EVERYWHERE = {
    "95%": "the default level of intervals",
    "5%": "what is left of it",
    "0.4": "λ of the headline recall",
    "0.8": "a limit or a recall that a reader might ask for",
    "3.11": "a version of Python",
    "10%": "sizes of losses that the verdict and the filter name",
}
"""Constants of the library, with what they are."""

HERE = {
    "README.md": {
        "30%": "how the samples of the transcript were made",
        "20%": "a fault that was planted",
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
    },
    "knobs.md": {"1.0": "a temperature of the tutorial"},
    "papers.md": {
        "60%": "how the samples were made",
        "40%": "how the samples were made",
        "0.6": "how the samples were made",
        "0.5": "half of a symmetric distribution",
    },
    "stopping.md": {"0.6": "an example of a bar"},
    "choosing.md": {
        "0.9": "an example of a share",
        "0.02": "two standard errors of that share",
        "0.01": "two standard errors of that share",
        "20%": "a fault that was planted",
        "50%": "a fault that was planted",
    },
    "curves.md": {
        "20%": "the example above it",
        "0.383": "a closed form",
        "0.02": "the standard error at that size",
    },
    "estimates.md": {"31%": "an example"},
    "intervals.md": {
        "0.2": "how the samples were made",
        "0.5": "how the samples were made",
    },
    "meaning.md": {
        "0.85": "the example above it",
        "0.6": "the example above it",
        "0.1": "the example above it",
        "0.25": "the example above it",
    },
    "neighbors.md": {"0.1": "asserted in tests/neighbors", "0.38": "a closed form"},
    "sampling.md": {
        "92.5": "figures of the paper",
        "89.9": "figures of the paper",
        "90.0": "figures of the paper",
        "55.8": "figures of the paper",
        "2.5": "a budget",
    },
    "sanity.md": {
        "0.02": "20 over 1,000",
        "0.05": "a rule of the checks",
        "0.26": "values in the record of the checks, which are lists",
        "0.28": "values in the record of the checks, which are lists",
        "0.21": "values in the record of the checks, which are lists",
        "0.2": "a closed form",
        "0.25": "a rule of the checks",
        "0.1": "a rule of the checks",
        "0.95": "a rule of the checks",
    },
    "theory.md": {"0.97": "a remark with its size, about a method that is not recommended"},
    "training.md": {
        "3.5": "a constant of published code",
        "99.5%": "the table below it",
        "0.10": "a bar, also in the benchmark",
        "0.01": "a bar, also in the benchmark",
        "0.1": "a slope",
        "0.6": "a temperature",
        "0.08": "a trial of one seed, as the page says",
        "0.11": "a trial of one seed, as the page says",
        "0.17": "a trial of one seed, as the page says",
        "0.35": "a trial of one seed, as the page says",
        "0.68": "a trial of one seed, as the page says",
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
    """The text without code, formulas, roles and links."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"\$\$.*?\$\$|\$[^$]*\$", "", text, flags=re.DOTALL)
    text = re.sub(r"`[^`]*`", "", text)
    return re.sub(r"\]\([^)]*\)", "]", text)


def pages():
    found = [*DOCS.glob("*.md"), *(DOCS / "howto").glob("*.md")]
    return sorted(page for page in found if page.name not in FREE)


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_figures_of_a_page_have_a_source(page):
    allowed = EVERYWHERE.keys() | HERE.get(page.name, {}).keys()
    if page.name in ("quickstart.md", "index.md", "intervals.md"):
        allowed |= set(NUMBER.findall(TRANSCRIPT))
    found = set(NUMBER.findall(prose(page.read_text(encoding="utf-8")))) - allowed
    assert not found, "use the role `record`, or say in HERE where these come from"


@pytest.mark.parametrize(("said", "source"), FIGURES.items())
def test_a_figure_of_the_readme_is_that_of_its_record(said, source):
    assert said in " ".join(README.split())
    assert said.split()[-1] == value(source)


def test_all_figures_of_the_readme_are_compared():
    allowed = EVERYWHERE.keys() | HERE["README.md"].keys()
    allowed |= {said.split()[-1] for said in FIGURES}
    rest = README.replace(TRANSCRIPT, "")
    assert set(NUMBER.findall(prose(rest))) <= allowed


def test_lists_have_no_entry_that_nothing_uses():
    for name, figures in HERE.items():
        place = ROOT / name if name == "README.md" else DOCS / name
        unused = figures.keys() - set(NUMBER.findall(prose(place.read_text(encoding="utf-8"))))
        assert not unused, f"{name}: {unused}"


def test_one_entry_of_a_list_or_of_a_text():
    assert (
        value("memory > time against real samples, 250,000 to 1,000,000 > times[0] > .1f") == "5.8"
    )
    assert value("real > texts, q = 1 > true recall, precision[0]") == "0.25"


def test_a_figure_that_is_not_in_a_record_is_an_error():
    with pytest.raises(KeyError, match="no single figure 'hours' of 'default'"):
        value("speed > default > hours > .0f")
