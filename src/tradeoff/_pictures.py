"""The one way in which an image becomes pixels, whether it comes as bytes or as a Pillow image."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._extras import import_extra
from tradeoff.exceptions import UnreadableError, first_line

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["MOST_PIXELS", "decode_image", "image_form", "in_color", "pixels_of"]

_FORMATS = {
    "PNG": (".png",),
    "JPEG": (".jpg", ".jpeg"),
    "WEBP": (".webp",),
    "BMP": (".bmp",),
    "TIFF": (".tif", ".tiff"),
    "GIF": (".gif",),
    "PPM": (".ppm", ".pgm"),
}
MOST_PIXELS = 100_000_000
"""Pixels of an image beyond which it is not read."""

_EIGHT_BITS = np.clip(np.arange(65_536) / 257.0 + 0.5, 0, 255).astype(np.uint8)  # of sixteen
_ORIENTATION = 0x0112
_TURNS = {
    2: "FLIP_LEFT_RIGHT",
    3: "ROTATE_180",
    4: "FLIP_TOP_BOTTOM",
    5: "TRANSPOSE",
    6: "ROTATE_270",
    7: "TRANSVERSE",
    8: "ROTATE_90",
}


def decode_image(name: str, encoded: bytes) -> npt.NDArray[np.uint8]:
    """Pixels of an encoded image, red, green and blue, shape (height, width, 3).

    Only PNG, JPEG, WebP, BMP, TIFF, GIF and PPM are read, since Pillow starts other programs for
    some other formats. The orientation in the metadata is applied; sixteen bits become eight;
    transparent pixels lie on white; an animation is its first picture. Pixels of 32 bits, whole or
    fractional, are refused, since nothing says which value is white.

    Args:
        name: Name of the file; a suffix that contradicts its content is an error.
        encoded: Bytes of the file.

    Raises:
        UnreadableError: if the content is not an image that can be read.

    Example:
        >>> from tradeoff._pictures import decode_image
        >>> decode_image("dot.ppm", b"P6 1 1 255 abc").tolist()
        [[[97, 98, 99]]]
    """
    if not encoded:
        raise UnreadableError("The file is empty.")
    image = _opened(encoded)
    suffix = os.path.splitext(name)[1].lower()
    known = any(suffix in suffixes for suffixes in _FORMATS.values())
    if known and suffix not in _FORMATS.get(image.format, (suffix,)):
        raise UnreadableError(f"The name says {suffix}, but the file is {image.format}.")
    return pixels_of(image)


def image_form(content: object) -> tuple[str, tuple[int, int]]:
    """Format of an image and its width and height, of which only the header is read.

    Args:
        content: Bytes of a file, or pixels of shape (height, width, ...).

    Raises:
        UnreadableError: if the content is not an image that can be read.

    Example:
        >>> from tradeoff._pictures import image_form
        >>> image_form(b"P6 1 1 255 abc")
        ('PPM', (1, 1))
    """
    if isinstance(content, bytes):
        image = _opened(content)
        return str(image.format), image.size
    if not isinstance(content, np.ndarray) or content.ndim < 2:
        raise UnreadableError("An image must be bytes or pixels of two or three dimensions.")
    return "pixels in memory", (content.shape[1], content.shape[0])


def _opened(encoded: bytes) -> Any:
    """The Pillow image of a file, whose pixels are still unread."""
    pillow = import_extra("PIL.Image", extra="images", purpose="Reading images")
    try:
        return pillow.open(io.BytesIO(encoded), formats=list(_FORMATS))
    except pillow.DecompressionBombError:
        raise UnreadableError(f"The image has more than {MOST_PIXELS:,} pixels.") from None
    except import_extra("PIL", extra="images", purpose="Reading images").UnidentifiedImageError:
        raise UnreadableError(f"The file is not an image ({', '.join(_FORMATS)}).") from None
    except Exception as error:
        raise UnreadableError(f"The file is not an image: {first_line(error)}.") from None


def pixels_of(picture: Any) -> npt.NDArray[np.uint8]:
    """Pixels of a Pillow image, as when it is read from its file, shape (height, width, 3).

    Args:
        picture: Image, of which the file may still be unread: formats that `decode_image` does
            not read are refused.

    Raises:
        UnreadableError: if the image cannot be read.

    Example:
        >>> from PIL import Image
        >>> from tradeoff._pictures import pixels_of
        >>> pixels_of(Image.new("LA", (1, 1), (0, 0))).tolist()  # transparent pixels are white
        [[[255, 255, 255]]]
    """
    pillow = import_extra("PIL.Image", extra="images", purpose="Reading images")
    if getattr(picture, "format", None) not in (None, "MPO", *_FORMATS):  # MPO: several JPEGs
        raise UnreadableError(
            f"Images must be {', '.join(_FORMATS)}. This one is {picture.format}: convert it first."
        )
    if picture.width * picture.height > MOST_PIXELS:
        raise UnreadableError(
            f"The image has {picture.width:,} × {picture.height:,} pixels, more than "
            f"{MOST_PIXELS:,}."
        )
    try:
        picture.load()
        _check_depth(picture)
        return np.asarray(in_color(pillow, _upright(pillow, picture)))
    except UnreadableError:
        raise
    except Exception as error:
        raise UnreadableError(f"The image is damaged: {first_line(error)}.") from None


def _check_depth(image: Any) -> None:
    """Refuse pixels of unknown range; Pillow's "I" has 16 bits in PNG and PPM, 32 in TIFF."""
    if image.mode == "F" or (image.mode == "I" and image.format not in ("PNG", "PPM")):
        kind = "fractional numbers" if image.mode == "F" else "whole numbers of 32 bits"
        raise UnreadableError(
            f"The pixels are {kind}, of which it is not known which value is white: convert the "
            "image to 8 bits."
        )


def _upright(pillow: Any, image: Any) -> Any:
    """The image turned as its metadata says; metadata that cannot be read say nothing."""
    try:
        turn = _TURNS.get(image.getexif().get(_ORIENTATION, 1))
    except Exception:
        turn = None
    return image if turn is None else image.transpose(pillow.Transpose[turn])


def in_color(pillow: Any, image: Any) -> Any:
    """An image in red, green and blue: sixteen bits become eight, transparency lies on white."""
    if image.mode.startswith("I"):
        image = pillow.fromarray(_EIGHT_BITS[np.clip(np.asarray(image), 0, 65_535)])
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        image = image.convert("RGBA")
        white = pillow.new("RGBA", image.size, (255, 255, 255, 255))
        image = pillow.alpha_composite(white, image)
    return image.convert("RGB")
