"""Files and folders at any address: a path on disk, or a place in object storage that is like one.

A `Remote` has the methods of a path that readers use, so that there is one set of readers. Whatever
fails for another reason than the file itself (a network, a server, credentials) ends the run:
otherwise samples would be counted as broken because a server was busy.
"""

from __future__ import annotations

import contextlib
import glob
import io
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any, cast

from tradeoff._extras import import_extra
from tradeoff._files import local_path, replacing
from tradeoff.exceptions import InvalidInputError, UnavailableError, first_line

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Place", "Remote", "matching", "place_of", "version_of", "write_whole"]

_OF_THE_FILE = (
    FileExistsError,
    FileNotFoundError,
    IsADirectoryError,
    NotADirectoryError,
    PermissionError,
)
_BLOCK = 2**20


@dataclass(frozen=True)
class Remote:
    """A file or folder in object storage, or wherever else fsspec reads.

    Args:
        address: Address with a protocol, such as ``s3://bucket/folder``.

    Example:
        >>> import fsspec
        >>> from tradeoff._remote import Remote
        >>> with fsspec.open("memory://photos/cat.txt", "wb") as file:
        ...     _ = file.write(b"A cat.")
        >>> [place.name for place in Remote("memory://photos").iterdir()]
        ['cat.txt']
        >>> Remote("memory://photos/cat.txt").size
        6
    """

    address: str

    def __str__(self) -> str:
        return self.address

    def __truediv__(self, name: str) -> Remote:
        return Remote(f"{self.address.rstrip('/')}/{name}")

    def __lt__(self, other: Remote) -> bool:
        return self.address < other.address

    def __getstate__(self) -> dict[str, str]:
        return {"address": self.address}  # connections are of one process

    @property
    def name(self) -> str:
        """Last part of the address."""
        return PurePosixPath(self._path).name

    @property
    def suffix(self) -> str:
        """Ending of the name."""
        return PurePosixPath(self._path).suffix

    @property
    def parent(self) -> Remote:
        """The folder of a file."""
        return self._at(self._path.rstrip("/").rpartition("/")[0])

    @property
    def size(self) -> int:
        """Number of bytes of a file; 0 if the server does not say."""
        with _told(self):
            about = self._system.info(self._path)
        if about["type"] != "file":
            raise IsADirectoryError(f"`{self}` is a folder")
        return int(about.get("size") or 0)

    @property
    def version(self) -> str:
        """What changes when the file changes."""
        with _told(self):
            return _version(self._system.info(self._path))

    def exists(self) -> bool:
        """Whether there is a file or a folder."""
        with _told(self):
            return bool(self._system.exists(self._path))

    def is_dir(self) -> bool:
        """Whether there is a folder, that is, whether names begin with this one and a slash."""
        with _told(self):
            return bool(self._system.isdir(self._path))

    def iterdir(self) -> Iterator[Remote]:
        """Files and folders of a folder."""
        with _told(self):
            self._system.invalidate_cache(self._path)
            found = self._system.ls(self._path, detail=False)
        return (self._at(path) for path in found if path.rstrip("/") != self._path.rstrip("/"))

    def glob(self, pattern: str) -> Iterator[Remote]:
        """Files and folders that match a pattern, below this folder."""
        with _told(self):
            self._system.invalidate_cache()
            found = self._system.glob(f"{self._path.rstrip('/')}/{pattern}")
        return (self._at(path) for path in found)

    def files(self) -> list[tuple[str, int, str]]:
        """Names, sizes and versions of all files below a folder, sorted by name in each folder."""
        with _told(self):
            self._system.invalidate_cache()
            found = self._system.find(self._path, detail=True)
        root = PurePosixPath(self._path)
        return [
            (PurePosixPath(path).relative_to(root).as_posix(), about["size"] or 0, _version(about))
            for path, about in sorted(found.items(), key=lambda item: str(item[0]).split("/"))
        ]

    def names(self) -> list[str]:
        """Names of what is in a folder; none if it does not exist."""
        try:
            return [one.name for one in self.iterdir()]
        except FileNotFoundError:
            return []

    def read_bytes(self) -> bytes:
        """Content of a small file."""
        with _told(self):
            return bytes(self._system.cat_file(self._path))

    def write(self, content: bytes, *, new: bool = False) -> None:
        """Write a file, whole or not at all.

        Args:
            content: Its content.
            new: Whether the file must not exist; of several that try, one succeeds.
        """
        with _told(self, "written"):
            self._system.pipe_file(self._path, content, mode="create" if new else "overwrite")

    def remove(self) -> None:
        """Delete a file."""
        with _told(self, "deleted"):
            self._system.rm_file(self._path)

    def relative_to(self, folder: Remote) -> PurePosixPath:
        """Path below a folder."""
        return PurePosixPath(self._path).relative_to(folder._path)

    def open(
        self, mode: str = "r", *, encoding: str | None = None, newline: str | None = None
    ) -> IO[Any]:
        """The file, open for reading: bytes, or text in an encoding."""
        with _told(self):
            raw = self._system.open(self._path, "rb")
        stream = io.BufferedReader(_Stream(raw, self), _BLOCK)
        if "b" in mode:
            return stream
        return io.TextIOWrapper(stream, encoding=encoding, newline=newline)

    @cached_property
    def _found(self) -> tuple[Any, str]:
        fsspec = import_extra("fsspec", extra="remote", purpose="Reading object storage")
        try:
            system, path = fsspec.core.url_to_fs(self.address)
        except ImportError as error:  # one package for each kind of storage
            raise InvalidInputError(
                f"`{self}` requires a package for its kind of storage. {first_line(error)}."
            ) from None
        except Exception as error:  # unknown protocols, missing credentials
            raise InvalidInputError(f"`{self}` cannot be opened: {first_line(error)}.") from None
        return system, str(path)

    @property
    def _system(self) -> Any:
        return self._found[0]

    @property
    def _path(self) -> str:
        return self._found[1]

    def _at(self, path: str) -> Remote:
        """Another place of the same storage."""
        return Remote(str(self._system.unstrip_protocol(path.rstrip("/"))))


Place = Path | Remote
"""A path on this machine, or a place elsewhere."""


def place_of(address: str | Path | Remote) -> Place:
    """A path, or a place elsewhere for an address with a protocol.

    Example:
        >>> from tradeoff._remote import place_of
        >>> print(place_of("file:///data/a.png"), place_of("s3://bucket/a.png"))
        /data/a.png s3://bucket/a.png
    """
    if isinstance(address, Remote):
        return address
    path = None if "::" in str(address) else local_path(address)
    return Remote(str(address)) if path is None else path


def matching(address: str) -> list[Place]:
    """Places that match a pattern with ``*``, in alphabetical order.

    Args:
        address: Path or address; ``**`` is any number of folders.
    """
    place = place_of(address)
    if isinstance(place, Path):
        return [Path(found) for found in sorted(glob.glob(str(place), recursive=True))]
    with _told(place):
        place._system.invalidate_cache()
        found = sorted(place._system.glob(place._path))
    return [place._at(path) for path in found]


def version_of(place: Place) -> str:
    """What changes when a file changes."""
    if isinstance(place, Remote):
        return place.version
    about = place.stat()
    return f"{about.st_size}-{about.st_mtime_ns}"


def _version(about: Any) -> str:
    """A hash of the content where the storage has one, or of all that it says of a file."""
    told = str(about.get("ETag") or about)
    return blake2b(told.encode(), digest_size=8).hexdigest()


def write_whole(place: Place, content: bytes) -> None:
    """Write a file, whole or not at all, wherever it is."""
    if isinstance(place, Remote):
        place.write(content)
        return
    with replacing(place) as fresh:
        fresh.write_bytes(content)


class _Stream(io.RawIOBase):
    """A file of fsspec, whose failures are told apart from those of its content."""

    def __init__(self, raw: Any, place: Remote) -> None:
        self._raw, self._place = raw, place

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return bool(self._raw.seekable())

    def readinto(self, buffer: Any) -> int:
        with _told(self._place):
            content = self._raw.read(len(buffer))
        buffer[: len(content)] = content
        return len(content)

    def seek(self, offset: int, whence: int = 0) -> int:
        with _told(self._place):
            return cast("int", self._raw.seek(offset, whence))

    def tell(self) -> int:
        return cast("int", self._raw.tell())

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()


@contextlib.contextmanager
def _told(place: Remote, what: str = "read") -> Iterator[None]:
    """What goes wrong outside of a file, in one sentence."""
    try:
        yield
    except (*_OF_THE_FILE, InvalidInputError, UnavailableError):
        raise
    except Exception as error:  # of each kind of storage's own kinds
        raise UnavailableError(
            f"`{place}` cannot be {what} now: {first_line(error)}. Check the network and your "
            "credentials, and run again."
        ) from None
