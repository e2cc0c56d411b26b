"""Numbers in, numbers out: results have the kind of the argument."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tradeoff._validation import FloatArray

__all__ = ["same_kind"]


def same_kind(value: Any) -> float | FloatArray:
    """A float for an array without dimensions, and a float64 array otherwise."""
    array = np.asarray(value, dtype=np.float64)
    return float(array) if array.ndim == 0 else array
