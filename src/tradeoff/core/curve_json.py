"""The JSON form of a curve, without loss."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tradeoff._validation import check_lam, freeze
from tradeoff.exceptions import InvalidInputError, first_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from tradeoff._validation import FloatArray
    from tradeoff.core.piecewise import PiecewiseLinear

__all__ = ["read_curve", "write_curve"]

_SCHEMA = "tradeoff.PRCurve"
_SCHEMA_VERSION = 1
_ARRAYS = ("breakpoints", "intercepts", "slopes")
_ENDS = ("max_precision", "max_recall")
_BANDS = ("lower", "upper")
_LARGEST = 1e300

Curve = TypeVar("Curve")


def write_curve(curve: PiecewiseLinear) -> str:
    """A curve and its bands as JSON."""
    return json.dumps(_to_fields(curve), allow_nan=False)


def read_curve(text: str, make: Callable[..., Curve]) -> Curve:
    """Read a curve and its bands, and build each of them with its constructor `make`."""
    try:
        return _from_fields(json.loads(text), make)
    except InvalidInputError:
        raise
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidInputError(
            f"The text must be JSON written by PRCurve.to_json. {first_line(error)}."
        ) from None


def _to_fields(curve: PiecewiseLinear) -> dict[str, Any]:
    given = vars(curve)
    return {
        "schema": _SCHEMA,
        "version": _SCHEMA_VERSION,
        **{name: given[name].tolist() for name in _ARRAYS},
        **{name: _number_to_json(given[name]) for name in _ENDS},
        **{name: _to_fields(given[name]) if given[name] else None for name in _BANDS},
    }


def _from_fields(fields: Any, make: Callable[..., Curve]) -> Curve:
    schema = fields.get("schema") if isinstance(fields, dict) else None
    if schema != _SCHEMA:
        raise InvalidInputError(f"The JSON must have the schema {_SCHEMA}. Got {schema!r}.")
    if fields.get("version") != _SCHEMA_VERSION:
        raise InvalidInputError(
            f"This version of tradeoff reads {_SCHEMA} version {_SCHEMA_VERSION}. "
            f"Got version {fields.get('version')!r}: update tradeoff to read it."
        )
    if missing := {*_ARRAYS, *_ENDS, *_BANDS} - fields.keys():
        raise InvalidInputError(f"The JSON of a curve lacks {', '.join(sorted(missing))}.")
    return make(
        **{name: _values(name, fields[name]) for name in _ARRAYS},
        **{name: float(check_lam(_number_from_json(fields[name]), name)) for name in _ENDS},
        **{name: _band(fields[name], make) for name in _BANDS},
    )


def _band(fields: Any, make: Callable[..., Curve]) -> Curve | None:
    return None if fields is None else _from_fields(fields, make)


def _values(name: str, values: Any) -> FloatArray:
    """Numbers small enough that precision and recall are finite; breakpoints may be larger."""
    array = freeze(name, values)
    most = np.finfo(np.float64).max if name == "breakpoints" else _LARGEST
    if (np.abs(array) > most).any():
        raise InvalidInputError(
            f"`{name}` of a curve must lie within ±{most:g}. Got {array[np.abs(array).argmax()]:g}."
        )
    return array


def _number_to_json(value: float) -> float | str:
    return value if np.isfinite(value) else str(value)


def _number_from_json(value: Any) -> Any:
    return np.inf if value == "inf" else value
