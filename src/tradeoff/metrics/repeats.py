"""Samples whose features came before in the same set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["error_of_repeats", "is_repeated"]


def is_repeated(keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
    """Whether each key has come before, shape (n,)."""
    repeated = np.ones(keys.size, bool)
    repeated[np.unique(keys, return_index=True)[1]] = False
    return repeated


def error_of_repeats(keys: npt.NDArray[np.uint64]) -> float:
    """Upper bound of the standard error of the share of repeats, by Efron and Stein.

    Leaving out a sample changes the number of distinct ones by 1 if it is single, and the number
    of repeats by 1 if it is not: the variance of both, which is one, is at most either number.
    """
    _, counts = np.unique(keys, return_counts=True)
    single = int((counts == 1).sum())
    return float(np.sqrt(min(single, keys.size - single) + 1.0) / keys.size)
