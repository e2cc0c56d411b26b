r"""Cross-fitting: every sample gets a log-ratio from fits that have not seen it.

For folds j and k, a fit without both serves twice: what it says about j teaches the verdict that is
passed on k, and the other way round. A stack leaves out every pair of folds: each sample's
log-ratio is the mean verdict of K - 1 fits, and verdicts are learned on all other folds. A single
estimator, which has nothing to weigh, leaves out neighboring folds only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from itertools import combinations
from typing import TYPE_CHECKING

import joblib
import numpy as np
from threadpoolctl import threadpool_limits

from tradeoff._progress import track
from tradeoff._validation import FloatArray, check_choice, check_count
from tradeoff.exceptions import InvalidInputError
from tradeoff.ratio.base import MOST_COMPONENTS
from tradeoff.ratio.combination import Opinion, Verdict
from tradeoff.ratio.folds import content_keys, draw_keys, group_keys
from tradeoff.ratio.registry import ESTIMATORS
from tradeoff.ratio.stack import Panel, Stack

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from tradeoff.ratio.base import Estimator

__all__ = ["Split", "check_estimator", "cross_fit", "fit_panel", "sides_of"]

_FEWEST_SAMPLES = 20
_FEWEST_VALUES = 5
_FEW_VALUES = 50
_TRAINING_PARTS = 4  # of a single split
_WORTH_PROCESSES = 100_000  # numbers in both samples together


@dataclass(frozen=True, eq=False)
class Side:
    """One side's samples, the keys that place them in folds, and those that order them."""

    name: str
    x: FloatArray
    fold_keys: npt.NDArray[np.uint64]
    order_keys: npt.NDArray[np.uint64]
    grouped: bool

    @classmethod
    def of(
        cls, name: str, x: FloatArray, groups: Sequence[object] | None, split: Split, *, seed: int
    ) -> Side:
        """Groups place samples in folds where they are given, and content does where not."""
        keys = content_keys(x, seed=seed)
        if groups is not None:
            placing = group_keys(groups, len(x), seed=seed, name=f"{name}_groups")
        else:
            placing = draw_keys(keys) if split.folds == 1 else keys
        return cls(name, x, placing, keys, grouped=groups is not None)

    @cached_property
    def order(self) -> npt.NDArray[np.intp]:
        """Indices in an order that follows content, so that fits and sums round the same."""
        return np.lexsort((self.order_keys, self.fold_keys))

    @property
    def groups(self) -> npt.NDArray[np.intp] | None:
        """Number of each sample's group; None if each sample is its own."""
        if not self.grouped:
            return None
        return np.unique(self.fold_keys, return_inverse=True)[1]

    @property
    def digest(self) -> str:
        """Tells, for one seed, whether two sides hold the same samples in the same order."""
        return blake2b(self.order_keys.tobytes(), digest_size=8).hexdigest()


@dataclass(frozen=True)
class Split:
    """Parts of the data, and the pairs of them that are left out together."""

    folds: int
    pairs: tuple[tuple[int, int], ...]
    held_out: tuple[int, ...]

    @classmethod
    def of(cls, folds: int, model: Estimator) -> Split:
        """Pairs of folds; or a single split, one half held out, the other in four parts."""
        folds = check_count("folds", folds)
        if folds == 2:
            raise InvalidInputError("`folds` must be 1, a single split, or at least 3. Got 2.")
        if folds == 1:
            return cls(folds, tuple((0, part + 1) for part in range(_TRAINING_PARTS)), (0,))
        pairs = tuple(combinations(range(folds), 2))
        if not isinstance(model, Stack):
            pairs = tuple((j, k) for j, k in pairs if k - j in (1, folds - 1))
        return cls(folds, pairs, tuple(range(folds)))

    def parts(self, keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        """The part of each key, shape (n,)."""
        if self.folds > 1:
            return (keys % np.uint64(self.folds)).astype(np.int64)
        training = 1 + keys // np.uint64(2) % np.uint64(_TRAINING_PARTS)
        return np.where(keys % np.uint64(2) == 0, 0, training).astype(np.int64)

    def partners(self, part: int) -> list[tuple[int, int]]:
        """The pairs whose fits have not seen a part."""
        return [pair for pair in self.pairs if part in pair]


def sides_of(
    real: FloatArray,
    generated: FloatArray,
    split: Split,
    *,
    real_groups: Sequence[object] | None = None,
    generated_groups: Sequence[object] | None = None,
    seed: int,
) -> tuple[Side, Side]:
    """Both sides with their places; equal samples or groups have the same place on both."""
    sides = (
        Side.of("real", real, real_groups, split, seed=seed),
        Side.of("generated", generated, generated_groups, split, seed=seed),
    )
    few = [keys for side in sides if (keys := np.unique(side.fold_keys)).size < _FEW_VALUES]
    if not few:
        return sides
    # Hashes would leave folds empty where there are only a few values to place.
    placed = np.unique(np.concatenate(few))
    first, second = (replace(side, fold_keys=_by_rank(side.fold_keys, placed)) for side in sides)
    return first, second


def _by_rank(
    keys: npt.NDArray[np.uint64], placed: npt.NDArray[np.uint64]
) -> npt.NDArray[np.uint64]:
    rank = np.searchsorted(placed, keys).astype(np.uint64)
    return np.where(np.isin(keys, placed), rank, keys)


def cross_fit(
    model: Estimator,
    sides: tuple[Side, Side],
    split: Split,
    *,
    seed: int,
    jobs: int | None = None,
    progress: bool = True,
) -> list[FloatArray]:
    """Held-out log-ratios of both sides by index; NaN for samples that are never held out."""
    ordered = [side.x[side.order] for side in sides]
    parts = [split.parts(side.fold_keys[side.order]) for side in sides]
    _check_sizes(sides)
    _check_parts(sides, parts, split)
    numbers = sum(side.x.size for side in sides)
    fitting = joblib.cpu_count() if numbers >= _WORTH_PROCESSES else 1
    jobs = fitting if jobs is None else check_count("jobs", jobs)
    run = joblib.Parallel(n_jobs=min(jobs, len(split.pairs)), return_as="generator")
    tasks = (joblib.delayed(_consult)(model, ordered, parts, pair, seed) for pair in split.pairs)
    found = track(run(tasks), "fitting", total=len(split.pairs), progress=progress)
    opinions = dict(zip(split.pairs, found, strict=True))
    log_ratios = [np.full(len(side.x), np.nan) for side in sides]
    for part in split.held_out:
        pairs = split.partners(part)
        others = [sum(pair) - part for pair in pairs]
        real, generated = (
            [opinions[pair][other][i] for pair, other in zip(pairs, others, strict=True)]
            for i in range(2)
        )
        verdict = Verdict.learn(real=real, generated=generated)
        for i, side in enumerate(sides):
            verdicts = [verdict(opinions[pair][part][i]) for pair in pairs]
            log_ratios[i][side.order[parts[i] == part]] = np.mean(verdicts, axis=0)
    return log_ratios


def check_estimator(estimator: Estimator | str) -> Estimator:
    """An estimator, by name or as it is."""
    if isinstance(estimator, str):
        check_choice("estimator", estimator, ESTIMATORS)
        return ESTIMATORS[estimator]()
    if isinstance(estimator, type):
        raise InvalidInputError(
            f"`estimator` must be configured. Got the class {estimator.__name__}: "
            f"write {estimator.__name__}()."
        )
    if not hasattr(estimator, "fit"):
        raise InvalidInputError(
            f"`estimator` must be a name or have `fit`. Got a {type(estimator).__name__}."
        )
    return estimator


def _consult(
    model: Estimator,
    sides: list[FloatArray],
    parts: list[npt.NDArray[np.int64]],
    pair: tuple[int, int],
    seed: int,
) -> dict[int, list[Opinion]]:
    """Fit without a pair of parts; what is said about both sides of each of them."""
    # Threads of small fits only wait for each other, and sums would depend on their number.
    with threadpool_limits(1):
        real, generated = (x[~np.isin(part, pair)] for x, part in zip(sides, parts, strict=True))
        speak = fit_panel(model, real, generated, seed)
        return {
            held_out: [speak(x[part == held_out]) for x, part in zip(sides, parts, strict=True)]
            for held_out in pair
        }


def projected_columns(model: Estimator, columns: int) -> int | None:
    """Principal components that members see in place of more columns; None if they see all."""
    narrow = any(getattr(member, "projects", False) for member in _members(model))
    return MOST_COMPONENTS if narrow and columns > MOST_COMPONENTS else None


def row_caps(model: Estimator) -> dict[str, int]:
    """Rows of each side that members use at most, by their names."""
    return {
        type(member).__name__: member.most_rows
        for member in _members(model)
        if hasattr(member, "most_rows")
    }


def _members(model: Estimator) -> tuple[Estimator, ...]:
    return model.members if isinstance(model, Stack) else (model,)


def fit_panel(model: Estimator, real: FloatArray, generated: FloatArray, seed: int) -> Panel:
    """The members of a stack, or an estimator alone."""
    if isinstance(model, Stack):
        return Panel.fit(model.members, real, generated, seed)
    return Panel.alone(model, real, generated, seed)


def _check_sizes(sides: tuple[Side, Side]) -> None:
    for side in sides:
        groups = len(np.unique(side.fold_keys))
        if side.grouped and groups < _FEWEST_SAMPLES:
            raise InvalidInputError(
                f"`{side.name}` must hold at least {_FEWEST_SAMPLES} groups. Got {groups}."
            )
        if len(side.x) < _FEWEST_SAMPLES:
            raise InvalidInputError(
                f"`{side.name}` must hold at least {_FEWEST_SAMPLES} samples. Got {len(side.x)}."
            )
        distinct = len(np.unique(side.order_keys))
        if distinct < _FEWEST_VALUES:
            raise InvalidInputError(
                f"`{side.name}` must hold at least {_FEWEST_VALUES} distinct samples. "
                f"Got {distinct}: count so few values, and use RatioProfile.from_masses."
            )


def _check_parts(
    sides: tuple[Side, Side], parts: list[npt.NDArray[np.int64]], split: Split
) -> None:
    """Every fit has samples of both sides, and so has every verdict."""
    for side, part in zip(sides, parts, strict=True):
        counts = np.bincount(part, minlength=1 + max(max(pair) for pair in split.pairs))
        fitted = [len(part) - counts[list(pair)].sum() for pair in split.pairs]
        taught = [
            sum(counts[sum(pair) - fold] for pair in split.partners(fold))
            for fold in split.held_out
        ]
        if not (min(fitted) and min(taught) and counts[list(split.held_out)].any()):
            raise InvalidInputError(
                f"`folds` must leave samples of both sides in every part. Got {split.folds} folds "
                f"for {len(part)} samples in `{side.name}`, {len(np.unique(side.fold_keys))} of "
                "them distinct."
            )
