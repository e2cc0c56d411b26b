"""Results of tasks in a file that only grows: what is in it is not computed or counted twice.

Each record has a mark, its sizes and its name with a checksum, and its content with another. The
checksums are keyed by the plan, so that a record belongs to one plan. A damaged record is left out;
those behind it are found by their marks.
"""

from __future__ import annotations

import os
import warnings
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tradeoff._files import lock_file
from tradeoff.exceptions import InvalidInputError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Ledger"]

_MAGIC = b"tradeoff ledger 2\n"
_MARK = b"\x9b\x1etrade\xf1"
_CHECK = 16
_BEGINNING = len(_MARK) + 16  # the mark, and the sizes of name and content
_STEP = 1 << 20


class _Place(NamedTuple):
    """Where the content of a record lies."""

    start: int
    size: int


class Ledger:
    """Results by name, appended one by one, by one run at a time.

    A torn end, as a killed process leaves it, is cut off. A damaged record is left out with a
    warning, so that its result is computed again.

    Args:
        path: File, created if needed.
        plan: Digest of what the results belong to; a ledger of another plan is refused.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from tradeoff.counting.ledger import Ledger
        >>> path = Path(tempfile.mkdtemp()) / "counts"
        >>> with Ledger(path, plan="a") as ledger:
        ...     ledger.add("shard 1", b"...")
        >>> with Ledger(path, plan="a") as ledger:
        ...     "shard 1" in ledger, list(ledger.values())
        (True, [b'...'])
    """

    def __init__(self, path: str | Path, *, plan: str) -> None:
        self.path = Path(path)
        self._key = plan.encode()[:64]
        self._places: dict[str, _Place] = {}
        self._file = self.path.open("a+b")  # creates it, and never writes but at the end
        try:
            lock_file(self._file, self.path)
            self._open(_MAGIC + plan.encode() + b"\n")
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def add(self, name: str, content: bytes) -> None:
        """Append a result, once; it is on disk when this returns."""
        if name in self._places:
            raise InvalidInputError(f"`{name}` is in the ledger already.")
        title = name.encode()
        sizes = len(title).to_bytes(8, "little") + len(content).to_bytes(8, "little")
        head = _MARK + sizes + title + self._check(sizes, title)
        start = self._file.seek(0, os.SEEK_END) + len(head)
        self._append(head + content + self._check(title, content))
        self._places[name] = _Place(start, len(content))

    def __getitem__(self, name: str) -> bytes:
        content = self._content(name.encode(), self._places[name])
        if content is None:
            raise UnavailableError(
                f"`{self.path}` was changed or damaged during the run: run again, and what is "
                "damaged is computed again."
            )
        return content

    def values(self) -> Iterator[bytes]:
        """All results in the order of their names, one in memory at a time."""
        return (self[name] for name in sorted(self._places))

    def _open(self, header: bytes) -> None:
        """Learn what is in the file, which must be of this plan."""
        self._file.seek(0)
        found = self._file.read(len(header))
        if found != header and header.startswith(found):  # new, or torn while it was made
            self._file.truncate(0)
            self._append(header)
        damaged, end = self._read_index(len(header))
        if found != header and not header.startswith(found):
            if not self._places:
                raise InvalidInputError(
                    f"`{self.path}` belongs to another run, with other samples or settings: choose "
                    "another folder."
                    if found.startswith(_MAGIC)
                    else f"`{self.path}` is not a ledger of this version: choose another folder."
                )
            damaged += 1
            with self.path.open("r+b") as file:
                file.write(header)
        if damaged:
            warnings.warn(
                f"`{self.path}` is damaged in {damaged} places: what is lost is computed again. "
                "Check the disk if this happens more than once.",
                stacklevel=3,
            )
        self._file.truncate(end)

    def _read_index(self, place: int) -> tuple[int, int]:
        """Learn the places of all whole records; number of gaps between them, and their end."""
        end = self._file.seek(0, os.SEEK_END)
        gaps, known = 0, place  # the end of the last whole record
        while 0 <= place < end:
            record = self._record_at(place, end)
            if record is None:
                place = self._next_mark(place + 1, end)
                continue
            title, found = record
            gaps += place != known
            self._places[title.decode()] = found
            place = known = found.start + found.size + _CHECK
        return gaps, known

    def _record_at(self, place: int, end: int) -> tuple[bytes, _Place] | None:
        """Name and place of a record, None if it is not whole."""
        self._file.seek(place)
        beginning = self._file.read(_BEGINNING)
        sizes = beginning[len(_MARK) :]
        named, held = int.from_bytes(sizes[:8], "little"), int.from_bytes(sizes[8:], "little")
        found = _Place(place + _BEGINNING + named + _CHECK, held)
        if not beginning.startswith(_MARK) or found.start + held + _CHECK > end:
            return None
        title, check = self._file.read(named), self._file.read(_CHECK)
        if check != self._check(sizes, title) or self._content(title, found) is None:
            return None
        return title, found

    def _content(self, title: bytes, place: _Place) -> bytes | None:
        """Content of a record, None if it is not what was written."""
        self._file.seek(place.start)
        content, check = self._file.read(place.size), self._file.read(_CHECK)
        return content if check == self._check(title, content) else None

    def _next_mark(self, place: int, end: int) -> int:
        """Place of the next mark, -1 if there is none."""
        while place < end:
            self._file.seek(place)
            found = self._file.read(_STEP + len(_MARK)).find(_MARK)
            if found >= 0:
                return place + found
            place += _STEP
        return -1

    def _append(self, content: bytes) -> None:
        self._file.write(content)
        self._file.flush()
        os.fsync(self._file.fileno())

    def _check(self, *parts: bytes) -> bytes:
        found = blake2b(digest_size=_CHECK, key=self._key)
        for part in parts:
            found.update(part)
        return found.digest()
