"""What a source yields: samples with stable ids, and items that could not be read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Literal, Protocol

import numpy as np

from tradeoff._result import Result
from tradeoff.exceptions import InvalidInputError

__all__ = [
    "Broken",
    "Kind",
    "MissingColumnError",
    "Sample",
    "Source",
    "check_columns",
    "check_distinct",
]

Kind = Literal["image", "text", "table", "features"]


@dataclass(frozen=True, eq=False, slots=True)
class Sample:
    """One sample as it was read.

    Args:
        id: Stable name: a path, a row or a key.
        content: An encoded image as bytes, pixels or features as an array, a text, or the fields of
            a row.
        label: Class, where the source knows one.

    Example:
        >>> from tradeoff.data import Sample
        >>> Sample("cats/1.txt", "A cat.").digest == Sample("elsewhere", "A cat.").digest
        True
    """

    id: str
    content: bytes | str | np.ndarray[Any, Any] | Mapping[str, object]
    label: str | None = None

    @property
    def digest(self) -> str:
        """A hash of nothing but the content, so that a sample is the same wherever it lies."""
        content = self.content
        if isinstance(content, np.ndarray):
            head = f"{content.dtype.str}{content.shape}".encode()
            raw = head + np.ascontiguousarray(content).tobytes()
        elif isinstance(content, Mapping):
            raw = json.dumps(content, sort_keys=True, default=_plain).encode()
        else:
            raw = content.encode(errors="surrogatepass") if isinstance(content, str) else content
        kind = type(content).__name__.encode()
        return blake2b(raw, digest_size=16, key=kind).hexdigest()


def _plain(value: object) -> object:
    """What JSON can hold; the text of an array would leave out the middle of a long one."""
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else str(value)


@dataclass(frozen=True, slots=True)
class Broken(Result):
    """An item that could not be read, and why.

    Args:
        id: Name of the item.
        reason: Reason, one sentence.

    Example:
        >>> from tradeoff.data import Broken
        >>> Broken("cats/2.png", "The file is empty.").reason
        'The file is empty.'
    """

    id: str
    reason: str


class Source(Protocol):
    """Anything that yields samples, in a fixed order, as often as it is asked.

    Example:
        >>> from tradeoff.data import Sample, Source
        >>> class Hello:
        ...     kind = "text"
        ...
        ...     def __iter__(self):
        ...         yield Sample("0", "Hello.")
        >>> source: Source = Hello()
        >>> [sample.content for sample in source]
        ['Hello.']
    """

    @property
    def kind(self) -> Kind:
        """What the samples are."""

    def __iter__(self) -> Iterator[Sample | Broken]:
        """Samples and broken items, in order."""


class MissingColumnError(InvalidInputError):
    """A source lacks a column that it was asked for."""

    def __init__(self, name: object, column: str, columns: Sequence[str]) -> None:
        super().__init__(f"`{name}` must have a column `{column}`. Got {', '.join(columns)}.")
        self.column = column


def check_columns(name: object, columns: Sequence[str], *wanted: str | None) -> None:
    """Raise an error if a source lacks one of the columns that it was asked for."""
    for column in wanted:
        if column is not None and column not in columns:
            raise MissingColumnError(name, column, columns)


def check_distinct(name: object, columns: Sequence[str]) -> None:
    """Raise an error if two columns of a source have the same name."""
    if twice := sorted(column for column, count in Counter(columns).items() if count > 1):
        raise InvalidInputError(
            f"`{name}` must have columns with different names. `{twice[0]}` occurs "
            f"{columns.count(twice[0])} times: rename them."
        )
