"""Reading a damaged file returns a value, a broken item or a sentence, for the first seeds."""

import sys

import pytest

from benchmarks import bench_fuzz
from benchmarks.fuzz import Outcome, Worker, damaged_files, tally
from benchmarks.fuzz_corpus import KINDS
from benchmarks.fuzz_traps import TRAPS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.torch,  # most files are read by optional packages
    pytest.mark.skipif(sys.platform != "linux", reason="limits and peaks are those of Linux"),
]

SEEDS = 50


@pytest.fixture(scope="module")
def worker():
    with Worker() as one:
        yield one


def test_at_least_two_thousand_mutations_here_and_a_hundred_thousand_in_the_benchmark():
    assert len(KINDS) * SEEDS >= 2_000
    assert len(KINDS) * bench_fuzz.MUTATIONS >= 100_000


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files_are_handled(worker, kind):
    outcomes = [worker.judge(kind, seed) for seed in range(SEEDS)]
    assert tally(outcomes)["found"] == []


def test_the_judge_detects_everything_that_is_forbidden():
    """Each is attributed to its seed, and the worker goes on after a crash or a hang."""
    with Worker(seconds=2) as worker:
        found = {name: worker.judge(name, 1) for name in TRAPS}
        assert worker.judge("png", 0).is_fine
    expected = {name: name for name in TRAPS} | {"memory": "traceback"}
    assert {name: outcome.name for name, outcome in found.items()} == expected
    assert all((o.kind, o.seed, o.is_fine) == (name, 1, False) for name, o in found.items())
    assert found["traceback"].detail.endswith("ZeroDivisionError: on purpose")


def test_damage_is_decided_by_kind_and_seed():
    for kind in ("png", "tar.gz", "parquet table", "config"):
        assert damaged_files(kind, 3) == damaged_files(kind, 3)
        assert len({str(damaged_files(kind, seed)) for seed in range(20)}) >= 19


def test_failures_are_counted_and_listed():
    ends = [Outcome("png", 0, "value"), Outcome("png", 1, "hang", "x.py", 10.0, 300)]
    row = tally(ends)
    assert (row["mutations"], row["value"], row["failures"]) == (2, 1, 1)
    assert row["found"] == ["seed 1: hang, x.py"]
    assert (row["slowest in seconds"], row["peak in MB"]) == (10.0, 300)
