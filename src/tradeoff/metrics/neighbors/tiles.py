"""Products of two sides, tile by tile, and the pairs that they do not rule out.

A matrix product bounds the squared distances of a tile from below. The few pairs that could matter
are compared by a bound from above, and by exact distances where the bounds do not decide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tradeoff._progress import track
from tradeoff.metrics.neighbors.pairs import Pairs
from tradeoff.metrics.neighbors.screen import MULTIPLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

    from tradeoff.metrics.neighbors.screen import Tiles

__all__ = ["WIDE", "Tile", "products"]

WIDE = 4
"""Number of tiles next to each other that are multiplied at once."""
_FEW = MULTIPLE // 2  # divides the padded number of rows


@dataclass(frozen=True, eq=False)
class Tile:
    """Products of some rows with some columns: lower bounds of scaled squared distances.

    Args:
        x: Points of the rows.
        y: Points of the columns.
        rows: Row numbers of the tile, without padding.
        columns: Column numbers of the tile, without padding.
        products: Products, padded to a multiple of `MULTIPLE` in both directions. Padding is ∞.
    """

    x: Tiles
    y: Tiles
    rows: slice
    columns: slice
    products: Tensor

    def below(self, bound: Tensor, *, around: int = 0) -> Pairs:
        """Pairs that bounds of the rows, or of the columns, do not rule out.

        Most tiles hold few such pairs. The minimum over groups of products is fast to compute and
        to compare, so that single products are looked at only in groups that hold a pair.

        Args:
            bound: Largest squared distance that matters for each row (or column) of the tile.
            around: 0 if `bound` is about the rows, 1 if it is about the columns.
        """
        products = self.products
        # Padding beyond the bounds must not match anything.
        limit = products.new_full((products.shape[around],), -math.inf)
        limit[: len(bound)] = self.x.screen.threshold(bound)
        groups = (_groups_in_rows, _groups_in_columns)[around](products, limit)
        found = (groups.values <= limit[groups.owner, None]).view(-1).nonzero()[:, 0]
        # Entry i of the flattened values is member i % size of group i // size. From there to a
        # place in the flattened products, and on to its row and column.
        size, width = groups.values.shape[1], products.shape[1]
        hit = found // size
        places = groups.first[hit] + (found - hit * size) * groups.step
        rows = places // width
        columns = places - rows * width + self.columns.start
        rows += self.rows.start
        norms = self.x.norms[rows] + self.y.norms[columns]
        return Pairs(rows, columns, *self.x.screen.bounds(groups.values.view(-1)[found], norms))


@dataclass(frozen=True, eq=False)
class _Groups:
    """Groups of products whose minimum is within the limit.

    Member j of a group is at place ``first + j * step`` of the flattened products.
    """

    values: Tensor  # (groups, members)
    owner: Tensor  # row or column whose limit applies
    first: Tensor
    step: int


def _groups_in_rows(products: Tensor, limit: Tensor) -> _Groups:
    """Groups of `MULTIPLE` products next to each other in a row."""
    height, width = products.shape
    smallest = products.view(height, width // MULTIPLE, MULTIPLE).amin(2)
    # Groups are numbered row by row, so group i begins at place i * MULTIPLE.
    hits = (smallest <= limit[:, None]).view(-1).nonzero()[:, 0]
    values = products.view(-1, MULTIPLE).index_select(0, hits)
    return _Groups(values, owner=hits // smallest.shape[1], first=hits * MULTIPLE, step=1)


def _groups_in_columns(products: Tensor, limit: Tensor) -> _Groups:
    """Groups of `_FEW` products below each other in a column."""
    import torch

    height, width = products.shape
    smallest = products.view(height // _FEW, _FEW, width).amin(1)
    # Group i is in band i // width of rows and in column i % width. Its band begins at place
    # (i // width) * width * _FEW, and (i // width) * width is i minus the column.
    hits = (smallest <= limit).view(-1).nonzero()[:, 0]
    owner = hits % width
    first = (hits - owner) * _FEW + owner
    steps = torch.arange(0, _FEW * width, width, device=products.device)
    values = products.view(-1).index_select(0, (first[:, None] + steps).view(-1)).view(-1, _FEW)
    return _Groups(values, owner=owner, first=first, step=width)


def products(
    x: Tiles, y: Tiles, places: list[tuple[slice, slice]], label: str, *, progress: bool
) -> Iterator[Tile]:
    """Tiles at given places, one after the other. They share memory: use one before the next."""
    import torch

    last: slice | None = None
    left = x.norms  # replaced before it is used
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
            product = memory[: math.prod(shape)].view(shape)
            torch.mm(left, right.T, out=product)
            yield Tile(x, y, rows, columns, product)
