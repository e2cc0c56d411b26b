"""Images of ten classes with captions: Fashion-MNIST by its pixels, CIFAR-10 by EfficientNet-Lite0.

Captions are made from templates and encoded by all-MiniLM-L6-v2. Images can be harmed.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.ndimage import gaussian_filter

from benchmarks import datasets, image_faults
from tradeoff.data import Sample
from tradeoff.features import open_encoder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["CLASSES", "SOURCES", "captions", "features"]

CLASSES = 10
_SCALED = 0.2
_BLUR = 0.4  # pixels of Fashion-MNIST
_BLURRED = "blur of 0.7 pixels"
NAMES = {
    "Fashion-MNIST": (
        "T-shirt",
        "pair of trousers",
        "pullover",
        "dress",
        "coat",
        "sandal",
        "shirt",
        "sneaker",
        "bag",
        "ankle boot",
    ),
    "CIFAR-10": (
        "airplane",
        "car",
        "bird",
        "cat",
        "deer",
        "dog",
        "frog",
        "horse",
        "ship",
        "truck",
    ),
}
TEMPLATES = (
    "a photo of a {}",
    "one {} in the middle of the picture",
    "this is a {}",
    "a small image that shows a {}",
    "somebody's {}, seen from one side",
)


@cache
def _encoded(name: str) -> dict[str, np.ndarray]:
    """Features of every caption."""
    captions = [template.format(one) for one in NAMES[name] for template in TEMPLATES]
    encoder = open_encoder("all-minilm-l6-v2", kind="text")
    prepared = [encoder.prepare(Sample(str(i), text)) for i, text in enumerate(captions)]
    return dict(zip(captions, np.asarray(encoder.embed(prepared), float), strict=True))


def features(name: str, captions: Sequence[str]) -> np.ndarray:
    """Features of captions, shape (n, 384)."""
    return np.stack([_encoded(name)[one] for one in captions])


Images = tuple[np.ndarray, np.ndarray]


def fashion(n: int, harm: str, rng: np.random.Generator) -> tuple[Images, Images]:
    """Pixels and classes of both sides."""
    pool = _fashion()
    rows = rng.permutation(len(pool.labels))[: 2 * n].reshape(2, n)
    real, made = ((pool.features[some], pool.labels[some]) for some in rows)
    if harm == "blur":
        pixels = made[0].reshape(-1, 28, 28)
        made = gaussian_filter(pixels, (0, _BLUR, _BLUR)).reshape(n, -1), made[1]
    if harm == "brightness by class":
        made = _scaled(*made)
    return real, made


def cifar(n: int, harm: str, rng: np.random.Generator) -> tuple[Images, Images]:
    """Features and classes of both sides."""
    real, made = _cifar(""), _cifar(_BLURRED if harm == "blur" else "made")
    sides = []
    for x, labels in (real, made):
        some = rng.permutation(len(labels))[:n]
        sides.append((x[some], labels[some]))
    if harm == "brightness by class":
        sides[1] = _scaled(*sides[1])
    return sides[0], sides[1]


def _scaled(x: np.ndarray, labels: np.ndarray) -> Images:
    """Every other class is brighter, and the rest is darker."""
    factors = np.where(np.arange(CLASSES) % 2, 1.0 + _SCALED, 1.0 - _SCALED)
    return x * factors[labels, None], labels


@cache
def _fashion() -> datasets.Labeled:
    return datasets.fashion_pool()


@cache
def _cifar(fault: str) -> Images:
    found = image_faults.pool(fault)[image_faults.CONTENT]
    return found.features.astype(float), found.labels


SOURCES: dict[str, Callable[[int, str, np.random.Generator], tuple[Images, Images]]] = {
    "Fashion-MNIST": fashion,
    "CIFAR-10": cifar,
}


def captions(name: str, classes: np.ndarray, rng: np.random.Generator) -> list[str]:
    """A caption for each image, by a template drawn at random."""
    chosen = rng.integers(0, len(TEMPLATES), len(classes))
    return [TEMPLATES[i].format(NAMES[name][c]) for i, c in zip(chosen, classes, strict=True)]
