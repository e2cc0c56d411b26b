"""Counters that see every tile of two sides: balls and what they hold, and closest points."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tradeoff.metrics.neighbors.pairs import ranked
from tradeoff.metrics.neighbors.points import exact_squares
from tradeoff.metrics.neighbors.tiles import WIDE, products

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt
    from torch import Tensor

    from tradeoff.metrics.neighbors.screen import Tiles
    from tradeoff.metrics.neighbors.tiles import Tile

__all__ = ["Balls", "Closest", "sweep"]

_QUOTIENT_ROUNDING = 1e-12


def sweep(
    x: Tiles, y: Tiles, counters: Sequence[Balls | Closest], *, label: str, progress: bool
) -> None:
    """Show every tile of products of both sides to all counters."""
    places = [(rows, columns) for rows in x.cuts() for columns in y.cuts(WIDE * y.size)]
    for tile in products(x, y, places, label, progress=progress):
        for counter in counters:
            counter.update(tile)


class Balls:
    """Balls around the points of one side, and how many points of the other side each one holds.

    For the first family, `index_sums` adds up the indices of the points in each ball: where a ball
    holds a single point, the sum is its index.

    Args:
        squares: Squared radii, one row per family of balls, shape (families, n).
        others: Number of points of the other side.
        strict: Whether a point on the surface is outside.
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
        # A step of 1 keeps (rows, columns), and a step of -1 turns them into (columns, rows).
        toward = 1 - 2 * self.around
        center, other = (pairs.rows, pairs.columns)[::toward]
        radii = self.squares[:, center]
        inside = self._within(pairs.upper, radii)
        # Inside by the lower bound but not by the upper one: only the exact distance decides.
        unclear = (self._within(pairs.lower, radii) & ~inside).any(0).nonzero()[:, 0]
        if len(unclear):
            rows, columns = pairs.rows[unclear], pairs.columns[unclear]
            exact = exact_squares(tile.x.points, rows, tile.y.points, columns)
            inside[:, unclear] = self._within(exact, radii[:, unclear])
        ends = (tile.rows, tile.columns)[::toward]
        for family, held in enumerate(inside):
            for counts, points, end in zip(
                (self.inside, self.holding), (center[held], other[held]), ends, strict=True
            ):
                found = (points - end.start).bincount(minlength=end.stop - end.start)
                counts[family, end] += found
        first = inside[0]
        self.index_sums.index_add_(0, center[first], other[first])

    def plan(self) -> BallsPlan:
        """What a worker needs to count a block of these balls."""
        return BallsPlan(self.squares.cpu().numpy(), self.strict, self.around)

    def counted(self) -> dict[str, npt.NDArray[Any]]:
        """The counts as arrays."""
        return {
            name: getattr(self, name).cpu().numpy() for name in ("inside", "holding", "index_sums")
        }

    def merge(self, counted: dict[str, npt.NDArray[Any]], rows: slice, columns: slice) -> None:
        """Add the counts of a block, whose indices start at 0."""
        import torch

        found = {
            name: torch.tensor(value, device=self.inside.device) for name, value in counted.items()
        }
        centers, others = (rows, columns) if self.around == 0 else (columns, rows)
        self.inside[:, centers] += found["inside"]
        self.holding[:, others] += found["holding"]
        self.index_sums[centers] += found["index_sums"] + others.start * found["inside"][0]

    def _within(self, squares: Tensor, radii: Tensor) -> Tensor:
        return squares < radii if self.strict else squares <= radii


@dataclass(frozen=True, eq=False)
class BallsPlan:
    """Radii of balls, from which the counter of a block is made."""

    squares: npt.NDArray[np.float64]
    strict: bool
    around: int

    def counter(self, rows: slice, columns: slice) -> Balls:
        """The counter of a block."""
        import torch

        centers, others = (rows, columns) if self.around == 0 else (columns, rows)
        squares = torch.tensor(self.squares[:, centers])
        return Balls(squares, others.stop - others.start, strict=self.strict, around=self.around)


class Closest:
    """For every column, the row whose squared distance, divided by the row's own, is smallest.

    Args:
        squares: Divisors of the squared distances to each row, shape (n,); rows whose divisor is
            not positive are left out.
        others: Number of columns.
    """

    def __init__(self, squares: Tensor, others: int) -> None:
        import torch

        self.squares = squares
        self.quotient = squares.new_full((others,), math.inf)
        self.index = torch.full((others,), -1, device=squares.device)

    def update(self, tile: Tile) -> None:
        """Compare the pairs of a tile that may be closest."""
        squares = self.squares[tile.rows]
        kept = (squares > 0).nonzero()[:, 0]
        if not len(kept):
            return
        best = self._bound(tile)
        weight = 1.0 / (squares[kept] * tile.x.screen.scale**2)
        quotient = tile.products[kept, : len(best)] * weight[:, None]
        nearest, row = quotient.min(0)
        columns = (nearest <= best).nonzero()[:, 0]
        # The best candidate of each column first: it tightens the bound for all others.
        self._compare(tile, kept[row[columns]], columns)
        rows, columns = (quotient <= self._bound(tile)).nonzero(as_tuple=True)
        self._compare(tile, kept[rows], columns)

    def plan(self) -> ClosestPlan:
        """What a worker needs to search a block."""
        return ClosestPlan(self.squares.cpu().numpy())

    def counted(self) -> dict[str, npt.NDArray[Any]]:
        """What was found as arrays."""
        return {name: getattr(self, name).cpu().numpy() for name in ("quotient", "index")}

    def merge(self, counted: dict[str, npt.NDArray[Any]], rows: slice, columns: slice) -> None:
        """Take what a block found where it is closer, or as close and of a lower row."""
        import torch

        quotient, index = (
            torch.tensor(counted[name], device=self.index.device) for name in ("quotient", "index")
        )
        index = torch.where(index >= 0, index + rows.start, index)
        best, row = self.quotient[columns], self.index[columns]
        better = (index >= 0) & (
            (quotient < best) | ((quotient == best) & ((index < row) | (row < 0)))
        )
        self.quotient[columns] = torch.where(better, quotient, best)
        self.index[columns] = torch.where(better, index, row)

    def _bound(self, tile: Tile) -> Tensor:
        """Best quotients so far, raised a little since quotients of products are rounded."""
        return self.quotient[tile.columns] * (1 + _QUOTIENT_ROUNDING)

    def _compare(self, tile: Tile, rows: Tensor, columns: Tensor) -> None:
        if not len(rows):
            return
        rows, columns = rows + tile.rows.start, columns + tile.columns.start
        exact = exact_squares(tile.x.points, rows, tile.y.points, columns)
        quotient = exact / self.squares[rows]
        # Sorted by row first, so that ties go to the lower row.
        by_row = rows.argsort(stable=True)
        order = by_row[ranked(columns[by_row], quotient[by_row], 1)]
        touched, value, index = columns[order], quotient[order], rows[order]
        old = self.index[touched]
        better = value < self.quotient[touched]
        better |= (value == self.quotient[touched]) & ((index < old) | (old < 0))
        self.quotient[touched[better]], self.index[touched[better]] = value[better], index[better]


@dataclass(frozen=True, eq=False)
class ClosestPlan:
    """Divisors of squared distances, from which the counter of a block is made."""

    squares: npt.NDArray[np.float64]

    def counter(self, rows: slice, columns: slice) -> Closest:
        """The counter of a block."""
        import torch

        return Closest(torch.tensor(self.squares[rows]), columns.stop - columns.start)
