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
_QUOTIENT_ROUNDING = 1e-12
_WIDE = 4  # tiles next to each other, multiplied at once


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
    places = [(cut, cut) for cut in tiles.cuts()]
    places += [(rows, c) for rows, _ in places for c in tiles.cuts(_WIDE * tiles.size, rows.stop)]
    for tile in _products(tiles, tiles, places, label, progress=progress):
        if tile.rows == tile.columns:
            tile.products.fill_diagonal_(math.inf)
            search.add(tile.below(search.first_bound(tile)))
        else:
            search.add(tile.below(search.bound[tile.rows]))
            search.add(tile.below(search.bound[tile.columns], around=1).swapped())
    return search.finish()


class _Search:
    """The running nearest neighbors of every row."""

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
        """No neighbor that matters is farther than this."""
        return self.uppers[:, -1]

    def first_bound(self, tile: Tile) -> Tensor:
        """A bound from within a tile on the diagonal, before anything is known."""
        norms = self.tiles.norms[tile.rows]
        if len(norms) <= self.nearest:
            return self.bound[tile.rows]
        probable = tile.products[: len(norms)].topk(self.nearest, largest=False, sorted=False)
        norms = norms[:, None] + norms[probable.indices]
        return self.tiles.screen.bounds(probable.values, norms)[1].amax(1)

    def add(self, pairs: Pairs) -> None:
        """Take in pairs; bounds follow when there are enough of them."""
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
        """Keep the nearest of every row, with exact distances wherever bounds do not decide.

        The neighbor of rank r lies between the r-th lower and the r-th upper bound; only pairs
        whose bounds overlap with these could be it.
        """
        if self.fresh:
            self.tighten()
        pairs = Pairs.concatenate(self.pending)
        pairs = pairs[pairs.lower <= self.bound[pairs.rows]]
        rows, smallest = self._smallest(pairs.rows, pairs.lower, toward=-math.inf)
        lowers = self.uppers.new_full(self.uppers.shape, math.inf)
        lowers[rows] = smallest
        unclear = pairs.rows < 0
        for r in self.ranks:
            low, high = lowers[pairs.rows, r - 1], self.uppers[pairs.rows, r - 1]
            unclear |= (pairs.lower <= high) & (pairs.upper >= low)
        unclear &= pairs.lower < pairs.upper
        points = self.tiles.points
        exact = exact_squares(points, pairs.rows[unclear], points, pairs.columns[unclear])
        pairs.lower[unclear] = pairs.upper[unclear] = exact
        pairs = pairs[pairs.columns.argsort(stable=True)]
        pairs = pairs[_ranked(pairs.rows, pairs.lower, self.nearest)]
        self.pending, self.waiting = [pairs], len(pairs)
        return pairs

    def _smallest(self, rows: Tensor, values: Tensor, *, toward: float) -> tuple[Tensor, Tensor]:
        """Rounded on the scale of the products, where single precision is wide enough."""
        scale = self.tiles.screen.scale**2
        touched, smallest = _smallest(rows, values * scale, self.nearest, toward=toward)
        return touched, smallest / scale

    def finish(self) -> tuple[Tensor, Tensor]:
        """Exact squared distances by rank, and indices."""
        pairs = self.compact()
        shape = (len(self.uppers), self.nearest)
        squares = pairs.lower.view(shape)[:, [r - 1 for r in self.ranks]]
        return squares, pairs.columns.view(shape)


class Balls:
    """Balls around the points of one side: how many of the other side each one holds.

    For the first family, the indices of those that each ball holds are added up: where it holds a
    single one, that is its index.

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

    def update(self, tile: Tile) -> None:
        """Count the pairs of a tile."""
        centers = (tile.rows, tile.columns)[self.around]
        pairs = tile.below(self._largest[centers], around=self.around)
        if not len(pairs):
            return
        center, other = (pairs.rows, pairs.columns)[:: 1 - 2 * self.around]
        radii = self.squares[:, center]
        inside = self._within(pairs.upper, radii)
        unclear = (self._within(pairs.lower, radii) & ~inside).any(0).nonzero()[:, 0]
        if len(unclear):
            rows, columns = pairs.rows[unclear], pairs.columns[unclear]
            exact = exact_squares(tile.x.points, rows, tile.y.points, columns)
            inside[:, unclear] = self._within(exact, radii[:, unclear])
        ends = (tile.rows, tile.columns)[:: 1 - 2 * self.around]
        for family, held in enumerate(inside):
            for counts, points, end in zip(
                (self.inside, self.holding), (center[held], other[held]), ends, strict=True
            ):
                found = (points - end.start).bincount(minlength=end.stop - end.start)
                counts[family, end] += found
        first = inside[0]
        self.index_sums.index_add_(0, center[first], other[first])

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

    def update(self, tile: Tile) -> None:
        """Look at the pairs of a tile that may be closest."""
        squares = self.squares[tile.rows]
        kept = (squares > 0).nonzero()[:, 0]
        if not len(kept):
            return
        best = self._bound(tile)
        weight = 1.0 / (squares[kept] * tile.x.screen.scale**2)
        quotient = tile.products[kept, : len(best)] * weight[:, None]
        nearest, row = quotient.min(0)
        columns = (nearest <= best).nonzero()[:, 0]
        self._compare(tile, kept[row[columns]], columns)
        rows, columns = (quotient <= self._bound(tile)).nonzero(as_tuple=True)
        self._compare(tile, kept[rows], columns)

    def _bound(self, tile: Tile) -> Tensor:
        """A little above the best, since quotients of products are rounded."""
        return self.quotient[tile.columns] * (1 + _QUOTIENT_ROUNDING)

    def _compare(self, tile: Tile, rows: Tensor, columns: Tensor) -> None:
        if not len(rows):
            return
        rows, columns = rows + tile.rows.start, columns + tile.columns.start
        exact = exact_squares(tile.x.points, rows, tile.y.points, columns)
        quotient = exact / self.squares[rows]
        by_row = rows.argsort(stable=True)
        order = by_row[_ranked(columns[by_row], quotient[by_row], 1)]
        touched, value, index = columns[order], quotient[order], rows[order]
        old = self.index[touched]
        better = value < self.quotient[touched]
        better |= (value == self.quotient[touched]) & ((index < old) | (old < 0))
        self.quotient[touched[better]], self.index[touched[better]] = value[better], index[better]


def sweep(
    x: Tiles, y: Tiles, counters: Sequence[Balls | Closest], *, label: str, progress: bool
) -> None:
    """Show every tile of products of both sides to all counters."""
    places = [(rows, columns) for rows in x.cuts() for columns in y.cuts(_WIDE * y.size)]
    for tile in _products(x, y, places, label, progress=progress):
        for counter in counters:
            counter.update(tile)


@dataclass(frozen=True, eq=False)
class Tile:
    """Products of some rows with some columns: lower bounds of scaled squared distances."""

    x: Tiles
    y: Tiles
    rows: slice
    columns: slice
    products: Tensor

    def below(self, bound: Tensor, *, around: int = 0) -> Pairs:
        """Pairs that bounds of the rows, or of the columns, do not rule out.

        The smallest of every few numbers says first where there is anything at all.
        """
        import torch

        x, y, products = self.x, self.y, self.products
        height, width = products.shape
        limit = products.new_full((products.shape[around],), -math.inf)
        limit[: len(bound)] = x.screen.threshold(bound)
        flat = products.view(-1)
        if around == 0:
            smallest = products.view(height, width // MULTIPLE, MULTIPLE).amin(2)
            hits = (smallest <= limit[:, None]).view(-1).nonzero()[:, 0]
            groups = flat.view(-1, MULTIPLE).index_select(0, hits)
            owner, first, step = hits // smallest.shape[1], hits * MULTIPLE, 1
        else:
            smallest = products.view(height // _FEW, _FEW, width).amin(1)
            hits = (smallest <= limit).view(-1).nonzero()[:, 0]
            owner, step = hits % width, width
            first = (hits - owner) * _FEW + owner
            steps = torch.arange(0, _FEW * width, width, device=flat.device)
            groups = flat.index_select(0, (first[:, None] + steps).view(-1)).view(-1, _FEW)
        found = (groups <= limit[owner, None]).view(-1).nonzero()[:, 0]
        hit = found // groups.shape[1]
        places = first[hit] + (found - hit * groups.shape[1]) * step
        rows = places // width
        columns = places - rows * width + self.columns.start
        rows += self.rows.start
        norms = x.norms[rows] + y.norms[columns]
        return Pairs(rows, columns, *x.screen.bounds(groups.view(-1)[found], norms))


def _products(
    x: Tiles, y: Tiles, places: list[tuple[slice, slice]], label: str, *, progress: bool
) -> Iterator[Tile]:
    """Tile by tile, in one and the same memory."""
    import torch

    last: slice | None = None
    left = x.norms
    memory = x.norms.new_empty(0, dtype=x.screen.type)
    most = -(-min(x.size, len(x.points)) // MULTIPLE) * MULTIPLE
    left_memory = memory.new_empty((most, x.points.columns + 2))
    with torch.no_grad(), torch.autocast(x.norms.device.type, enabled=False):
        for rows, columns in track(places, label, progress=progress):
            if rows != last:
                last, left = rows, x.left(rows, left_memory)
            right = y.right(columns)
            shape = (len(left), len(right))
            if memory.numel() < math.prod(shape):
                memory = left.new_empty(math.prod(shape))
            products = memory[: math.prod(shape)].view(shape)
            torch.mm(left, right.T, out=products)
            yield Tile(x, y, rows, columns, products)


def _ranked(rows: Tensor, values: Tensor, most: int) -> Tensor:
    """Places of the smallest values of every row, at most so many, row by row and ascending.

    Ties keep their order.
    """
    order = values.argsort(stable=True)
    order = order[rows[order].argsort(stable=True)]
    return order[_ranks(rows[order])[0] < most]


def _smallest(rows: Tensor, values: Tensor, most: int, *, toward: float) -> tuple[Tensor, Tensor]:
    """Rows, and their smallest non-negative values, filled up with ∞, shape (rows, most).

    Rounded to single precision toward ±∞: a row and a value then fit into one integer, and a single
    sort will do.
    """
    import torch

    rounded = values.float().nextafter(values.new_full((), toward).float()).clamp(min=0.0)
    keys = rows << 32 | rounded.view(torch.int32).long()
    if keys.device.type == "cpu":
        keys.numpy().sort()
    else:
        keys = keys.sort().values
    rank, place, touched = _ranks(keys >> 32)
    table = values.new_full((len(touched), most), math.inf)
    keep = rank < most
    found = (keys[keep] & (2**32 - 1)).int().view(torch.float32)
    table[place[keep], rank[keep]] = found.double()
    return touched, table


def _ranks(rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Of sorted rows: the rank of each entry within its row, its row's number, and all rows."""
    import torch

    touched, counts = rows.unique_consecutive(return_counts=True)  # type: ignore[no-untyped-call]
    number = torch.arange(len(touched), device=rows.device).repeat_interleave(counts)
    first = counts.cumsum(0) - counts
    return torch.arange(len(rows), device=rows.device) - first[number], number, touched
