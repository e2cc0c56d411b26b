"""Exact neighbors and counts, tile by tile, at the speed of a matrix product.

A product bounds the squared distances of a tile from below; the few pairs that could matter are
compared by a bound from above, and by the reference where bounds do not decide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tradeoff._progress import track
from tradeoff.neighbors.points import exact_squares
from tradeoff.neighbors.screen import MULTIPLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torch import Tensor

    from tradeoff.neighbors.screen import Tiles

__all__ = ["Balls", "Closest", "nearest_in_own_set", "sweep"]

_PENDING = 2**20
_FEW = MULTIPLE // 2


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of points, by absolute row numbers, and bounds of their squared distances."""

    rows: Tensor
    columns: Tensor
    lower: Tensor
    upper: Tensor

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, keep: Tensor) -> Pairs:
        return Pairs(*(part[keep] for part in vars(self).values()))

    def swapped(self) -> Pairs:
        """The same pairs, seen from the other side."""
        return Pairs(self.columns, self.rows, self.lower, self.upper)

    @classmethod
    def concatenate(cls, parts: Sequence[Pairs]) -> Pairs:
        """All pairs of several parts."""
        import torch

        columns = zip(*(vars(part).values() for part in parts), strict=True)
        return cls(*(torch.cat(column) for column in columns))


def nearest_in_own_set(
    tiles: Tiles, ranks: Sequence[int], *, label: str, progress: bool
) -> tuple[Tensor, Tensor]:
    """Exact squared distances to the neighbors of given ranks, and the nearest by index.

    Each product of two tiles is computed once. Tiles on the diagonal come first: they say how near
    a neighbor must be to be looked at.

    Args:
        tiles: the points.
        ranks: ascending, the nearest other point is 1; below the number of points.
        label: of the progress line.
        progress: False silences it.

    Returns:
        Squared distances, shape (n, ranks), and the indices of the nearest points up to the last
        rank, shape (n, last rank). Ties go to the lower index.
    """
    search = _Search(tiles, ranks)
    number = len(tiles.cuts)
    pairs = [(i, i) for i in range(number)]
    pairs += [(i, j) for i in range(number) for j in range(i + 1, number)]
    for i, j, lower in _products(tiles, tiles, pairs, label, progress=progress):
        if i == j:
            lower.fill_diagonal_(math.inf)
            search.add(_below(tiles, tiles, i, j, lower, search.first_bound(i, lower)))
        else:
            row_bound, column_bound = (search.bound[tiles.cuts[tile]] for tile in (i, j))
            search.add(_below(tiles, tiles, i, j, lower, row_bound))
            search.add(_below(tiles, tiles, i, j, lower, column_bound, around=1).swapped())
    return search.finish()


class _Search:
    """The running nearest neighbors of every row."""

    def __init__(self, tiles: Tiles, ranks: Sequence[int]) -> None:
        self.tiles, self.ranks = tiles, list(ranks)
        self.nearest = self.ranks[-1]
        n = len(tiles.points)
        self.uppers = tiles.norms.new_full((n, self.nearest), math.inf)
        self.pending: list[Pairs] = []
        self.waiting, self.limit = 0, _PENDING + 2 * n * self.nearest

    @property
    def bound(self) -> Tensor:
        """No neighbor that matters is farther than this."""
        return self.uppers[:, -1]

    def first_bound(self, tile: int, lower: Tensor) -> Tensor:
        """A bound from within a tile, before anything is known."""
        cut, screen = self.tiles.cuts[tile], self.tiles.screen
        n = cut.stop - cut.start
        if n <= self.nearest:
            return self.bound[cut]
        probable = lower[:n].topk(self.nearest, largest=False, sorted=False)
        norms = self.tiles.norms[cut]
        _, upper = screen.bounds(probable.values, norms[:, None] + norms[probable.indices])
        return upper.amax(1)

    def add(self, pairs: Pairs) -> None:
        """Take in pairs, sorted by column within each row."""
        if not len(pairs):
            return
        touched, place, rank, order = _ranked(pairs.rows, pairs.upper, self.nearest)
        fresh = self.uppers.new_full((len(touched), self.nearest), math.inf)
        fresh[place, rank] = pairs.upper[order]
        self.uppers[touched] = _cat((self.uppers[touched], fresh)).sort(1).values[:, : self.nearest]
        self.pending.append(pairs)
        self.waiting += len(pairs)
        if self.waiting > self.limit:
            self.compact()

    def compact(self) -> Pairs:
        """Keep the nearest of every row, with exact distances wherever bounds do not decide.

        The neighbor of rank r lies between the r-th lower and the r-th upper bound; only pairs
        whose bounds overlap with these could be it.
        """
        pairs = Pairs.concatenate(self.pending)
        pairs = pairs[pairs.lower <= self.bound[pairs.rows]]
        touched, place, rank, order = _ranked(pairs.rows, pairs.lower, self.nearest)
        lowers = self.uppers.new_full((len(self.uppers), self.nearest), math.inf)
        lowers[touched[place], rank] = pairs.lower[order]
        unclear = pairs.rows < 0
        for r in self.ranks:
            low, high = lowers[pairs.rows, r - 1], self.uppers[pairs.rows, r - 1]
            unclear |= (pairs.lower <= high) & (pairs.upper >= low)
        unclear &= pairs.lower < pairs.upper
        points = self.tiles.points
        exact = exact_squares(points, pairs.rows[unclear], points, pairs.columns[unclear])
        pairs.lower[unclear] = pairs.upper[unclear] = exact
        pairs = pairs[pairs.columns.argsort(stable=True)]
        order = _ranked(pairs.rows, pairs.lower, self.nearest)[-1]
        pairs = pairs[order]
        self.pending, self.waiting = [pairs], len(pairs)
        return pairs

    def finish(self) -> tuple[Tensor, Tensor]:
        """Exact squared distances by rank, and indices."""
        pairs = self.compact()
        shape = (len(self.uppers), self.nearest)
        squares = pairs.lower.view(shape)[:, [r - 1 for r in self.ranks]]
        return squares, pairs.columns.view(shape)


class Balls:
    """Balls around the points of one side: how many of the other side each one holds.

    Args:
        squares: squared radii, one row per family of balls, shape (families, n).
        others: number of points of the other side.
        strict: whether a point on the surface is outside.
        around: 0 if the centers are the rows of the products, 1 if they are the columns.
    """

    def __init__(self, squares: Tensor, others: int, *, strict: bool, around: int) -> None:
        import torch

        self.squares, self.strict, self.around = squares, strict, around
        families, n = squares.shape
        self.inside, self.holding, self.index_sums = (
            torch.zeros(shape, dtype=torch.int64, device=squares.device)
            for shape in ((families, n), (families, others), (n,))
        )
        self._largest = squares.amax(0)

    def update(self, x: Tiles, y: Tiles, i: int, j: int, lower: Tensor) -> None:
        """Count the pairs of a tile."""
        cut = (x.cuts[i], y.cuts[j])[self.around]
        pairs = _below(x, y, i, j, lower, self._largest[cut], around=self.around)
        if not len(pairs):
            return
        center, other = (pairs.rows, pairs.columns)[:: 1 - 2 * self.around]
        radii = self.squares[:, center]
        inside = self._within(pairs.upper, radii)
        unclear = (self._within(pairs.lower, radii) & ~inside).any(0).nonzero()[:, 0]
        if len(unclear):
            rows, columns = pairs.rows[unclear], pairs.columns[unclear]
            exact = exact_squares(x.points, rows, y.points, columns)
            inside[:, unclear] = self._within(exact, radii[:, unclear])
        for family, held in enumerate(inside):
            self.inside[family] += center[held].bincount(minlength=self.inside.shape[1])
            self.holding[family] += other[held].bincount(minlength=self.holding.shape[1])
        self.index_sums.index_add_(0, center[inside[0]], other[inside[0]])

    def _within(self, squares: Tensor, radii: Tensor) -> Tensor:
        return squares < radii if self.strict else squares <= radii


class Closest:
    """For every column, the row whose squared distance, divided by the row's own, is smallest.

    Args:
        squares: what distances to each row are divided by, shape (n,); rows without a positive
            one are left out.
        others: number of columns.
    """

    def __init__(self, squares: Tensor, others: int) -> None:
        import torch

        self.squares = squares
        self.quotient = squares.new_full((others,), math.inf)
        self.index = torch.full((others,), -1, device=squares.device)

    def update(self, x: Tiles, y: Tiles, i: int, j: int, lower: Tensor) -> None:
        """Look at the pairs of a tile that may be closest."""
        start, cut = x.cuts[i].start, y.cuts[j]
        squares = self.squares[x.cuts[i]]
        kept = (squares > 0).nonzero()[:, 0]
        if not len(kept):
            return
        weight = 1.0 / (squares[kept] * x.screen.scale**2)
        quotient = lower[kept, : cut.stop - cut.start] * weight[:, None]
        nearest, row = quotient.min(0)
        open_ = (nearest <= self.quotient[cut]).nonzero()[:, 0]
        self._compare(x, y, kept[row[open_]] + start, open_ + cut.start)
        rows, columns = (quotient <= self.quotient[cut]).nonzero(as_tuple=True)
        self._compare(x, y, kept[rows] + start, columns + cut.start)

    def _compare(self, x: Tiles, y: Tiles, rows: Tensor, columns: Tensor) -> None:
        if not len(rows):
            return
        quotient = exact_squares(x.points, rows, y.points, columns) / self.squares[rows]
        by_row = rows.argsort(stable=True)
        touched, _, _, order = _ranked(columns[by_row], quotient[by_row], 1)
        order = by_row[order]
        value, index, old = quotient[order], rows[order], self.index[touched]
        better = value < self.quotient[touched]
        better |= (value == self.quotient[touched]) & ((index < old) | (old < 0))
        self.quotient[touched[better]], self.index[touched[better]] = value[better], index[better]


def sweep(
    x: Tiles, y: Tiles, counters: Sequence[Balls | Closest], *, label: str, progress: bool
) -> None:
    """Show every tile of products of both sides to all counters."""
    pairs = [(i, j) for i in range(len(x.cuts)) for j in range(len(y.cuts))]
    for i, j, lower in _products(x, y, pairs, label, progress=progress):
        for counter in counters:
            counter.update(x, y, i, j, lower)


def _products(
    x: Tiles, y: Tiles, pairs: list[tuple[int, int]], label: str, *, progress: bool
) -> Iterator[tuple[int, int, Tensor]]:
    """Products that bound scaled squared distances from below, tile by tile, in one memory."""
    import torch

    last, left, memory = -1, x.norms, x.norms
    with torch.no_grad(), torch.autocast(x.norms.device.type, enabled=False):
        for i, j in track(pairs, label, progress=progress):
            if i != last:
                last, left = i, x.left(i)
            right = y.right(j)
            if memory.shape != (len(left), len(right)):
                memory = left.new_empty((len(left), len(right)))
            yield i, j, torch.mm(left, right.T, out=memory)


def _below(
    x: Tiles, y: Tiles, i: int, j: int, lower: Tensor, bound: Tensor, *, around: int = 0
) -> Pairs:
    """Pairs of a tile that bounds of its rows, or of its columns, do not rule out.

    The smallest of every few numbers says first where there is anything at all.
    """
    import torch

    height, width = lower.shape
    limit = lower.new_full((lower.shape[around],), -math.inf)
    limit[: len(bound)] = x.screen.threshold(bound)
    flat = lower.view(-1)
    if around == 0:
        groups = lower.view(height, width // MULTIPLE, MULTIPLE).amin(2)
        hits = (groups <= limit[:, None]).view(-1).nonzero()[:, 0]
        products = flat.view(-1, MULTIPLE).index_select(0, hits)
        owner, first, step = hits // groups.shape[1], hits * MULTIPLE, 1
    else:
        groups = lower.view(height // _FEW, _FEW, width).amin(1)
        hits = (groups <= limit).view(-1).nonzero()[:, 0]
        owner, step = hits % width, width
        first = (hits - owner) * _FEW + owner
        steps = torch.arange(0, _FEW * width, width, device=lower.device)
        products = flat.index_select(0, (first[:, None] + steps).view(-1)).view(-1, _FEW)
    found = (products <= limit[owner, None]).view(-1).nonzero()[:, 0]
    hit = found // products.shape[1]
    places = first[hit] + (found - hit * products.shape[1]) * step
    rows = places // width
    columns = places - rows * width + y.cuts[j].start
    rows += x.cuts[i].start
    norms = x.norms[rows] + y.norms[columns]
    return Pairs(rows, columns, *x.screen.bounds(products.view(-1)[found], norms))


def _ranked(rows: Tensor, values: Tensor, most: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The smallest values of every row, at most so many; ties keep their order.

    Returns:
        Distinct rows; for each value that is kept the number of its row among them, its rank from
        0, and its place in the list.
    """
    import torch

    order = values.argsort(stable=True)
    order = order[rows[order].argsort(stable=True)]
    touched, counts = rows[order].unique_consecutive(return_counts=True)  # type: ignore[no-untyped-call]
    place = torch.arange(len(touched), device=rows.device).repeat_interleave(counts)
    rank = torch.arange(len(order), device=rows.device) - (counts.cumsum(0) - counts)[place]
    keep = rank < most
    return touched, place[keep], rank[keep], order[keep]


def _cat(parts: tuple[Tensor, Tensor]) -> Tensor:
    import torch

    return torch.cat(parts, 1)
