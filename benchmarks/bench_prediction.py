"""Rows of 64 columns to which a fitted stack gives a log-ratio, per second of one processor.

The stack was fitted on 5,000 + 5,000 rows; 20,000 new rows are scored, the best of five turns. The
ratio is the wanted number of rows over the measured one.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from benchmarks.bench_speed import samples
from benchmarks.harness import Row, run
from tradeoff.ratio import Stack

if TYPE_CHECKING:
    from collections.abc import Callable

WANTED = 10_000


def prediction(*, fitted: int = 5_000, scored: int = 20_000, turns: int = 5) -> Row:
    """Rows per second of a processor."""
    data = samples(fitted + scored // 2, 64)
    stack = Stack().fit(**{side: x[:fitted] for side, x in data.items()}, seed=0)
    new = data["real"][fitted:], data["generated"][fitted:]
    seconds = []
    for _ in range(turns):
        start = time.process_time()
        for x in new:
            stack.log_ratio(x)
        seconds.append(time.process_time() - start)
    rate = sum(map(len, new)) / min(seconds)
    return {"rows per CPU-second": round(rate), "ratio": WANTED / rate, "bar": 1.0}


CASES: dict[str, Callable[[], Row]] = {"default": prediction}

if __name__ == "__main__":
    run("prediction", "Log-ratios of a fitted stack, 64 columns", CASES)
