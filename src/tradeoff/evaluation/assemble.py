"""The one place that builds an `Evaluation`, whichever way its samples were measured."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._progress import step
from tradeoff._sides import Sides
from tradeoff.core.held_out import HeldOutLogRatios
from tradeoff.curves.estimate import CurveEstimate, HeldOut
from tradeoff.evaluation.copied import copied_of
from tradeoff.evaluation.findings import (
    findings_of,
    near_copy_warnings,
    protocol_warnings,
    training_warnings,
    warnings_of,
)
from tradeoff.evaluation.prompted import report_on
from tradeoff.evaluation.result import Evaluation, SampleValues
from tradeoff.evaluation.training import COMPARING, outcome_of
from tradeoff.evaluation.verdict import verdict_of
from tradeoff.explain.classes import lost_classes
from tradeoff.explain.explain import explain_pair
from tradeoff.features import Views
from tradeoff.features.table import TableEncoder
from tradeoff.inference import policy
from tradeoff.metrics.curve import curve_scores
from tradeoff.metrics.family import Measured, MeasuredCurve
from tradeoff.metrics.memorization import OWED
from tradeoff.metrics.moments import frechet_distance
from tradeoff.metrics.registry import resolve_keys
from tradeoff.metrics.score import Score
from tradeoff.provenance import software_versions
from tradeoff.ratio.ranked import for_tables
from tradeoff.samples import Pair, Side
from tradeoff.tables import TableReport, compare_columns, usefulness_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tradeoff.core.curve import PRCurve
    from tradeoff.counting.state import CountingState, KeptSamples
    from tradeoff.data.base import Broken, Source
    from tradeoff.prompts import Prompts
    from tradeoff.settings import Settings

__all__ = [
    "COLUMNS",
    "EXPLAINING",
    "FITTING",
    "FRECHET",
    "Context",
    "assemble_counted",
    "assemble_measured",
]

FRECHET = "frechet.distance"
EXPLAINING = "finding groups"
COLUMNS = "comparing columns"
FITTING = "comparing with prompts"
_SIDES = Sides._fields


@dataclass(frozen=True, eq=False, kw_only=True)
class Context:
    """What belongs to a result besides what was measured.

    Args:
        settings: Settings of the measurement.
        encoder: Name, preprocessing and weights of the encoder.
        broken: Items and files that could not be read, by side.
        sources: Sources of both sides, from which shown samples are read; None where there are
            only features.
        learned: Source of the training set; None where there is none, or only features.
        embedder: The encoder, which names the columns of tables.
        prompts: Prompts of the samples; None where there are none.
        warnings: What else is to be said, before what was measured.
        progress: Whether progress is shown.
    """

    settings: Settings
    encoder: Mapping[str, str]
    broken: Mapping[str, tuple[Broken, ...]]
    sources: Sides[Source | None] = Sides(None, None)  # noqa: RUF009, a plain tuple
    learned: Source | None = None
    embedder: Any = None
    prompts: Prompts | None = None
    warnings: tuple[str, ...] = ()
    progress: bool = False

    @property
    def estimator(self) -> Any:
        """The estimator of all curves that are compared: for tables, one that sees ranks, too."""
        found = self.settings.estimator
        return for_tables(found) if isinstance(self.embedder, TableEncoder) else found

    def content_columns(self, columns: int) -> int:
        """How many of the columns are not those of an added low-level view."""
        return columns - (self.embedder.added if isinstance(self.embedder, Views) else 0)


def assemble_measured(
    context: Context, pair: Pair, measured: Measured, curve: PRCurve | None
) -> Evaluation:
    """The result of samples that are in memory.

    Args:
        context: What belongs to the result besides.
        pair: The samples.
        measured: What families of metrics measured.
        curve: The curve that is shown.
    """
    values = {"real": dict(measured.values.real), "generated": dict(measured.values.generated)}
    if "nearest_real" in values["generated"]:
        ids = np.array(pair.real.ids, dtype=object)
        values["generated"]["nearest_real"] = ids[values["generated"]["nearest_real"]]
    samples = {side.name: SampleValues(side.ids, side.labels, values[side.name]) for side in pair}
    estimate = None if measured.curve is None else measured.curve.estimate
    looked_at = (pair, estimate) if isinstance(estimate, CurveEstimate) else None
    found = _assembled(context, measured, curve, pair.sizes, pair.columns, samples, looked_at, pair)
    if isinstance(context.embedder, TableEncoder) and context.settings.protocol is None:
        with step(COLUMNS):
            found = replace(found, table=_table_of(context, context.embedder, pair))
    if context.prompts is not None:
        with step(FITTING):
            report = report_on(
                pair,
                context.prompts,
                context.settings,
                sources=context.sources,
                progress=context.progress,
            )
            found = replace(found, prompts=report)
    if measured.training is not None:
        found = _with_training(found, context, pair, measured)
    return _judged(found)


def _judged(evaluation: Evaluation) -> Evaluation:
    """The result with what is wrong, once all is known."""
    one = evaluation
    return replace(
        one, findings=findings_of(one.verdict, one.scores, one.training, one.table, one.prompts)
    )


def _table_of(context: Context, encoder: TableEncoder, pair: Pair) -> TableReport:
    """Columns, pairs of columns, and a column that is predicted if one is named."""
    level, seed, target = (getattr(context.settings, one) for one in ("level", "seed", "target"))
    found = compare_columns(pair, encoder, level=level, seed=seed, progress=context.progress)
    if target is None:
        return found
    return replace(found, use=usefulness_of(pair, encoder, target, level=level, seed=seed))


def _with_training(
    evaluation: Evaluation, context: Context, pair: Pair, measured: Measured
) -> Evaluation:
    """The result with what the comparison with the training set shows."""
    assert measured.training is not None
    with step(COMPARING):
        settings = replace(context.settings, estimator=context.estimator)
        outcome = outcome_of(pair, measured, settings)
        copied = copied_of(
            pair,
            measured.training,
            sources=(*context.sources, context.learned),
            shows_samples=context.settings.explain,
        )
    assert outcome is not None
    scores = dict(evaluation.scores)
    if outcome.difference is not None:  # then the limit means nothing
        scores[OWED] = replace(scores[OWED], low=None)
    return replace(
        evaluation,
        scores=scores,
        training=outcome,
        copied=copied,
        warnings=evaluation.warnings + training_warnings(outcome),
        provenance={**evaluation.provenance, "train": outcome.samples},
    )


def assemble_counted(context: Context, state: CountingState) -> Evaluation:
    """The result of counts of a frozen rule's errors; kept samples explain it."""
    settings = context.settings
    kept = Sides(*(side.sampled for side in state.sides))
    explains = settings.explain and min(one.keys.size for one in kept) >= policy.FEWEST_CONTROLLED
    estimate = state.result()
    curve = MeasuredCurve.of(
        estimate,
        level=settings.level,
        certificate=None if estimate.is_grouped else estimate.certificate(level=settings.level),
        single=_kept_estimate(kept, halves=True) if explains else None,
    )
    keys = [key for key in resolve_keys(settings.metrics or ()) if key != FRECHET]
    scores = curve_scores(keys, curve)
    if (moments := state.moments()) is not None:
        seen = moments.map(lambda one: one.first(context.content_columns(one.mean.size)))
        distance = frechet_distance(real=seen.real, generated=seen.generated)
        scores[FRECHET] = Score(value=distance)
    measured = Measured(scores=scores, curve=curve, provenance={"curve": dict(estimate.provenance)})
    sides = {name: _side_of(name, one) for name, one in zip(_SIDES, kept, strict=True)}
    samples = {
        name: SampleValues(
            sides[name].ids,
            tuple(label or None for label in one.labels.tolist()),
            {"log_ratio": one.log_ratios},
        )
        for name, one in zip(_SIDES, kept, strict=True)
    }
    columns = int(state.plan.rule.about["columns"])
    looked_at = (Pair(**sides), _kept_estimate(kept, halves=False)) if explains else None
    found = _assembled(context, measured, curve.band, state.sizes, columns, samples, looked_at)
    return _judged(found)


def _assembled(
    context: Context,
    measured: Measured,
    curve: PRCurve | None,
    sizes: Mapping[str, int],
    columns: int,
    samples: Mapping[str, SampleValues],
    looked_at: tuple[Pair, CurveEstimate] | None,
    pair: Pair | None = None,
) -> Evaluation:
    settings, found = context.settings, measured.curve
    verdict = None if found is None else verdict_of(found, sizes)
    seen = context.content_columns(columns) if pair is None else pair.first.columns
    warnings = context.warnings + warnings_of(measured, settings, sizes, seen)
    if pair is not None:
        warnings += near_copy_warnings(verdict, pair, settings)
    explanation = None
    if settings.explain and looked_at and found is not None and found.single is not None:
        with step(EXPLAINING):
            explanation = explain_pair(
                *looked_at,
                found.single,
                losses=found.losses,
                sources=context.sources,
                encoder=context.embedder,
                estimator=settings.estimator,
                level=settings.level,
                seed=settings.seed,
            )
    if verdict is not None and found is not None:
        if explanation is not None:
            verdict = verdict.named(explanation.established)
        elif pair is not None and isinstance(found.estimate, CurveEstimate):
            lost = lost_classes(pair, found.estimate, found.losses, seed=settings.seed)
            verdict = verdict.named(lost)
    return Evaluation(
        scores=measured.scores,
        verdict=verdict,
        findings=(),
        warnings=warnings + protocol_warnings(settings.protocol, context.encoder["encoder"]),
        curve=curve,
        certificate=None if found is None else found.certificate,
        broken=context.broken,
        explanation=explanation,
        samples=samples,
        settings=settings,
        provenance={
            "measured": list(measured.scores),
            **context.encoder,
            "columns": columns,
            "samples": sizes,
            "broken": {side: len(items) for side, items in context.broken.items()},
            "estimator": str(settings.estimator),
            "protocol": settings.protocol,
            "seed": settings.seed,
            **measured.provenance,
            "versions": software_versions(),
        },
    )


def _side_of(name: str, kept: KeptSamples) -> Side:
    labels = tuple(label or None for label in kept.labels.tolist())
    return Side(
        name=name,
        features=kept.features,
        ids=tuple(kept.ids.tolist()),
        labels=labels if any(labels) else (),
    )


def _kept_estimate(kept: Sides[KeptSamples], *, halves: bool) -> CurveEstimate:
    """The curve of the kept samples; of one half, while the other forms groups, or of all."""
    sides = []
    for side in kept:
        first = side.keys % np.uint64(2) == 0 if halves else np.ones(side.keys.size, bool)
        sides.append(
            HeldOut(
                log_ratios=np.where(first, side.log_ratios, np.nan),
                folds=np.where(first, 0, 1),
                training_log_ratios=np.where(first, np.nan, side.log_ratios) if halves else None,
            )
        )
    held_out = HeldOutLogRatios(
        real=sides[0].log_ratios[sides[0].counted], generated=sides[1].log_ratios[sides[1].counted]
    )
    raw = held_out.curve()
    return CurveEstimate(
        raw=raw, curve=raw.clipped(), real=sides[0], generated=sides[1], provenance={"folds": 1}
    )
