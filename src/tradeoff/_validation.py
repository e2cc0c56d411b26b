"""Checks of what users pass in, in one voice: what was expected, what came, what to do."""

from __future__ import annotations

from collections.abc import Mapping
from functools import wraps
from inspect import signature
from numbers import Real
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from tradeoff.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = [
    "LARGEST_FEATURE",
    "FloatArray",
    "advising",
    "check_array",
    "check_choice",
    "check_count",
    "check_features",
    "check_lam",
    "check_masses",
    "check_matrix",
    "check_number",
    "check_numbers",
    "check_order",
    "check_positive",
    "check_same_columns",
    "check_seed",
    "check_share",
    "check_shares",
    "check_slopes",
    "check_type",
    "check_vector",
    "check_views",
    "check_weights",
    "freeze",
    "own",
    "read_only",
    "same_kind",
    "to_array",
]


P = ParamSpec("P")
R = TypeVar("R")

FloatArray = npt.NDArray[np.float64]

LARGEST_FEATURE = 1e100
"""Beyond it, squares of features overflow."""
_LARGEST_SEED = 2**32 - 1
_KINDS = {
    "c": "complex numbers",
    "M": "dates",
    "m": "durations",
    "O": "objects",
    "U": "texts",
    "S": "bytes",
    "V": "records",
}
_MASS_TOLERANCE = 1e-6
_MASS_ROUNDING = 1e-15


def check_numbers(
    name: str, values: npt.ArrayLike, expected: str = "an array of numbers"
) -> FloatArray:
    """A float64 array of any shape."""
    return check_array(name, values, expected).astype(np.float64, copy=False)


def advising(advice: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function answer missing and unknown arguments with a sentence and this advice."""

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        expected = signature(function)

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                expected.bind(*args, **kwargs)
            except TypeError as error:
                raise InvalidInputError(f"`{function.__name__}` {error}. {advice}") from None
            return function(*args, **kwargs)

        return checked

    return decorated


def check_array(name: str, values: Any, expected: str = "an array of numbers") -> npt.NDArray[Any]:
    """Real numbers of any precision, from an array, a tensor, a DataFrame or a list.

    What NumPy would convert by dropping something is refused: masked entries, imaginary parts,
    dates and texts.
    """
    try:
        array = np.asarray(to_array(values))
    except (TypeError, ValueError, RuntimeError) as error:
        raise InvalidInputError(f"`{name}` must be {expected}. {error}.") from None
    if np.ma.is_masked(values):
        raise InvalidInputError(
            f"`{name}` must not have masked entries: fill them, or leave out their rows."
        )
    if array.dtype.kind == "O" and all(isinstance(value, Real) for value in array.flat):
        try:
            return array.astype(np.float64)
        except OverflowError:
            raise InvalidInputError(
                f"`{name}` must hold numbers below 1.8e308. Got a larger whole number."
            ) from None
    if array.dtype.kind not in "fiub":
        found = _KINDS.get(array.dtype.kind, array.dtype) if array.ndim else repr(values)
        raise InvalidInputError(f"`{name}` must be {expected}. Got {found}.")
    return array


def to_array(values: Any) -> Any:
    """A tensor of any device, precision and gradient state as an array; anything else as it is."""
    if not hasattr(values, "detach"):
        return values
    tensor = values.detach().cpu()
    try:
        return tensor.numpy()
    except TypeError:  # NumPy has no bfloat16 and no 8-bit floats; float32 holds their values
        return tensor.float().numpy()


def freeze(name: str, values: npt.ArrayLike) -> FloatArray:
    """A one-dimensional float64 array without NaN that is read-only."""
    array = check_numbers(name, values)
    if array.ndim != 1 or np.isnan(array).any():
        raise InvalidInputError(f"`{name}` must be one-dimensional and without NaN.")
    return own(array)


def own(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array itself if it is read-only, else a read-only copy."""
    base: Any = array
    while isinstance(base, np.ndarray):
        if base.flags.writeable:
            copy = array.copy(order="K")
            copy.flags.writeable = False
            return copy
        base = base.base
    return array


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A read-only view; whoever holds the array itself can still write to it."""
    if not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view


def check_vector(name: str, values: npt.ArrayLike) -> FloatArray:
    """A non-empty one-dimensional float64 array without NaN."""
    array = check_numbers(name, values)
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
    """A probability vector; a sum that is off by single-precision rounding is corrected."""
    array = _check_non_negative(name, check_vector(name, values))
    total = float(array.sum())
    if abs(total - 1.0) > _MASS_TOLERANCE:
        raise InvalidInputError(
            f"`{name}` must sum to 1. Got a sum of {total:.6g}. "
            "Divide it by its sum if it holds counts."
        )
    return array if abs(total - 1.0) <= _MASS_ROUNDING else array / total


def check_weights(name: str, values: npt.ArrayLike | None, size: int) -> FloatArray:
    """Sample weights, all ones where none are given."""
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


def check_features(**sides: npt.ArrayLike) -> tuple[FloatArray, ...]:
    """Matrices of finite features, one row per sample, with the same columns on every side."""
    arrays = [
        # Sums round differently in another memory layout, such as that of a DataFrame.
        np.ascontiguousarray(check_matrix(name, values), np.float64)
        for name, values in sides.items()
    ]
    check_same_columns(**{name: a.shape[1] for name, a in zip(sides, arrays, strict=True)})
    return tuple(arrays)


def check_matrix(name: str, values: Any) -> npt.NDArray[Any]:
    """A matrix of finite features of any precision, one row per sample."""
    array = check_array(name, values)
    if array.ndim != 2 or 0 in array.shape:
        raise InvalidInputError(
            f"`{name}` must have one row per sample and one column per feature. "
            f"Got shape {array.shape}."
        )
    least, most = float(array.min()), float(array.max())  # NaN if there is one
    if least >= -LARGEST_FEATURE and most <= LARGEST_FEATURE:
        return array
    if np.isfinite(array).all():
        raise InvalidInputError(
            f"`{name}` must lie within ±{LARGEST_FEATURE:g}, or its squares overflow. "
            f"Got {max(-least, most):g}."
        )
    bad = np.flatnonzero(~np.isfinite(array).all(1))
    raise InvalidInputError(
        f"`{name}` must be finite. Got NaN or infinity in {bad.size} of {len(array)} rows, first "
        f"in row {bad[0]}."
    )


def check_same_columns(**columns: int) -> None:
    """The same number of columns on every side."""
    if len(set(columns.values())) > 1:
        found = " and ".join(f"{number} in `{name}`" for name, number in columns.items())
        raise InvalidInputError(f"Both sides must have the same number of columns. Got {found}.")


def check_lam(lam: npt.ArrayLike, name: str = "lam") -> FloatArray:
    """Slopes in [0, ∞], of any shape."""
    return _check_range(name, lam, 0.0, np.inf, "[0, inf]")


def check_slopes(lam: npt.ArrayLike) -> FloatArray:
    """Slopes in (0, ∞), shape (n,)."""
    slopes = check_lam(check_vector("lam", lam))
    if ((slopes == 0) | np.isinf(slopes)).any():
        raise InvalidInputError("`lam` must be positive and finite.")
    return slopes


def check_shares(name: str, values: npt.ArrayLike) -> FloatArray:
    """Numbers in [0, 1], of any shape."""
    return _check_range(name, values, 0.0, 1.0, "[0, 1]")


def check_number(
    name: str, value: float, *, at_least: float = -np.inf, finite: bool = True
) -> float:
    """A number not below a bound."""
    number = _check_scalar(name, value)
    if not number >= at_least:
        raise InvalidInputError(f"`{name}` must be at least {at_least:g}. Got {value}.")
    if finite and np.isinf(number):
        raise InvalidInputError(f"`{name}` must be finite. Got {value}.")
    return number


def check_positive(name: str, value: float) -> float:
    """A finite number above zero."""
    number = _check_scalar(name, value)
    if not (number > 0 and np.isfinite(number)):
        raise InvalidInputError(f"`{name}` must be positive and finite. Got {value}.")
    return number


def check_count(name: str, value: int) -> int:
    """A whole number of at least 1."""
    number = _check_scalar(name, value)
    if not (number >= 1 and number.is_integer()):
        raise InvalidInputError(f"`{name}` must be a whole number of at least 1. Got {value}.")
    return int(number)


def check_seed(seed: int) -> int:
    """A seed that every library takes."""
    number = _check_scalar("seed", seed)
    if not (0 <= number <= _LARGEST_SEED and number.is_integer()):
        raise InvalidInputError(f"`seed` must be a whole number from 0 to 2³² − 1. Got {seed}.")
    return int(number)


def check_share(name: str, value: float) -> float:
    """A number strictly between 0 and 1."""
    number = _check_scalar(name, value)
    if not 0 < number < 1:
        raise InvalidInputError(f"`{name}` must lie strictly between 0 and 1. Got {value}.")
    return number


def check_order(value: float) -> float:
    """The order of a Rényi divergence, in [0, ∞]."""
    return float(_check_range("order", _check_scalar("order", value), 0.0, np.inf, "[0, inf]"))


def check_type(name: str, value: object, *wanted: type) -> None:
    """An object of a wanted type."""
    if not isinstance(value, wanted):
        kinds = " or ".join(kind.__name__ for kind in wanted)
        raise InvalidInputError(f"`{name}` must be a {kinds}. Got a {type(value).__name__}.")


def check_choice(name: str, value: Any, choices: Iterable[str]) -> None:
    """One of the given words."""
    choices = list(choices)
    if value not in choices:
        raise InvalidInputError(f"`{name}` must be one of {', '.join(choices)}. Got {value!r}.")


def check_views(widths: Mapping[str, int], columns: int) -> dict[str, int]:
    """Numbers of columns of views by name, which together make up all columns."""
    check_type("views", widths, Mapping)
    found = {str(name): check_count(f"views[{name!r}]", width) for name, width in widths.items()}
    if sum(found.values()) != columns:
        raise InvalidInputError(
            f"`views` must add up to the {columns} columns of the features. "
            f"Got {sum(found.values())}."
        )
    return found


def _check_range(
    name: str, values: npt.ArrayLike, lower: float, upper: float, interval: str
) -> FloatArray:
    array = check_numbers(name, values)
    bad = ~((array >= lower) & (array <= upper))
    if bad.any():
        raise InvalidInputError(f"`{name}` must lie in {interval}. Got {array[bad].flat[0]}.")
    return array


def _check_scalar(name: str, value: float) -> float:
    array = check_numbers(name, value, expected="a number")
    if array.ndim > 0:
        raise InvalidInputError(f"`{name}` must be one number. Got shape {array.shape}.")
    return float(array)


def _check_non_negative(name: str, array: FloatArray) -> FloatArray:
    if not np.isfinite(array).all() or (array < 0).any():
        bad = array[~np.isfinite(array) | (array < 0)][0]
        raise InvalidInputError(f"`{name}` must be finite and not negative. Got {bad}.")
    return array + 0.0  # no negative zeros, whose quotients have the wrong sign


def same_kind(value: Any) -> float | FloatArray:
    """A float for an array without dimensions, and a float64 array otherwise."""
    array = np.asarray(value, dtype=np.float64)
    return float(array) if array.ndim == 0 else array
