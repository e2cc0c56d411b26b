"""Time of an estimate over that of the classifier curve `simon-2019`, in one run.

N = 10,000 + 10,000 samples with 1,280 columns, half of them shifted a little. The last row is the
time of a whole evaluation (all default metrics, baselines, controls, certificate) over that of its
curve alone, with 5,000 samples of each side.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.harness import Row, run
from tradeoff import evaluate, pr_curve, reproduce

if TYPE_CHECKING:
    from collections.abc import Callable


def samples(n: int = 10_000, d: int = 1280) -> dict[str, np.ndarray]:
    """Correlated columns, as features have."""
    rng = np.random.default_rng(0)
    mix = rng.normal(size=(64, d))
    sides = [rng.normal(size=(n, 64)) @ mix + rng.normal(size=(n, d)) for _ in range(2)]
    return {"real": sides[0], "generated": sides[1] + 0.1 * (np.arange(d) % 2)}


def seconds(task: Callable[[], object]) -> float:
    """Of one run, after an empty one has started the processes."""
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


@cache
def baseline() -> float:
    """Seconds of `simon-2019`, the better of two."""
    data = samples()
    return min(seconds(lambda: reproduce("simon-2019", **data, progress=False)) for _ in range(2))


def against_simon(estimator: str, bar: float) -> Row:
    """Seconds of an estimator with its defaults over those of `simon-2019`."""
    data = samples()
    small = {side: x[:600] for side, x in data.items()}
    pr_curve(**small, estimator="logistic", progress=False)
    taken = seconds(lambda: pr_curve(**data, estimator=estimator, progress=False))
    return {"seconds": taken, "simon-2019": baseline(), "ratio": taken / baseline(), "bar": bar}


def whole_evaluation(bar: float) -> Row:
    """Time of `evaluate` with its defaults over that of `pr_curve`, best of two in turns.

    On one core, since the curve uses several cores better than the rest; the ratio on all cores is
    in the row, too.
    """
    on_one = {"LOKY_MAX_CPU_COUNT": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", "from benchmarks.bench_speed import turns; print(*turns())"]
    done = subprocess.run(
        command, env=os.environ | on_one, capture_output=True, text=True, check=True
    )
    taken, curve = map(float, done.stdout.split())
    on_all, curve_on_all = turns()
    return {
        "seconds": taken,
        "curve alone": curve,
        "ratio": taken / curve,
        "bar": bar,
        "ratio on all cores": on_all / curve_on_all,
    }


def turns() -> tuple[float, float]:
    """Seconds of an evaluation and of a curve, 5,000 samples of each side, best of two in turns."""
    data = samples(5000)
    pr_curve(**data, progress=False)  # starts the processes
    pairs = [
        (
            seconds(lambda: evaluate(**data, progress=False)),
            seconds(lambda: pr_curve(**data, progress=False)),
        )
        for _ in range(2)
    ]
    taken, curve = map(min, zip(*pairs, strict=True))
    return taken, curve


CASES: dict[str, Callable[[], Row]] = {
    "default": lambda: against_simon("stack", 10.0),
    "fast": lambda: against_simon("fast", 1.0),
    "whole evaluation, one core": lambda: whole_evaluation(3.0),
}

if __name__ == "__main__":
    run("speed", "Time over that of simon-2019, N = 10,000 + 10,000, 1,280 columns", CASES)
