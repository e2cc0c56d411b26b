"""Evaluation by counting the errors of a frozen rule, part by part and in any order.

Samples in memory are two parts. Samples in many files are as many parts, each a task of an engine;
its counts go into a ledger, so that a run that was interrupted goes on where it stopped.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._progress import track
from tradeoff._sides import Sides
from tradeoff._validation import check_same_columns
from tradeoff.core.held_out import HeldOutLogRatios
from tradeoff.curves.diagnosis import FEWEST_SAMPLES
from tradeoff.curves.estimate import CurveEstimate, HeldOut
from tradeoff.curves.plan import CountingPlan, choose_rows, share_bounds
from tradeoff.curves.state import CountingState, KeptSamples
from tradeoff.data.base import Broken
from tradeoff.data.shards import Shard, ShardReader, list_shards
from tradeoff.engine.ledger import Ledger
from tradeoff.engine.tasks import Engine, Failure
from tradeoff.evaluation.findings import findings_of, warnings_of
from tradeoff.evaluation.result import Evaluation, SampleValues
from tradeoff.evaluation.verdict import verdict_of
from tradeoff.exceptions import InvalidInputError
from tradeoff.explain.explain import explain_pair
from tradeoff.metrics.curve import curve_scores
from tradeoff.metrics.family import Measured, MeasuredCurve
from tradeoff.metrics.registry import resolve_keys
from tradeoff.metrics.score import Score
from tradeoff.moments import frechet_distance
from tradeoff.provenance import software_versions
from tradeoff.samples import Pair, Side

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tradeoff.curves.counted import CountedCurve
    from tradeoff.curves.plan import Chosen
    from tradeoff.data.base import Source
    from tradeoff.explain import Explanation
    from tradeoff.settings import Settings

__all__ = [
    "Counted",
    "count_pair",
    "count_shard",
    "count_shards",
    "other_files",
]

_FRECHET = "frechet.distance"
_SIDES = Sides._fields


@dataclass(frozen=True, eq=False, kw_only=True)
class Counted:
    """What was counted, and all that else belongs to a result.

    Args:
        state: Counts of both sides.
        settings: Settings of the measurement.
        encoder: Name, preprocessing and weights of the encoder.
        broken: Items and files that could not be read, by side.
        sources: Sources of both sides, from which shown samples are read; None where there are
            only features.
        embedder: The encoder, which names the columns of tables.
        warnings: What else is to be said.
    """

    state: CountingState
    settings: Settings
    encoder: Mapping[str, str]
    broken: Mapping[str, tuple[Broken, ...]]
    sources: Sides[Source | None] = Sides(None, None)  # noqa: RUF009, a plain tuple
    embedder: Any = None
    warnings: tuple[str, ...] = ()

    def evaluation(self) -> Evaluation:
        """The result."""
        settings, state = self.settings, self.state
        measured = self._measured(state.result())
        curve, scores = measured.curve, measured.scores
        assert curve is not None
        verdict = verdict_of(curve, state.sizes, settings.level)
        columns = int(state.plan.rule.about["columns"])
        return Evaluation(
            scores=scores,
            verdict=verdict,
            findings=findings_of(verdict, scores),
            warnings=warnings_of(measured, settings, state.sizes, columns) + self.warnings,
            curve=curve.band,
            certificate=curve.certificate,
            broken=self.broken,
            explanation=self._explanation(curve),
            samples={
                name: SampleValues(
                    tuple(kept.ids.tolist()),
                    tuple(label or None for label in kept.labels.tolist()),
                    {"log_ratio": kept.log_ratios},
                )
                for name, kept in zip(_SIDES, self._kept, strict=True)
            },
            settings=settings,
            provenance={
                "measured": list(scores),
                **self.encoder,
                "columns": columns,
                "samples": state.sizes,
                "broken": {side: len(items) for side, items in self.broken.items()},
                "estimator": str(settings.estimator),
                "protocol": None,
                "seed": settings.seed,
                **measured.provenance,
                "versions": software_versions(),
            },
        )

    def _measured(self, estimate: CountedCurve) -> Measured:
        """Scores of the curve and of moments."""
        settings = self.settings
        curve = MeasuredCurve(
            estimate=estimate,
            band=estimate.with_band(level=settings.level),
            certificate=None if estimate.is_grouped else estimate.certificate(level=settings.level),
            single=_estimate(self._kept, halves=True) if self._explains else None,
        )
        keys = resolve_keys(settings.metrics or ())
        scores = curve_scores([key for key in keys if key != _FRECHET], curve, settings.level)
        if (moments := self.state.moments()) is not None:
            distance = frechet_distance(real=moments.real, generated=moments.generated)
            scores[_FRECHET] = Score(value=distance)
        return Measured(scores=scores, curve=curve, provenance={"curve": dict(estimate.provenance)})

    @property
    def _kept(self) -> Sides[KeptSamples]:
        return Sides(*(side.sampled for side in self.state.sides))

    @property
    def _explains(self) -> bool:
        enough = min(kept.keys.size for kept in self._kept) >= FEWEST_SAMPLES
        return self.settings.explain and enough

    def _explanation(self, curve: MeasuredCurve) -> Explanation | None:
        """What is missed and invented among the samples that were kept."""
        if curve.single is None:
            return None
        pair = Pair(*map(_side_of, _SIDES, self._kept))
        return explain_pair(
            pair,
            _estimate(self._kept, halves=False),
            curve.single,
            losses=curve.estimate.losses(level=self.settings.level),
            sources=self.sources,
            encoder=self.embedder,
            estimator=self.settings.estimator,
            level=self.settings.level,
            seed=self.settings.seed,
        )


def _side_of(name: str, kept: KeptSamples) -> Side:
    labels = tuple(label or None for label in kept.labels.tolist())
    return Side(
        name=name,
        features=kept.features,
        ids=tuple(kept.ids.tolist()),
        labels=labels if any(labels) else (),
    )


def _estimate(kept: Sides[KeptSamples], *, halves: bool) -> CurveEstimate:
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


def count_pair(pair: Pair, settings: Settings, encoder: Mapping[str, str]) -> CountingState:
    """Counts of samples in memory."""
    plan = CountingPlan.of(
        real=pair.real.features,
        generated=pair.generated.features,
        estimator=settings.estimator,
        moments=_wants_moments(settings),
        seed=settings.seed,
        about=_about(settings, encoder),
    )
    state = CountingState(plan)
    for side in pair:
        state.update(side.name, side.features, ids=side.ids or None, labels=side.labels or None)
    return state


def choose_from_shard(
    shared: tuple[ShardReader, Sides[int], int], item: tuple[str, Shard]
) -> Chosen:
    """A task: keys and features of the samples of a shard that the rule is fitted on."""
    reader, bounds, seed = shared
    side, shard = item
    bound = bounds[_SIDES.index(side)]
    found = [
        choose_rows(batch.features, bound, groups=batch.groups, seed=seed)
        for batch in reader(shard)
    ]
    return _joined(found)


def count_shard(shared: tuple[ShardReader, CountingPlan], item: tuple[str, Shard]) -> bytes:
    """A task: the state of a shard."""
    reader, plan = shared
    side, shard = item
    state = CountingState(plan)
    for batch in reader(shard):
        state.update(side, batch.features, ids=batch.ids, labels=batch.labels, groups=batch.groups)
    return state.to_bytes()


def count_shards(
    sources: Sides[str],
    settings: Settings,
    *,
    engine: Engine,
    reader: ShardReader,
    encoder: Mapping[str, str],
    folder: Path,
    keeps: bool = True,
    progress: bool = True,
) -> tuple[CountingState, dict[str, tuple[Broken, ...]]]:
    """Counts of samples in many files, and the files that could not be read.

    Args:
        sources: Paths or addresses of both sides.
        settings: Settings of the measurement.
        engine: Where tasks run.
        reader: How rows are read.
        encoder: Name, preprocessing and weights of the encoder.
        folder: Folder of the plan and of the ledger, with which a run goes on, also with more
            files.
        keeps: Whether the folder is kept.
        progress: Whether to show progress lines.
    """
    failures: dict[str, list[Broken]] = {side: [] for side in _SIDES}
    skips = settings.broken == "skip"
    shards = [
        (side, shard)
        for side, source in zip(_SIDES, sources, strict=True)
        for shard in list_shards(source, reader, broken=failures[side] if skips else None)
    ]
    plan = _plan_of(shards, settings, engine, reader, encoder, folder, progress=progress)
    with Ledger(folder / "counts.ledger", plan=plan.digest) as ledger:
        _check_ledger(ledger, shards, folder)
        todo = [item for item in shards if _name(item) not in ledger]
        checking = replace(reader, columns=int(plan.rule.about["columns"]))
        tasks = engine.run(count_shard, (checking, plan), todo)
        for i, result in track(tasks, "counting", total=len(todo), progress=progress):
            if not isinstance(result, Failure):
                ledger.add(_name(todo[i]), result)
            elif skips:
                failures[todo[i][0]].append(Broken(todo[i][1].uri, result.sentence))
            else:
                kept = f" What was counted is kept in `{folder}`." * keeps
                raise _stopped(todo[i], result, kept)
        state = CountingState(plan)
        for content in ledger.values():
            state.merge(CountingState.from_bytes(content, plan))
    unread = {side: tuple(sorted(items, key=str)) for side, items in failures.items()}
    return state, unread


def _stopped(item: tuple[str, Shard], failure: Failure, kept: str = "") -> InvalidInputError:
    """What ends a run; the sentence of a worker that died does not name its file."""
    uri, sentence = item[1].uri, failure.sentence
    named = sentence if uri in sentence else f"`{uri}` was not counted: {sentence}"
    return InvalidInputError(
        f'{named} Repair it and run again, or pass broken="skip" (--broken skip).{kept}'
    )


def _name(item: tuple[str, Shard]) -> str:
    side, shard = item
    return f"{side} {shard.name}"


def _check_ledger(ledger: Ledger, shards: Sequence[tuple[str, Shard]], folder: Path) -> None:
    """Nothing may be counted twice, nor what does not belong to this run."""
    counted = {name.rpartition("@")[0]: name for name in ledger}
    for item in shards:
        name = _name(item)
        if counted.pop(name.rpartition("@")[0], name) != name:
            raise InvalidInputError(
                f"`{item[1].uri}` has changed since it was counted: start again in another folder."
            )
    if counted:
        raise other_files(folder, min(counted).partition(" ")[2].rpartition("#")[0])


def other_files(folder: Path, example: str) -> InvalidInputError:
    """What is said if a folder holds counts or features of files that were not given."""
    return InvalidInputError(
        f"`{folder}` belongs to another run, which counted files that are not among those of this "
        f"one, such as `{example}`: choose another folder."
    )


def _plan_of(
    shards: Sequence[tuple[str, Shard]],
    settings: Settings,
    engine: Engine,
    reader: ShardReader,
    encoder: Mapping[str, str],
    place: Path,
    *,
    progress: bool,
) -> CountingPlan:
    """The plan of an earlier run in this folder, or a new one."""
    about = _about(settings, encoder)
    if (place / "plan.json").exists():
        plan = CountingPlan.load(place)
        if (dict(plan.about), plan.seed, plan.grid is not None) != (
            about,
            settings.seed,
            _wants_moments(settings),
        ):
            raise InvalidInputError(
                f"`{place}` belongs to another run, with another encoder, estimator, seed, column, "
                "label or other metrics: choose another folder."
            )
        return plan
    sizes = Sides(*(sum(s.rows for side, s in shards if side == name) for name in _SIDES))
    bounds = sizes.map(share_bounds)
    chosen: dict[str, list[tuple[Shard, Chosen]]] = {side: [] for side in _SIDES}
    tasks = engine.run(choose_from_shard, (reader, bounds, settings.seed), shards)
    for i, result in track(tasks, "choosing", total=len(shards), progress=progress):
        if isinstance(result, Failure):
            if settings.broken == "stop":
                raise _stopped(shards[i], result)
            continue
        side, shard = shards[i]
        chosen[side].append((shard, result))
    stops = settings.broken == "stop"
    both = Sides(*(_of_same_columns(side, parts, stops) for side, parts in chosen.items()))
    check_same_columns(**{side: part[1].shape[1] for side, part in both._asdict().items()})
    plan = CountingPlan.fit(
        both,
        sizes,
        bounds,
        estimator=settings.estimator,
        moments=_wants_moments(settings),
        seed=settings.seed,
        about=about,
    )
    plan.save(place)
    return plan


def _of_same_columns(side: str, parts: Sequence[tuple[Shard, Chosen]], stops: bool) -> Chosen:
    """Chosen samples of all files but those with an unusual number of columns."""
    if not parts:
        raise InvalidInputError(f"No file of `{side}` can be read.")
    rows = Counter[int]()
    for shard, (_, features) in parts:
        rows[features.shape[1]] += shard.rows
    ((usual, _),) = rows.most_common(1)
    for shard, (_, features) in parts:
        if stops and features.shape[1] != usual:
            told = f"it has {features.shape[1]} features in a row, other files have {usual}."
            raise _stopped((side, shard), Failure(told))
    return _joined([found for _, found in parts if found[1].shape[1] == usual])


def _joined(parts: Sequence[Chosen]) -> Chosen:
    keys, rows = zip(*parts, strict=True)
    return np.concatenate(keys), np.concatenate(rows)


def _about(settings: Settings, encoder: Mapping[str, str]) -> dict[str, str]:
    columns = {"column": settings.column or "", "label": settings.label or ""}
    return {**encoder, **columns, "estimator": str(settings.estimator)}


def _wants_moments(settings: Settings) -> bool:
    return _FRECHET in resolve_keys(settings.metrics or ())
