"""The one way in which an encoded image becomes pixels."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._extras import import_extra
from tradeoff.exceptions import UnreadableError

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["decode_image"]

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


def decode_image(name: str, encoded: bytes) -> npt.NDArray[np.uint8]:
    """Pixels of an encoded image, red, green and blue, shape (height, width, 3).

    Sixteen bits become eight; transparent pixels lie on white; an animation is its first picture.

    Args:
        name: of the file; a suffix that belies its content is an error.
        encoded: the file's bytes.

    Raises:
        UnreadableError: if this is no image that can be trusted.

    Example:
        >>> from tradeoff.features import decode_image
        >>> decode_image("dot.ppm", b"P6 1 1 255 abc").tolist()
        [[[97, 98, 99]]]
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
    known = any(suffix in suffixes for suffixes in _FORMATS.values())
    if known and suffix not in _FORMATS.get(image.format, (suffix,)):
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
