"""Curves of samples whose true curve is known, and their errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import joblib
import numpy as np

from tests.known.distributions import PAIRS, SCATTERED
from tradeoff import reproduce
from tradeoff.curves.estimate import estimate_curve
from tradeoff.samples import Pair

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.known import distributions
    from tradeoff import CurveEstimate, PRCurve

LAM = np.geomspace(1 / 20, 20, 201)
RECIPES = ("sajjadi-2018", "simon-2019")
KNOWN = PAIRS | SCATTERED


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


def largest_error(curve: PRCurve, pair: distributions.Pair) -> float:
    """Of precision over all slopes, relative to min(1, λ)."""
    errors = np.abs(curve.precision(LAM) - pair.precision(LAM)) / np.minimum(1, LAM)
    return float(errors.max())


def curve_in_one_process(
    samples: dict[str, np.ndarray], *, estimator: str = "stack", folds: int = 5, seed: int
) -> CurveEstimate:
    """`pr_curve` without processes of its own, for runs that are spread over processes."""
    pair = Pair.of(**samples)
    return estimate_curve(pair, estimator=estimator, folds=folds, seed=seed, jobs=1, progress=False)


def over_seeds(task: Callable[[int], dict[str, float]], seeds: int) -> list[dict[str, float]]:
    """Runs of a task, one process per core."""
    return joblib.Parallel(n_jobs=-1)(joblib.delayed(task)(seed) for seed in range(seeds))
