"""Sums of values and of their products as integers: the same whatever the order of the rows.

Columns are shifted and scaled to about 17 bits and rounded. Products of such integers add up
without rounding, so that moments of parts merge to the same bits in any order. Sums of products are
kept in two words, since one would overflow at billions of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tradeoff._threads import single_threaded
from tradeoff.metrics.moments.frechet import Moments

if TYPE_CHECKING:
    import numpy.typing as npt

    from tradeoff._validation import FloatArray

__all__ = ["ExactSums", "Grid"]

_BITS = 17
_MOST = 2.0**19  # farther values are counted as this far
_BLOCK = 512  # rows; products of 38 bits of so many rows are exact in float64
_CARRIED = 2**23  # rows whose products of 38 bits add up to less than 62 bits
_LOW_BITS = 40


@dataclass(frozen=True, eq=False)
class Grid:
    """How columns become integers.

    Args:
        center: Value of each column that becomes 0, shape (d,).
        exponent: Power of two by which each column is multiplied, shape (d,).
    """

    center: npt.NDArray[np.float32]
    exponent: npt.NDArray[np.int64]

    @classmethod
    def of(cls, x: npt.NDArray[np.float32]) -> Grid:
        """A grid on which these rows, shape (n, d), take 17 bits."""
        center = x.mean(0, dtype=np.float64).astype(np.float32)
        largest = np.abs(x - center).max(0).astype(np.float64)
        # A column that is constant here may vary in other rows: it gets the widest range.
        largest = np.where(largest > 0, largest, largest.max(initial=0.0) or 1.0)
        used = np.ceil(np.log2(np.maximum(largest, 1e-300)))
        return cls(center, np.clip(_BITS - used, -1000, 1000).astype(np.int64))

    def __call__(self, x: npt.NDArray[np.float32]) -> FloatArray:
        """Rows as integers, in float64."""
        found = (x - self.center).astype(np.float64)
        found *= np.ldexp(1.0, self.exponent)
        return np.asarray(np.clip(np.rint(found, out=found), -_MOST, _MOST, out=found))


@dataclass
class ExactSums:
    """Number, sums and sums of products of rows on a grid.

    Args:
        count: Number of rows.
        sums: Sum of each column, shape (d,).
        products: Sums of products of columns, the lower 40 bits and what was carried, shape
            (2, d, d).
    """

    count: int
    sums: npt.NDArray[np.int64]
    products: npt.NDArray[np.int64]

    @classmethod
    def empty(cls, columns: int) -> ExactSums:
        """Of no rows."""
        return cls(0, np.zeros(columns, np.int64), np.zeros((2, columns, columns), np.int64))

    @single_threaded
    def update(self, rows: FloatArray) -> None:
        """Add rows, as a grid made them integers."""
        self.count += len(rows)
        for start in range(0, len(rows), _BLOCK):
            block = rows[start : start + _BLOCK]
            self.sums += block.sum(0).astype(np.int64)
            self.products[0] += (block.T @ block).astype(np.int64)
            if (start + _BLOCK) % _CARRIED == 0:
                self._carry()
        self._carry()

    def merge(self, other: ExactSums) -> None:
        """Add the rows of another part."""
        self.count += other.count
        self.sums += other.sums
        self.products += other.products
        self._carry()

    def _carry(self) -> None:
        """Keep the lower words small; shifts of negative numbers round down, as they must."""
        carried = self.products[0] >> _LOW_BITS
        self.products[0] -= carried << _LOW_BITS
        self.products[1] += carried

    @property
    def is_possible(self) -> bool:
        """Whether so many rows can have these sums; of a foreign state this is not certain."""
        low, high = self.products
        small = (np.abs(self.sums) <= self.count * _MOST).all()
        large = np.ldexp(self.count * _MOST**2, -_LOW_BITS) + 1.0
        fits = (np.abs(high) <= large).all() and (low >= 0).all() and not (low >> _LOW_BITS).any()
        return bool(small and fits and (np.diagonal(high) >= 0).all())

    def moments(self, grid: Grid) -> Moments:
        """Number, mean and scatter in the units of the columns."""
        count = max(self.count, 1)
        mean = self.sums / count
        products = np.ldexp(self.products[1].astype(np.float64), _LOW_BITS) + self.products[0]
        scatter = products - np.outer(mean, self.sums)
        exponent = -grid.exponent
        return Moments(
            self.count,
            grid.center.astype(np.float64) + np.ldexp(mean, exponent),
            np.ldexp(0.5 * (scatter + scatter.T), exponent[:, None] + exponent),
        )
