"""Real data, and "models" of which it is known what is wrong with them.

`python -m benchmarks.scenarios` embeds what `benchmarks/tests` need into a feature store.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.datasets import CACHE, as_color, cifar_pixels, fashion_pixels, text_lines
from tests.known.scenarios import (
    Images,
)

STORE = str(CACHE / "features")
QUICK_IMAGES = 1000
QUICK_TEXTS = 1200
FOREIGN = 0.3
FEW = 10
DROPPED = (8, 9)  # ships and trucks


class Model(NamedTuple):
    """Samples, and the findings that a correct evaluation makes and does not make."""

    samples: Images
    wrong: frozenset[str]
    right: frozenset[str]


def cifar_models(size: int, seed: int = 0) -> tuple[Images, dict[str, Model]]:
    """Real images of all classes, and models made by dropping, spoiling, repeating and mixing."""
    rng = np.random.default_rng(seed)
    test, train = (Images(*part) for part in cifar_pixels())
    real = _some(test, rng, size)
    made = _some(train, rng, size)
    kept = _some(Images(*(x[~np.isin(train.labels, DROPPED)] for x in train)), rng, size)
    few = _some(real, rng, FEW)
    again = rng.integers(0, FEW, size)
    foreign = round(FOREIGN * size)
    clothes = fashion_pixels().train.features[rng.permutation(60_000)[:foreign]]
    mixed = Images(
        np.concatenate((as_color(clothes), made.pixels[foreign:])),
        np.concatenate((np.full(foreign, 10), made.labels[foreign:])),
    )
    nothing = frozenset[str]()
    precision, recall = frozenset({"precision lost"}), frozenset({"recall lost"})
    copied = frozenset({"memorized", "repeats itself"})
    return real, {
        "all classes": Model(made, nothing, precision | recall | copied),
        "two classes dropped": Model(kept, recall, precision | copied),
        "noise and blur": Model(_spoiled(made, rng), precision, copied),
        "ten images": Model(Images(few.pixels[again], few.labels[again]), recall | copied, nothing),
        "another data set": Model(mixed, precision, recall | copied),
    }


def text_models(size: int, seed: int = 0) -> tuple[list[str], dict[str, list[str]]]:
    """Texts of four sources, and models with all of them and without the first."""
    rng = np.random.default_rng(seed)
    sources = [list(rng.permutation(np.array(lines, object))) for _, lines in text_lines()]
    quarter = size // 4
    real = [line for lines in sources for line in lines[:quarter]]
    every = [line for lines in sources for line in lines[quarter : 2 * quarter]]
    third = size // 3
    fewer = [line for lines in sources[1:] for line in lines[quarter : quarter + third]]
    return real, {"all sources": every, "a source removed": fewer}


def _some(images: Images, rng: np.random.Generator, size: int) -> Images:
    chosen = rng.permutation(len(images.pixels))[:size]
    return Images(images.pixels[chosen], images.labels[chosen])


def _spoiled(images: Images, rng: np.random.Generator) -> Images:
    """Half of them blurred, half of them noisy."""
    from scipy.ndimage import gaussian_filter

    x = images.pixels.astype(float)
    half = len(x) // 2
    x[:half] = gaussian_filter(x[:half], (0, 1.2, 1.2, 0))
    x[half:] += rng.normal(0, 30, x[half:].shape)
    return Images(np.clip(x, 0, 255).astype(np.uint8), images.labels)


if __name__ == "__main__":
    from tradeoff.data import open_source
    from tradeoff.embedding import embed_source
    from tradeoff.features.offline import EfficientNetLite0, MiniLM
    from tradeoff.features.store import FeatureStore

    photos, spoiled = cifar_models(QUICK_IMAGES)
    written, others = text_models(QUICK_TEXTS)
    for encoder, sources in (
        (EfficientNetLite0(size=128), [photos, *(model.samples for model in spoiled.values())]),
        (MiniLM(), [written, *others.values()]),
    ):
        for samples in sources:
            values = samples.pixels if isinstance(samples, Images) else samples
            embed_source(open_source(values), encoder, store=FeatureStore(STORE))
