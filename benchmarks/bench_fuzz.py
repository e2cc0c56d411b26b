"""Damaged files: 100,000 mutations of small valid files, judged one by one.

The ratio is the share that ends in anything but a value, a broken item or a sentence. Replay a
failure with `python -m benchmarks.fuzz KIND SEED`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from benchmarks.fuzz import FINE, Worker, tally
from benchmarks.fuzz_corpus import KINDS
from benchmarks.harness import Row, Summary, run

if TYPE_CHECKING:
    from collections.abc import Callable

BAR = 0.0
MUTATIONS = 2_400
MUTATIONS_OF_NETWORKS = 1_000
_SLOW = 100


def mutations_of(kind: str) -> int:
    """Number of seeds of a kind at full size."""
    return MUTATIONS_OF_NETWORKS if KINDS[kind].cost >= _SLOW else MUTATIONS


def measure(kind: str, count: int) -> Row:
    """Outcomes of the first seeds of a kind."""
    with Worker() as worker:
        row = tally(worker.judge(kind, seed) for seed in range(count))
    return _with_ratio(row)


def total(rows: dict[str, Row]) -> Row:
    """All kinds together."""
    sums = {
        name: sum(row[name] for row in rows.values()) for name in ("mutations", *FINE, "failures")
    }
    return _with_ratio(sums)


def _with_ratio(row: Row) -> Row:
    return row | {"ratio": row["failures"] / row["mutations"], "bar": BAR}


CASES: dict[str, Callable[[], Row] | Summary] = {
    kind: partial(measure, kind, mutations_of(kind)) for kind in KINDS
}
CASES["all"] = Summary(total)

if __name__ == "__main__":
    run("fuzz", "Outcomes of reading damaged files", CASES)
