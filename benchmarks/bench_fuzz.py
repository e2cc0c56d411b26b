"""More than 100,000 seeded mutations of small valid files, read one by one.

The ratio is the share of mutations whose reading returned anything but a value, a broken item or a
sentence. `python -m benchmarks.fuzz KIND SEED` replays one.
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
MUTATIONS = 2_300


def measure(kind: str, count: int) -> Row:
    """Outcomes of the first `count` seeds of a kind."""
    with Worker() as worker:
        row = tally(worker.judge(kind, seed) for seed in range(count))
    return _with_ratio(row)


def total(rows: dict[str, Row]) -> Row:
    """Sums over all kinds."""
    sums = {
        name: sum(row[name] for row in rows.values()) for name in ("mutations", *FINE, "failures")
    }
    return _with_ratio(sums)


def _with_ratio(row: Row) -> Row:
    return row | {"ratio": row["failures"] / row["mutations"], "bar": BAR}


CASES: dict[str, Callable[[], Row] | Summary] = {
    kind: partial(measure, kind, MUTATIONS) for kind in KINDS
}
CASES["all"] = Summary(total)

if __name__ == "__main__":
    run("fuzz", "Outcomes of reading damaged files", CASES)
