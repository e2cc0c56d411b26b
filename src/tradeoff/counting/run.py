"""Counts of a frozen rule's errors, part by part and in any order.

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
from tradeoff.counting.plan import CountingPlan, choose_rows, share_bounds
from tradeoff.counting.shards import Shard, ShardReader, list_shards
from tradeoff.counting.state import CountingState
from tradeoff.counting.workplace import load_plan, open_ledger, save_plan
from tradeoff.data.base import Broken
from tradeoff.engines import Engine, Failure
from tradeoff.exceptions import InvalidInputError, TradeoffError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tradeoff._remote import Place
    from tradeoff.counting.plan import Chosen
    from tradeoff.counting.workplace import Records
    from tradeoff.samples import Pair

__all__ = ["CountedRun", "count_files", "count_pair", "count_shard", "other_files"]

_SIDES = Sides._fields


@dataclass(frozen=True, kw_only=True)
class CountedRun:
    """What is counted, and by which rule.

    Args:
        estimator: Estimator of log p/q that can be frozen.
        moments: Whether moments of all samples are counted too.
        seed: Seed of the division, and of the estimator.
        about: Where features come from: encoder, columns and labels.
    """

    estimator: Any
    moments: bool
    seed: int
    about: Mapping[str, str]


def count_pair(pair: Pair, run: CountedRun) -> CountingState:
    """Counts of samples in memory."""
    plan = CountingPlan.of(real=pair.real.features, generated=pair.generated.features, **vars(run))
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


def count_files(
    sources: Sides[str],
    run: CountedRun,
    *,
    engine: Engine,
    reader: ShardReader,
    folder: Place,
    skips: bool = True,
    keeps: bool = True,
    progress: bool = True,
) -> tuple[CountingState, dict[str, tuple[Broken, ...]]]:
    """Counts of samples in many files, and the files that could not be read.

    Args:
        sources: Paths or addresses of both sides.
        run: What is counted.
        engine: Where tasks run.
        reader: How rows are read.
        folder: Folder of the plan and of the ledger, with which a run goes on, also with more
            files.
        skips: Whether files that cannot be read are skipped, or end the run.
        keeps: Whether the folder is kept.
        progress: Whether to show progress lines.
    """
    failures: dict[str, list[Broken]] = {side: [] for side in _SIDES}
    shards = [
        (side, shard)
        for side, source in zip(_SIDES, sources, strict=True)
        for shard in list_shards(source, reader, broken=failures[side] if skips else None)
    ]
    plan = _plan_of(shards, run, engine, reader, folder, skips=skips, progress=progress)
    with open_ledger(folder, plan.digest) as ledger:
        _check_ledger(ledger, shards, folder)
        todo = [item for item in shards if _name(item) not in ledger]
        checking = replace(reader, columns=int(plan.rule.about["columns"]))
        tasks = engine.run(count_shard, (checking, plan), todo)
        for i, result in track(tasks, "counting", total=len(todo), progress=progress):
            if not isinstance(result, Failure):
                ledger.add(_name(todo[i]), result)
            elif skips and not result.lies_outside:
                failures[todo[i][0]].append(Broken(todo[i][1].uri, result.sentence))
            else:
                kept = f" What was counted is kept in `{folder}`." * keeps
                raise _stopped(todo[i], result, kept)
        state = CountingState(plan)
        for content in ledger.values():
            state.merge(CountingState.from_bytes(content, plan))
    unread = {side: tuple(sorted(items, key=str)) for side, items in failures.items()}
    return state, unread


def _stopped(item: tuple[str, Shard], failure: Failure, kept: str = "") -> TradeoffError:
    """What ends a run; the sentence of a worker that died does not name its file."""
    uri, sentence = item[1].uri, failure.sentence
    if failure.lies_outside:
        return UnavailableError(f"{sentence}{kept}")
    named = sentence if uri in sentence else f"`{uri}` was not counted: {sentence}"
    return InvalidInputError(
        f'{named} Repair it and run again, or pass broken="skip" (--broken skip).{kept}'
    )


def _name(item: tuple[str, Shard]) -> str:
    side, shard = item
    return f"{side} {shard.name}"


def _check_ledger(ledger: Records, shards: Sequence[tuple[str, Shard]], folder: Place) -> None:
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


def other_files(folder: Place, example: str) -> InvalidInputError:
    """What is said if a folder holds counts or features of files that were not given."""
    return InvalidInputError(
        f"`{folder}` belongs to another run, which counted files that are not among those of this "
        f"one, such as `{example}`: choose another folder."
    )


def _plan_of(
    shards: Sequence[tuple[str, Shard]],
    run: CountedRun,
    engine: Engine,
    reader: ShardReader,
    place: Place,
    *,
    skips: bool,
    progress: bool,
) -> CountingPlan:
    """The plan of an earlier run in this folder, or a new one."""
    plan = load_plan(place)
    if plan is not None:
        known = (dict(plan.about), plan.seed, plan.grid is not None)
        if known != (dict(run.about), run.seed, run.moments):
            raise InvalidInputError(
                f"`{place}` belongs to another run, with another encoder, estimator, seed, column, "
                "label or other metrics: choose another folder."
            )
        return plan
    sizes = Sides(*(sum(s.rows for side, s in shards if side == name) for name in _SIDES))
    bounds = sizes.map(share_bounds)
    chosen: dict[str, list[tuple[Shard, Chosen]]] = {side: [] for side in _SIDES}
    tasks = engine.run(choose_from_shard, (reader, bounds, run.seed), shards)
    for i, result in track(tasks, "choosing", total=len(shards), progress=progress):
        if not isinstance(result, Failure):
            side, shard = shards[i]
            chosen[side].append((shard, result))
        elif not skips or result.lies_outside:
            raise _stopped(shards[i], result)
    both = Sides(*(_of_same_columns(side, parts, not skips) for side, parts in chosen.items()))
    check_same_columns(**{side: part[1].shape[1] for side, part in both._asdict().items()})
    plan = CountingPlan.fit(both, sizes, bounds, **vars(run))
    save_plan(plan, place)
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
