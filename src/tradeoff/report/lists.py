"""Lists of missed and invented samples as CSV, within the page and safe for spreadsheets."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from tradeoff._text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tradeoff.explain.result import GroupedLoss

__all__ = ["SampleList", "csv_of", "list_of"]

_MOST_CHARACTERS = 250_000  # of a list in a page; browsers save links of up to two million
_HEADER = ("group", "established", "sample")
# Where a program may begin a cell, also one that separates cells by another character.
_FORMULA = re.compile(r"(^|[,;|\t\"])(\s*)(?=[=+\-@\uff0b\uff0d\uff1d\uff20])")


class SampleList(NamedTuple):
    """A list that a link in a page holds.

    Args:
        address: Address of the link, with the list in it.
        shown: Number of samples in the list.
        size: Number of samples of all groups.
    """

    address: str
    shown: int
    size: int


def list_of(loss: GroupedLoss) -> SampleList | None:
    """The samples of all groups; None if their names are not known."""
    rows = [
        (group.name, "yes" if group.is_established else "no", name)
        for group in loss.groups
        for name in group.members
    ]
    if not rows:
        return None
    shown, characters = 0, 0
    for row in rows:
        characters += sum(map(len, row)) + len(row)
        if characters > _MOST_CHARACTERS:
            break
        shown += 1
    text = csv_of([_HEADER, *rows[:shown]])
    # The byte order mark tells Excel that the text is UTF-8.
    address = "data:text/csv;charset=utf-8," + quote(f"\ufeff{text}", safe=",;:/()[]*!'=+@")
    return SampleList(address, shown, len(rows))


def csv_of(rows: Iterable[Iterable[str]]) -> str:
    """Rows as CSV of which no cell is a formula, whatever names contain.

    Where a spreadsheet would take a part of a cell for a formula, an apostrophe is inserted, and
    control characters are escaped as in all other output.

    Args:
        rows: Cells of each row.

    Example:
        >>> from tradeoff.report.lists import csv_of
        >>> print(csv_of([("cats", "=1+1"), ("dogs", "-5, a;@b")]).strip())
        cats,'=1+1
        dogs,"'-5, a;'@b"
    """
    text = io.StringIO()
    safe = ([_FORMULA.sub(r"\1\2'", printable(cell)) for cell in row] for row in rows)
    csv.writer(text).writerows(safe)
    return text.getvalue()
