"""The columns of a table as cells: values that repeat, intervals of the others, missing values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tradeoff._sides import Sides

if TYPE_CHECKING:
    from tradeoff._validation import FloatArray
    from tradeoff.features.table import TableEncoder
    from tradeoff.samples import Pair

__all__ = ["MISSING", "Column", "columns_of", "features_of"]

MISSING, OTHER = "missing", "other"
_REPEATED = 0.05  # share of a side from which on a number is a value of its own
_DIGITS = 13
_FEW = 20  # different numbers that are values of their own


@dataclass(frozen=True, eq=False)
class Column:
    """A column of both sides.

    Args:
        name: Name of the column.
        words: Values that are cells of their own, as they are shown.
        codes: For each side, the number of a row's word; -1 for other numbers, shape (n,).
        numbers: For each side, the numbers as they were read, NaN if missing, shape (n,); None if
            the column holds words.
        orders: For each side, its rows with other numbers, smallest first.
    """

    name: str
    words: tuple[str, ...]
    codes: Sides[npt.NDArray[np.intp]]
    numbers: Sides[FloatArray] | None
    orders: Sides[npt.NDArray[np.intp]]

    @property
    def has_numbers(self) -> bool:
        """Whether a side has numbers that are not cells of their own."""
        return any(order.size for order in self.orders)

    @property
    def is_single(self) -> bool:
        """Whether all rows of both sides have one value."""
        return not self.has_numbers and len(self.words) < 2


def columns_of(pair: Pair, encoder: TableEncoder) -> list[Column]:
    """All columns of a table, in the order of their names, from the features of both sides."""
    sides = Sides(pair.real.x, pair.generated.x)
    found, start = [], 0

    def next_block(width: int) -> Sides[FloatArray]:
        nonlocal start
        start += width
        return Sides(*(x[:, start - width : start] for x in sides))

    for name, mean, deviation in encoder.numbers:
        found.append(_of_numbers(name, next_block(2), mean, deviation))
    for name, words in encoder.categories:
        known = (*words, OTHER, MISSING)
        found.append(_of_words(name, known, next_block(len(known))))
    return sorted(found, key=lambda column: column.name)


def features_of(encoder: TableEncoder, *, leaving_out: str) -> npt.NDArray[np.bool_]:
    """Whether each feature of a row belongs to another column than the named one."""
    owners = [name for name, *_ in encoder.numbers for _ in range(2)]
    for name, words in encoder.categories:
        owners += [name] * (len(words) + 2)
    return np.array([owner != leaving_out for owner in owners])


def _of_words(name: str, words: tuple[str, ...], block: Sides[FloatArray]) -> Column:
    """Words that occur, from one column of features for each."""
    codes = block.map(lambda x: x.argmax(1))
    counts = sum(np.bincount(one, minlength=len(words)) for one in codes)
    kept = np.flatnonzero(counts)
    place = np.cumsum(counts > 0) - 1
    none = np.empty(0, dtype=np.intp)
    return Column(
        name=name,
        words=tuple(words[i] for i in kept),
        codes=codes.map(lambda one: place[one]),
        numbers=None,
        orders=Sides(none, none),
    )


def _of_numbers(name: str, block: Sides[FloatArray], mean: float, deviation: float) -> Column:
    """Numbers, of which those that repeat are words."""
    numbers = block.map(lambda x: np.where(x[:, 1] > 0, np.nan, x[:, 0] * deviation + mean))
    # Rounding errors of standardized values must not tell equal numbers of two columns apart.
    largest = max(float(np.nanmax(np.abs(x), initial=0.0)) for x in numbers)
    decimals = _DIGITS - int(np.ceil(np.log10(largest))) if largest > 0 else 0
    numbers = numbers.map(lambda x: np.round(x, decimals))
    repeated = _repeated(numbers)
    words = tuple(f"{one:g}" for one in repeated)
    has_missing = any(np.isnan(x).any() for x in numbers)

    def code(x: FloatArray) -> npt.NDArray[np.intp]:
        place = np.searchsorted(repeated, x).clip(0, max(repeated.size - 1, 0))
        is_word = repeated[place] == x if repeated.size else np.zeros(x.size, bool)
        return np.where(np.isnan(x), len(words), np.where(is_word, place, -1))

    codes = numbers.map(code)
    return Column(
        name=name,
        words=words + (MISSING,) * has_missing,
        codes=codes,
        numbers=numbers,
        orders=Sides(*map(_ordered, codes, numbers)),
    )


def _repeated(numbers: Sides[FloatArray]) -> FloatArray:
    """Numbers that are cells of their own: all if they are few, or else those that are frequent."""
    known = [x[~np.isnan(x)] for x in numbers]
    every = np.unique(np.concatenate(known))
    if every.size <= _FEW:
        return every
    frequent = [np.empty(0)]
    for x, whole in zip(known, numbers, strict=True):
        values, counts = np.unique(x, return_counts=True)
        frequent.append(values[(counts > _REPEATED * len(whole)) & (counts > 2)])
    return np.unique(np.concatenate(frequent))


def _ordered(codes: npt.NDArray[np.intp], x: FloatArray) -> npt.NDArray[np.intp]:
    rows = np.flatnonzero(codes < 0)
    return rows[np.argsort(x[rows], kind="stable")]
