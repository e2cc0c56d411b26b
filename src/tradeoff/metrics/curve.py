"""Scores of the precision-recall curve, with its controls and certificate."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import t as student

from tradeoff._progress import Step, step
from tradeoff._sides import Sides
from tradeoff.core.divergence.mixture import FrontierIntegral
from tradeoff.core.frontier import mauve
from tradeoff.core.held_out import HeldOutLogRatios
from tradeoff.curves.diagnosis import CONTROL_STEPS, diagnose_pair
from tradeoff.curves.estimate import CurveEstimate, estimate_curve
from tradeoff.curves.repeats import Repeats
from tradeoff.inference import policy
from tradeoff.metrics.family import Measured, MeasuredCurve, Request
from tradeoff.metrics.score import Score

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tradeoff.core.curve import PRCurve
    from tradeoff.inference.losses import Losses
    from tradeoff.samples import Pair

__all__ = ["curve_scores", "headline_scores", "measure", "resampled_folds", "steps_of"]

_CURVE, _SINGLE = "fitting the curve", "fitting on one half"

_FRONTIER: dict[str, tuple[Callable[[HeldOutLogRatios], float], float]] = {
    "frontier.mauve": (mauve, 1.0),
    "frontier.integral": (lambda found: FrontierIntegral().of_curve(found.curve()), 0.0),
}
"""Functions of held-out log-ratios by key, and their values for identical distributions."""


def measure(pair: Pair, request: Request) -> Measured:
    """Precision, recall, F-score and area of the held-out curve."""
    options: dict[str, Any] = {
        "estimator": request.estimator,
        "seed": request.seed,
        "progress": request.progress,
    }
    repeats = Repeats.of(pair, request.repeats)
    options["repeats"] = repeats.assumed
    if repeats.leave_few(pair):
        return Measured(
            scores={key: _unknown(key) for key in request.keys},
            provenance={"curve": {"repeats": asdict(repeats)}},
            has_few_values=True,
        )
    with step(_CURVE):
        estimate = estimate_curve(pair, folds=request.folds, **options)
    curve = MeasuredCurve.of(estimate, level=request.level)
    if min(pair.sizes.values()) < policy.FEWEST_CONTROLLED:
        return _measured(estimate, curve, request)
    if request.diagnose:
        found = diagnose_pair(pair, folds=request.folds, level=request.level, **options)
        curve = replace(curve, diagnosis=found)
    can_certify = request.diagnose and not estimate.is_grouped  # independent samples
    if can_certify or request.explain:
        with step(_SINGLE):
            single = estimate_curve(pair, folds=1, **options)
        curve = replace(curve, single=single)
        if can_certify:
            curve = replace(curve, certificate=single.certificate(level=request.level))
    return _measured(estimate, curve, request)


def steps_of(request: Request) -> list[Step]:
    """Steps of `measure`, with about the time that each takes next to the curve itself."""
    found = [Step(_CURVE)]
    if request.diagnose:
        found += [Step(label, weight=0.6) for label in CONTROL_STEPS]
    if request.diagnose or request.explain:
        found.append(Step(_SINGLE, weight=0.2))
    return found


def _measured(estimate: CurveEstimate, curve: MeasuredCurve, request: Request) -> Measured:
    return Measured(
        scores=curve_scores(request.keys, curve),
        values=Sides(*({"log_ratio": s.log_ratios, "fold": s.folds} for s in estimate.sides)),
        provenance={"curve": dict(estimate.provenance)},
        curve=curve,
    )


def curve_scores(keys: Sequence[str], curve: MeasuredCurve) -> dict[str, Score]:
    """Scores of a curve by key, each with the limit that is guaranteed of the true value.

    When both sides come from the real data the true value is known, whatever the features.
    """
    return {key: _score(key, curve) for key in keys}


def _score(key: str, curve: MeasuredCurve) -> Score:
    if key in _FRONTIER and isinstance(curve.estimate, CurveEstimate):
        function, expected = _FRONTIER[key]
        value, low, high = resampled_folds(curve.estimate, function, curve.losses.level)
        return Score(value=value, low=low, high=high, expected=expected)
    if key in ("curve.area", "curve.f_score"):  # summaries of the upper end of the band
        upper = curve.band.upper if curve.losses.difference is not None else None
        return _bounded(_summary(key, curve.band), 1.0 if upper is None else _summary(key, upper))
    return headline_scores(curve.estimate.curve, curve.losses)[key]


def headline_scores(curve: PRCurve, losses: Losses) -> dict[str, Score]:
    """Precision, recall and overlap of a shown curve with their limits, by key."""
    values = losses.balance.headline(curve)
    return {
        "curve.precision": _bounded(values["curve.precision"], losses.at_most("precision")),
        "curve.recall": _bounded(values["curve.recall"], losses.at_most("recall")),
        "curve.overlap": _bounded(values["curve.overlap"], losses.at_most("overlap")),
    }


def _bounded(value: float, limit: float) -> Score:
    """A shown curve is monotone, and may lie above what was counted: then the limit is shown."""
    limit = min(limit, 1.0)
    return Score(value=min(value, limit), high=limit, expected=1.0)


def _unknown(key: str) -> Score:
    """All that holds without an estimate: a bound that every model keeps."""
    expected = _FRONTIER[key][1] if key in _FRONTIER else 1.0
    return Score(value=expected, low=0.0, high=1.0, expected=expected)


def resampled_folds(
    estimate: CurveEstimate, function: Callable[[HeldOutLogRatios], float], level: float
) -> tuple[float, float | None, float | None]:
    """A function of the held-out log-ratios within [0, 1], and its interval by Student's t.

    Each fold is left out in turn (jackknife). The folds' rules differ, so the interval covers the
    mean over repeated samples, not only over those that are counted. A single split has none.
    """
    sides = estimate.sides
    value = min(max(function(estimate.held_out), 0.0), 1.0)
    folds = np.unique(sides.real.folds[sides.real.counted])
    if len(folds) < 2:
        return value, None, None
    kept = [[side.log_ratios[side.counted & (side.folds != i)] for side in sides] for i in folds]
    without = [function(HeldOutLogRatios(real=x, generated=y)) for x, y in kept]
    error = np.std(without) * np.sqrt(len(folds) - 1)
    reach = float(student.ppf((1 + level) / 2, len(folds) - 1) * error)
    return value, max(value - reach, 0.0), min(value + reach, 1.0)


def _summary(key: str, curve: PRCurve) -> float:
    return curve.area if key == "curve.area" else float(curve.f_score(1.0))
