"""The one way in which an encoded image becomes pixels, and pixels what a network sees."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tradeoff._extras import import_extra
from tradeoff.exceptions import UnreadableError, first_line

if TYPE_CHECKING:
    import numpy.typing as npt

    from tradeoff.data.base import Sample

__all__ = ["Filter", "Pixels", "color_image", "decode_image"]

Filter = Literal["nearest", "bilinear", "bicubic", "lanczos"]

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
        >>> from tradeoff.features.images import decode_image
        >>> decode_image("dot.ppm", b"P6 1 1 255 abc").tolist()
        [[[97, 98, 99]]]
    """
    pillow = import_extra("PIL.Image", extra="images", purpose="Reading images")
    if not encoded:
        raise UnreadableError("The file is empty.")
    try:
        image = pillow.open(io.BytesIO(encoded), formats=list(_FORMATS))
    except pillow.DecompressionBombError:
        raise UnreadableError(f"The image has more than {_MOST_PIXELS:,} pixels.") from None
    except import_extra("PIL", extra="images", purpose="Reading images").UnidentifiedImageError:
        raise UnreadableError(f"The file is not an image ({', '.join(_FORMATS)}).") from None
    except Exception as error:
        raise UnreadableError(f"The file is not an image: {first_line(error)}.") from None
    suffix = os.path.splitext(name)[1].lower()
    known = any(suffix in suffixes for suffixes in _FORMATS.values())
    if known and suffix not in _FORMATS.get(image.format, (suffix,)):
        raise UnreadableError(f"The name says {suffix}, but the file is {image.format}.")
    if image.width * image.height > _MOST_PIXELS:
        raise UnreadableError(
            f"The image has {image.width:,} × {image.height:,} pixels, more than {_MOST_PIXELS:,}."
        )
    try:
        image.load()
        _check_depth(image)
        return np.asarray(_in_color(pillow, _upright(pillow, image)))
    except UnreadableError:
        raise
    except Exception as error:
        raise UnreadableError(f"The image is damaged: {first_line(error)}.") from None


@dataclass(frozen=True, kw_only=True)
class Pixels:
    """What is done to an image before a network sees it.

    Resizing is that of Pillow, which is antialiased.

    Args:
        height: Height of the network's input, in pixels.
        width: Width of the network's input, in pixels.
        shorter: Pixels to which the shorter edge is resized before the middle is cut out; None if
            an image is resized to height and width, whatever its shape.
        filter: Filter of resizing.
        mean: Values that are subtracted from red, green and blue between 0 and 255.
        deviation: Values by which the differences are divided.

    Example:
        >>> from tradeoff.features.images import Pixels
        >>> print(Pixels(height=224, width=224, shorter=256, mean=(127,) * 3, deviation=(128,) * 3))
        shorter edge resized to 256 by bicubic filter with antialiasing, middle 224 × 224, (x - 127)
        / 128
    """

    height: int
    width: int
    shorter: int | None = None
    filter: Filter = "bicubic"
    mean: tuple[float, ...] = (0.0, 0.0, 0.0)
    deviation: tuple[float, ...] = (255.0, 255.0, 255.0)

    def __str__(self) -> str:
        by = f"by {self.filter} filter with antialiasing"
        seen = f"{self.height} × {self.width}"
        resized = (
            f"resized to {seen} {by}"
            if self.shorter is None
            else f"shorter edge resized to {self.shorter} {by}, middle {seen}"
        )
        return f"{resized}, (x - {_few(self.mean)}) / {_few(self.deviation)}"

    def of(self, sample: Sample) -> npt.NDArray[np.uint8]:
        """Pixels of a sample, shape (height, width, 3)."""
        pillow = import_extra("PIL.Image", extra="images", purpose="Resizing images")
        image = color_image(sample)
        filters = pillow.Resampling[self.filter.upper()]
        if self.shorter is None:
            return np.asarray(image.resize((self.width, self.height), filters))
        scale = self.shorter / min(image.size)
        width, height = (max(self.shorter, int(side * scale)) for side in image.size)
        if width * height > _MOST_PIXELS:
            raise UnreadableError(
                f"The image is too long for its width, {image.width:,} × {image.height:,} pixels: "
                f"with the shorter edge resized to {self.shorter} it would have more than "
                f"{_MOST_PIXELS:,}."
            )
        image = image.resize((width, height), filters)
        left, top = (width - self.width) // 2, (height - self.height) // 2
        return np.asarray(image.crop((left, top, left + self.width, top + self.height)))


def color_image(sample: Sample) -> Any:
    """The Pillow image of a sample, given as bytes or pixels, in red, green and blue.

    Raises:
        UnreadableError: if the sample is not an image that can be read.

    Example:
        >>> import numpy as np
        >>> from tradeoff.data import Sample
        >>> from tradeoff.features.images import color_image
        >>> color_image(Sample("gray", np.full((2, 3, 1), 9, np.uint8))).getpixel((0, 0))
        (9, 9, 9)
    """
    content = sample.content
    if isinstance(content, bytes):
        content = decode_image(sample.id, content)
    if not isinstance(content, np.ndarray) or content.ndim not in (2, 3):
        raise UnreadableError("An image must be bytes or pixels of two or three dimensions.")
    if content.dtype != np.uint8:
        raise UnreadableError(f"Pixels must be whole numbers, uint8. Got {content.dtype}.")
    pillow = import_extra("PIL.Image", extra="images", purpose="Reading images")
    gray = content.ndim == 3 and content.shape[2] == 1
    try:
        return _in_color(pillow, pillow.fromarray(content[:, :, 0] if gray else content))
    except (TypeError, ValueError):  # nothing, or two or five colors
        raise UnreadableError(
            f"Pixels must have shape (height, width, 3). Got {content.shape}."
        ) from None


def _few(values: tuple[float, ...]) -> str:
    words = [f"{value:.6g}" for value in values]
    return words[0] if len(set(words)) == 1 else f"({', '.join(words)})"


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


def _in_color(pillow: Any, image: Any) -> Any:
    if image.mode.startswith("I"):
        image = pillow.fromarray(_EIGHT_BITS[np.clip(np.asarray(image), 0, 65_535)])
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        image = image.convert("RGBA")
        white = pillow.new("RGBA", image.size, (255, 255, 255, 255))
        image = pillow.alpha_composite(white, image)
    return image.convert("RGB")
