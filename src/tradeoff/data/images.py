"""Folders of images, and the one way in which an encoded image becomes pixels."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tradeoff._extras import import_extra
from tradeoff.data.base import Broken, Kind, Sample
from tradeoff.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

__all__ = ["IMAGE_SUFFIXES", "ImageFolder", "UnreadableError", "decode_image"]

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff", ".gif", ".ppm", ".pgm")
_FORMATS = {
    "PNG": (".png",),
    "JPEG": (".jpg", ".jpeg"),
    "WEBP": (".webp",),
    "BMP": (".bmp",),
    "TIFF": (".tif", ".tiff"),
    "GIF": (".gif",),
    "PPM": (".ppm", ".pgm"),
}
_MOST_PIXELS = 100_000_000


class UnreadableError(Exception):
    """One item cannot be read; its message is the reason."""


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
    path: Path

    def __iter__(self) -> Iterator[Sample | Broken]:
        found = False
        for path in _walk(self.path):
            found = True
            name = path.relative_to(self.path).as_posix()
            label = name.rpartition("/")[0] or None
            try:
                yield Sample(name, path.read_bytes(), label)
            except OSError as error:
                yield Broken(name, f"The file cannot be read: {error.strerror}.")
        if not found:
            raise InvalidInputError(
                f"`{self.path}` must hold images ({', '.join(IMAGE_SUFFIXES)}). Got none."
            )


def _walk(folder: Path) -> Iterator[Path]:
    """Image files in an order that does not depend on the file system."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            yield from _walk(Path(entry.path))
        elif entry.name.lower().endswith(IMAGE_SUFFIXES):
            yield Path(entry.path)


def decode_image(name: str, encoded: bytes) -> npt.NDArray[np.uint8]:
    """Pixels of an encoded image, red, green and blue, shape (height, width, 3).

    Sixteen bits become eight; transparent pixels lie on white; an animation is its first picture.

    Args:
        name: of the file; a suffix that belies its content is an error.
        encoded: the file's bytes.

    Raises:
        UnreadableError: if this is no image that can be trusted.
    """
    pillow = import_extra("PIL.Image", extra="images", purpose="Reading images")
    if not encoded:
        raise UnreadableError("The file is empty.")
    try:
        image = pillow.open(io.BytesIO(encoded))
    except pillow.DecompressionBombError:
        raise UnreadableError(f"The image has more than {_MOST_PIXELS:,} pixels.") from None
    except Exception as error:
        raise UnreadableError(f"This is no image: {_first_line(error)}.") from None
    suffix = os.path.splitext(name)[1].lower()
    if suffix in IMAGE_SUFFIXES and suffix not in _FORMATS.get(image.format, (suffix,)):
        raise UnreadableError(f"The name says {suffix}, but the file is {image.format}.")
    if image.width * image.height > _MOST_PIXELS:
        raise UnreadableError(
            f"The image has {image.width:,} × {image.height:,} pixels, more than {_MOST_PIXELS:,}."
        )
    try:
        return np.asarray(_in_color(pillow, image))
    except Exception as error:
        raise UnreadableError(f"The image is damaged: {_first_line(error)}.") from None


def _in_color(pillow: Any, image: Any) -> Any:
    if image.mode.startswith("I;16") or image.mode in ("I", "F"):
        values = np.asarray(image, dtype=np.float64)
        image = pillow.fromarray(np.clip(values / 257.0 + 0.5, 0, 255).astype(np.uint8))
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        image = image.convert("RGBA")
        white = pillow.new("RGBA", image.size, (255, 255, 255, 255))
        image = pillow.alpha_composite(white, image)
    return image.convert("RGB")


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
