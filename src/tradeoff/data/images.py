"""Folders of images."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, cast

from tradeoff._remote import Place, Remote, place_of
from tradeoff.data.base import Broken, Kind, Sample
from tradeoff.data.reading import MOST_BYTES, read_file, reason, valid
from tradeoff.exceptions import InvalidInputError, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["IMAGE_SUFFIXES", "ImageFile", "ImageFolder", "image_files"]

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff", ".gif", ".ppm", ".pgm")


@dataclass(frozen=True)
class ImageFolder:
    """Images of a folder; those of a subfolder have its name as their label.

    Links are followed, and each folder is read once: a link to a folder that has been read already
    is listed as broken, and so is everything that is neither a file nor a folder (named pipes,
    sockets, devices, links that lead nowhere), which is never opened.

    Args:
        path: The folder. Files whose names do not end like those of images are skipped.
        files: Only these of its files, in this order; None for all.
        most_bytes: Size of a file beyond which it is not read and listed as broken.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from PIL import Image
        >>> from tradeoff.data.images import ImageFolder
        >>> folder = Path(tempfile.mkdtemp())
        >>> (folder / "cats").mkdir()
        >>> Image.new("RGB", (8, 8)).save(folder / "cats" / "1.png")
        >>> [(sample.id, sample.label) for sample in ImageFolder(folder)]
        [('cats/1.png', 'cats')]
    """

    kind: ClassVar[Kind] = "image"
    path: str | Path | Remote
    files: tuple[Place, ...] | None = None
    most_bytes: int = MOST_BYTES

    def __len__(self) -> int:
        return sum(1 for _ in self.entries())

    def entries(self) -> Iterator[Place | Broken]:
        """Files, in an order that does not depend on the file system, and what cannot be one."""
        if self.files is not None:
            return iter(self.files)
        root = place_of(self.path)
        if isinstance(root, Path):
            return _walk(root)
        return (root / file.name for file in image_files(root))

    def __iter__(self) -> Iterator[Sample | Broken]:
        found = False
        for item in self.entries():
            found = True
            if isinstance(item, Broken):
                yield item
                continue
            name = _name(item, place_of(self.path))
            label = name.rpartition("/")[0] or None
            try:
                yield Sample(name, read_file(item, self.most_bytes), label)
            except UnreadableError as error:
                yield Broken(name, str(error))
        if not found:
            raise InvalidInputError(
                f"`{self.path}` must hold images ({', '.join(IMAGE_SUFFIXES)}). Got none."
            )


class ImageFile(NamedTuple):
    """An image of a folder.

    Args:
        name: Its path below the folder.
        size: Number of bytes.
        version: What changes when the file changes.
    """

    name: str
    size: int
    version: str


def image_files(root: Place) -> Iterator[ImageFile]:
    """Images below a folder, in the order in which they are read."""
    if isinstance(root, Remote):
        for name, size, version in root.files():
            hidden = any(part.startswith(".") for part in name.split("/"))
            if name.lower().endswith(IMAGE_SUFFIXES) and not hidden:
                yield ImageFile(name, size, version)
        return
    for item in _walk(root):
        if not isinstance(item, Broken):
            name = item.relative_to(root).as_posix()
            try:
                about = item.stat()
            except OSError:  # the reader will say why
                yield ImageFile(name, 0, "")
            else:
                yield ImageFile(name, about.st_size, str(about.st_mtime_ns))


def _name(path: Place, root: Place) -> str:
    return valid(path.relative_to(cast("Any", root)).as_posix())


def _walk(root: Path) -> Iterator[Path | Broken]:
    """Image files below a folder, sorted by name in each."""
    seen = set[tuple[int, int]]()
    stack = [iter([(root, True)])]  # no recursion, since folders may be nested deeply
    while stack:
        path, is_folder = next(stack[-1], (None, False))
        if path is None:
            stack.pop()
        elif not is_folder:
            yield path
        else:
            try:
                stack.append(_entries(path, seen))
            except (OSError, UnreadableError) as error:
                if path == root:
                    raise InvalidInputError(
                        f"`{root}` must be a folder that can be read. {reason(error)}."
                    ) from None
                yield Broken(_name(path, root), f"The folder is not read: {reason(error)}.")


def _entries(folder: Path, seen: set[tuple[int, int]]) -> Iterator[tuple[Path, bool]]:
    """Paths in a folder, and which of them are folders; links to folders come last."""
    about = os.stat(folder)
    if (about.st_dev, about.st_ino) in seen:
        raise UnreadableError("it has been read under another name")
    seen.add((about.st_dev, about.st_ino))
    names, folders, links = list[str](), set[str](), set[str]()  # millions of files: names only
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if _is(entry.is_dir):
                (links if entry.is_symlink() else folders).add(entry.name)
            elif _is(entry.is_file) and not entry.name.lower().endswith(IMAGE_SUFFIXES):
                continue
            names.append(entry.name)
    names.sort(key=lambda name: (name in links, name))
    return ((folder / name, name in folders or name in links) for name in names)


def _is(question: Callable[[], bool]) -> bool:
    """False where a loop of links, or a folder that must not be searched, forbids an answer."""
    try:
        return question()
    except OSError:
        return False
