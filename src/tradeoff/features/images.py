"""What is done to the pixels of an image before a network sees them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tradeoff._extras import import_extra
from tradeoff._pictures import MOST_PIXELS, decode_image, in_color
from tradeoff.exceptions import UnreadableError

if TYPE_CHECKING:
    import numpy.typing as npt

    from tradeoff.data.base import Sample

__all__ = ["Filter", "Pixels", "color_image"]

Filter = Literal["nearest", "bilinear", "bicubic", "lanczos"]


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
        if width * height > MOST_PIXELS:
            raise UnreadableError(
                f"The image is too long for its width, {image.width:,} × {image.height:,} pixels: "
                f"with the shorter edge resized to {self.shorter} it would have more than "
                f"{MOST_PIXELS:,}."
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
    if not content.size:
        raise UnreadableError(f"An image must have pixels. Got shape {content.shape}.")
    pillow = import_extra("PIL.Image", extra="images", purpose="Reading images")
    gray = content.ndim == 3 and content.shape[2] == 1
    try:
        return in_color(pillow, pillow.fromarray(content[:, :, 0] if gray else content))
    except (TypeError, ValueError):  # nothing, or two or five colors
        raise UnreadableError(
            f"Pixels must have shape (height, width, 3). Got {content.shape}."
        ) from None


def _few(values: tuple[float, ...]) -> str:
    words = [f"{value:.6g}" for value in values]
    return words[0] if len(set(words)) == 1 else f"({', '.join(words)})"
