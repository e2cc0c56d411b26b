"""Texts: one per line, as a field of JSON lines, or as a column of a CSV file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from tradeoff.data.base import Broken, Kind, Sample, check_columns
from tradeoff.data.cells import read_cells
from tradeoff.data.reading import reason, valid
from tradeoff.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

__all__ = ["TextFile"]


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
    path: Path
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
