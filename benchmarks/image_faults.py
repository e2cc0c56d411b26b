"""CIFAR-10 with faults of processing that an encoder of content may not see, embedded once.

Each fault is planted in the same training images, and real images are others. Features are those of
EfficientNet-Lite0 and of `pixels`.
"""

from __future__ import annotations

import io
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import datasets
from benchmarks.datasets import Labeled
from tradeoff.data import Sample
from tradeoff.features import open_encoder

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["CONTENT", "FAULTS", "LOW_LEVEL", "pool"]

CONTENT, LOW_LEVEL = "efficientnet-lite0", "pixels"
REAL, MADE = 4_000, 2_000
FOREIGN = "foreign"
_BATCH = 64


def _blurred(image: np.ndarray) -> np.ndarray:
    from PIL import Image, ImageFilter

    return np.array(Image.fromarray(image).filter(ImageFilter.GaussianBlur(0.7)))


def _compressed(image: np.ndarray) -> np.ndarray:
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(image).save(file, "JPEG", quality=20)
    return np.array(Image.open(file))


def _cast(image: np.ndarray) -> np.ndarray:
    """Red up and blue down by 6%."""
    return np.clip(image * np.array([1.06, 1.0, 0.94]), 0, 255).round().astype(np.uint8)


def _checkered(image: np.ndarray) -> np.ndarray:
    """As a transposed convolution of stride 2 whose windows overlap: every other pixel by 4%."""
    rows, columns = np.indices(image.shape[:2])
    gain = 1.0 + 0.04 * np.where((rows + columns) % 2, -1.0, 1.0)
    return np.clip(image * gain[:, :, None], 0, 255).round().astype(np.uint8)


def _coarse(image: np.ndarray) -> np.ndarray:
    """The five high bits, at the middle of their range."""
    return np.asarray((image & 0xF8) | 0x04, np.uint8)


FAULTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "blur of 0.7 pixels": _blurred,
    "JPEG of quality 20": _compressed,
    "color cast of 6%": _cast,
    "checkerboard of 4%": _checkered,
    "5 bits": _coarse,
}


@cache
def pool(fault: str = "") -> dict[str, Labeled]:
    """Features by view of real images, of other images with a fault, or of foreign ones.

    Args:
        fault: Name of a fault; "made" for images without one, and "foreign" for Fashion-MNIST.
    """
    name = "".join(one if one.isalnum() else "-" for one in fault or "real")
    return {
        CONTENT: datasets.pooled(f"faults-{name}", lambda: _images(fault)),
        LOW_LEVEL: _low_level(f"faults-{name}-pixels", lambda: _images(fault)),
    }


def _images(fault: str) -> datasets.Parts:
    if fault == FOREIGN:
        clothes = datasets.fashion_pixels().test
        return _alone(Labeled(datasets.as_color(clothes.features[:MADE]), clothes.labels[:MADE]))
    train = datasets.cifar_pixels().train
    order = np.random.default_rng(0).permutation(len(train.labels))
    chosen = order[REAL : REAL + MADE] if fault else order[:REAL]
    change = FAULTS.get(fault, lambda image: image)
    pixels = np.stack([change(image) for image in train.features[chosen]])
    return _alone(Labeled(pixels, train.labels[chosen]))


def _alone(images: Labeled) -> datasets.Parts:
    return datasets.Parts(images, Labeled(images.features[:0], images.labels[:0]))


def _low_level(name: str, images: Callable[[], datasets.Parts]) -> Labeled:
    encoder = open_encoder(LOW_LEVEL, kind="image")

    def embed() -> datasets.Parts:
        pixels, labels = images().test
        samples = [encoder.prepare(Sample(str(i), one)) for i, one in enumerate(pixels)]
        parts = [encoder.embed(samples[i : i + _BATCH]) for i in range(0, len(samples), _BATCH)]
        return _alone(Labeled(np.concatenate(parts), labels))

    return datasets.cached(name, embed).test


if __name__ == "__main__":
    for fault in ("", "made", FOREIGN, *FAULTS):
        pool(fault)
