"""Rows of a table as vectors, encoded by what the real side is like.

Written by hand because rows are read one by one and fitted in a single pass; encoders of
scikit-learn need the whole table in memory, and numbers and categories told apart beforehand.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tradeoff.exceptions import InvalidInputError, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from tradeoff._validation import FloatArray
    from tradeoff.data.base import Kind, Sample

__all__ = ["TableEncoder"]

_MOST_CATEGORIES = 50
_MOST_UNKNOWN = 0.5
_BITS = {"0": "False", "1": "True"}
_TIMES = (date, time, timedelta, np.datetime64, np.timedelta64)  # a datetime is a date


@dataclass(frozen=True)
class TableEncoder:
    """Numbers are standardized, words become one column each, and missing values are marked.

    Centers, scales and categories come from the real side alone, so that a model cannot hide a
    shift. The rarest categories share a column, and so do those that the real side has never seen.
    A row must have all columns that every real row has, and no others.

    Args:
        numbers: Mean and standard deviation of every numeric column.
        categories: Categories of every other column, in order.
        optional: Columns that some real rows do not have, so that a row without one is a row in
            which its value is missing.

    Example:
        >>> from tradeoff.data import open_source
        >>> from tradeoff.features.table import TableEncoder
        >>> cats = [{"age": 1, "color": "red"}, {"age": 3, "color": "blue"}]
        >>> encoder = TableEncoder.fit(cats)
        >>> [encoder.prepare(cat).round(1).tolist() for cat in open_source(cats)]
        [[-1.0, 0.0, 0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 1.0, 0.0, 0.0, 0.0]]
        >>> encoder.columns
        ('age', 'age is missing', 'color = blue', 'color = red', 'color: other', 'color is missing')
    """

    name: ClassVar[str] = "table"
    kind: ClassVar[Kind] = "table"
    numbers: tuple[tuple[str, float, float], ...]
    categories: tuple[tuple[str, tuple[str, ...]], ...]
    optional: tuple[str, ...] = ()

    @classmethod
    def fit(cls, real: Iterable[Mapping[str, object]]) -> TableEncoder:
        """Read the fields of all real rows, once."""
        seen: dict[str, _Column] = {}
        rows = 0
        for fields in real:
            rows += 1
            for name, value in fields.items():
                seen.setdefault(name, _Column(name)).add(value)
        if not seen:
            raise InvalidInputError("`real` must hold rows to fit the encoding of a table.")
        numeric = {name: column for name, column in seen.items() if column.is_numeric}
        return cls(
            tuple((name, *column.moments) for name, column in sorted(numeric.items())),
            tuple(
                (name, column.most_common)
                for name, column in sorted(seen.items())
                if name not in numeric
            ),
            tuple(sorted(name for name, column in seen.items() if column.rows < rows)),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of a row."""
        names = [name for name, *_ in self.numbers] + [name for name, _ in self.categories]
        return tuple(sorted(names))

    @property
    def preprocessing(self) -> str:
        """In words."""
        return (
            f"{len(self.numbers)} numeric columns standardized, {len(self.categories)} others in "
            "one column per category, fitted on the real side"
        )

    @property
    def weights(self) -> str:
        """A hash of what was fitted."""
        fitted = json.dumps([self.numbers, self.categories]).encode()
        return blake2b(fitted, digest_size=16).hexdigest()

    @property
    def columns(self) -> tuple[str, ...]:
        """A name for every feature."""
        names = [n for name, *_ in self.numbers for n in (name, f"{name} is missing")]
        for name, values in self.categories:
            names += [f"{name} = {value}" for value in values]
            names += [f"{name}: other", f"{name} is missing"]
        return tuple(names)

    def prepare(self, sample: Sample) -> npt.NDArray[np.float64]:
        """One row."""
        fields = _fields(sample)
        self._check_columns(sample.id, fields)
        features: list[float] = []
        for name, mean, deviation in self.numbers:
            value = fields.get(name)
            number = _as_number(value)
            missing = number is None
            if missing and not _is_missing(value) and not _is_number(value):
                raise UnreadableError(f"`{name}` must be a number. Got {value!r}.")
            features += [0.0 if number is None else (number - mean) / deviation, float(missing)]
        for name, values in self.categories:
            value = fields.get(name)
            word = None if _is_missing(value) else _as_word(name, value)
            if word in _BITS and set(values) <= set(_BITS.values()):
                word = _BITS[word]
            features += [float(word == known) for known in values]
            features += [float(word is not None and word not in values), float(word is None)]
        if not np.isfinite(features).all():
            raise UnreadableError("The row holds a number that is too large to be standardized.")
        return np.array(features)

    def _check_columns(self, row: str, fields: Mapping[str, object]) -> None:
        columns = set(self.names)
        if unknown := fields.keys() - columns:
            raise InvalidInputError(
                f"`{row}` has a column `{min(unknown)}` that the real side does not have: "
                "rename it, or leave it out."
            )
        if missing := columns - fields.keys() - set(self.optional):
            raise InvalidInputError(
                f"`{row}` must have a column `{min(missing)}`, since the real side has it: add it, "
                "with empty values where they are not known, or leave it out on the real side."
            )

    def warnings(self, *, real: FloatArray, generated: FloatArray) -> tuple[str, ...]:
        """Columns in which most values are neither numbers nor among the known categories."""
        found = []
        for i, column in enumerate(self.columns):
            name, is_other, _ = column.rpartition(": other")
            if not is_other or generated[:, i].mean() <= _MOST_UNKNOWN:
                continue
            if real[:, i].mean() > _MOST_UNKNOWN:
                found.append(
                    f"Most values of the column `{name}` are not told apart, because there are "
                    f"more than {_MOST_CATEGORIES} different ones: convert dates to numbers, and "
                    "leave out identifiers and free text."
                )
            else:
                found.append(
                    f"Most generated values of the column `{name}` do not occur on the real side: "
                    "check that both sides write them alike."
                )
        return tuple(found)

    def embed(self, prepared: Sequence[Any]) -> npt.NDArray[np.float64]:
        """All rows together."""
        return np.stack(prepared)


class _Column:
    """What is seen of a column while rows go by."""

    def __init__(self, name: str) -> None:
        self.name, self.rows = name, 0
        self.count, self.mean, self.scatter = 0, 0.0, 0.0
        self.words: Counter[str] = Counter()
        self.is_numeric = True

    def add(self, value: object) -> None:
        self.rows += 1
        if _is_missing(value):
            return
        number = _as_number(value)
        if number is None:
            self.is_numeric = self.is_numeric and _is_number(value)
        else:
            self.count += 1
            shift = number - self.mean
            self.mean += shift / self.count
            self.scatter += shift * (number - self.mean)
        self.words[_as_word(self.name, value)] += 1

    @property
    def moments(self) -> tuple[float, float]:
        deviation = (self.scatter / self.count) ** 0.5 if self.count else 0.0
        if not np.isfinite([self.mean, deviation]).all():
            raise InvalidInputError(
                f"The column `{self.name}` must hold numbers that can be standardized. Some are "
                "too large: rescale it, or leave it out."
            )
        return self.mean, deviation or 1.0

    @property
    def most_common(self) -> tuple[str, ...]:
        ranked = sorted(self.words.items(), key=lambda item: (-item[1], item[0]))
        return tuple(sorted(word for word, _ in ranked[:_MOST_CATEGORIES]))


def _fields(sample: Sample) -> Mapping[str, object]:
    if isinstance(sample.content, dict):
        return sample.content
    raise InvalidInputError(f"`{sample.id}` must be a row of a table.")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating, Decimal)) and not isinstance(
        value, bool
    )


def _as_number(value: Any) -> float | None:
    """A finite number; infinity is as good as missing."""
    if not _is_number(value):
        return None
    try:
        number = float(value)
    except (OverflowError, ValueError):  # a whole number beyond 10³⁰⁸, a signaling NaN
        return None
    return number if np.isfinite(number) else None


def _as_word(column: str, value: object) -> str:
    """A category; 1 and 1.0 are one, and so are true and True, since formats differ."""
    if isinstance(value, (Mapping, Set, list, tuple, bytes, np.ndarray)):
        raise InvalidInputError(
            f"The column `{column}` must hold numbers, texts or truth values. Got a "
            f"{type(value).__name__}: leave it out, or pass `column` and `kind` if it holds the "
            "samples."
        )
    if isinstance(value, _TIMES):
        raise InvalidInputError(
            f"The column `{column}` must hold numbers, texts or truth values. Got a "
            f"{type(value).__name__}: convert dates and times to numbers, such as days since a "
            "fixed date, or leave the column out."
        )
    number = _as_number(value)
    if number is not None and number % 1 == 0:
        return f"{number:.0f}"
    word = str(value)
    return word.capitalize() if word.lower() in ("true", "false") else word


def _is_missing(value: object) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):  # those of pandas
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))
