"""Stale rows are listed, and their figures are marked in the README."""

import json

import pytest

from benchmarks import readme, stale
from benchmarks.readme import mark_figures

NOW, BEFORE = "0123456789ab", "ba9876543210"


def record(name, *codes):
    rows = [
        {"case": f"case {i}"} | ({"code": code} if code else {}) for i, code in enumerate(codes)
    ]
    return {"name": name, "date": "2026-01-02", "rows": rows}


@pytest.fixture(autouse=True)
def results(tmp_path, monkeypatch):
    """Four records: measured now, stale in one row, stale, and older than hashes."""
    monkeypatch.setattr(stale, "code_now", lambda name: NOW)
    monkeypatch.setattr(stale, "RESULTS", tmp_path)
    made = [
        record("fresh", NOW, NOW),
        record("verdict", NOW, BEFORE),
        record("speed", BEFORE, BEFORE),
        record("old", None),
    ]
    for one in made:
        (tmp_path / f"{one['name']}.json").write_text(json.dumps(one))
    return made


def test_rows_of_other_code_are_stale_and_those_without_hash_are_not(results):
    found = [stale.stale_cases(one) for one in results]
    assert found == [set(), {"case 1"}, {"case 0", "case 1"}, set()]


def test_the_list_names_stale_rows_and_records_without_hash(results):
    assert stale.listing(results).splitlines() == [
        "stale: measured with an earlier version of the code",
        "  verdict (release benchmark, 2026-01-02): 1 of 2 rows",
        "    case 1",
        "  speed (dated note, 2026-01-02): 2 of 2 rows",
        "no hash: measured before hashes were kept",
        "  old (dated note, 2026-01-02)",
    ]


def test_the_list_names_benchmarks_without_a_record(results):
    assert stale.listing(results[:1], ["new", "fresh"]).splitlines()[1:] == [
        "no record: not measured at full size",
        "  new",
    ]


def test_the_list_says_if_nothing_is_stale(results):
    assert stale.listing(results[:1]) == "No record that has a hash is stale."


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("verdict > case 0 > ratio > .1f", False),
        ("verdict > case 1 > ratio > .1f", True),
        ("verdict", True),
        ("fresh", False),
        ("old > case 0 > ratio", False),
    ],
)
def test_a_figure_is_stale_if_its_row_is(source, expected):
    assert stale.is_stale(source) == expected


@pytest.fixture
def short(monkeypatch):
    """Two figures of a README, one after the other, and a third one."""
    figures = {
        "reported in 55": "verdict > case 0 > alarms",
        "reported in 55 of 2030": "verdict > case 1 > runs",
        "takes 0.3": "fresh > case 0 > gigabytes",
    }
    monkeypatch.setattr(readme, "FIGURES", figures)
    return "It was reported in\n55 of 2030 runs, and takes 0.3 GB.\n"


def test_stale_figures_are_marked(short):
    marked = mark_figures(short)
    assert marked == short.replace("2030", "2030†")
    assert mark_figures(marked) == marked
    everything = mark_figures(marked, lambda source: True)
    assert "in\n55† of 2030† runs, and takes 0.3† GB" in everything
    assert mark_figures(everything) == marked


def test_marks_are_removed_from_figures_that_were_measured_again(short):
    assert mark_figures(short.replace("0.3", "0.3†"), lambda source: False) == short


def test_a_figure_that_the_readme_does_not_say_is_an_error(short):
    with pytest.raises(ValueError, match=r"must say 'takes 0\.3' once, and says it 0 times"):
        mark_figures(short.replace("0.3", "0.35"))
