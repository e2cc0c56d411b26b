"""Exact nearest neighbors of points, within their own set and in another one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tradeoff._result import Result
from tradeoff._validation import FloatArray, check_count
from tradeoff.exceptions import InvalidInputError
from tradeoff.metrics.neighbors.pairs import Pairs, ranked, smallest
from tradeoff.metrics.neighbors.points import exact_squares, points_of
from tradeoff.metrics.neighbors.screen import tiles_of
from tradeoff.metrics.neighbors.tiles import WIDE, products

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from tradeoff.metrics.neighbors.screen import Tiles
    from tradeoff.metrics.neighbors.tiles import Tile

__all__ = ["OwnNeighbors", "nearest_in_other_set", "nearest_in_own_set", "own_neighbors"]

_PENDING = 2**20


@dataclass(frozen=True, eq=False)
class OwnNeighbors(Result):
    """Squared distances of every sample to its nearest others, and who they are.

    Computed once for a reference, they can be stored and serve for every model.

    Args:
        squares: Exact squared distances, ascending, shape (n, ranks).
        index: Row numbers of the neighbors, shape (n, ranks); ties go to the lower one.

    Example:
        >>> from tradeoff.metrics.neighbors import own_neighbors
        >>> found = own_neighbors([[0.0], [1.0], [3.0]], ranks=2)
        >>> found.squares
        array([[1., 9.],
               [1., 4.],
               [4., 9.]])
        >>> found.index
        array([[1, 2],
               [0, 2],
               [1, 0]])
    """

    squares: FloatArray
    index: npt.NDArray[np.int64]

    def __post_init__(self) -> None:
        super().__post_init__()
        squares, index = np.asarray(self.squares), np.asarray(self.index)
        if squares.ndim != 2 or squares.shape != index.shape or index.dtype.kind not in "iu":
            raise InvalidInputError(
                "`squares` and `index` must have one row per sample and one column per rank, and "
                f"`index` whole numbers. Got shapes {squares.shape} and {index.shape}."
            )
        if index.size and not 0 <= index.min() <= index.max() < len(index):
            raise InvalidInputError(f"`index` must lie between 0 and {len(index) - 1}.")


def own_neighbors(
    samples: Any, *, ranks: int, tile: int | None = None, progress: bool = True
) -> OwnNeighbors:
    """The exact nearest neighbors of samples in their own set.

    The cost grows with the square of the number of samples.

    Args:
        samples: Features, shape (n, d): an array, memory-mapped or not, or a tensor.
        ranks: Number of neighbors, below n.
        tile: Rows of a tile; the result does not depend on it.
        progress: False silences the progress line.

    Example:
        >>> from tradeoff.metrics.neighbors import own_neighbors
        >>> own_neighbors([[0.0], [1.0], [3.0]], ranks=1).squares.ravel()
        array([1., 1., 4.])
    """
    (points,) = points_of(samples=samples)
    ranks = check_count("ranks", ranks)
    if ranks >= len(points):
        raise InvalidInputError(
            f"`ranks` must be below the number of samples, {len(points)}. Got {ranks}."
        )
    (tiles,) = tiles_of(points, size=check_tile(tile))
    squares, index = nearest_in_own_set(
        tiles, range(1, ranks + 1), label="neighbors", progress=progress
    )
    return OwnNeighbors(squares.cpu().numpy(), index.cpu().numpy())


def check_tile(tile: int | None) -> int | None:
    """Rows of a tile, if given."""
    return None if tile is None else check_count("tile", tile)


def nearest_in_own_set(
    tiles: Tiles, ranks: Sequence[int], *, label: str, progress: bool
) -> tuple[Tensor, Tensor]:
    """Exact squared distances to the neighbors of given ranks, and the nearest by index.

    Each product of two tiles is computed once. Tiles on the diagonal come first: they give a first
    bound of the distance within which neighbors are searched.

    Args:
        tiles: Points.
        ranks: Ranks in ascending order, below the number of points; the nearest other point has
            rank 1.
        label: Label of the progress line.
        progress: Whether to show a progress line.

    Returns:
        Squared distances, shape (n, ranks), and the indices of the nearest points up to the last
        rank, shape (n, last rank). Ties go to the lower index.
    """
    search = _Search(tiles, tiles, ranks)
    # Distances are symmetric: to the right of each tile on the diagonal lies all that is left.
    places = [(cut, cut) for cut in tiles.cuts()]
    places += [(rows, c) for rows, _ in places for c in tiles.cuts(WIDE * tiles.size, rows.stop)]
    for tile in products(tiles, tiles, places, label, progress=progress):
        if tile.rows == tile.columns:
            tile.products.fill_diagonal_(math.inf)  # a point is not its own neighbor
            search.add(tile.below(search.first_bound(tile)))
        else:
            search.add(tile.below(search.bound[tile.rows]))
            search.add(tile.below(search.bound[tile.columns], around=1).swapped())
    return search.finish()


def nearest_in_other_set(
    x: Tiles, y: Tiles, ranks: int, *, label: str, progress: bool
) -> tuple[Tensor, Tensor]:
    """Exact squared distances to the nearest points of another set, and which ones they are.

    Args:
        x: Points whose neighbors are searched.
        y: Points among which they are searched, on the same screen.
        ranks: Number of neighbors, at most the number of those points.
        label: Label of the progress line.
        progress: Whether to show a progress line.

    Returns:
        Squared distances, ascending, and indices, shapes (n, ranks). Ties go to the lower index.
    """
    search = _Search(x, y, range(1, ranks + 1))
    places = [(rows, columns) for rows in x.cuts() for columns in y.cuts(WIDE * y.size)]
    for tile in products(x, y, places, label, progress=progress):
        if tile.columns.start == 0:
            search.add(tile.below(search.first_bound(tile)))
            search.tighten()  # all other tiles of these rows need the bound
        else:
            search.add(tile.below(search.bound[tile.rows]))
    return search.finish()


class _Search:
    """Running nearest neighbors of every row among the points of a set, its own or another one.

    New pairs are collected in `fresh`, tighten the upper bounds in batches and then wait in
    `pending`, which is compacted when it grows too long.
    """

    def __init__(self, x: Tiles, y: Tiles, ranks: Sequence[int]) -> None:
        self.x, self.y, self.ranks = x, y, list(ranks)
        self.nearest = self.ranks[-1]
        n = len(x.points)
        self.uppers = x.norms.new_full((n, self.nearest), math.inf)
        self.pending: list[Pairs] = []
        self.fresh: list[Pairs] = []
        self.waiting = self.unused = 0
        self.limit = _PENDING + 2 * n * self.nearest

    @property
    def bound(self) -> Tensor:
        """Upper bound of the squared distance to the farthest neighbor of interest, by row."""
        return self.uppers[:, -1]

    def first_bound(self, tile: Tile) -> Tensor:
        """The same bound from the first tile of the rows alone, before any pair was added."""
        norms, others = self.x.norms[tile.rows], self.y.norms[tile.columns]
        if len(others) <= self.nearest:
            return self.bound[tile.rows]
        probable = tile.products[: len(norms)].topk(self.nearest, largest=False, sorted=False)
        norms = norms[:, None] + others[probable.indices]
        return self.x.screen.bounds(probable.values, norms)[1].amax(1)

    def add(self, pairs: Pairs) -> None:
        """Add pairs; bounds are tightened when there are enough of them."""
        self.fresh.append(pairs)
        self.unused += len(pairs)
        if self.unused > len(self.uppers) * self.nearest // 2:
            self.tighten()
        if self.waiting > self.limit:
            self.compact()

    def tighten(self) -> None:
        """Keep the smallest upper bounds of every row."""
        import torch

        if not self.fresh:
            return
        pairs = Pairs.concatenate(self.fresh)
        rows, fresh = self._smallest(pairs.rows, pairs.upper, toward=math.inf)
        self.uppers[rows] = (
            torch.cat((self.uppers[rows], fresh), 1).sort(1).values[:, : self.nearest]
        )
        self.pending.append(pairs)
        self.waiting += len(pairs)
        self.fresh, self.unused = [], 0

    def compact(self) -> Pairs:
        """Keep the nearest pairs of every row, with exact distances where bounds do not decide.

        The neighbor of rank r lies between the r-th lower and the r-th upper bound; only pairs
        whose bounds overlap with these can be that neighbor.
        """
        self.tighten()
        pairs = Pairs.concatenate(self.pending)
        pairs = pairs[pairs.lower <= self.bound[pairs.rows]]
        rows, least = self._smallest(pairs.rows, pairs.lower, toward=-math.inf)
        lowers = self.uppers.new_full(self.uppers.shape, math.inf)
        lowers[rows] = least
        unclear = pairs.rows < 0  # none yet
        for r in self.ranks:
            low, high = lowers[pairs.rows, r - 1], self.uppers[pairs.rows, r - 1]
            unclear |= (pairs.lower <= high) & (pairs.upper >= low)
        unclear &= pairs.lower < pairs.upper
        exact = exact_squares(
            self.x.points, pairs.rows[unclear], self.y.points, pairs.columns[unclear]
        )
        pairs.lower[unclear] = pairs.upper[unclear] = exact
        # Sorted by column first, so that ties of distance go to the lower index.
        pairs = pairs[pairs.columns.argsort(stable=True)]
        pairs = pairs[ranked(pairs.rows, pairs.lower, self.nearest)]
        self.pending, self.waiting = [pairs], len(pairs)
        return pairs

    def _smallest(self, rows: Tensor, values: Tensor, *, toward: float) -> tuple[Tensor, Tensor]:
        """Smallest values by row, on the scale of products, where single precision suffices."""
        scale = self.x.screen.scale**2
        touched, values = smallest(rows, values * scale, self.nearest, toward=toward)
        return touched, values / scale

    def finish(self) -> tuple[Tensor, Tensor]:
        """Exact squared distances by rank, and indices."""
        pairs = self.compact()  # by row and distance, `nearest` of each row
        shape = (len(self.uppers), self.nearest)
        squares = pairs.lower.view(shape)[:, [r - 1 for r in self.ranks]]
        return squares, pairs.columns.view(shape)
