"""Precision and recall at the balanced point against known truths, and what is said about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.known.curves import curve_in_one_process
from tests.known.faults import faults
from tradeoff import HeldOutLogRatios
from tradeoff.core.counts import BAND_SLOPES
from tradeoff.evaluation.verdict import verdict_of
from tradeoff.inference import policy
from tradeoff.metrics.curve import curve_scores
from tradeoff.metrics.family import MeasuredCurve

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.known.faults import Fault
    from tradeoff import CurveEstimate, PRCurve
    from tradeoff.evaluation.verdict import Verdict
    from tradeoff.metrics.score import Score

KEYS = ("curve.precision", "curve.recall", "curve.overlap", "curve.f_score", "curve.area")
EARLIER = {"precision": 20.0, "recall": 0.4}
"""Slopes of the earlier headline, with which the errors are compared."""
_FLAT = 2e-3  # F-scores of a true curve that are no further apart are equal, up to integration
_LOST = 0.01
_ROUNDING = 5e-3  # of a true curve that is integrated over draws


def truth(curve: PRCurve) -> dict[str, float]:
    """Precision and recall at the balanced point of a true curve."""
    slopes = np.geomspace(1 / 50, 50, 401)
    score = np.minimum(curve.precision(slopes), np.minimum(1.0, slopes)) / (1.0 + slopes)
    best = slopes[score >= score.max() - _FLAT / 2]
    lam = float(best[np.abs(np.log(best)).argmin()])
    return {
        kind: min(1.0, float(getattr(curve, kind)(lam * factor)))
        for kind, factor in policy.COMMON_SLOPES.items()
    }


def run_of(columns: int, name: str, n: int, seed: int) -> dict[str, Any]:
    """Errors of one run, and whether what is said of it is wrong."""
    fault = faults(columns)[name]
    estimate = curve_in_one_process(fault.draw(n, seed), seed=seed)
    return judged(fault, estimate)


def judged(fault: Fault, estimate: CurveEstimate) -> dict[str, Any]:
    """Errors of the headline by rule, and counts of wrong statements."""
    measured = MeasuredCurve.of(estimate)
    verdict = verdict_of(measured, estimate.provenance["samples"])
    scores = curve_scores(KEYS, measured)
    right, true = truth(fault.curve), fault.curve
    lost = {kind for kind, value in right.items() if value < 1.0 - _LOST}
    read = {kind: verdict.balance.slope(kind) for kind in ("precision", "recall")}
    limits = {
        "precision": true.precision(read["precision"]),
        "recall": true.recall(read["recall"]),
        "overlap": true.precision(1.0),
    }
    ours = {kind: scores[f"curve.{kind}"].value for kind in right}
    return {
        **{rule: _error(found, right) for rule, found in rules(estimate).items()},
        "ours": _error(ours, right),
        "precision": ours["precision"],
        "recall": ours["recall"],
        "difference": verdict.difference is not None,
        "named": verdict.name == "no overlap",
        "wrong kind": bool(set(measured.losses.kinds) - lost),
        "limit below truth": sum(
            scores[f"curve.{kind}"].high < min(value, 1.0) - _ROUNDING  # type: ignore[operator]
            for kind, value in limits.items()
        ),
        "contradictions": len(contradictions(verdict, scores)),
    }


def rules(estimate: CurveEstimate) -> dict[str, dict[str, float]]:
    """Other ways to read precision and recall: the earlier one, and other balanced slopes."""
    curve = estimate.curve
    fixed = {kind: float(getattr(curve, kind)(lam)) for kind, lam in EARLIER.items()}
    score = curve.precision(BAND_SLOPES) / (1.0 + BAND_SLOPES)
    highest = BAND_SLOPES[(score - 1e-3 * np.abs(np.log(BAND_SLOPES))).argmax()]
    balance = estimate.balance
    nearest = float(np.clip(1.0, balance.low, balance.high))
    return {
        "earlier": fixed,
        "highest": _read(curve, highest),
        "other folds": _on_other_folds(estimate),
        "closest to 1": _read(curve, nearest),
    }


def _on_other_folds(estimate: CurveEstimate) -> dict[str, float]:
    """The slope of the highest F-score of the other folds, for each fold."""
    sides, found = estimate.sides, []
    for fold in np.unique(sides.real.folds):
        rest, own = (
            HeldOutLogRatios(
                **{
                    name: side.log_ratios[keep(side.folds)]
                    for name, side in sides._asdict().items()
                }
            ).curve()
            for keep in (lambda folds, i=fold: folds != i, lambda folds, i=fold: folds == i)
        )
        found.append(_read(own.clipped(), rest.clipped().balanced_slope))
    return {kind: float(np.mean([one[kind] for one in found])) for kind in found[0]}


def _read(curve: PRCurve, lam: float) -> dict[str, float]:
    return {
        kind: min(1.0, float(getattr(curve, kind)(lam * factor)))
        for kind, factor in policy.COMMON_SLOPES.items()
    }


def _error(found: Mapping[str, float], right: Mapping[str, float]) -> float:
    return float(np.mean([abs(min(found[kind], 1.0) - right[kind]) for kind in right]))


def contradictions(verdict: Verdict, scores: Mapping[str, Score]) -> list[str]:
    """Statements of a verdict that another statement or a printed number contradicts."""
    found = []
    text, outcomes = (
        " ".join(verdict.sentences),
        {
            "precision": verdict.precision,
            "recall": verdict.recall,
        },
    )

    def check(holds: bool, what: str) -> None:
        if not holds:
            found.append(what)

    for key in KEYS:
        score = scores[key]
        check(score.high is not None and score.value <= score.high, f"{key} above its limit")
    for kind, outcome in outcomes.items():
        limit = scores[f"curve.{kind}"].high or 0.0
        check(not outcome.losses or limit < 1.0, f"{kind} lost, and at most 1")
        check(
            limit <= 1.0 - outcome.at_least + 1e-12,
            f"{kind} is at most {limit}, and {outcome.at_least} are lost",
        )
        factor = verdict.balance.slope(kind)  # type: ignore[arg-type]
        factor = factor if kind == "precision" else 1.0 / factor
        check(
            all(loss.factor >= factor * (1 - 1e-9) for loss in outcome.losses),
            f"{kind} is judged at a smaller factor than it is read at",
        )
        shares = [loss.at_least for loss in outcome.losses]
        check(shares == sorted(shares, reverse=True), f"{kind}: more is lost at a larger factor")
    losses = any(outcome.losses for outcome in outcomes.values())
    differs = verdict.difference is not None
    check(differs or not losses, "a loss without a difference")
    check(differs == ("No difference" not in text), "a difference, and none")
    check(not (losses and "Nothing is shown" in text), "a loss, and nothing shown")
    check(not (differs and "no loss was found" in text.lower()), "a difference, and no loss")
    overlap = scores["curve.overlap"].high or 0.0
    apart = verdict.difference is not None and 1 - verdict.difference < policy.LITTLE_OVERLAP
    check(apart == verdict.sentences[0].startswith("The two sets hardly overlap"), "no overlap")
    check(differs or overlap == 1.0, "an overlap below 1 without a difference")
    return found
