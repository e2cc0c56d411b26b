"""Pairs of points with bounds of their squared distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

__all__ = ["Pairs"]


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
