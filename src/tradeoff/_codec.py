"""Results as JSON without loss, and back, by the types that their fields declare.

A document is a JSON object with a schema, a version and the fields of a dataclass. Arrays are
objects with type, shape and values, tuples are lists, and numbers that JSON does not know are
texts. What a file says is checked against the declared types, and no file chooses a class.
"""

from __future__ import annotations

import contextlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

from tradeoff._sides import Sides
from tradeoff.exceptions import InvalidInputError, TradeoffError, first_line

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "check_types",
    "decode",
    "decoding",
    "encode",
    "read_document",
    "write_document",
]

_NUMBERS = re.compile("(bool|u?int(8|16|32|64)|float(16|32|64))")
_ARRAY = {"dtype", "shape", "values"}
_INFINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
_PYTHON_TYPES: dict[str, set[type]] = {"b": {bool}, "i": {int}, "u": {int}, "f": {int, float}}


class _UnfitError(ValueError):
    """A value that does not have the type that its field declares."""


@contextlib.contextmanager
def decoding(what: str) -> Iterator[None]:
    """Turn any error that a damaged result causes while it is decoded into one sentence.

    Args:
        what: Name of the result in the sentence.
    """
    try:
        yield
    except TradeoffError:
        raise
    except Exception as error:  # of Python and of Arrow, one for every way to be damaged
        kind = "" if isinstance(error, _UnfitError) else f"{type(error).__name__}: "
        raise InvalidInputError(
            f"{what} is not a result of this version of tradeoff, or is damaged "
            f"({kind}{first_line(error)}): measure again."
        ) from None


def write_document(result: Any) -> str:
    """The text of a document."""
    return json.dumps(_document(result), ensure_ascii=False, allow_nan=False)


def read_document(text: str, cls: Any) -> Any:
    """A result of a class from the text of a document."""
    try:
        found = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(
            f"The text must be JSON written by {cls.__name__}.to_json. {first_line(error)}."
        ) from None
    wanted = (_schema(cls), cls._version)
    got = (found.get("schema"), found.get("version")) if isinstance(found, dict) else None
    if got != wanted:
        raise InvalidInputError(
            f"The JSON must have the schema {wanted[0]} version {wanted[1]}. Got {got}: measure "
            "again to get a result of this version."
        )
    with decoding(f"The JSON of {cls.__name__}"):
        json.dumps(found, ensure_ascii=False, allow_nan=False).encode()  # it can be written again
        return decode({k: v for k, v in found.items() if k not in ("schema", "version")}, cls)


def _document(result: Any) -> dict[str, Any]:
    cls = type(result)
    return {"schema": _schema(cls), "version": cls._version, **encode(result, cls.__name__)}


def _schema(cls: type) -> str:
    return f"tradeoff.{cls.__name__}"


def encode(value: Any, name: str = "value") -> Any:
    """A value as JSON knows it.

    Args:
        value: A result, or something that results hold.
        name: What contains it, for messages.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, np.ndarray):
        return _encode_array(value, name)
    if isinstance(value, Mapping):
        pairs = [(encode(key, name), encode(item, name)) for key, item in value.items()]
        return dict(pairs) if all(isinstance(key, str) for key, _ in pairs) else pairs
    if isinstance(value, (list, tuple)):
        return [encode(item, name) for item in value]
    if hasattr(value, "_version"):  # a result
        names = [*_saved(type(value)), *value._derived]
        return {one: encode(getattr(value, one), name) for one in names}
    if hasattr(value, "to_dict"):
        return encode(value.to_dict(), name)
    raise InvalidInputError(
        f"JSON cannot hold this {name}, which contains an object of type {type(value).__name__}: "
        "pickle it, or call its method `save` if it has one."
    )


def _encode_array(array: npt.NDArray[Any], name: str) -> dict[str, Any]:
    values: list[Any] = array.ravel().tolist()
    if array.dtype.kind in "OU":
        if not all(isinstance(value, str) for value in values):
            raise InvalidInputError(
                f"JSON cannot hold this {name}: its arrays must hold numbers or texts."
            )
        return {"dtype": "text", "shape": list(array.shape), "values": values}
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        values = [value if math.isfinite(value) else str(value) for value in values]
    return {"dtype": array.dtype.name, "shape": list(array.shape), "values": values}


def decode(value: Any, hint: Any) -> Any:
    """A value of a type: a class, a union, a literal, an array, or a container of these.

    Args:
        value: What JSON holds.
        hint: The type, as a field declares it.

    Example:
        >>> from tradeoff._codec import decode
        >>> decode([1, 2.5, "inf"], tuple[float, ...])
        (1, 2.5, inf)
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        is_array = isinstance(value, dict) and value.keys() == _ARRAY
        return _decode_array(value, Any) if is_array else value
    if origin in (Union, UnionType):
        return _decode_first(value, arguments)
    if origin is np.ndarray:
        return _decode_array(value, (get_args(arguments[-1]) or (Any,))[0])
    if origin is Sides:
        return Sides(*(decode(item, arguments[0]) for item in _checked(value, list)))
    if origin is Literal:
        return _checked(value, type(value), in_=arguments)
    if origin is not None and issubclass(origin, Mapping):
        kind = dict if arguments[0] is str else (dict, list)
        pairs = value.items() if isinstance(_checked(value, kind), dict) else value
        return {decode(k, arguments[0]): decode(v, arguments[1]) for k, v in pairs}
    if origin is not None:
        return _decode_items(_checked(value, list), origin, arguments)
    if hint is float and value in ("inf", "-inf", "nan"):
        return _INFINITE[value]
    if hint in (int, float):
        number = _checked(value, (int, float) if hint is float else int, but=bool)
        return _checked(number, object) if abs(number) < 1e308 else _checked(None, hint)
    if hasattr(hint, "to_dict") and not hasattr(hint, "_version"):
        check_types(_checked(value, dict), hint)
        return hint.of(value)
    if is_dataclass(hint):
        return _decode_fields(_checked(value, dict), hint)
    return _checked(value, NoneType if hint is None else hint)


def check_types(values: Mapping[str, Any], cls: Any) -> None:
    """Check that values have the types that a class declares for fields of their names."""
    hints = _hints(cls)
    for name in values.keys() & hints.keys():
        decode(values[name], hints[name])


def _checked(value: Any, kind: Any, *, but: Any = (), in_: Sequence[Any] | None = None) -> Any:
    if not isinstance(value, kind) or isinstance(value, but) or (in_ and value not in in_):
        raise _UnfitError(f"{str(value)[:40]!r} is not valid here")
    return value


def _decode_first(value: Any, hints: tuple[Any, ...]) -> Any:
    """By the first of several types that fits."""
    for hint in hints:
        with contextlib.suppress(TypeError, ValueError, KeyError, TradeoffError):
            return decode(value, hint)
    raise _UnfitError(f"{str(value)[:40]!r} is not valid here")


def _decode_items(value: list[Any], origin: Any, hints: tuple[Any, ...]) -> Any:
    if origin is tuple and not (len(hints) == 2 and hints[1] is Ellipsis):
        return tuple(decode(item, hint) for item, hint in zip(value, hints, strict=True))
    found = [decode(item, hints[0]) for item in value]
    return tuple(found) if origin is tuple else found


def _decode_fields(value: dict[str, Any], cls: Any) -> Any:
    hints = _hints(cls)
    derived = getattr(cls, "_derived", ())
    names = _saved(cls)
    if value.keys() - set(derived) != set(names):
        raise _UnfitError(f"{cls.__name__} has the fields {', '.join(names)}")
    made = {}
    for name in names:
        try:
            made[name] = decode(value[name], hints[name])
        except _UnfitError as error:
            raise _UnfitError(f"{name}: {error}") from None
    make = getattr(cls, "_from_fields", cls)
    return make(**made)


def _decode_array(content: dict[str, Any], scalar: Any) -> npt.NDArray[Any]:
    """Texts become objects, since the longest of them must not decide on the memory of all."""
    if _checked(content, dict).keys() != _ARRAY:
        raise _UnfitError("an array has a dtype, a shape and values")
    dtype, values, shape = content["dtype"], content["values"], tuple(content["shape"])
    if dtype == "text":
        array = np.array([_checked(one, str) for one in values], dtype=object)
    elif not _NUMBERS.fullmatch(dtype):
        raise _UnfitError(f"there are no arrays of {dtype!r}")
    else:
        if dtype.startswith("float"):
            values = [_INFINITE.get(one, one) if isinstance(one, str) else one for one in values]
        if not {type(one) for one in values} <= _PYTHON_TYPES[np.dtype(dtype).kind]:
            raise _UnfitError("an array of numbers holds something else")
        array = np.array(values, dtype=dtype)
    scalar = get_origin(scalar) or scalar
    if scalar is not Any and not issubclass(array.dtype.type, scalar):
        raise _UnfitError(f"an array of {dtype} is none of the declared type")
    return array.reshape(shape)


def _saved(cls: Any) -> list[str]:
    """Fields that a document holds."""
    left_out = getattr(cls, "_unsaved", ())
    names = [field.name for field in fields(cls)]
    return [name for name in names if not name.startswith("_") and name not in left_out]


@cache
def _hints(cls: type) -> dict[str, Any]:
    """Types of the fields of a class."""
    return get_type_hints(cls)
