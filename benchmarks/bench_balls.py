"""Whole curves from counts of balls: errors against known truths, and the default next to them.

The error is that of `bench_truth`: the largest one over λ in [1/20, 20], relative to min(1, λ).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.harness import Row, run
from tests.known.curves import KNOWN, curve_in_one_process, largest_error, over_seeds

if TYPE_CHECKING:
    from collections.abc import Callable

ESTIMATORS = ("balls-improved", "balls-kernel", "balls-coverage", "neighbors", "stack")
N = 2000
SEEDS = 5
_CLOSEST = 0.02


def errors(name: str, n: int, seed: int) -> dict[str, float]:
    """The largest relative error by each estimator on one pair of samples."""
    pair = KNOWN[name]()
    samples = pair.draw(n, 9000 + seed)
    return {
        each: largest_error(curve_in_one_process(samples, estimator=each, seed=seed).curve, pair)
        for each in ESTIMATORS
    }


def known_truth(name: str, *, n: int = N, seeds: int = SEEDS) -> Row:
    """Mean errors; the default must not be worse than the best of the others by more than 0.02."""
    found = over_seeds(partial(errors, name, n), seeds)
    row = {method: float(np.mean([one[method] for one in found])) for method in ESTIMATORS}
    best = min(value for method, value in row.items() if method != "stack")
    return row | {"ratio": row["stack"] - best, "bar": _CLOSEST}


CASES: dict[str, Callable[[], Row]] = {name: partial(known_truth, name) for name in KNOWN}

if __name__ == "__main__":
    run(
        "balls", "Largest relative error of curves from balls, N = 2,000, mean of five seeds", CASES
    )
