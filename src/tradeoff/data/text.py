"""Cells of CSV files, and texts: one per line, a field of JSON lines, or a column of a CSV file."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from tradeoff.data.base import Broken, Kind, Sample, check_columns, check_distinct
from tradeoff.data.reading import reason, valid
from tradeoff.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tradeoff._remote import Place

__all__ = ["TextFile", "as_value", "read_cells"]


# Python's own `float` would also take 1_000 and digits of other scripts.
_NUMBER = re.compile(r"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|inf(inity)?)", re.IGNORECASE)
# What pandas reads as missing, but for spellings of long-gone compilers.
_MISSING = frozenset(
    {"", "#N/A", "#NA", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "-nan", "null"}
)


def read_cells(path: Place) -> Iterator[list[str]]:
    """The header of a CSV file in UTF-8, then its rows, each with as many cells as the header.

    Empty lines are passed over. What is wrong with the file is told in one sentence.
    """
    header: list[str] | None = None
    number = 0
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            for cells in csv.reader(lines):
                if header is None and cells:
                    check_distinct(path, cells)
                    header = cells
                elif header is not None and cells:
                    number += 1
                    _check_cells(path, number, cells, header)
                else:
                    continue
                yield cells
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"`{path}` must be text in UTF-8. {error}.") from None
    except csv.Error as error:
        raise InvalidInputError(
            f"Row {number + 1} of `{path}` must be CSV with cells of at most "
            f"{csv.field_size_limit():,} characters. {reason(error)}. For longer texts, use JSON "
            "lines or Parquet."
        ) from None
    except OSError as error:
        raise InvalidInputError(f"`{path}` cannot be read: {reason(error)}.") from None
    if header is None:
        raise InvalidInputError(f"`{path}` must have a line with the names of its columns.")


def as_value(cell: str) -> str | float | None:
    """A cell as a number, None if it is missing, or the text that it is.

    Numbers are decimal, with an optional sign and exponent, or ``inf``. Missing are empty cells and
    the usual words for it: ``NA``, ``N/A``, ``NaN``, ``null``, ``None`` and their variants.

    Example:
        >>> from tradeoff.data.text import as_value
        >>> [as_value(cell) for cell in (" 1.5", "-2e3", "1_000", "NA", "red")]
        [1.5, -2000.0, '1_000', None, 'red']
    """
    stripped = cell.strip()
    if stripped in _MISSING:
        return None
    return float(stripped) if _NUMBER.fullmatch(stripped) else cell


def _check_cells(path: Place, number: int, cells: list[str], header: list[str]) -> None:
    if len(cells) != len(header):
        raise InvalidInputError(
            f"Row {number} of `{path}` must have as many cells as there are columns, "
            f"{len(header)}. It has {len(cells)}: check its quotation marks and commas."
        )


@dataclass(frozen=True)
class TextFile:
    r"""Texts of a file: ``.jsonl``, ``.csv``, or any other with one text per line.

    Empty lines are passed over; ids are numbers of lines or rows.

    Args:
        path: The file, in UTF-8.
        column: Field or column that holds the text, for JSON lines and CSV.
        label: Field or column that holds the class, if there is one.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from tradeoff.data.text import TextFile
        >>> path = Path(tempfile.mkdtemp()) / "poems.jsonl"
        >>> _ = path.write_text('{"text": "A rose."}\n{"title": "nothing"}\n')
        >>> for item in TextFile(path):
        ...     print(item)
        Sample(id='poems.jsonl:1', content='A rose.', label=None)
        Broken(id='poems.jsonl:2', reason='The line has no text under `text`.')
    """

    kind: ClassVar[Kind] = "text"
    path: Place
    column: str = "text"
    label: str | None = None

    def __iter__(self) -> Iterator[Sample | Broken]:
        read = {".jsonl": self._json, ".csv": self._csv}.get(self.path.suffix.lower(), self._lines)
        found = False
        try:
            for item in read():
                found = True
                yield item
        except UnicodeDecodeError as error:
            raise InvalidInputError(f"`{self.path}` must be text in UTF-8. {error}.") from None
        except OSError as error:
            raise InvalidInputError(f"`{self.path}` cannot be read: {reason(error)}.") from None
        if not found:
            raise InvalidInputError(f"`{self.path}` must hold texts. Got none.")

    def _lines(self) -> Iterator[Sample | Broken]:
        with self.path.open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield Sample(f"{valid(self.path.name)}:{number}", line.strip())

    def _json(self) -> Iterator[Sample | Broken]:
        with self.path.open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                name = f"{valid(self.path.name)}:{number}"
                try:
                    fields = json.loads(line)
                except ValueError:
                    yield Broken(name, "The line is not JSON.")
                    continue
                except RecursionError:
                    yield Broken(name, "The line is nested too deeply.")
                    continue
                yield self._item(name, fields if isinstance(fields, dict) else {})

    def _csv(self) -> Iterator[Sample | Broken]:
        rows = read_cells(self.path)
        header = next(rows)
        check_columns(self.path, header, self.column, self.label)
        for number, cells in enumerate(rows, 1):
            yield self._item(
                f"{valid(self.path.name)}:{number}", dict(zip(header, cells, strict=True))
            )

    def _item(self, name: str, fields: Mapping[str, object]) -> Sample | Broken:
        text = fields.get(self.column)
        if not isinstance(text, str) or not text.strip():
            return Broken(name, f"The line has no text under `{self.column}`.")
        if text != valid(text):
            return Broken(name, "The text is not valid Unicode: it has half a surrogate pair.")
        label = None if self.label is None else fields.get(self.label)
        return Sample(name, text, None if label is None else valid(str(label)))
