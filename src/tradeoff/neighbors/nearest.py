"""Exact nearest neighbors of points within their own set."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tradeoff.neighbors.pairs import Pairs
from tradeoff.neighbors.points import exact_squares
from tradeoff.neighbors.ranking import ranked, smallest
from tradeoff.neighbors.tiles import WIDE, products

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from tradeoff.neighbors.screen import Tiles
    from tradeoff.neighbors.tiles import Tile

__all__ = ["nearest_in_own_set"]

_PENDING = 2**20


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
    search = _Search(tiles, ranks)
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


class _Search:
    """Running nearest neighbors of every row.

    New pairs are collected in `fresh`, tighten the upper bounds in batches and then wait in
    `pending`, which is compacted when it grows too long.
    """

    def __init__(self, tiles: Tiles, ranks: Sequence[int]) -> None:
        self.tiles, self.ranks = tiles, list(ranks)
        self.nearest = self.ranks[-1]
        n = len(tiles.points)
        self.uppers = tiles.norms.new_full((n, self.nearest), math.inf)
        self.pending: list[Pairs] = []
        self.fresh: list[Pairs] = []
        self.waiting = self.unused = 0
        self.limit = _PENDING + 2 * n * self.nearest

    @property
    def bound(self) -> Tensor:
        """Upper bound of the squared distance to the farthest neighbor of interest, by row."""
        return self.uppers[:, -1]

    def first_bound(self, tile: Tile) -> Tensor:
        """The same bound from one tile on the diagonal alone, before any pair was added."""
        norms = self.tiles.norms[tile.rows]
        if len(norms) <= self.nearest:
            return self.bound[tile.rows]
        probable = tile.products[: len(norms)].topk(self.nearest, largest=False, sorted=False)
        norms = norms[:, None] + norms[probable.indices]
        return self.tiles.screen.bounds(probable.values, norms)[1].amax(1)

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
        if self.fresh:
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
        points = self.tiles.points
        exact = exact_squares(points, pairs.rows[unclear], points, pairs.columns[unclear])
        pairs.lower[unclear] = pairs.upper[unclear] = exact
        # Sorted by column first, so that ties of distance go to the lower index.
        pairs = pairs[pairs.columns.argsort(stable=True)]
        pairs = pairs[ranked(pairs.rows, pairs.lower, self.nearest)]
        self.pending, self.waiting = [pairs], len(pairs)
        return pairs

    def _smallest(self, rows: Tensor, values: Tensor, *, toward: float) -> tuple[Tensor, Tensor]:
        """Smallest values by row, on the scale of products, where single precision suffices."""
        scale = self.tiles.screen.scale**2
        touched, values = smallest(rows, values * scale, self.nearest, toward=toward)
        return touched, values / scale

    def finish(self) -> tuple[Tensor, Tensor]:
        """Exact squared distances by rank, and indices."""
        pairs = self.compact()  # by row and distance, `nearest` of each row
        shape = (len(self.uppers), self.nearest)
        squares = pairs.lower.view(shape)[:, [r - 1 for r in self.ranks]]
        return squares, pairs.columns.view(shape)
