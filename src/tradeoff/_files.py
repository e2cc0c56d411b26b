"""Where results may be written, and how: never over an input, and whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import fnmatch
import glob
import os
import re
import shutil
import tempfile
import uuid
import warnings
from difflib import get_close_matches
from pathlib import Path
from typing import IO, TYPE_CHECKING

from tradeoff.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = [
    "cache_folder",
    "check_local",
    "check_outputs",
    "local_path",
    "lock_file",
    "missing",
    "replacing",
    "replacing_files",
    "working_folder",
]


# `Path` makes one slash of two; one letter would be a drive of Windows.
_ADDRESS = re.compile(r"[A-Za-z][\w+.-]+:/")


def local_path(address: str | Path) -> Path | None:
    """The path of an address on this file system; None if it lies elsewhere.

    Args:
        address: Path, or address with a protocol, such as ``file:///data`` or ``s3://bucket``.

    Example:
        >>> from tradeoff._files import local_path
        >>> print(local_path("file:///data/a.parquet"), local_path("s3://bucket/a.parquet"))
        /data/a.parquet None
    """
    text = str(address)
    if "://" not in text:
        return Path(text)
    protocol, _, path = text.rpartition("::")[2].partition("://")  # of a chain, the last is read
    return Path(path) if protocol in ("file", "local", "") else None


def cache_folder() -> Path:
    """Where files are kept that can be made again, ``tradeoff`` in ``$XDG_CACHE_HOME``."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tradeoff"


def missing(path: str | Path) -> str:
    """A sentence about a path that does not exist, with the one that was meant if one is close.

    Example:
        >>> from tradeoff._files import missing
        >>> missing("nowhere/at/all.csv")
        '`nowhere/at/all.csv` does not exist.'
    """
    path, names = Path(path), []
    with contextlib.suppress(OSError):
        names = sorted(entry.name for entry in path.parent.iterdir())
    stems = [name for name in names if Path(name).stem == path.name]
    close = stems or get_close_matches(path.name, names, n=1, cutoff=0.7)
    meant = f" Did you mean `{path.parent / close[0]}`?" if close else ""
    return f"`{path}` does not exist.{meant}"


def check_local(name: str, value: str | Path) -> Path:
    """A path that is going to be written, which must be on this file system."""
    if _ADDRESS.match(str(value)):
        raise InvalidInputError(
            f"`{name}` must be a path on this machine, not an address. Got {str(value)!r}."
        )
    return Path(value)


def check_outputs(
    files: Iterable[Path], *, inputs: Iterable[str | Path] = (), overwrite: bool = False
) -> None:
    """Refuse files that would replace an input, or an earlier file unless that is wanted.

    Args:
        files: Files that are going to be written.
        inputs: Paths, patterns and addresses that the same run reads.
        overwrite: Whether files that exist are replaced.
    """
    sources = [(given, path) for given in inputs if (path := local_path(given)) is not None]
    for file in files:
        for given, source in sources:
            if _is_within(file, source):
                raise InvalidInputError(
                    f"`{file}` would be written over or into the input `{given}`: choose another "
                    "place."
                )
        if file.is_dir():
            raise InvalidInputError(f"`{file}` must be a file, and is a folder.")
        if file.exists() and not overwrite:
            raise InvalidInputError(
                f"`{file}` exists already: pass overwrite=True (--overwrite) to replace it."
            )


def _is_within(file: Path, source: Path) -> bool:
    """Whether a file is a source, lies in it, or matches it, under whatever name."""
    if not source.exists():
        same_folder = file.parent.resolve() == source.parent.resolve()
        if "*" in source.name and same_folder and fnmatch.fnmatch(file.name, source.name):
            return True
        found = glob.glob(str(source), recursive=True) if "*" in str(source) else []
        return file.exists() and any(file.samefile(path) for path in found)
    if file.exists() and file.samefile(source):
        return True
    return source.is_dir() and source.resolve() in file.resolve().parents


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A new file next to a path, which takes its place once it is complete and on disk.

    If anything fails, a file that was there before is left as it was.
    """
    target = Path(path).resolve()  # what a link leads to is replaced, not the link
    fresh = target.with_name(f".{uuid.uuid4().hex}.part")
    try:
        yield fresh
        _sync(fresh)
        fresh.replace(target)
        _sync(target.parent)
    finally:
        fresh.unlink(missing_ok=True)


@contextlib.contextmanager
def replacing_files(folder: str | Path, names: Iterable[str]) -> Iterator[Path]:
    """A new folder whose files replace files of the given names in another, all or none.

    Earlier files are set aside, new ones take their places, then the earlier ones are deleted. What
    else is in the folder stays. The first of the names, without which a reader finds no result, is
    removed first and comes last: a process that is killed in between leaves no mixed result.

    Args:
        folder: Folder of the files, created if needed.
        names: Paths in the folder of all files that belong to a result, also those that a new one
            lacks.
    """
    folder, names = Path(folder), list(names)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError(f"`{folder}` cannot be created: {error.strerror}.") from None
    work = folder / f".{uuid.uuid4().hex}.writing"
    fresh, aside = work / "new", work / "old"
    try:
        fresh.mkdir(parents=True)
        aside.mkdir()
        yield fresh
        for name in names:
            if (fresh / name).exists():
                _sync(fresh / name)
        moved: list[tuple[Path, Path]] = []
        try:
            for source, target in ((folder, aside), (fresh, folder)):
                for name in names if target is aside else reversed(names):
                    if (source / name).exists():
                        (target / name).parent.mkdir(parents=True, exist_ok=True)
                        (source / name).replace(target / name)
                        moved.append((source / name, target / name))
        except OSError:
            for before, after in reversed(moved):
                after.replace(before)
            raise
        _sync(folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _sync(path: Path) -> None:
    """Wait until a file or the names in a folder are on disk; not every system syncs folders."""
    if path.is_dir() and os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if not path.is_dir() or error.errno not in (errno.EINVAL, errno.EBADF):
            raise
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def working_folder(folder: str | Path | None) -> Iterator[Path]:
    """A folder of the user, created if needed and used by one run at a time; or a temporary one."""
    if folder is None:
        with tempfile.TemporaryDirectory() as temporary:
            yield Path(temporary)
        return
    place = check_local("ledger", folder).absolute()
    try:
        place.mkdir(parents=True, exist_ok=True)
        lock = (place / ".lock").open("a+b")
    except OSError as error:
        raise InvalidInputError(f"`{folder}` cannot be created: {error.strerror}.") from None
    with lock:
        lock_file(lock, place)
        yield place


def lock_file(file: IO[bytes], place: Path) -> None:
    """Lock an open file until it is closed; refuse it if another run has locked it.

    Args:
        file: The file, open for writing.
        place: What is named if another run uses it.
    """
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        else:
            import fcntl

            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK):
            raise InvalidInputError(
                f"`{place}` is in use by another run: wait until it ends, or choose another folder."
            ) from None
        warnings.warn(  # network file systems without locks
            f"`{place}` cannot be locked: {error.strerror}. Let no other run use it meanwhile.",
            stacklevel=2,
        )
