"""Results of tasks in a file that only grows: what is in it is not computed or counted twice."""

from __future__ import annotations

import os
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from tradeoff.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Ledger"]

_MAGIC = b"tradeoff ledger 1\n"
_CHECK = 16


class Ledger:
    """Results by name, appended one by one; a torn end, as a killed process leaves it, is cut off.

    Args:
        path: File, created if needed.
        plan: Digest of what the results belong to; a ledger of another plan is refused.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from tradeoff.engine.ledger import Ledger
        >>> path = Path(tempfile.mkdtemp()) / "counts"
        >>> with Ledger(path, plan="a") as ledger:
        ...     ledger.add("shard 1", b"...")
        >>> with Ledger(path, plan="a") as ledger:
        ...     "shard 1" in ledger, list(ledger.values())
        (True, [b'...'])
    """

    def __init__(self, path: str | Path, *, plan: str) -> None:
        self.path = Path(path)
        self._places: dict[str, tuple[int, int]] = {}
        if not self.path.exists() or not self.path.stat().st_size:
            self.path.write_bytes(b"")
        self._file = self.path.open("r+b")
        header = _MAGIC + plan.encode() + b"\n"
        found = self._file.read(len(header))
        if found != header:
            if header.startswith(found):  # new, or torn while it was made
                self._file.seek(0)
                self._file.truncate()
                self._append(header)
            else:
                self._file.close()
                known = found.startswith(_MAGIC)
                raise InvalidInputError(
                    f"`{path}` belongs to another run, with other samples or settings: choose "
                    "another folder."
                    if known
                    else f"`{path}` is not a ledger: choose another folder."
                )
        self._read_index(len(header))

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
        self._file.seek(0, os.SEEK_END)
        start = self._file.tell()
        sizes = len(title).to_bytes(8, "little") + len(content).to_bytes(8, "little")
        check = _check(sizes, title, content)
        self._append(sizes + title + content + check)
        self._places[name] = (start + len(sizes) + len(title), len(content))

    def __getitem__(self, name: str) -> bytes:
        place, size = self._places[name]
        self._file.seek(place)
        return self._file.read(size)

    def values(self) -> Iterator[bytes]:
        """All results in the order of their names, one in memory at a time."""
        return (self[name] for name in sorted(self._places))

    def _append(self, content: bytes) -> None:
        self._file.write(content)
        self._file.flush()
        os.fsync(self._file.fileno())

    def _read_index(self, place: int) -> None:
        end = self._file.seek(0, os.SEEK_END)
        while place < end:
            self._file.seek(place)
            sizes = self._file.read(16)
            named, held = int.from_bytes(sizes[:8], "little"), int.from_bytes(sizes[8:], "little")
            whole = place + 16 + named + held + _CHECK
            if len(sizes) < 16 or whole > end:
                break
            title, content, check = (self._file.read(n) for n in (named, held, _CHECK))
            if check != _check(sizes, title, content):
                break
            self._places[title.decode()] = (place + 16 + named, held)
            place = whole
        self._file.truncate(place)


def _check(*parts: bytes) -> bytes:
    found = blake2b(digest_size=_CHECK)
    for part in parts:
        found.update(part)
    return found.digest()
