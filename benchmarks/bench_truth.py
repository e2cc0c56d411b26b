"""Estimates against curves that are known: ours, and two recipes of the literature.

The error of a run is the largest one of the shown curve over λ in [1/20, 20], relative to
min(1, λ); a row is the mean over seeds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.harness import Row, run
from tests.known.curves import (
    KNOWN,
    curves,
    errors,
    over_seeds,
)
from tests.known.distributions import gaussians

if TYPE_CHECKING:
    from collections.abc import Callable


SEEDS = 20
N = 5000
_BARS = {
    "scattered around 100 points, d = 8": 0.15,
    "scattered around 100 points, d = 16": 0.40,
    "d = 16": 0.05,
    "d = 256": 0.09,
}
_OTHER_BAR = 0.10


def known_truth(name: str, *, n: int = N, seeds: int = SEEDS) -> Row:
    """Mean error of each method."""
    found = over_seeds(lambda seed: errors(name, n, seed), seeds)
    row = {method: float(np.mean([one[method] for one in found])) for method in found[0]}
    bar = next((bar for kind, bar in _BARS.items() if kind in name), _OTHER_BAR)
    return row | {"ratio": row["ours"], "bar": bar}


def identical(*, n: int = 1000, seeds: int = SEEDS) -> Row:
    """What two samples of one law lack to precision 1 at λ = 1."""
    pair = gaussians(16, 0)

    def lacking(seed: int) -> dict[str, float]:
        found = curves(pair.draw(n, 2000 + seed), seed)
        return {method: 1 - curve.precision(1.0) for method, curve in found.items()}

    found = over_seeds(lacking, seeds)
    row = {method: float(np.mean([one[method] for one in found])) for method in found[0]}
    return row | {"ratio": row["ours"], "bar": 0.015}


CASES: dict[str, Callable[[], Row]] = {
    name: (lambda name=name: known_truth(name)) for name in KNOWN
}
CASES["identical laws, 1 − precision at λ = 1, N = 1,000"] = identical

if __name__ == "__main__":
    run("truth", "Largest relative error of the curve, N = 5,000, mean of 20 seeds", CASES)
