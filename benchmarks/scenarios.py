"""Real data, and "models" of which it is known what is wrong with them.

`python -m benchmarks.scenarios` embeds what the tests need into a feature store.
"""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.datasets import CACHE, as_color, cifar_pixels, fashion_pixels, text_lines

if TYPE_CHECKING:
    from pathlib import Path

STORE = str(CACHE / "features")
QUICK_IMAGES = 1000
QUICK_TEXTS = 1200
FOREIGN = 0.3
FEW = 10
DROPPED = (8, 9)  # ships and trucks


class Images(NamedTuple):
    """Pixels of shape (n, 32, 32, 3) and a label each."""

    pixels: np.ndarray
    labels: np.ndarray


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


def table_models(seed: int = 0) -> tuple[list[dict], dict[str, list[dict]]]:
    """Tumors with a category among their columns, and models with all of them and the benign."""
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    rows = [
        {
            **dict(zip(data.feature_names.tolist(), x.tolist(), strict=True)),
            "diagnosis": str(data.target_names[y]),
        }
        for x, y in zip(data.data, data.target, strict=True)
    ]
    rng = np.random.default_rng(seed)
    shuffled = [rows[i] for i in rng.permutation(len(rows))]
    real, made = shuffled[:285], shuffled[285:]
    return real, {
        "all": made,
        "benign only": [row for row in made if row["diagnosis"] == "benign"],
    }


def write_folder(images: Images, path: Path) -> Path:
    """PNG files, one subfolder per class."""
    from PIL import Image

    for i, (pixels, label) in enumerate(zip(*images, strict=True)):
        folder = path / f"class-{label}"
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(folder / f"{i:05d}.png")
    return path


def write_npz(images: Images, path: Path) -> Path:
    """As the ADM suite keeps them."""
    np.savez(path, arr_0=images.pixels, arr_1=images.labels)
    return path


def write_jsonl(texts: list[str], path: Path) -> Path:
    """One object per line."""
    lines = (json.dumps({"text": text}) for text in texts)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_csv(rows: list[dict], path: Path) -> Path:
    """A table."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


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
