"""Where results may be written: never over an input, and over an earlier result only if asked."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tradeoff.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["check_outputs", "working_folder"]


def check_outputs(
    files: Iterable[Path], *, inputs: Iterable[str | Path] = (), overwrite: bool = False
) -> None:
    """Refuse files that would replace an input, or an earlier file unless that is wanted.

    Args:
        files: Files that are going to be written.
        inputs: Files and folders that the same run reads.
        overwrite: Whether files that exist are replaced.
    """
    sources = [path for path in map(Path, inputs) if path.exists()]
    for file in files:
        for source in sources:
            if _is_within(file, source):
                raise InvalidInputError(
                    f"`{file}` would be written over or into the input `{source}`: choose another "
                    "place."
                )
        if file.is_dir():
            raise InvalidInputError(f"`{file}` must be a file, and is a folder.")
        if file.exists() and not overwrite:
            raise InvalidInputError(
                f"`{file}` exists already: pass overwrite=True (--overwrite) to replace it."
            )


@contextmanager
def working_folder(folder: str | Path | None) -> Iterator[Path]:
    """A folder of the user, created if needed; or one that is gone in the end."""
    if folder is not None:
        place = Path(folder).absolute()
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidInputError(f"`{folder}` cannot be created: {error.strerror}.") from None
        yield place
        return
    with tempfile.TemporaryDirectory() as temporary:
        yield Path(temporary)


def _is_within(file: Path, source: Path) -> bool:
    """Whether a file is a source or lies in it, under whatever name."""
    if file.exists() and file.samefile(source):
        return True
    return source.is_dir() and source.resolve() in file.resolve().parents
