"""Intervals of cross-fitted curves cover what they should, in every cell of slope and pair.

What is covered is the mean over folds of the fitted rules' errors on the laws themselves, from
20,000 fresh samples of each side, whose own error is a tenth of an interval's half-width; and the
truth must lie under the upper end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.harness import Row, run
from tests.known.curves import over_seeds
from tests.known.distributions import gaussians
from tests.known.population import cross_fitted
from tradeoff.inference.intervals import curve_interval
from tradeoff.inference.shares import wilson_distances
from tradeoff.ratio import ESTIMATORS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tradeoff import HeldOutLogRatios

LAM = np.array([0.1, 0.5, 1.0, 2.0, 10.0])
FRESH = 20_000


def coverage(estimator: str, distance: float, runs: int, *, n: int = 500, d: int = 2) -> Row:
    """Worst cell of slopes: misses, misses of the truth by the upper end, and mean width."""
    pair = gaussians(d, distance)
    fresh = pair.draw(FRESH, 1)

    def measure(seed: int) -> tuple[np.ndarray, ...]:
        held_out, target = cross_fitted(
            ESTIMATORS[estimator].make(), pair.draw(n, 4000 + seed), fresh, LAM, seed=seed
        )
        low, high = curve_interval(held_out, LAM).precision.T
        plain = np.array(_plain_width(held_out))
        return (low > target) | (target > high), pair.precision(LAM) > high, (high - low), plain

    missed, under, widths, plain = (
        np.mean(values, axis=0) for values in zip(*over_seeds(measure, runs), strict=True)
    )
    return {
        "missed": float(missed.max()),
        "allowed": 0.07 + 2 * np.sqrt(0.93 * 0.07 / runs),
        "truth above": float(under.max()),
        "width over binomial": float((widths / plain).max()),
        "ratio": float(missed.max()),
        "bar": 0.07 + 2 * np.sqrt(0.93 * 0.07 / runs),
    }


def _plain_width(held_out: HeldOutLogRatios) -> np.ndarray:
    """Width of the binomial score intervals of both rates, without allowance for folds."""
    passed, rejected = held_out.curve().pieces(LAM)
    limits = [
        wilson_distances(share, np.full(LAM.size, float(size)), 1.959964)
        for share, size in ((passed, held_out.generated.size), (rejected, held_out.real.size))
    ]
    return sum(np.hypot(limits[0][i], LAM * limits[1][i]) for i in range(2))


CASES: dict[str, Callable[[], Row]] = {
    f"{estimator}, {runs} runs, distance {distance}": (
        lambda e=estimator, r=runs, x=distance: coverage(e, x, r)
    )
    for estimator, runs in (("logistic", 300), ("stack", 60))
    for distance in (0, 1, 2)
}

if __name__ == "__main__":
    run("coverage", "Nominal 95% intervals, N = 500, worst of five slopes", CASES)
