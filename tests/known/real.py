"""Features and images of real data, a small part of which is kept next to this file.

`python -m benchmarks.fixture` writes the file.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from tests.known.scenarios import Images

FILE = Path(__file__).with_name("real.npz")


class Labeled(NamedTuple):
    """Features of shape (n, d) and a label each."""

    features: np.ndarray
    labels: np.ndarray


def text_features() -> Labeled:
    """400 film reviews (label 0) and 400 tweets (label 2) by all-MiniLM-L6-v2, 384 columns."""
    return Labeled(*_read("text"))


def image_features() -> Labeled:
    """CIFAR-10 by EfficientNet-Lite0: every fifth of 1,280 columns, more rows of lower classes."""
    return Labeled(*_read("image"))


def images() -> Images:
    """The first training images of CIFAR-10, 32 × 32 pixels."""
    with np.load(FILE) as kept:
        return Images(kept["pixels"], kept["pixel_labels"])


def _read(kind: str) -> tuple[np.ndarray, np.ndarray]:
    with np.load(FILE) as kept:
        return kept[f"{kind}_features"].astype(np.float32), kept[f"{kind}_labels"]
