"""Checks of what users pass in, in one voice: what was expected, what came, what to do."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from tradeoff.exceptions import InvalidInputError

__all__ = [
    "FloatArray",
    "check_at_least",
    "check_choice",
    "check_lam",
    "check_masses",
    "check_shares",
    "check_vector",
    "check_weights",
]

FloatArray = npt.NDArray[np.float64]

_MASS_TOLERANCE = 1e-6
_MASS_ROUNDING = 1e-12


def check_vector(name: str, values: npt.ArrayLike) -> FloatArray:
    """A non-empty one-dimensional float64 array without NaN."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"`{name}` must be an array of numbers. {error}") from None
    if array.ndim != 1:
        raise InvalidInputError(f"`{name}` must be one-dimensional. Got shape {array.shape}.")
    if array.size == 0:
        raise InvalidInputError(f"`{name}` must hold at least one value. Got none.")
    if np.isnan(array).any():
        raise InvalidInputError(
            f"`{name}` must not contain NaN. Got {int(np.isnan(array).sum())} of {array.size}."
        )
    return array


def check_masses(name: str, values: npt.ArrayLike) -> FloatArray:
    """A probability vector; a sum that is off by single-precision rounding is mended."""
    array = _check_non_negative(name, check_vector(name, values))
    total = float(array.sum())
    if abs(total - 1.0) > _MASS_TOLERANCE:
        raise InvalidInputError(
            f"`{name}` must sum to 1. Got a sum of {total:.6g}. "
            "Divide it by its sum if it holds counts."
        )
    return array if abs(total - 1.0) <= _MASS_ROUNDING else array / total


def check_weights(name: str, values: npt.ArrayLike | None, size: int) -> FloatArray:
    """Sample weights, all ones where none are given; their scale does not matter."""
    if values is None:
        return np.ones(size)
    array = _check_non_negative(name, check_vector(name, values))
    if array.size != size:
        raise InvalidInputError(
            f"`{name}` must hold one weight per sample, {size}. Got {array.size}."
        )
    if not array.any():
        raise InvalidInputError(f"`{name}` must not be all zero.")
    return array


def check_lam(lam: npt.ArrayLike, name: str = "lam") -> FloatArray:
    """Slopes in [0, ∞], of any shape."""
    return _check_range(name, lam, 0.0, np.inf, "[0, inf]")


def check_shares(name: str, values: npt.ArrayLike) -> FloatArray:
    """Numbers in [0, 1], of any shape."""
    return _check_range(name, values, 0.0, 1.0, "[0, 1]")


def check_at_least(name: str, value: float, bound: float, *, strict: bool = False) -> float:
    """A number not below the bound, or above it if strict; infinity passes."""
    if not (value > bound if strict else value >= bound):
        raise InvalidInputError(
            f"`{name}` must be {'above' if strict else 'at least'} {bound:g}. Got {value}."
        )
    return float(value)


def check_choice(name: str, value: Any, choices: Iterable[str]) -> None:
    """One of the given words."""
    choices = list(choices)
    if value not in choices:
        raise InvalidInputError(f"`{name}` must be one of {', '.join(choices)}. Got {value!r}.")


def _check_range(
    name: str, values: npt.ArrayLike, lower: float, upper: float, interval: str
) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    bad = ~((array >= lower) & (array <= upper))
    if bad.any():
        raise InvalidInputError(f"`{name}` must lie in {interval}. Got {array[bad].flat[0]}.")
    return array


def _check_non_negative(name: str, array: FloatArray) -> FloatArray:
    if not np.isfinite(array).all() or (array < 0).any():
        bad = array[~np.isfinite(array) | (array < 0)][0]
        raise InvalidInputError(f"`{name}` must be finite and not negative. Got {bad}.")
    return array + 0.0  # no negative zeros, whose quotients have the wrong sign
