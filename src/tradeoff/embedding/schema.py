"""What each column of a table holds, as the metadata of SDV (``metadata.json``) says.

Without a schema, a column holds numbers if all its values are numbers. A schema makes categories of
codes that are written as numbers, reads dates, and leaves identifiers out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._files import missing
from tradeoff._text import printable
from tradeoff.data.base import Broken, Sample
from tradeoff.data.reading import read_file
from tradeoff.data.text import as_value
from tradeoff.exceptions import InvalidInputError, UnreadableError, first_line

if TYPE_CHECKING:
    from tradeoff.data.base import Kind, Source

__all__ = ["Schema", "TypedRows", "check_no_dates"]

_MOST_BYTES = 64 * 2**20
_AS_FOUND = ("ordinal", "unknown")
_TYPED = ("numerical", "categorical", "boolean", "datetime", *_AS_FOUND)
_KINDS = (*_TYPED, "id")
_FIRST_ROWS = 100  # one of which must fit the schema
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = timedelta(days=1)
_DATES = (date, time, np.datetime64)  # a datetime is a date
_YES, _NO = ("true", "yes", "1"), ("false", "no", "0")


@dataclass(frozen=True)
class Schema:
    """What each column of a table holds.

    Args:
        kinds: By the name of a column: "numerical", "categorical", "boolean" or "datetime";
            "ordinal" and "unknown" are read like columns that the schema does not name.
        formats: Formats of the dates, for columns that say one.
        left_out: What else columns hold, such as identifiers and addresses; they are not read.

    Example:
        >>> from tradeoff.embedding.schema import Schema
        >>> schema = Schema.of(
        ...     {
        ...         "columns": {
        ...             "customer": {"sdtype": "id"},
        ...             "zip": {"sdtype": "categorical"},
        ...             "since": {"sdtype": "datetime", "datetime_format": "%d.%m.%Y"},
        ...         },
        ...         "primary_key": "customer",
        ...         "METADATA_SPEC_VERSION": "SINGLE_TABLE_V1",
        ...     }
        ... )
        >>> row = schema.typed({"customer": 7, "zip": 94105.0, "since": "02.01.1970"})
        >>> row["zip"], float(row["since"]), f"{row['since']}"
        ('94105', 1.0, '1970-01-02')
        >>> sorted(row)
        ['since', 'zip']
    """

    kinds: Mapping[str, str]
    formats: Mapping[str, str]
    left_out: Mapping[str, str]

    @classmethod
    def of(cls, given: str | Path | Mapping[str, Any]) -> Schema:
        """The schema in a file or a dictionary, each of which may hold one table.

        Args:
            given: Path of a ``metadata.json`` as SDV saves it, or what is in it.
        """
        name = "schema" if isinstance(given, Mapping) else printable(str(given))
        table = _table_in(given if isinstance(given, Mapping) else _read(Path(given)), name)
        kinds, formats, left_out = dict[str, str](), dict[str, str](), dict[str, str]()
        keys = [table.get("primary_key"), *(table.get("alternate_keys") or ())]
        for column, about in table["columns"].items():
            kind = _kind_of(column, about, name)
            if column in keys or kind not in _TYPED:
                left_out[column] = "id" if column in keys else kind
                continue
            kinds[column] = kind
            if kind == "datetime" and (form := about.get("datetime_format")) is not None:
                formats[column] = _checked_format(column, form, name)
        if not kinds:
            raise InvalidInputError(
                f"`{name}` must name columns to compare. All of its columns are identifiers or "
                "personal data, which are left out."
            )
        return cls(kinds, formats, left_out)

    def to_dict(self) -> dict[str, Any]:
        """The same as metadata of SDV, for a file."""
        columns = {
            name: {"sdtype": kind} for name, kind in (*self.kinds.items(), *self.left_out.items())
        }
        for name, form in self.formats.items():
            columns[name]["datetime_format"] = form
        return {"columns": columns, "METADATA_SPEC_VERSION": "SINGLE_TABLE_V1"}

    def typed(self, row: Mapping[str, object]) -> dict[str, object]:
        """A row with values of the right kinds, without the columns that are left out."""
        found = {name: value for name, value in row.items() if name not in self.left_out}
        for name, value in found.items():
            kind = self.kinds.get(name, "unknown")
            if kind not in _AS_FOUND:
                is_missing = _is_missing(value, words=kind != "categorical")
                found[name] = None if is_missing else self._value(name, kind, value)
        return found

    def _value(self, name: str, kind: str, value: Any) -> object:
        if kind == "categorical":
            return _word(value)
        if kind == "datetime":
            return _day(name, value, self.formats.get(name))
        found = _number(value) if kind == "numerical" else _truth(value)
        if found is None:
            expected = "a number" if kind == "numerical" else "true or false"
            raise _unfit(name, expected, value, f"which the schema calls {kind}")
        return found


@dataclass(frozen=True, eq=False)
class TypedRows:
    """Rows of a table with values of the kinds that a schema names.

    Args:
        source: The rows as they were read.
        schema: What their columns hold.
        name: Name of the side.
        label: Column that holds the class, which is not among the fields of a row.

    Example:
        >>> from tradeoff.data import open_source
        >>> from tradeoff.embedding.schema import Schema, TypedRows
        >>> schema = Schema.of({"columns": {"zip": {"sdtype": "categorical"}}})
        >>> rows = TypedRows(open_source([{"zip": 94105}, {"zip": None}]), schema, "real")
        >>> [row.content for row in rows]
        [{'zip': '94105'}, {'zip': None}]
    """

    source: Source
    schema: Schema
    name: str
    label: str | None = None
    kind: Kind = "table"

    def __iter__(self) -> Iterator[Sample | Broken]:
        wanted = self._columns()
        for item in self.source:
            if isinstance(item, Broken) or not isinstance(item.content, Mapping):
                yield item
                continue
            wanted -= item.content.keys()
            try:
                yield Sample(item.id, self.schema.typed(item.content), item.label)
            except UnreadableError as error:
                yield Broken(item.id, str(error))
        self._check_none(wanted)

    def check(self) -> None:
        """Raise an error if columns are missing, or if none of the first rows fits the schema."""
        wanted, columns, misfit, fits, number = self._columns(), dict[str, None](), "", False, -1
        for number, item in enumerate(self.source):
            if isinstance(item, Sample) and isinstance(item.content, Mapping):
                wanted -= item.content.keys()
                columns |= dict.fromkeys(item.content)
                try:
                    fits = fits or bool(self.schema.typed(item.content))
                except UnreadableError as error:
                    misfit = misfit or str(error)
            if not wanted and (fits or number + 1 >= _FIRST_ROWS):
                break
        self._check_none(wanted, columns)
        if misfit and not fits:
            raise InvalidInputError(f"The schema does not fit the rows of `{self.name}`: {misfit}")

    def _columns(self) -> set[str]:
        return set(self.schema.kinds) - {self.label}

    def _check_none(self, wanted: set[str], columns: Mapping[str, None] | None = None) -> None:
        if not wanted:
            return
        name = min(wanted)
        close = get_close_matches(name, columns or (), n=1)
        meant = f" Did you mean `{close[0]}`?" if close else ""
        raise InvalidInputError(
            f"`{self.name}` must have a column `{name}`, since the schema has it: add it, or "
            f"remove it from the schema.{meant}"
        )


def check_no_dates(row: Mapping[str, object]) -> None:
    """Raise an error if a row holds dates, which have to be declared."""
    for column, value in row.items():
        if isinstance(value, _DATES) and not _is_missing(value, words=False):
            raise InvalidInputError(
                f"The column `{column}` must hold numbers, texts or truth values. Got a "
                f"{type(value).__name__}: pass `schema` (--schema), the metadata.json of SDV, in "
                "which the column is a datetime, or leave the column out."
            )


class _Day(float):
    """Days since the beginning of 1970, printed as the date that they are."""

    __slots__ = ()

    def __str__(self) -> str:
        try:
            moment = _EPOCH + float(self) * _DAY
        except OverflowError:
            return repr(self)
        if moment.microsecond:  # of rounding
            moment = (moment + timedelta(milliseconds=500)).replace(microsecond=0)
        at_midnight = moment.time() == time.min
        return f"{moment:%Y-%m-%d}" if at_midnight else f"{moment:%Y-%m-%d %H:%M:%S}"

    def __format__(self, spec: str) -> str:
        return str(self)


def _read(path: Path) -> Mapping[str, Any]:
    if not path.exists():
        raise InvalidInputError(missing(path))
    try:
        found = json.loads(read_file(path, _MOST_BYTES).decode("utf-8-sig"))
    except UnreadableError as error:
        raise InvalidInputError(f"`{path}` cannot be read as a schema. {error}") from None
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"`{path}` must be JSON. {first_line(error)}.") from None
    if not isinstance(found, Mapping):
        raise _no_metadata(str(path))
    return found


def _table_in(given: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The only table of a schema, in the formats of SDV 1.0 and later."""
    found: Any = given
    if isinstance(tables := given.get("tables"), Mapping):
        if len(tables) != 1:
            raise InvalidInputError(
                f"`{name}` must describe one table. It describes {len(tables)}: compare the tables "
                "one by one, each with the part of the schema under its name."
            )
        (found,) = tables.values()
    if not isinstance(found, Mapping) or not isinstance(found.get("columns"), Mapping):
        raise _no_metadata(name)
    keys = found.get("alternate_keys")
    if keys is not None and not isinstance(keys, list):
        raise _no_metadata(name)
    return found


def _no_metadata(name: str) -> InvalidInputError:
    return InvalidInputError(
        f"`{name}` must be the metadata of a table as SDV 1.0 or later saves it, with `columns` "
        'and an `sdtype` for each of them: {"columns": {"age": {"sdtype": "numerical"}}}.'
    )


def _kind_of(column: object, about: Any, name: str) -> str:
    """The sdtype of a column; others than these are personal data unless they say otherwise."""
    if not isinstance(column, str) or not isinstance(about, Mapping):
        raise _no_metadata(name)
    kind = about.get("sdtype")
    if not isinstance(kind, str):
        raise _no_metadata(name)
    if kind not in _KINDS and (close := get_close_matches(kind.lower(), _KINDS, n=1, cutoff=0.7)):
        raise InvalidInputError(
            f"Unknown sdtype `{kind}` of the column `{column}` in `{name}`. Did you mean "
            f"`{close[0]}`?"
        )
    if kind not in _KINDS and about.get("pii") is False:
        return "unknown"
    return "personal" if kind == "unknown" and about.get("pii") else kind


def _checked_format(column: str, form: Any, name: str) -> str:
    """A format that can read the dates that it writes."""
    try:
        plain = str(form).replace("%-", "%")  # of pandas: without zeros at the beginning
        datetime.strptime(_EPOCH.strftime(plain), plain)
    except ValueError as error:
        raise InvalidInputError(
            f"The `datetime_format` of the column `{column}` in `{name}` must be one of Python, "
            f"such as %Y-%m-%d. {first_line(error)}."
        ) from None
    return plain


def _unfit(column: str, expected: str, value: object, why: str = "") -> UnreadableError:
    shown = printable(repr(value)[:60])
    between = f", {why}," if why else ""
    return UnreadableError(f"`{column}`{between} must be {expected}. Got {shown}.")


def _is_missing(value: Any, *, words: bool) -> bool:
    """Whether a value is missing, also by the usual words for it."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):  # those of pandas
        return True
    if isinstance(value, str):
        return words and as_value(value) is None
    if isinstance(value, (float, np.floating, Decimal, np.datetime64)):
        return bool(value != value)
    return False


def _word(value: object) -> str:
    """A category, in which 1 and 1.0 are one."""
    if isinstance(value, str):
        return value
    number = None if isinstance(value, (bool, np.bool_)) else _number(value)
    return f"{number:.0f}" if number is not None and number % 1 == 0 else str(value)


def _number(value: Any) -> float | None:
    value = as_value(value) if isinstance(value, str) else value
    if not isinstance(value, (int, float, Decimal, np.number, np.bool_)):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def _truth(value: object) -> bool | None:
    word = _word(value).strip().lower()
    return word in _YES if word in (*_YES, *_NO) else None


def _day(column: str, value: Any, form: str | None) -> _Day:
    """Days since the beginning of 1970, in UTC if the time zone is known."""
    try:
        if isinstance(value, np.datetime64):
            value = value.astype("datetime64[us]").item()
        if isinstance(value, time):
            value = datetime.combine(_EPOCH, value)
        elif isinstance(value, date) and not isinstance(value, datetime):
            value = datetime.combine(value, time.min)
        if not isinstance(value, datetime):
            text = _word(value).strip()
            value = datetime.fromisoformat(text) if form is None else datetime.strptime(text, form)
        moment = value.replace(tzinfo=UTC) if value.tzinfo is None else value
        return _Day((moment - _EPOCH) / _DAY)
    except (ValueError, OverflowError, TypeError):
        expected = "a date as in ISO 8601" if form is None else f"a date in the format {form}"
        raise _unfit(column, expected, value) from None
