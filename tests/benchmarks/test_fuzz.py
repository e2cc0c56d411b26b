"""Damaged files end in a value, a broken item or a sentence: the first seeds of the benchmark."""

import pytest

from benchmarks import bench_fuzz
from benchmarks.fuzz import Outcome, Worker, damaged_files, tally
from benchmarks.fuzz_corpus import KINDS
from benchmarks.fuzz_traps import TRAPS

pytestmark = pytest.mark.torch  # the lowest-versions run has no packages that read most files

SEEDS = {kind: max(10, bench_fuzz.mutations_of(kind) // 48) for kind in KINDS}


@pytest.fixture(scope="module")
def worker():
    with Worker() as one:
        yield one


def test_at_least_two_thousand_mutations_here_and_a_hundred_thousand_in_the_benchmark():
    assert sum(SEEDS.values()) >= 2_000
    assert sum(map(bench_fuzz.mutations_of, KINDS)) >= 100_000


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files_end_well(worker, kind):
    outcomes = [worker.judge(kind, seed) for seed in range(SEEDS[kind])]
    assert tally(outcomes)["found"] == []


def test_the_judge_notices_what_no_reader_may_do():
    """Each is told by its name, pinned to its seed, and followed by others, even after a death."""
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
