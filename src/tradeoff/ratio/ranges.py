"""How far samples lie outside the range of each side: a hint on top of scores of estimators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tradeoff.ratio.base import Floats, Part, Standardizer, singles

if TYPE_CHECKING:
    from tradeoff._validation import FloatArray

__all__ = ["Range", "Ranges"]

_OUTERMOST = 10
_SMALLEST_GAP = 1e-6
_FARTHEST = 1e6
_NO_GAP = 1e-300
_COLUMNS = 64


@dataclass(frozen=True, eq=False)
class Range:
    """The range of each column of one side, and how far a sample exceeds it.

    Distances are counted in gaps between the outermost samples, since a few such gaps beyond the
    range nothing is to be expected, whatever the tails are like.
    """

    low: FloatArray
    high: FloatArray
    gap: FloatArray

    @classmethod
    def fit(cls, x: FloatArray) -> Range:
        """The smallest and the largest value of each column, and the gaps next to them."""
        k = min(_OUTERMOST, len(x) - 1)
        if k < 1:
            return cls(x[0], x[0], np.ones((2, x.shape[1])))
        outermost = np.concatenate(
            [_outermost(x[:, i : i + _COLUMNS], k) for i in range(0, x.shape[1], _COLUMNS)], axis=1
        )
        low, inner_low, inner_high, high = outermost
        gap = np.stack((inner_low - low, high - inner_high)) / k
        return cls(low, high, np.maximum(gap, _SMALLEST_GAP * (high - low)))

    def __call__(self, x: FloatArray) -> FloatArray:
        """Whether, how far and in how many columns a sample lies outside, shape (n, 3)."""
        farthest, columns = np.zeros(len(x)), np.zeros(len(x))
        for sign, bound, gap in ((-1.0, self.low, self.gap[0]), (1.0, self.high, self.gap[1])):
            beyond = sign * x
            beyond -= sign * bound
            columns += (beyond > 0).sum(1)
            with np.errstate(over="ignore"):
                beyond /= np.where(gap > 0, gap, _NO_GAP)
            farthest = np.maximum(farthest, beyond.max(1))
        farthest = np.minimum(farthest, _FARTHEST)
        return np.stack((farthest > 0, np.log1p(farthest), np.log1p(columns)), axis=1)


def _outermost(x: FloatArray, k: int) -> FloatArray:
    """Smallest, k-th smallest after it, k-th largest before the largest, largest; shape (4, d)."""
    columns = np.ascontiguousarray(x.T)  # a few at a time, which stay in the cache
    columns.partition((k, len(x) - 1 - k), axis=1)
    low, high = columns[:, : k + 1].min(1), columns[:, -1 - k :].max(1)
    return np.stack((low, columns[:, k], columns[:, -1 - k], high))


@dataclass(frozen=True, eq=False)
class Ranges(Part):
    """How far and in how many columns a sample lies outside the range of each side."""

    kind = "ranges"
    is_wide = True
    is_hint = True
    low: Floats  # (sides, columns)
    high: Floats
    steepness: Floats  # (sides, 2, columns)

    @classmethod
    def of(cls, fitted: tuple[Range, ...], given: Standardizer) -> Ranges:
        """In the columns as they are standardized by `given`."""
        scale = np.where(np.isinf(given.scale), 1.0, given.scale)
        low, high = (
            np.stack([(getattr(side, end) - given.center) / scale for side in fitted])
            for end in ("low", "high")
        )
        with np.errstate(divide="ignore"):
            steepness = np.minimum(scale / np.stack([side.gap for side in fitted]), 1e30)
        constant = np.isinf(given.scale)
        low, high = np.where(constant, -np.inf, low), np.where(constant, np.inf, high)
        return cls(singles(low), singles(high), singles(np.where(constant, 0.0, steepness)))

    def __call__(self, rows: Floats) -> Floats:
        """Whether, how far and in how many columns a sample lies outside, three for each side."""
        columns, found = np.ascontiguousarray(rows.T), []
        least, most = columns.min(1), columns.max(1)
        for low, high, steepness in zip(self.low, self.high, self.steepness, strict=True):
            count, farthest = np.zeros((2, len(rows)), np.float32)
            for sign, bound, steep, somewhere in (
                (-1.0, low, steepness[0], least < low),
                (1.0, high, steepness[1], most > high),
            ):
                if not somewhere.any():
                    continue
                beyond = np.float32(sign) * (columns[somewhere] - bound[somewhere, None])
                count += (beyond > 0).sum(0)
                beyond *= steep[somewhere, None]
                np.maximum(farthest, beyond.max(0), out=farthest)
            np.minimum(farthest, np.float32(_FARTHEST), out=farthest)
            found += [farthest > 0, np.log1p(farthest), np.log1p(count)]
        return np.stack(found, axis=1).astype(np.float32)
