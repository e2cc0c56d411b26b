"""What the readers share: a limit on the size of one item, safe opening of files, and names."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any, Protocol

from tradeoff._remote import Remote
from tradeoff.exceptions import UnreadableError, first_line

if TYPE_CHECKING:
    from pathlib import Path

    from tradeoff._remote import Place

__all__ = [
    "MOST_BYTES",
    "check_regular",
    "check_size",
    "inside",
    "read_file",
    "read_inside",
    "read_stream",
    "reason",
    "valid",
]

MOST_BYTES = 256 * 2**20
"""Bytes of one item, after decompression, beyond which it is not read."""

_STEP = 2**20
_SPECIAL = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
}


class _Stream(Protocol):
    """A buffered stream: it returns fewer bytes than asked for only at its end."""

    def read(self, size: int, /) -> bytes: ...


def check_size(size: int, most_bytes: int) -> None:
    """Refuse an item that is larger than the limit."""
    if size > most_bytes:
        raise UnreadableError(
            f"The content has {size:,} bytes, more than the limit of {most_bytes:,} (`most_bytes`)."
        )


def read_stream(stream: _Stream, most_bytes: int, *, expected: int, step: int = _STEP) -> bytes:
    """Content of a stream, which is refused as soon as it turns out to exceed the limit.

    Args:
        stream: Buffered stream, open for reading.
        most_bytes: Largest permitted size of the content.
        expected: Size that the file system or the archive states, which may be wrong.
        step: Number of bytes to ask for at a time.
    """
    parts, size = list[bytes](), 0
    # A buffer of the whole step is shrunk to the few bytes of a small file, and thousands of such
    # files leave a heap full of holes: the memory would grow with the number of files.
    wanted = min(step, expected + 1)
    while True:
        part = stream.read(wanted)
        size += len(part)
        if size > most_bytes:
            raise UnreadableError(
                f"The content has more than {most_bytes:,} bytes, the limit (`most_bytes`)."
            )
        parts.append(part)
        if len(part) < wanted:
            return b"".join(parts)
        wanted = step


def check_regular(path: Place) -> int:
    """Size of a regular file; pipes, sockets and devices are refused without opening them."""
    if isinstance(path, Remote):
        return path.size
    about = os.stat(path)
    if not stat.S_ISREG(about.st_mode):
        what = _SPECIAL.get(stat.S_IFMT(about.st_mode), "something else")
        raise UnreadableError(f"A regular file was expected, and this is {what}.")
    return about.st_size


def read_file(path: Place, most_bytes: int) -> bytes:
    """Content of a regular file."""
    try:
        size = check_regular(path)
        check_size(size, most_bytes)
        with path.open("rb") as file:
            return read_stream(file, most_bytes, expected=size)
    except (OSError, ValueError) as error:  # ValueError: the path contains a null character
        raise UnreadableError(f"The file cannot be read: {reason(error)}.") from None


def read_inside(folder: Place | None, path: Any, most_bytes: int) -> bytes:
    """Content of a file that a data set names by its path, which must stay inside its folder.

    Args:
        folder: Folder of the data set; None if it is not known, and then no path is followed.
        path: Path as the data set has it; a relative one starts at the folder.
        most_bytes: Largest permitted size of the content.
    """
    if not isinstance(path, str):
        raise UnreadableError(f"A path must be text. Got a {type(path).__name__}.")
    if folder is None:
        raise UnreadableError(
            f"The row holds no bytes, only the path {path!r}, and the paths of a data set in "
            "memory are not followed: pass the folder of the images, or save the data set with "
            "the images in it (`save_to_disk`, `to_parquet`) and pass that."
        )
    if isinstance(folder, Remote):
        raise UnreadableError(
            f"The row holds no bytes, only the path {path!r}, and paths are followed on this "
            "machine alone: save the data set with the images in it (`to_parquet`)."
        )
    return read_file(inside(folder, path), most_bytes)


def inside(folder: Path, path: str) -> Path:
    """A path that a data set names, which must lead into its folder, also through links."""
    try:
        root, target = folder.resolve(), (folder / path).resolve()
    except (OSError, RuntimeError, ValueError) as error:  # loops of links, null characters
        raise UnreadableError(f"The path {path!r} cannot be followed: {reason(error)}.") from None
    if not target.is_relative_to(root):
        raise UnreadableError(f"The path {path!r} leads out of the folder of the data set.")
    return target


def reason(error: BaseException) -> str:
    """What went wrong, to be placed within a sentence."""
    return getattr(error, "strerror", None) or first_line(error)


def valid(text: str) -> str:
    r"""Text that can be written as UTF-8: bytes that are not, and lone surrogates, are escaped.

    File systems and archives may hold any bytes as a name, and JSON any ``\ud800``.
    """
    try:
        raw = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raw = text.encode("utf-8", "surrogatepass")
    return raw.decode("utf-8", "backslashreplace")
