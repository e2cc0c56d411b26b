"""CSV files: their cells, and which of them are numbers or missing."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING

from tradeoff.data.base import check_distinct
from tradeoff.data.reading import reason
from tradeoff.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["as_value", "read_cells"]

# Python's own `float` would also take 1_000 and digits of other scripts.
_NUMBER = re.compile(r"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|inf(inity)?)", re.IGNORECASE)
# What pandas reads as missing, but for spellings of long-gone compilers.
_MISSING = frozenset(
    {"", "#N/A", "#NA", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "-nan", "null"}
)


def read_cells(path: Path) -> Iterator[list[str]]:
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
        >>> from tradeoff.data.cells import as_value
        >>> [as_value(cell) for cell in (" 1.5", "-2e3", "1_000", "NA", "red")]
        [1.5, -2000.0, '1_000', None, 'red']
    """
    stripped = cell.strip()
    if stripped in _MISSING:
        return None
    return float(stripped) if _NUMBER.fullmatch(stripped) else cell


def _check_cells(path: Path, number: int, cells: list[str], header: list[str]) -> None:
    if len(cells) != len(header):
        raise InvalidInputError(
            f"Row {number} of `{path}` must have as many cells as there are columns, "
            f"{len(header)}. It has {len(cells)}: check its quotation marks and commas."
        )
