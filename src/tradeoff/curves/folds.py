"""Cross-fitting: folds by content or group, or a single split, and the fits that left each out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import joblib
import numpy as np
from threadpoolctl import threadpool_limits

from tradeoff._progress import track
from tradeoff._sides import Sides
from tradeoff._threads import single_threaded
from tradeoff._validation import FloatArray, check_count
from tradeoff.exceptions import InvalidInputError
from tradeoff.inference import policy
from tradeoff.ratio.combination import Combiner
from tradeoff.ratio.stack import fit_members

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from tradeoff.curves.repeats import Repeats
    from tradeoff.ratio.base import Estimator
    from tradeoff.ratio.combination import MemberScores
    from tradeoff.samples import Pair, Side, View

__all__ = ["Placed", "Split", "cross_fit", "place"]


_TRAINING_PARTS = 4  # of a single split


@dataclass(frozen=True)
class Split:
    """Parts of the data, and the pairs of them that are left out together.

    Args:
        folds: Number of folds; 1 is a single split.
        pairs: Parts that a fit leaves out.
        held_out: Parts that are counted.
    """

    folds: int
    pairs: tuple[tuple[int, int], ...]
    held_out: tuple[int, ...]

    @classmethod
    def of(cls, folds: int, *, every_pair: bool) -> Split:
        """Pairs of folds; or a single split, one half held out, the other in four parts.

        Args:
            folds: Number of folds.
            every_pair: Whether all pairs of folds are left out in turn, or only neighboring ones.
        """
        folds = check_count("folds", folds)
        if folds == 2:
            raise InvalidInputError("`folds` must be 1, a single split, or at least 3. Got 2.")
        if folds == 1:
            return cls(folds, tuple((0, part + 1) for part in range(_TRAINING_PARTS)), (0,))
        pairs = tuple(combinations(range(folds), 2))
        if not every_pair:
            pairs = tuple((j, k) for j, k in pairs if k - j in (1, folds - 1))
        return cls(folds, pairs, tuple(range(folds)))

    def parts(self, keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        """The part of each key, shape (n,)."""
        if self.folds > 1:
            return (keys % np.uint64(self.folds)).astype(np.int64)
        # The lowest bit chooses the half, the next ones the part of the training half.
        training = 1 + keys // np.uint64(2) % np.uint64(_TRAINING_PARTS)
        return np.where(keys % np.uint64(2) == 0, 0, training).astype(np.int64)

    def partners(self, part: int) -> list[tuple[int, int]]:
        """The pairs whose fits have not seen a part."""
        return [pair for pair in self.pairs if part in pair]


@dataclass(frozen=True, eq=False)
class Placed:
    """A side, and the keys that place its samples in parts and order them within.

    Args:
        side: The samples.
        fold_keys: Keys by which samples are placed, shape (n,).
        is_grouped: Whether samples of one key are not independent.
        seed: Seed of the keys.
    """

    side: Side
    fold_keys: npt.NDArray[np.uint64]
    is_grouped: bool
    seed: int

    @classmethod
    def of(cls, side: Side, *, divide_equal: bool, seed: int) -> Placed:
        """Groups place samples where they are given, and content does where not.

        Copies are a group. Where few values repeat, each would be a large group, and intervals
        would not have a meaning: callers look at `Side.has_few_values`.

        Args:
            side: The samples.
            divide_equal: Whether equal samples are placed independently.
            seed: Seed of the keys.
        """
        keys = side.group_keys_for(seed)
        if keys is not None:
            return cls(side, keys, True, seed)
        if divide_equal:
            return cls(side, side.draws_for(seed), False, seed)
        has_copies = side.distinct < len(side) and not side.has_few_values
        return cls(side, side.keys_for(seed), has_copies, seed)

    @cached_property
    def order(self) -> npt.NDArray[np.intp]:
        """Indices in an order that follows content, so that fits and sums round the same."""
        return np.lexsort((self.side.keys_for(self.seed), self.fold_keys))

    @cached_property
    def groups(self) -> npt.NDArray[np.intp] | None:
        """Number of each sample's group; None if each sample is its own."""
        if not self.is_grouped:
            return None
        return np.unique(self.fold_keys, return_inverse=True)[1]


def place(pair: Pair, split: Split, repeats: Repeats, *, seed: int) -> Sides[Placed]:
    """Both sides with their places; copies and groups have the same place on both."""
    divide_equal = repeats.are_draws
    if split.folds == 1 and all(side.distinct == len(side) for side in pair):
        divide_equal = True  # equal samples of the two sides are independent
    sides = Sides(*(Placed.of(side, divide_equal=divide_equal, seed=seed) for side in pair))
    for placed in sides:
        _check_size(placed, repeats)
    few = [
        keys for placed in sides if (keys := np.unique(placed.fold_keys)).size < policy.FEW_VALUES
    ]
    if few:  # hashes would leave folds empty where there are only a few values to place
        ranked = np.unique(np.concatenate(few))
        sides = sides.map(lambda placed: replace(placed, fold_keys=_by_rank(placed, ranked)))
    for placed in sides:
        _check_parts(placed, split)
    return sides


def _by_rank(placed: Placed, ranked: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    keys = placed.fold_keys
    rank = np.searchsorted(ranked, keys).astype(np.uint64)
    return np.where(np.isin(keys, ranked), rank, keys)


def check_enough(name: str, count: int) -> None:
    """Check that there are enough samples of a side for a curve."""
    if count < policy.FEWEST_SAMPLES:
        raise InvalidInputError(
            f"`{name}` must hold at least {policy.FEWEST_SAMPLES} samples. Got {count}."
        )


def _check_size(placed: Placed, repeats: Repeats) -> None:
    side = placed.side
    groups = len(np.unique(placed.fold_keys))
    if side.groups is not None and groups < policy.FEWEST_SAMPLES:
        raise InvalidInputError(
            f"`{side.name}` must hold at least {policy.FEWEST_SAMPLES} groups. Got {groups}."
        )
    check_enough(side.name, len(side))
    if side.distinct < policy.FEWEST_VALUES and not repeats.are_draws:
        raise InvalidInputError(
            f"`{side.name}` must hold at least {policy.FEWEST_VALUES} distinct samples. "
            f"Got {side.distinct}: for so few values, count each one and use "
            "RatioProfile.from_masses."
        )


def _check_parts(placed: Placed, split: Split) -> None:
    """Every fit has samples of this side, and so has every combination that is learned."""
    part = split.parts(placed.fold_keys)
    counts = np.bincount(part, minlength=1 + max(max(pair) for pair in split.pairs))
    fitted = [len(part) - counts[list(pair)].sum() for pair in split.pairs]
    # Of a pair of parts (i, j), sum(pair) - i is j: what is learned for i is learned on the others.
    taught = [
        sum(counts[sum(pair) - fold] for pair in split.partners(fold)) for fold in split.held_out
    ]
    if not (min(fitted) and min(taught) and counts[list(split.held_out)].any()):
        raise InvalidInputError(
            f"`folds` must leave samples of both sides in every part. Got {split.folds} folds "
            f"for {len(part)} samples in `{placed.side.name}`, "
            f"{len(np.unique(placed.fold_keys))} of them distinct."
        )


_WORTH_PROCESSES = 100_000  # numbers in both samples together


@single_threaded  # several threads would wait for each other in fits of few columns
def cross_fit(
    model: Estimator,
    sides: Sides[Placed],
    split: Split,
    *,
    seed: int,
    jobs: int | None = None,
    progress: bool = True,
) -> dict[tuple[str, ...], Sides[FloatArray]]:
    """Log-ratios of both sides by index, each from fits that have not seen the sample.

    Their key holds the names of the views that were seen: all of them; and if an estimator that
    combines sees several, each view alone, and all but one of at least three. In a single split,
    those of the training half come from a combination that was learned there.
    """
    ordered = [placed.side.x[placed.order] for placed in sides]
    parts = [split.parts(placed.fold_keys[placed.order]) for placed in sides]
    numbers = sum(x.size for x in ordered)
    fitting = joblib.cpu_count() if numbers >= _WORTH_PROCESSES else 1
    jobs = fitting if jobs is None else check_count("jobs", jobs)
    run = joblib.Parallel(n_jobs=min(jobs, len(split.pairs)), return_as="generator")
    views = sides.real.side.views if model.combines and len(sides.real.side.views) > 1 else ()
    tasks = (
        joblib.delayed(_score)(model, ordered, parts, pair, seed, views) for pair in split.pairs
    )
    found = track(run(tasks), "fitting", total=len(split.pairs), progress=progress)
    scores = dict(zip(split.pairs, found, strict=True))
    names = tuple(view.name for view in views)
    some = sorted({1, len(names) - 1}) if names else []
    return {names: _combined(scores, sides, parts, split)} | {
        seen: _combined(scores, sides, parts, split, views=seen)
        for count in some
        for seen in combinations(names, count)
    }


def _combined(
    scores: Mapping[tuple[int, int], dict[int, list[MemberScores]]],
    sides: Sides[Placed],
    parts: Sequence[npt.NDArray[np.int64]],
    split: Split,
    *,
    views: tuple[str, ...] = (),
) -> Sides[FloatArray]:
    """Log-ratios by index from the scores of all members, or of those that see one of the views."""

    def of(pair: tuple[int, int], part: int, side: int) -> MemberScores:
        found = scores[pair][part][side]
        return found.seen_by(views) if views else found

    log_ratios = sides.map(lambda placed: np.full(len(placed.side), np.nan))
    for part in split.held_out:
        pairs = split.partners(part)
        others = [sum(pair) - part for pair in pairs]  # the other part of each pair
        real, generated = (
            [of(pair, other, i) for pair, other in zip(pairs, others, strict=True)]
            for i in range(2)
        )
        combine = Combiner.learn(real=real, generated=generated)
        for i, placed in enumerate(sides):
            combined = [combine(of(pair, part, i)) for pair in pairs]
            log_ratios[i][placed.order[parts[i] == part]] = np.mean(combined, axis=0)
            for pair, other in zip(pairs, others, strict=True):
                if other not in split.held_out:
                    rows = placed.order[parts[i] == other]
                    log_ratios[i][rows] = combine(of(pair, other, i))
    return log_ratios


def _score(
    model: Estimator,
    sides: list[FloatArray],
    parts: list[npt.NDArray[np.int64]],
    pair: tuple[int, int],
    seed: int,
    views: Sequence[View],
) -> dict[int, list[MemberScores]]:
    """Fit without a pair of parts; scores of both sides in each of them."""
    # Threads of small fits only wait for each other, and sums would depend on their number.
    with threadpool_limits(1):
        real, generated = (x[~np.isin(part, pair)] for x, part in zip(sides, parts, strict=True))
        fitted = fit_members(model, real, generated, seed, views)
        return {
            held_out: [fitted(x[part == held_out]) for x, part in zip(sides, parts, strict=True)]
            for held_out in pair
        }
