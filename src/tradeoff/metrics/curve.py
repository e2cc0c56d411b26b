"""Scores of the precision-recall curve, with its controls and certificate."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tradeoff._sides import Sides
from tradeoff.core.headline import HEADLINE_SLOPES
from tradeoff.curves.diagnosis import FEWEST_SAMPLES, diagnose_pair
from tradeoff.curves.estimate import estimate_curve
from tradeoff.curves.repeats import Repeats
from tradeoff.metrics.family import Measured, MeasuredCurve, Request
from tradeoff.metrics.score import Score
from tradeoff.samples import Pair, Side

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tradeoff.core.curve import PRCurve
    from tradeoff.curves import CurveEstimate

__all__ = ["curve_scores", "measure"]

_FEWEST_GROUPS = 20


def measure(pair: Pair, request: Request) -> Measured:
    """Precision, recall, F-score and area of the held-out curve."""
    options: dict[str, Any] = {
        "estimator": request.estimator,
        "seed": request.seed,
        "progress": request.progress,
    }
    repeats = Repeats.of(pair, request.repeats)
    options["repeats"] = repeats.assumed
    counted, has_few_values = pair, False
    if not repeats.are_draws:
        counted = Pair(*(_with_copies_as_groups(side) for side in pair))
        has_few_values = any(_has_few_values(side) for side in pair)
    estimate = estimate_curve(counted, folds=request.folds, **options)
    curve = MeasuredCurve(
        estimate=estimate,
        band=estimate.with_band(level=request.level),
        has_few_values=has_few_values,
    )
    enough = min(pair.sizes.values()) >= FEWEST_SAMPLES
    if not enough or has_few_values:
        return _measured(estimate, curve, request)
    if request.diagnose:
        curve = replace(curve, diagnosis=diagnose_pair(pair, folds=request.folds, **options))
    can_certify = request.diagnose and not estimate.is_grouped  # independent samples
    if can_certify or request.explain:
        single = estimate_curve(counted if request.explain else pair, folds=1, **options)
        curve = replace(curve, single=single)
        if can_certify:
            curve = replace(curve, certificate=single.certificate(level=request.level))
    return _measured(estimate, curve, request)


def _measured(estimate: CurveEstimate, curve: MeasuredCurve, request: Request) -> Measured:
    return Measured(
        scores=curve_scores(request.keys, curve, request.level),
        values=Sides(*({"log_ratio": s.log_ratios, "fold": s.folds} for s in estimate.sides)),
        provenance={"curve": dict(estimate.provenance)},
        curve=curve,
    )


def curve_scores(keys: Sequence[str], curve: MeasuredCurve, level: float) -> dict[str, Score]:
    """Scores of a curve by key."""
    return {key: _score(key, curve, level) for key in keys}


def _score(key: str, curve: MeasuredCurve, level: float) -> Score:
    """Precision and recall have intervals of their own; of the rest, the ends of the band.

    When both sides come from the real data the true value is 1, whatever the features.
    """
    if key in ("curve.area", "curve.f_score"):
        value, low, high = (
            _summary(key, line) for line in (curve.band, curve.band.lower, curve.band.upper)
        )
    else:
        name = key.partition(".")[2]
        value, low, high = curve.estimate.shown(name, HEADLINE_SLOPES[name], level=level)
    low, high = (None if limit is None else min(float(limit), 1.0) for limit in (low, high))
    if curve.has_few_values:
        low, high = 0.0, 1.0
    return Score(value=float(value or 0.0), low=low, high=high, expected=1.0)


def _summary(key: str, curve: PRCurve | None) -> float | None:
    if curve is None:
        return None
    return curve.area if key == "curve.area" else float(curve.f_score(1.0))


def _has_few_values(side: Side) -> bool:
    """Whether a side repeats too few distinct samples to be divided into folds.

    Copies stay in one fold, so a few values that repeat are as many samples, and no more.
    """
    return side.distinct < min(FEWEST_SAMPLES, 0.5 * len(side))


def _with_copies_as_groups(side: Side) -> Side:
    """Copies as groups, so that intervals do not take them for independent samples."""
    if not _FEWEST_GROUPS <= side.distinct < len(side) or _has_few_values(side):
        return side
    return replace(side, groups=side.keys.tolist())
