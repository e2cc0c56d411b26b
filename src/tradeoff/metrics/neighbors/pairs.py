"""Pairs of points with bounds of their squared distances."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

__all__ = ["Pairs", "ranked", "smallest"]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of points, by their numbers in both sets, and bounds of their squared distances."""

    rows: Tensor
    columns: Tensor
    lower: Tensor
    upper: Tensor

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, keep: Tensor) -> Pairs:
        return Pairs(*(part[keep] for part in vars(self).values()))

    def swapped(self) -> Pairs:
        """The same pairs with rows and columns exchanged."""
        return Pairs(self.columns, self.rows, self.lower, self.upper)

    @classmethod
    def concatenate(cls, parts: Sequence[Pairs]) -> Pairs:
        """All pairs of several parts."""
        import torch

        columns = zip(*(vars(part).values() for part in parts), strict=True)
        return cls(*(torch.cat(column) for column in columns))


def ranked(rows: Tensor, values: Tensor, most: int) -> Tensor:
    """Indices of the smallest entries of every row, at most `most` each, row by row and ascending.

    Ties keep their order.
    """
    # Two stable sorts, the second by row: values stay ascending within each row.
    order = values.argsort(stable=True)
    order = order[rows[order].argsort(stable=True)]
    return order[_ranks(rows[order])[0] < most]


def smallest(rows: Tensor, values: Tensor, most: int, *, toward: float) -> tuple[Tensor, Tensor]:
    """Rows that have entries, and their `most` smallest values, shape (rows, most).

    Values must not be negative. They are rounded to single precision toward `toward`, which is ±∞,
    and rows with fewer entries are filled with ∞.
    """
    import torch

    rounded = values.float().nextafter(values.new_full((), toward).float()).clamp(min=0.0)
    # The bits of floats that are not negative ascend like the floats. With the row in the upper and
    # the value in the lower 32 bits, a single sort of integers orders by row and then by value.
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
    """Rank of each entry within its row, the position of its row in the list of rows, and the list.

    `rows` must be sorted.
    """
    import torch

    touched, counts = rows.unique_consecutive(return_counts=True)  # type: ignore[no-untyped-call]
    number = torch.arange(len(touched), device=rows.device).repeat_interleave(counts)
    # Entries before the first one of each row; what exceeds them is the rank.
    first = counts.cumsum(0) - counts
    return torch.arange(len(rows), device=rows.device) - first[number], number, touched
