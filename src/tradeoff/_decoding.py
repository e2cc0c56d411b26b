"""Results read from JSON: fields are checked against the types of the classes that hold them."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import fields as fields_of
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from tradeoff.exceptions import InvalidInputError, TradeoffError, first_line

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["build", "check_types", "decoding", "fits", "read_fields"]

T = TypeVar("T")


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
        raise InvalidInputError(
            f"{what} is not a result of this version of tradeoff, or is damaged "
            f"({type(error).__name__}: {first_line(error)}): measure again."
        ) from None


def read_fields(text: str, schema: str, version: int, *, finite: bool) -> dict[str, Any]:
    """Fields of a JSON object of a schema, all of which can be written again.

    Args:
        text: Text of the JSON object.
        schema: Name of its schema.
        version: Version of its schema.
        finite: Whether all numbers must be finite.
    """
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(
            f"The text must be JSON of a result. {first_line(error)}."
        ) from None
    found = (fields.get("schema"), fields.get("version")) if isinstance(fields, dict) else None
    if found != (schema, version):
        raise InvalidInputError(
            f"The JSON must have the schema {schema} version {version}. Got {found}: measure again "
            "to get a result of this version."
        )
    json.dumps(fields, ensure_ascii=False, allow_nan=not finite).encode()
    return dict(fields)


def build(cls: type[T], fields: dict[str, Any]) -> T:
    """An object of a dataclass, whose fields have the declared types."""
    return check_types(cls(**fields))


def check_types(made: T, *, names: Mapping[str, Any] | None = None, finite: bool = True) -> T:
    """An object of a dataclass, if its fields have the declared types; else a TypeError.

    Args:
        made: The object.
        names: What its annotations name besides what its module imports.
        finite: Whether all numbers must be finite.
    """
    hints = get_type_hints(type(made), localns=None if names is None else dict(names))
    for field in fields_of(made):  # type: ignore[arg-type]
        if not fits(getattr(made, field.name), hints[field.name], finite=finite):
            raise TypeError(f"`{field.name}` of a {type(made).__name__} has the wrong type")
    return made


def fits(value: Any, hint: Any, *, finite: bool = True) -> bool:
    """Whether a value has a type: a class, a union, a literal, an array, or a container of these.

    Example:
        >>> from tradeoff._decoding import fits
        >>> fits(3, float | None), fits(True, float), fits({"a": 1}, dict[str, int])
        (True, False, True)
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin in (Union, UnionType):
        return any(fits(value, one, finite=finite) for one in arguments)
    if origin is Literal:
        return value in arguments
    if origin is np.ndarray:
        return isinstance(value, np.ndarray) and _has_dtype(value, arguments[-1])
    if origin is not None:
        return isinstance(value, origin) and _all_fit(value, arguments, finite=finite)
    if hint in (int, float):
        wanted = (int, float) if hint is float else int
        if not isinstance(value, wanted) or isinstance(value, bool):
            return False
        return not finite or abs(value) < 1e308
    return isinstance(value, NoneType if hint is None else hint)


def _all_fit(value: Any, arguments: tuple[Any, ...], *, finite: bool) -> bool:
    """Whether the items of a sequence, or the keys and values of a mapping, have their types."""
    if isinstance(value, Mapping):
        return all(
            fits(key, arguments[0], finite=finite) and fits(item, arguments[1], finite=finite)
            for key, item in value.items()
        )
    return all(fits(item, arguments[0], finite=finite) for item in value)


def _has_dtype(value: np.ndarray[Any, Any], hint: Any) -> bool:
    (scalar,) = get_args(hint) or (Any,)
    scalar = get_origin(scalar) or scalar
    return scalar is Any or issubclass(value.dtype.type, scalar)
