"""Statistics of the pixels of an image: colors, gradients, spectrum, and traces of processing.

Sizes and files of images should not enter, so pixels are made comparable first:

* The middle is resized to a fixed size for colors, gradients and the spectrum. Traces of strong
  compression and of transposed convolutions would not survive it. They are measured on original
  pixels, as contrasts between places or frequencies that only such processing tells apart.
* Both pass through the same JPEG compression, which hides whether a file was a PNG or a good JPEG.
  Stronger compression remains visible. Only levels are counted without it.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from tradeoff._extras import import_extra
from tradeoff._pictures import decode_image
from tradeoff._validation import check_count
from tradeoff.exceptions import InvalidInputError
from tradeoff.features.images import color_image
from tradeoff.features.network import in_batches

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tradeoff.data.base import Kind, Sample

    Array = npt.NDArray[np.float32]
    Named = Iterator[tuple[str, Any]]

__all__ = ["PixelStatistics"]

_VERSION = 1
# Of the compression that every image passes through: at 60, JPEG files of quality 75 or better can
# hardly be told from PNG, and those of quality 20 clearly.
_QUALITY = 60
_SHIFT = 4
_BLOCK = 16  # pixels on which JPEG works together, with halved colors
_BATCH = 8
_BRIGHTNESS_BANDS, _COLOR_BANDS = 12, 4
_FLOOR = 1e-6  # power of rounding to 256 levels, of pixels between 0 and 1
_STEP = 1 / 255
_CHANNELS = ("brightness", "red-green", "yellow-blue")


@dataclass(frozen=True)
class PixelStatistics:
    """Statistics of the pixels of an image; nothing is learned.

    Neither the size of an image enters, nor, but for small differences, whether its file was a PNG
    or a JPEG of usual quality: all images pass through the same compression first.

    Args:
        size: Side of the square to which the middle of an image is resized, and the most rows and
            columns of original pixels that are searched for traces; a multiple of 16. Texture that
            resizing to this size removes is not seen.
        traces: Whether original pixels are searched for traces of processing. Resizing leaves
            traces as well, so leave them out if the sizes of both sides differ.

    Example:
        >>> import numpy as np
        >>> from tradeoff.data import Sample
        >>> from tradeoff.features.pixels import PixelStatistics
        >>> encoder = PixelStatistics()
        >>> image = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
        >>> images = Sample("8 bits", image), Sample("5 bits", image & 0xF8)
        >>> full, coarse = encoder.embed([encoder.prepare(sample) for sample in images])
        >>> levels = encoder.columns.index("levels: share of the range")
        >>> float(full[levels]), round(float(coarse[levels]), 2)
        (1.0, 0.13)
    """

    name: ClassVar[str] = "pixels"
    kind: ClassVar[Kind] = "image"
    weights: ClassVar[str] = ""
    size: int = 64
    traces: bool = True

    def __post_init__(self) -> None:
        if check_count("size", self.size) % _BLOCK:
            raise InvalidInputError(f"`size` must be a multiple of {_BLOCK}. Got {self.size}.")

    @property
    def preprocessing(self) -> str:
        """In words, with the version of the definition."""
        seen = f"{self.size} × {self.size}"
        traces = (
            f"; traces in {seen} original pixels or fewer, after JPEG, and in levels of {seen} "
            "pixels, evenly spaced"
        )
        return (
            f"statistics of pixels, version {_VERSION}: middle square resized to {seen} by bicubic "
            f"filter with antialiasing, JPEG of quality {_QUALITY}{traces if self.traces else ''}"
        )

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the features."""
        nothing = np.zeros((1, self.size, self.size, 3), np.uint8)
        return tuple(name for name, _ in self._statistics(Parts(nothing, nothing, nothing)))

    def prepare(self, sample: Sample) -> Parts:
        """Pixels of one image that are comparable with those of others."""
        pillow = import_extra("PIL.Image", extra="images", purpose="Resizing images")
        image = color_image(sample)
        square = _square(pillow, image, self.size)
        original = _part(pillow, image, self.size)
        compressed = _compressed(original)
        whole = compressed if original.size == image.size == square.size else _compressed(square)
        resized = _resized(pillow, pillow.fromarray(whole), self.size)
        thinned = image.resize((self.size,) * 2, pillow.Resampling.NEAREST)
        return Parts(np.asarray(resized), compressed, np.asarray(thinned))

    def embed(self, prepared: Sequence[Parts]) -> Array:
        """Features of prepared images, shape (n, d)."""
        rows = np.empty((len(prepared), len(self.columns)), np.float32)
        shapes = np.array([parts.compressed.shape[:2] for parts in prepared])
        for shape in np.unique(shapes, axis=0):
            chosen = np.flatnonzero((shapes == shape).all(1)).tolist()
            rows[chosen] = in_batches(self._embed, [prepared[i] for i in chosen], _BATCH)
        return rows

    def _embed(self, batch: Sequence[Parts]) -> Array:
        images = Parts(*(np.stack(parts) for parts in zip(*batch, strict=True)))
        found = [value for _, value in self._statistics(images)]
        return np.stack(found, axis=1).astype(np.float32)

    def _statistics(self, images: Parts) -> Named:
        """Features of images, shape (n,), with their names."""
        channels = _opponent(images.resized)
        yield from _colors(channels)
        yield from _gradients(channels[0])
        yield from _spectra(channels)
        if self.traces:
            brightness = _opponent(images.compressed)[0]
            yield from _blocks(brightness)
            yield from _checkerboard(brightness)
            yield from _levels(images.thinned)


class Parts(NamedTuple):
    """What is measured of an image, or of several of one shape.

    Args:
        resized: Its middle square, compressed and resized, shape (size, size, 3).
        compressed: Original pixels of the middle, compressed, shape (height, width, 3).
        thinned: Some original pixels, evenly spaced, shape (size, size, 3).

    Example:
        >>> import numpy as np
        >>> from tradeoff.data import Sample
        >>> from tradeoff.features.pixels import PixelStatistics
        >>> image = Sample("0", np.zeros((100, 30, 3), np.uint8))
        >>> [part.shape for part in PixelStatistics().prepare(image)]
        [(64, 64, 3), (64, 24, 3), (64, 64, 3)]
    """

    resized: npt.NDArray[np.uint8]
    compressed: npt.NDArray[np.uint8]
    thinned: npt.NDArray[np.uint8]


def _square(pillow: Any, image: Any, most: int) -> Any:
    """The middle square, resized if it is larger."""
    side = min(image.size)
    box = _middle(image.size, (side, side))
    return image.crop(box) if side <= most else _resized(pillow, image, most, box)


def _resized(pillow: Any, image: Any, side: int, box: Any = None) -> Any:
    return image.resize((side, side), pillow.Resampling.BICUBIC, box=box, reducing_gap=2.0)


def _part(pillow: Any, image: Any, most: int) -> Any:
    """Original pixels of the middle, in whole blocks of JPEG; small images are mirrored."""
    if min(image.size) < _BLOCK:
        missing = [(0, max(0, _BLOCK - side)) for side in (image.height, image.width)]
        padded = np.pad(np.asarray(image), [*missing, (0, 0)], mode="symmetric")
        image = pillow.fromarray(padded)
    width, height = (min(most, side // 8 * 8) for side in image.size)
    return image.crop(_middle(image.size, (width, height)))


def _middle(size: tuple[int, int], kept: tuple[int, int]) -> tuple[int, int, int, int]:
    """The box of the middle, cut between blocks of JPEG."""
    left, top = ((a - b) // (2 * _BLOCK) * _BLOCK for a, b in zip(size, kept, strict=True))
    return left, top, left + kept[0], top + kept[1]


def _compressed(image: Any) -> npt.NDArray[np.uint8]:
    """Pixels of an image after JPEG compression, in blocks between those of its own file.

    In the same blocks, some pairs of qualities would round differently than one of them alone.
    """
    pillow = import_extra("PIL.Image", extra="images", purpose="Resizing images")
    moved = np.pad(np.asarray(image), [(_SHIFT, 0), (_SHIFT, 0), (0, 0)], mode="edge")
    file = io.BytesIO()
    pillow.fromarray(moved).save(file, "JPEG", quality=_QUALITY, subsampling="4:2:0")
    return decode_image("", file.getvalue())[_SHIFT:, _SHIFT:]


def _opponent(pixels: npt.NDArray[np.uint8]) -> Array:
    """Brightness, red against green, yellow against blue, shape (3, n, height, width)."""
    red, green, blue = np.moveaxis(pixels, 3, 0).astype(np.float32) / 255
    return np.stack([(red + green + blue) / 3, red - green, (red + green) / 2 - blue])


def _colors(channels: Array) -> Named:
    flat = channels.reshape(*channels.shape[:2], -1)
    mean = flat.mean(2)
    centered = flat - mean[:, :, None]
    squares = centered * centered
    deviation = np.sqrt(squares.mean(2))
    skewness = np.cbrt((squares * centered).mean(2))
    for i, channel in enumerate(_CHANNELS):
        yield f"{channel}: mean", mean[i]
        yield f"{channel}: deviation", deviation[i]
        yield f"{channel}: skewness", skewness[i]
    for i, j in ((0, 1), (0, 2), (1, 2)):
        together = (centered[i] * centered[j]).mean(1)
        correlation = together / (deviation[i] * deviation[j] + _FLOOR)
        yield f"{_CHANNELS[i]} and {_CHANNELS[j]}: correlation", correlation
    shares = _sums(np.minimum((flat[0] * 8).astype(np.intp), 7), 8) / flat.shape[2]
    for i in range(8):
        yield f"brightness: {i}/8 to {i + 1}/8", np.sqrt(shares[:, i])
    strength = np.sqrt(flat[1] ** 2 + flat[2] ** 2)
    amounts = _sums(_sector(flat[1], flat[2], 6), 6, strength) / flat.shape[2]
    for i in range(6):
        yield f"hue: {60 * i}° to {60 * i + 60}°", np.sqrt(amounts[:, i])


def _gradients(brightness: Array) -> Named:
    across = (brightness[:, 1:-1, 2:] - brightness[:, 1:-1, :-2]).reshape(len(brightness), -1)
    down = (brightness[:, 2:, 1:-1] - brightness[:, :-2, 1:-1]).reshape(len(brightness), -1)
    size = np.sqrt(across * across + down * down)
    yield "gradients: mean", np.log(size.mean(1) + _STEP)
    yield "gradients: deviation", np.log(size.std(1) + _STEP)
    percents = (25, 50, 75, 90, 99)
    places = [(size.shape[1] - 1) * percent // 100 for percent in percents]
    ordered = np.partition(size, places, axis=1)
    for percent, place in zip(percents, places, strict=True):
        yield f"gradients: {percent}% quantile", np.log(ordered[:, place] + _STEP)
    # A direction and its opposite are one orientation, so angles are doubled.
    sector = _sector(across * across - down * down, 2 * across * down, 8)
    shares = _sums(sector, 8, size) / (size.sum(1, keepdims=True) + _STEP)
    for i in range(8):
        yield f"gradients: {22.5 * i:g}° to {22.5 * i + 22.5:g}°", np.sqrt(shares[:, i])


def _sector(x: Array, y: Array, number: int) -> npt.NDArray[np.intp]:
    """The sector of equal angle in which each point lies."""
    turns = np.arctan2(y, x) * np.float32(0.5 / np.pi) + np.float32(1.0)
    return (turns * number).astype(np.intp) % number


def _sums(bins: npt.NDArray[np.intp], number: int, weights: Any = None) -> npt.NDArray[np.float64]:
    """Sum of the weights, or count, in each bin of each row, shape (n, number)."""
    places = bins + number * np.arange(len(bins))[:, None]
    weights = None if weights is None else weights.ravel()
    found = np.bincount(places.ravel(), weights, minlength=number * len(bins))
    return found.reshape(len(bins), number).astype(np.float64)


def _spectra(channels: Array) -> Named:
    window, bands = _window(*channels.shape[2:]), _radial_bands(channels.shape[2])
    centered = channels - channels.mean((2, 3), keepdims=True)
    power = _power(np.fft.rfft2(centered * window)).reshape(*channels.shape[:2], -1)
    for i, channel in enumerate(_CHANNELS):
        place, sizes = bands[min(i, 1)]
        rows = np.broadcast_to(place, power[i].shape)
        found = _sums(rows, len(sizes) + 1, power[i])[:, :-1] / sizes
        for band, value in enumerate(np.log(found + _FLOOR).T):
            yield f"{channel}: power in band {band + 1} of {len(sizes)}", value


def _power(spectrum: npt.NDArray[Any]) -> Array:
    return np.asarray(spectrum.real**2 + spectrum.imag**2)


@cache
def _window(height: int, width: int) -> Array:
    """Hann's window, of squared values that sum to one."""
    sides = (0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(n) + 0.5) / n) for n in (height, width))
    window = np.multiply.outer(*sides)
    return np.asarray(window / np.sqrt((window**2).sum()), np.float32)


@cache
def _radial_bands(side: int) -> tuple[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]], ...]:
    """Band of each frequency up to Nyquist's, the number of bands if beyond, and their sizes."""
    frequency = np.hypot(np.fft.fftfreq(side)[:, None], np.fft.rfftfreq(side)).ravel() * 2
    found = []
    for number in (_BRIGHTNESS_BANDS, _COLOR_BANDS):
        place = np.clip(np.ceil(frequency * number).astype(np.intp) - 1, 0, number)
        found.append((place, np.maximum(np.bincount(place, minlength=number + 1)[:number], 1)))
    return tuple(found)


def _blocks(brightness: Array) -> Named:
    """Steps at borders of 8 × 8 blocks, and coefficients of zero inside, against other places."""
    steps = np.zeros((8, len(brightness)))
    for axis in (1, 2):
        differences = np.abs(np.diff(brightness, axis=axis)).mean(3 - axis)
        steps += [differences[:, place::8].mean(1) for place in range(8)]
    steps = np.log(steps / 2 + _STEP)
    yield "blocks: steps at the borders of JPEG", steps[7] - steps[:7].mean(0)
    yield "blocks: largest steps of any borders", steps.max(0) - np.median(steps, axis=0)
    at_blocks, elsewhere = map(_zero_coefficients, (brightness, brightness[:, 4:-4, 4:-4]))
    yield "blocks: zero coefficients", at_blocks - elsewhere


def _zero_coefficients(brightness: Array) -> npt.NDArray[np.float64]:
    from scipy.fft import dctn

    rows, columns = (side // 8 for side in brightness.shape[1:])
    blocks = brightness.reshape(-1, rows, 8, columns, 8)
    return np.asarray((np.abs(dctn(blocks, axes=(2, 4), norm="ortho")) < _STEP).mean((1, 2, 3, 4)))


def _checkerboard(brightness: Array) -> Named:
    """Powers at periods of 2 and 4 pixels, against those of frequencies around."""
    centered = brightness - brightness.mean((1, 2), keepdims=True)
    window = _window(*brightness.shape[1:])
    power = _power(np.fft.fft2(centered * window)).reshape(len(brightness), -1) + _FLOOR
    for name, places in _peaks(*brightness.shape[1:]).items():
        found = [np.log(power[:, peak] / power[:, ring].mean(1)) for peak, ring in places]
        yield f"checkerboard: {name}", np.mean(found, axis=0)


@cache
def _peaks(height: int, width: int) -> dict[str, list[tuple[int, npt.NDArray[np.intp]]]]:
    """Places of frequencies in a spectrum, and rings around that the window does not mix in."""
    rows, columns = np.mgrid[-3:4, -3:4].reshape(2, -1)
    apart = np.maximum(np.abs(rows), np.abs(columns)) > 1

    def place(y: float, x: float) -> tuple[int, npt.NDArray[np.intp]]:
        at = (round(y * height) + rows) % height * width + (round(x * width) + columns) % width
        return int(at[at.size // 2]), at[apart]

    half, quarter = 1 / 2, 1 / 4
    return {
        "period 2, lines": [place(half, 0), place(0, half)],
        "period 2, fields": [place(half, half)],
        "period 4, lines": [place(quarter, 0), place(0, quarter)],
        "period 4, fields": [place(quarter, quarter), place(quarter, 1 - quarter)],
        "periods 2 and 4": [place(half, quarter), place(quarter, half)],
    }


def _levels(pixels: npt.NDArray[np.uint8]) -> Named:
    """Which levels from 8 to 247 occur; at both ends there is clipping, which JPEG changes."""
    flat = np.moveaxis(pixels, 3, 1).reshape(3 * len(pixels), -1)
    counts = _sums(flat.astype(np.intp), 256)[:, 8:-8].reshape(len(pixels), 3, -1)
    used = counts > 0
    distinct = used.sum(2)
    span = 240 - used.argmax(2) - used[:, :, ::-1].argmax(2)
    shares = counts.sum(1) / np.maximum(counts.sum((1, 2)), 1)[:, None]
    yield "levels: number", np.log1p(distinct).mean(1)
    yield "levels: share of the range", (distinct / span).mean(1)
    yield "levels: entropy", _entropy(shares)
    for step in (2, 4, 8):
        yield f"levels: share of multiples of {step}", shares[:, ::step].sum(1)
    yield "levels: entropy of the low bits", _entropy(shares.reshape(-1, 30, 8).sum(1))


def _entropy(shares: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.asarray(-(shares * np.log2(np.where(shares > 0, shares, 1.0))).sum(1))
