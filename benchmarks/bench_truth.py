"""Estimates against curves that are known: ours, and two recipes of the literature.

The error of a run is the largest one of the shown curve over λ in [1/20, 20], relative to
min(1, λ); a row is the mean over seeds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import joblib
import numpy as np

from benchmarks.harness import Row, run
from benchmarks.laws import PAIRS, SCATTERED, gaussians
from tradeoff import reproduce
from tradeoff.curves.estimate import estimate_curve
from tradeoff.samples import Pair

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks import laws
    from tradeoff import CurveEstimate, PRCurve

LAM = np.geomspace(1 / 20, 20, 201)
SEEDS = 20
RECIPES = ("sajjadi-2018", "simon-2019")
N = 5000
KNOWN = PAIRS | SCATTERED
_BARS = {
    "scattered around 100 points, d = 8": 0.15,
    "scattered around 100 points, d = 16": 0.40,
    "d = 16": 0.05,
    "d = 256": 0.09,
}
_OTHER_BAR = 0.10


def curves(samples: dict[str, np.ndarray], seed: int) -> dict[str, PRCurve]:
    """The shown curve of each method."""
    ours = curve_in_one_process(samples, seed=seed).curve
    theirs = {name: reproduce(name, **samples, seed=seed, progress=False).curve for name in RECIPES}
    return {"ours": ours} | theirs


def errors(name: str, n: int, seed: int) -> dict[str, float]:
    """The largest relative error of each method on one pair of samples."""
    pair = KNOWN[name]()
    found = curves(pair.draw(n, 1000 + seed), seed)
    return {method: largest_error(curve, pair) for method, curve in found.items()}


def largest_error(curve: PRCurve, pair: laws.Pair) -> float:
    """Of precision over all slopes, relative to min(1, λ)."""
    errors = np.abs(curve.precision(LAM) - pair.precision(LAM)) / np.minimum(1, LAM)
    return float(errors.max())


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


def curve_in_one_process(
    samples: dict[str, np.ndarray], *, estimator: str = "stack", folds: int = 5, seed: int
) -> CurveEstimate:
    """`pr_curve` without processes of its own, for runs that are spread over processes."""
    pair = Pair.of(**samples)
    return estimate_curve(pair, estimator=estimator, folds=folds, seed=seed, jobs=1, progress=False)


def over_seeds(task: Callable[[int], dict[str, float]], seeds: int) -> list[dict[str, float]]:
    """Runs of a task, one process per core."""
    return joblib.Parallel(n_jobs=-1)(joblib.delayed(task)(seed) for seed in range(seeds))


CASES: dict[str, Callable[[], Row]] = {
    name: (lambda name=name: known_truth(name)) for name in KNOWN
}
CASES["identical laws, 1 − precision at λ = 1, N = 1,000"] = identical

if __name__ == "__main__":
    run("truth", "Largest relative error of the curve, N = 5,000, mean of 20 seeds", CASES)
