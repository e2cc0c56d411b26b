"""Benchmarks resume after an interruption, and figures of release benchmarks meet their bars."""

import importlib
import json
from datetime import date
from pathlib import Path

import pytest
from scipy.stats import binom

from benchmarks import RELEASE, bench_profile, bench_sanity, harness
from benchmarks.stale import stale_cases

TORCH = {"memory", "neighbors"}
"""Release benchmarks that need PyTorch."""

RECORDS = [json.loads(path.read_text()) for path in sorted(harness.RESULTS.glob("[!.]*.json"))]


@pytest.fixture
def interrupted(tmp_path, monkeypatch):
    """A run of three cases whose second one is interrupted; returns the list of cases run."""
    monkeypatch.setattr(harness, "_commit", lambda: "abc")
    monkeypatch.setattr(harness, "code_of", {"demo": "0123456789ab"}.get)
    ran = []

    def case(name):
        def measure():
            ran.append(name)
            if ran == ["first", "second"]:
                raise KeyboardInterrupt
            return {"ratio": 1.0}

        return measure

    cases = {name: case(name) for name in ("first", "second", "third")}
    with pytest.raises(KeyboardInterrupt):
        harness.run("demo", "A demonstration", cases, results=tmp_path)
    return tmp_path, cases, ran


def test_resumes_where_it_was_interrupted(interrupted, capsys):
    folder, cases, ran = interrupted
    record = harness.run("demo", "A demonstration", cases, results=folder)
    assert ran == ["first", "second", "second", "third"]
    assert [row["case"] for row in record["rows"]] == ["first", "second", "third"]
    assert json.loads((folder / "demo.json").read_text()) == record
    assert {row["code"] for row in record["rows"]} == {"0123456789ab"}
    assert record["commit"] == "abc"
    assert date.fromisoformat(record["date"])
    assert "numpy" in record["versions"]
    assert [path.name for path in folder.rglob("*.json")] == ["demo.json"]
    assert "| first | 1 |\n" in capsys.readouterr().out


def test_goes_on_at_another_commit_and_date_of_the_same_code(interrupted, monkeypatch):
    folder, cases, ran = interrupted
    partial = folder / "unfinished" / "demo.json"
    partial.write_text(json.dumps(json.loads(partial.read_text()) | {"date": "2020-02-20"}))
    monkeypatch.setattr(harness, "_commit", lambda: "def-dirty")
    record = harness.run("demo", "A demonstration", cases, results=folder)
    assert ran == ["first", "second", "second", "third"]
    assert record["commit"] == "def-dirty"


def test_starts_anew_with_other_code(interrupted, monkeypatch):
    folder, cases, ran = interrupted
    monkeypatch.setattr(harness, "code_of", {"demo": "ba9876543210"}.get)
    record = harness.run("demo", "A demonstration", cases, results=folder)
    assert ran == ["first", "second", "first", "second", "third"]
    assert {row["code"] for row in record["rows"]} == {"ba9876543210"}


@pytest.mark.parametrize(
    ("left", "again"),
    [
        ({"first": "0123456789ab", "third": "ba9876543210"}, ["second", "third"]),
        ({"first": None, "third": "0123456789ab"}, ["first", "second"]),
    ],
)
def test_only_rows_of_other_code_are_run_again(interrupted, left, again):
    """Nor is a row kept that does not say of which code it is."""
    folder, cases, ran = interrupted
    partial = folder / "unfinished" / "demo.json"
    rows = {case: {"ratio": 1.0} | ({"code": code} if code else {}) for case, code in left.items()}
    partial.write_text(json.dumps(json.loads(partial.read_text()) | {"rows": rows}))
    harness.run("demo", "A demonstration", cases, results=folder)
    assert ran[2:] == again


def test_starts_anew_with_other_versions(interrupted, monkeypatch):
    folder, cases, ran = interrupted
    monkeypatch.setattr(harness, "software_versions", lambda: {"numpy": "0"})
    harness.run("demo", "A demonstration", cases, results=folder)
    assert ran == ["first", "second", "first", "second", "third"]


def test_summaries_see_rows_without_hashes(interrupted):
    folder, cases, _ = interrupted
    total = harness.Summary(lambda rows: {"seen": sorted(rows["first"])})
    record = harness.run("demo", "A demonstration", cases | {"total": total}, results=folder)
    assert record["rows"][-1]["seen"] == ["ratio"]


BENCHES = {
    path.stem.removeprefix("bench_") for path in Path(harness.__file__).parent.glob("bench_*.py")
}


def record_of(name):
    (found,) = (record for record in RECORDS if record["name"] == name)
    return found


def test_figures_are_those_of_benchmarks():
    assert {record["name"] for record in RECORDS} <= BENCHES
    assert {record["name"] for record in RECORDS} >= set(RELEASE)


def test_every_record_has_a_date():
    assert all(date.fromisoformat(record["date"]) for record in RECORDS)


def test_release_benchmarks_are_at_most_ten():
    assert len(RELEASE) <= 10
    assert set(RELEASE) <= BENCHES


@pytest.mark.parametrize("name", RELEASE)
def test_committed_figures_meet_their_bars(name):
    rows = record_of(name)["rows"]
    assert not [row["case"] for row in rows if "bar" in row and row["ratio"] > row["bar"]]


@pytest.mark.parametrize("name", bench_sanity.WANTED)
def test_sanity_checks_are_passed(name):
    record = record_of("sanity")
    assert [row["case"] for row in record["rows"]] == list(bench_sanity.cases(11, 8, 3))
    assert bench_sanity.passed(record["rows"], name) >= bench_sanity.WANTED[name]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.torch] if name in TORCH else [])
        for name in RELEASE
        if name != "sanity"
    ],
)
def test_committed_figures_of_present_code_cover_the_promised_cases(name):
    """A benchmark may have other cases than its record until it is run again; the record is old."""
    record = record_of(name)
    promised = list(importlib.import_module(f"benchmarks.bench_{name}").CASES)
    measured = [row["case"] for row in record["rows"]]
    is_old = bool(stale_cases(record)) or not all("code" in row for row in record["rows"])
    assert is_old or measured == promised


def test_ours_is_closest_to_known_truths_within_a_hundredth():
    for row in record_of("truth")["rows"]:
        assert row["ours"] < min(row["sajjadi-2018"], row["simon-2019"]) + 0.01, row["case"]


def test_intervals_are_below_the_truth_seldom_and_not_wide():
    """The upper end lies below the truth in 5% of the runs at most, by an exact test at 1%."""
    for row in record_of("coverage")["rows"]:
        runs = int(row["case"].split()[1])
        below = round(row["truth above"] * runs)
        assert binom.sf(below - 1, runs, 0.05) > 0.01, row["case"]
        assert row["width over binomial"] <= 1.5, row["case"]


@pytest.mark.slow
def test_scores_become_a_curve_in_a_few_sorts_at_a_third_of_the_size():
    """The bar of 3 is for full size on a quiet machine; here other tests run beside it."""
    ratios = [bench_profile.from_scores(300_000)["ratio"] for _ in range(3)]
    assert min(ratios) <= 1.5 * bench_profile.BAR
