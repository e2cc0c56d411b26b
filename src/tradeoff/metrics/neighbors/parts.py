"""The nearest real samples of generated ones in two parts of the real data, with all ties.

Equal rows and equally distant ones share a vote. Each part is searched for the two nearest distinct
rows; only samples for which both are equally far need a second pass that lists all ties.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tradeoff._result import Result
from tradeoff._validation import FloatArray
from tradeoff.metrics.neighbors.nearest import nearest_in_other_set
from tradeoff.metrics.neighbors.points import exact_squares, points_of
from tradeoff.metrics.neighbors.screen import tiles_of
from tradeoff.metrics.neighbors.tiles import WIDE, products

if TYPE_CHECKING:
    from tradeoff.metrics.neighbors.screen import Tiles
    from tradeoff.samples import Side

__all__ = ["NearestOfPart", "NearestReal", "near_duplicates", "nearest_real"]

_LABEL = "nearest real samples"


@dataclass(frozen=True, eq=False)
class NearestOfPart(Result):
    """The nearest samples of one part of the real data, of each generated sample.

    Args:
        squares: Squared distances to the two nearest distinct rows, shape (n, 2); infinite where
            there are fewer.
        rows: Row numbers of the two, shape (n, 2); of equal rows the first one.
        sample: Generated sample of each vote for this part, shape (votes,).
        row: Row number that it is for, shape (votes,).
        repeats: How many rows are equal to each one, itself included, shape (part,).
    """

    squares: FloatArray
    rows: npt.NDArray[np.int64]
    sample: npt.NDArray[np.intp]
    row: npt.NDArray[np.intp]
    repeats: npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class NearestReal(Result):
    """The nearest real samples of each generated one, in both parts.

    Args:
        train: Those of the training set.
        held_out: Those of the held-out set.
        has_equal: Whether the nearest rows of both parts are equal, shape (n,).
    """

    train: NearestOfPart
    held_out: NearestOfPart
    has_equal: npt.NDArray[np.bool_]

    @property
    def parts(self) -> tuple[NearestOfPart, NearestOfPart]:
        """Both parts, the training set first."""
        return self.train, self.held_out

    @cached_property
    def of_train(self) -> npt.NDArray[np.bool_]:
        """Whether the nearest real sample is a training sample, and no held-out one is as near."""
        return np.asarray(self.train.squares[:, 0] < self.held_out.squares[:, 0])

    @cached_property
    def ratio(self) -> FloatArray:
        """Distance to the nearest real sample over that to the next distinct one, shape (n,)."""
        first, second = (np.stack([p.squares[:, i] for p in self.parts], 1) for i in (0, 1))
        nearest = first.min(1)
        farther = np.where(self.has_equal, np.inf, first.max(1))
        following = np.minimum(farther, second.min(1))
        is_known = (following > 0) & np.isfinite(following)
        quotient = np.divide(nearest, following, out=np.ones(len(first)), where=is_known)
        return np.asarray(np.sqrt(quotient))

    @cached_property
    def is_single(self) -> npt.NDArray[np.bool_]:
        """Whether no other real sample is equal to the nearest one, shape (n,)."""
        repeats = [part.repeats[part.rows[:, 0]] for part in self.parts]
        return np.asarray(np.where(self.of_train, *repeats) + self.has_equal == 1)

    @property
    def weight(self) -> FloatArray:
        """Weight of a vote of each generated sample, which its nearest real ones share."""
        votes = [np.bincount(part.sample, minlength=len(part.squares)) for part in self.parts]
        return np.asarray(1.0 / np.add(*votes))


def nearest_real(
    *, train: Side, held_out: Side, generated: Side, tile: int | None = None, progress: bool
) -> NearestReal:
    """The nearest real samples of generated ones, whatever the tile, the threads or the order.

    Args:
        train: Real samples on which the model was trained.
        held_out: Real samples that it has not seen.
        generated: Samples of the model.
        tile: Rows of a tile.
        progress: Whether to show progress lines.
    """
    parts = [_Distinct.of(part) for part in (train, held_out)]
    points = points_of(
        generated=generated.features, **{part.side.name: part.features for part in parts}
    )
    made, *tiles = tiles_of(*points, size=tile)
    found = [
        _two_nearest(made, of_part, part, progress=progress)
        for part, of_part in zip(parts, tiles, strict=True)
    ]
    nearest = np.minimum(*(squares[:, 0] for squares, _ in found))
    voted = [
        _votes(made, of_part, *one, nearest, progress=progress)
        for of_part, one in zip(tiles, found, strict=True)
    ]
    of_train, of_held_out = (
        NearestOfPart(squares, part.rows[index], *part.expanded(*votes), part.repeats)
        for part, (squares, index), votes in zip(parts, found, voted, strict=True)
    )
    has_equal = train.keys[of_train.rows[:, 0]] == held_out.keys[of_held_out.rows[:, 0]]
    return NearestReal(of_train, of_held_out, has_equal)


def near_duplicates(
    side: Side, others: Side, *, ratio: float, progress: bool
) -> npt.NDArray[np.bool_]:
    """Whether each sample is equal to another one, or much closer to it than to the next, (n,).

    Args:
        side: Samples.
        others: Samples among which duplicates are searched.
        ratio: Distance to the nearest of them over that to the next distinct one, at most.
        progress: Whether to show progress lines.
    """
    part = _Distinct.of(others)
    points = points_of(**{side.name: side.features, others.name: part.features})
    own, tiles = tiles_of(*points)
    squares, _ = _two_nearest(own, tiles, part, progress=progress)
    return np.asarray(squares[:, 0] <= ratio**2 * np.where(squares[:, 0] > 0, squares[:, 1], 1.0))


@dataclass(frozen=True, eq=False)
class _Distinct:
    """The distinct rows of a part, by the first of each, and all rows that are equal to them."""

    side: Side
    rows: npt.NDArray[np.intp]
    number: npt.NDArray[np.intp]  # of the distinct row, for each row

    @classmethod
    def of(cls, side: Side) -> _Distinct:
        _, first, number = np.unique(side.keys, return_index=True, return_inverse=True)
        order = np.argsort(first)  # rows stay in their order
        place = np.empty_like(order)
        place[order] = np.arange(order.size)
        return cls(side, first[order], place[number])

    @property
    def features(self) -> npt.NDArray[np.generic]:
        """The distinct rows; no copy where all are."""
        every = self.rows.size == len(self.side)
        return self.side.features if every else self.side.features[self.rows]

    @property
    def repeats(self) -> npt.NDArray[np.intp]:
        return np.bincount(self.number)[self.number]

    def expanded(
        self, sample: npt.NDArray[np.intp], distinct: npt.NDArray[np.intp]
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Votes for distinct rows as votes for every row that is equal to one of them."""
        counts = np.bincount(self.number)
        by_number = np.argsort(self.number, kind="stable")
        starts = np.cumsum(counts) - counts
        times = counts[distinct]
        ends = np.cumsum(times)
        within = np.arange(times.sum()) - np.repeat(ends - times, times)
        return np.repeat(sample, times), by_number[np.repeat(starts[distinct], times) + within]


def _two_nearest(
    made: Tiles, part: Tiles, distinct: _Distinct, *, progress: bool
) -> tuple[FloatArray, npt.NDArray[np.int64]]:
    """The two nearest distinct rows of each sample; the only one twice, infinitely far."""
    ranks = min(2, distinct.rows.size)
    squares, index = (
        found.cpu().numpy()
        for found in nearest_in_other_set(made, part, ranks, label=_LABEL, progress=progress)
    )
    if ranks == 1:
        squares = np.column_stack((squares, np.full(len(squares), np.inf)))
        index = np.column_stack((index, index))
    return squares, index


def _votes(
    made: Tiles,
    part: Tiles,
    squares: FloatArray,
    index: npt.NDArray[np.int64],
    nearest: FloatArray,
    *,
    progress: bool,
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Samples and the distinct rows of a part that are as near as the nearest of both parts."""
    is_tied = squares[:, 1] == nearest
    single = np.flatnonzero((squares[:, 0] == nearest) & ~is_tied)
    sample, row = [single], [index[single, 0]]
    if is_tied.any():
        tied = _all_as_near(made, part, np.where(is_tied, nearest, -1.0), progress=progress)
        sample.append(tied[0])
        row.append(tied[1])
    return np.concatenate(sample), np.concatenate(row)


def _all_as_near(
    made: Tiles, part: Tiles, squares: FloatArray, *, progress: bool
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """All pairs at exactly the given squared distances; none of samples whose own is negative."""
    import torch

    bound = made.norms.new_tensor(squares)
    is_wanted = bound >= 0
    found: list[tuple[torch.Tensor, torch.Tensor]] = []
    rows = [cut for cut in made.cuts() if bool(is_wanted[cut].any())]
    places = [(cut, columns) for cut in rows for columns in part.cuts(WIDE * part.size)]
    for one in products(made, part, places, _LABEL, progress=progress):
        pairs = one.below(bound[one.rows])
        pairs = pairs[is_wanted[pairs.rows]]
        exact = exact_squares(made.points, pairs.rows, part.points, pairs.columns)
        is_as_near = exact == bound[pairs.rows]
        found.append((pairs.rows[is_as_near], pairs.columns[is_as_near]))
    sample, row = (torch.cat(column).cpu().numpy() for column in zip(*found, strict=True))
    return sample, row
