"""Measures the samples of one step against a fixed reference, in whatever process."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff.comparison.curves import value_of
from tradeoff.curves.estimate import CurveEstimate
from tradeoff.evaluation.pipeline import open_both
from tradeoff.exceptions import first_line
from tradeoff.inference import policy
from tradeoff.metrics.neighbors.baselines import inside_others, neighbors_of
from tradeoff.tracking.resolution import (
    missed_by_control,
    missed_by_estimator,
    neighbors_f_score,
)
from tradeoff.tracking.steps import TrackedStep

if TYPE_CHECKING:
    from tradeoff.evaluation import Evaluation, Reference
    from tradeoff.goals import Best
    from tradeoff.metrics.family import Measured
    from tradeoff.samples import Pair
    from tradeoff.settings import Settings

__all__ = ["MeasuredStep", "Ruler", "broken_samples", "measure_step"]


@dataclass(frozen=True, eq=False)
class Ruler:
    """What all steps are measured by: fixed real samples, estimator, folds and seed.

    Args:
        reference: The real samples.
        settings: Settings of the evaluations.
        train: Samples on which the model is trained; None if copies are not tested.
        goal: What steps are chosen for.
    """

    reference: Reference
    settings: Settings
    train: Any
    goal: Best

    @cached_property
    def opened(self) -> Reference:
        """The reference with its encoder, which is opened once."""
        return self.reference.adapted(self.settings)


@dataclass(frozen=True, eq=False)
class MeasuredStep:
    """A step with what was measured.

    Args:
        row: The numbers.
        evaluation: The evaluation; None if there is none.
        estimate: The curve, for paired tests; None if there is none.
    """

    row: TrackedStep
    evaluation: Evaluation | None = None
    estimate: CurveEstimate | None = None


def broken_samples(samples: Any) -> str:
    """What is wrong with the samples themselves; empty if nothing is."""
    if not len(samples):
        return "There are no generated samples."
    if not isinstance(samples, np.ndarray) or samples.dtype.kind not in "fiub":
        return ""
    flat = samples.reshape(len(samples), -1)
    if bad := int((~np.isfinite(flat)).any(1).sum()):
        return f"Of {len(flat):,} generated samples, {bad:,} hold NaN or infinity."
    if (flat == flat[0]).all():
        return "All generated samples are equal."
    return ""


def measure_step(ruler: Ruler, item: tuple[int, Any]) -> MeasuredStep:
    """The samples of a step; whatever fails is its reason, since training must go on."""
    step, samples = item
    try:
        return _measured(ruler, step, samples)
    except Exception as error:
        reason = f"The evaluation failed: {first_line(error)}."
        return MeasuredStep(TrackedStep(step=step, reason=reason))


def _measured(ruler: Ruler, step: int, samples: Any) -> MeasuredStep:
    opened = open_both(
        ruler.opened,
        {"generated": samples},
        ruler.settings,
        train=ruler.train,
        progress=False,
    )
    made = opened.embed("generated")
    evaluation, measured = opened.evaluate("generated", made)
    scores = evaluation.scores
    row = TrackedStep(
        step=step,
        knn_precision=scores["knn.precision"].value,
        knn_recall=scores["knn.recall"].value,
    )
    if measured.curve is None:
        reason = "The generated samples repeat too few distinct ones."
        return MeasuredStep(replace(row, reason=reason, is_broken=True), evaluation)
    estimate = measured.curve.estimate
    assert isinstance(estimate, CurveEstimate)
    pair, settings = opened.pair_of(made), opened.settings
    reason = missed_by_control(measured.curve.diagnosis) or missed_by_estimator(
        float(estimate.curve.f_score(1.0)), _by_neighbors(pair, evaluation, settings.k)
    )
    row = replace(row, reason=reason, **_numbers(estimate, measured, ruler))
    return MeasuredStep(row, evaluation, estimate)


def _by_neighbors(pair: Pair, evaluation: Evaluation, k: int) -> float:
    """The highest F-score that nearest neighbors leave."""
    precision, recall = (evaluation.scores[f"knn.{kind}"] for kind in ("precision", "recall"))
    seen = pair.first.generated
    own = inside_others(neighbors_of(seen, k, progress=False), k).mean()
    assert precision.expected is not None
    return neighbors_f_score(
        precision=precision.value,
        expected=precision.expected,
        recall=recall.value,
        own=float(own),
    )


def _numbers(estimate: CurveEstimate, measured: Measured, ruler: Ruler) -> dict[str, Any]:
    level = ruler.settings.level
    shown = {
        kind: estimate.shown(kind, lam, level=level) for kind, lam in policy.COMMON_SLOPES.items()
    }
    f_score = measured.scores["curve.f_score"]
    return {
        "score": value_of(ruler.goal, estimate),
        "f_score": f_score.value,
        "f_score_at_most": f_score.high,
        "precision": shown["precision"][0],
        "precision_limits": shown["precision"][1:],
        "recall": shown["recall"][0],
        "recall_limits": shown["recall"][1:],
    }
