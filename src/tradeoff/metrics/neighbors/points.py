r"""Samples as given, and the exact squared distance between two of them.

The reference is :math:`\sum_j (x_j - y_j)^2` of the values as given, in float64, where the upper
half of the columns is added onto the lower one until a single column is left: one order, on every
machine.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._extras import import_extra
from tradeoff._validation import LARGEST_FEATURE, check_array, check_same_columns
from tradeoff.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

__all__ = ["Points", "exact_squares", "points_of"]

_NUMBERS_AT_ONCE = 2**20
_BLOCK_NUMBERS = 2**18
_TYPES = {f"int{bits}" for bits in (8, 16, 32, 64)}
_TYPES |= {"uint8", "float16", "bfloat16", "float32", "float64"}


@dataclass(frozen=True, eq=False)
class Points:
    """Rows of features on their device; arrays, memory-mapped or not, are not copied."""

    values: Tensor

    def __len__(self) -> int:
        return int(self.values.shape[0])

    @property
    def columns(self) -> int:
        """Number of features."""
        return int(self.values.shape[1])

    def cuts(self) -> Iterator[slice]:
        """All rows, some at a time."""
        rows = max(1, _BLOCK_NUMBERS // self.columns)
        return (slice(start, start + rows) for start in range(0, len(self), rows))


def points_of(**sides: Any) -> tuple[Points, ...]:
    """Check matrices of features: one row per sample, the same columns, one device."""
    torch = import_extra("torch", extra="torch", purpose="Finding exact neighbors")
    points = tuple(Points(_tensor(torch, name, values)) for name, values in sides.items())
    check_same_columns(**{name: side.columns for name, side in zip(sides, points, strict=True)})
    devices = {str(side.values.device) for side in points}
    if len(devices) > 1:
        raise InvalidInputError(
            f"Both sides must be on one device. Got {' and '.join(sorted(devices))}."
        )
    for name, side in zip(sides, points, strict=True):
        for where in side.cuts():
            least, most = (float(end) for end in side.values[where].aminmax())
            if not (least >= -LARGEST_FEATURE and most <= LARGEST_FEATURE):
                fine = (side.values[where].double().abs() <= LARGEST_FEATURE).all(1)
                raise InvalidInputError(
                    f"`{name}` must be finite and lie within ±{LARGEST_FEATURE:g}. "
                    f"Row {where.start + int((~fine).nonzero()[0])} does not."
                )
    return points


def _tensor(torch: Any, name: str, given: Any) -> Tensor:
    values: Tensor = given if isinstance(given, torch.Tensor) else _shared(torch, name, given)
    if values.is_complex() or values.layout != torch.strided:
        raise InvalidInputError(f"`{name}` must be a dense array of real numbers.")
    if values.device.type == "mps":
        raise InvalidInputError(f"`{name}` must be on a device with float64: move it to the CPU.")
    if values.ndim != 2 or 0 in values.shape:
        raise InvalidInputError(
            f"`{name}` must have one row per sample and one column per feature. "
            f"Got shape {tuple(values.shape)}."
        )
    values = values.detach()
    if values.dtype == torch.bool:
        return values.to(torch.uint8)
    known = str(values.dtype).removeprefix("torch.") in _TYPES
    return values if known else values.double()


def _shared(torch: Any, name: str, given: Any) -> Any:
    """A tensor on the memory of an array, where PyTorch knows its type."""
    array = check_array(name, given)
    odd = any(stride < 0 or stride % array.itemsize for stride in array.strides)
    if odd or not array.dtype.isnative or array.dtype == np.longdouble:
        array = np.ascontiguousarray(array, np.float64)
    with warnings.catch_warnings():
        # A read-only memory map: it is only ever read.
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return torch.from_numpy(array)


def exact_squares(x: Points, rows: Tensor, y: Points, columns: Tensor) -> Tensor:
    """The reference for pairs of rows of both sides, shape (pairs,), some at a time."""
    import torch

    at_once = max(1, _NUMBERS_AT_ONCE // x.columns)
    squares = rows.new_empty(len(rows), dtype=torch.float64)
    for start in range(0, len(rows), at_once):
        part = slice(start, start + at_once)
        difference = x.values.index_select(0, rows[part]).double()
        difference -= y.values.index_select(0, columns[part]).double()
        squares[part] = _folded(difference.square_())
    return squares


def _folded(terms: Tensor) -> Tensor:
    """The sum of each row: the upper half is added onto the lower one until one is left."""
    width = terms.shape[1]
    while width > 1:
        half = (width + 1) // 2
        terms[:, : width - half] += terms[:, half:width]
        width = half
    return terms[:, 0]
