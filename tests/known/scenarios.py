"""Tables and images with known faults, and files of them as users have them."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path


class Images(NamedTuple):
    """Pixels of shape (n, 32, 32, 3) and a label each."""

    pixels: np.ndarray
    labels: np.ndarray


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
