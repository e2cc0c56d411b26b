"""Folders of images."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from tradeoff.data.base import Broken, Kind, Sample
from tradeoff.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["IMAGE_SUFFIXES", "ImageFolder"]

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff", ".gif", ".ppm", ".pgm")


@dataclass(frozen=True)
class ImageFolder:
    """Images of a folder; those of a subfolder have its name as their label.

    Args:
        path: the folder. Files whose name says that they are no images are passed over.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from PIL import Image
        >>> from tradeoff.data import ImageFolder
        >>> folder = Path(tempfile.mkdtemp())
        >>> (folder / "cats").mkdir()
        >>> Image.new("RGB", (8, 8)).save(folder / "cats" / "1.png")
        >>> [(sample.id, sample.label) for sample in ImageFolder(folder)]
        [('cats/1.png', 'cats')]
    """

    kind: ClassVar[Kind] = "image"
    path: str | Path

    def __len__(self) -> int:
        return sum(1 for _ in _walk(Path(self.path)))

    def __iter__(self) -> Iterator[Sample | Broken]:
        found = False
        for path in _walk(Path(self.path)):
            found = True
            name = _readable(path.relative_to(self.path).as_posix())
            label = name.rpartition("/")[0] or None
            try:
                yield Sample(name, path.read_bytes(), label)
            except OSError as error:
                yield Broken(name, f"The file cannot be read: {error.strerror}.")
        if not found:
            raise InvalidInputError(
                f"`{self.path}` must hold images ({', '.join(IMAGE_SUFFIXES)}). Got none."
            )


def _readable(name: str) -> str:
    """A name that can be written as UTF-8, whatever bytes the file system holds."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _walk(folder: Path) -> Iterator[Path]:
    """Image files in an order that does not depend on the file system."""
    names, folders = list[str](), set[str]()  # nothing larger is kept of millions of files
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir():
                folders.add(entry.name)
            if entry.name in folders or entry.name.lower().endswith(IMAGE_SUFFIXES):
                names.append(entry.name)
    for name in sorted(names):
        if name in folders:
            yield from _walk(folder / name)
        else:
            yield folder / name
