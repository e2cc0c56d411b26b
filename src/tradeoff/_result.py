"""What every result shares: a short text, an HTML table, read-only arrays, pickling and JSON."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping
from dataclasses import fields as fields_of
from itertools import repeat
from typing import Any, ClassVar, Self

import numpy as np

from tradeoff._codec import read_document, write_document
from tradeoff._text import printable
from tradeoff._validation import own, read_only

__all__ = ["Result", "html_table"]

_LONGEST = 1200  # characters of all values together
_ITEMS = 4
_CELL = 120


class Result:
    """Base class of the dataclasses that hold results.

    Arrays of a result are read-only copies. Fields named in `_shared` hold large arrays: they are
    read-only views, and change if the caller writes to the original array. JSON leaves out fields
    named in `_unsaved`, and holds properties named in `_derived` for readers of the file.

    Example:
        >>> import numpy as np
        >>> from tradeoff.metrics.moments import PartScores
        >>> scores = PartScores(np.array([8.9, 9.1]))
        >>> scores
        PartScores(values=float64 array of shape (2,))
        >>> PartScores.from_json(scores.to_json()).values
        array([8.9, 9.1])
        >>> scores.values[0] = 10.0
        Traceback (most recent call last):
        ...
        ValueError: assignment destination is read-only
    """

    __slots__ = ()
    _shared: ClassVar[frozenset[str]] = frozenset()
    _version: ClassVar[int] = 2
    _unsaved: ClassVar[tuple[str, ...]] = ()
    _derived: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # In the class itself, or the decorator `dataclass` would write another one.
        if "__repr__" not in vars(cls):
            cls.__repr__ = Result.__repr__  # type: ignore[method-assign]

    def __post_init__(self) -> None:
        for name in _names(self):
            value = getattr(self, name)
            frozen = _frozen(value, shared=name in self._shared)
            if frozen is not value:
                object.__setattr__(self, name, frozen)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Unpickled arrays are writable, those of cached properties too.
        owned = set(_names(self)) - self._shared
        for name, value in state.items():
            private = name.startswith("_")
            vars(self)[name] = value if private else _frozen(value, shared=name not in owned)

    def __repr__(self) -> str:
        names = _shown(self)
        limit = _LONGEST // max(1, len(names))
        parts = (f"{name}={_short(getattr(self, name), limit)}" for name in names)
        return f"{type(self).__name__}({', '.join(parts)})"

    def _repr_html_(self) -> str:
        rows = [(name, _short(getattr(self, name), _CELL)) for name in _shown(self)]
        return html_table(type(self).__name__, ("field", "value"), rows)

    def to_json(self) -> str:
        """The result as JSON, without loss; `from_json` reads it back."""
        return write_document(self)

    def to_dict(self) -> dict[str, Any]:
        """What `to_json` writes, as dictionaries, lists, numbers and texts."""
        found: dict[str, Any] = json.loads(self.to_json())
        return found

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote."""
        found: Self = read_document(text, cls)
        return found


def html_table(title: str, header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """An HTML table with escaped text, and no style or script from elsewhere.

    Args:
        title: Caption of the table.
        header: Names of the columns.
        rows: Texts of the cells; the first of each row is its heading, unless it is the only one.
    """
    heads = "".join(map(_cell, header, repeat("th")))
    lines = [
        _cell(first, "th" if rest else "td") + "".join(map(_cell, rest, repeat("td")))
        for first, *rest in rows
    ]
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return (
        f"<table><caption>{html.escape(printable(title))}</caption><thead><tr>{heads}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


def _cell(text: str, tag: str) -> str:
    return f'<{tag} style="text-align: left">{html.escape(printable(text))}</{tag}>'


def _names(result: Any) -> list[str]:
    """Public fields of a result."""
    return [field.name for field in fields_of(result) if not field.name.startswith("_")]


def _shown(result: Any) -> list[str]:
    """Public fields that texts show."""
    hidden = {field.name for field in fields_of(result) if not field.repr}
    return [name for name in _names(result) if name not in hidden]


def _frozen(value: Any, *, shared: bool) -> Any:
    """A value whose arrays are read-only; the value itself where they are already."""
    if isinstance(value, np.ndarray):
        return read_only(value) if shared else own(value)
    if shared:
        return value
    if isinstance(value, Mapping):
        items = {key: _frozen(item, shared=False) for key, item in value.items()}
        return value if all(items[key] is value[key] for key in items) else items
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        parts = [_frozen(item, shared=False) for item in value]
        return value if all(map(_is, parts, value)) else type(value)(*parts)
    return value


def _is(first: object, second: object) -> bool:
    return first is second


def _short(value: Any, limit: int) -> str:
    """A text of a value with at most `limit` characters."""
    if getattr(value, "ndim", 0) and hasattr(value, "dtype") and hasattr(value, "shape"):
        text = f"{value.dtype} array of shape {tuple(value.shape)}"
    elif isinstance(value, Result):
        text = _line(value, limit)
    elif isinstance(value, Mapping):
        inner = limit // _ITEMS
        shown = [f"{_short(k, inner)}: {_short(v, inner)}" for k, v in _first(value.items())]
        text = "{" + ", ".join(shown + _rest(value)) + "}"
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        parts = zip(value._fields, value, strict=True)
        shown = [f"{name}={_short(item, limit // len(value))}" for name, item in parts]
        text = f"{type(value).__name__}({', '.join(shown)})"
    elif isinstance(value, (list, tuple)) and value:
        shown = [_short(item, limit // _ITEMS) for item in _first(value)] + _rest(value)
        inside = ", ".join(shown)
        text = f"[{inside}]" if isinstance(value, list) else f"({inside}{',' * (len(value) == 1)})"
    else:
        text = repr(value[:limit] if isinstance(value, (str, bytes)) else value)
    return text if len(text) <= limit else f"{text[: max(0, limit - 3)]}..."


def _line(result: Result, limit: int) -> str:
    """The class and the numbers and short texts of a result that is inside another."""
    values = {name: getattr(result, name) for name in _shown(result)}
    plain = {n: v for n, v in values.items() if isinstance(v, (bool, int, float, str))}
    shown = [f"{name}={_short(value, limit)}" for name, value in plain.items()]
    return f"{type(result).__name__}({', '.join(shown + ['...'] * (len(plain) < len(values)))})"


def _first(items: Iterable[Any]) -> list[Any]:
    return [item for item, _ in zip(items, range(_ITEMS), strict=False)]


def _rest(items: Any) -> list[str]:
    return [f"... {len(items)} in all"] if len(items) > _ITEMS else []
