"""Results behind the example pages of the documentation: images, texts, a table, models, copies.

Real data: CIFAR-10, sentences of four sources, and the breast cancer table of scikit-learn. The
faults are made up: two classes are dropped, foreign images added, a source or the malignant rows
removed. The comparison has half as many samples. ``python -m benchmarks.report_pages`` writes
``docs/results``, from which the documentation makes its pages. With ``--picture`` it only draws the
picture of the README from them, and with ``--copies`` it only makes the page of images that are
flipped or noisy training images.
"""

from __future__ import annotations

import argparse
import io
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks import datasets, scenarios
from benchmarks.bench_explain import undiagnosed
from tests.known.scenarios import table_models
from tradeoff import Evaluation, Settings, load
from tradeoff.comparison.models import compare_sources
from tradeoff.data import open_source
from tradeoff.data.arrays import ArraySource
from tradeoff.evaluation.pipeline import evaluate_sources

DOCS = Path(__file__).parents[1] / "docs"
RESULTS, PICTURE = DOCS / "results", DOCS / "_static" / "report.png"
SHOWN = {"x": 100, "y": 20, "width": 1080, "height": 1110}  # pixels: down to the first group
CLASSES = np.array(
    ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
)
FOREIGN = 0.1
COPIED, NOISE = 0.1, 3.0  # share of copies, and their noise in shades of 256


def images(size: int, rng: np.random.Generator) -> tuple[ArraySource, dict[str, ArraySource]]:
    """Images with classes: real ones, and two models."""
    test, train = datasets.cifar_pixels()
    order = rng.permutation(len(train.labels))
    kept = order[train.labels[order] < 8]
    count = int(FOREIGN * size)
    foreign = datasets.as_color(datasets.fashion_pixels().test.features[:count])

    def source(name: str, pixels: np.ndarray, labels: np.ndarray) -> ArraySource:
        return ArraySource(pixels, name=name, labels=labels)

    chosen = rng.permutation(len(test.labels))[:size]
    fewer, every = kept[: size - count], order[-size:]
    return source("real", test.features[chosen], CLASSES[test.labels[chosen].astype(int)]), {
        "drops two classes": source(
            "generated",
            np.concatenate((train.features[fewer], foreign)),
            np.append(CLASSES[train.labels[fewer].astype(int)], ["foreign"] * count),
        ),
        "all classes": source(
            "generated", train.features[every], CLASSES[train.labels[every].astype(int)]
        ),
    }


def write(folder: Path, *, size: int = 2000, store: str | None = None) -> None:
    """Evaluate, and save results without the values of single samples."""
    real, models = images(size, np.random.default_rng(0))
    settings = Settings(encoder="efficientnet-lite0", explain=True, store=store)
    one = evaluate_sources(real, models["drops two classes"], settings, progress=True)
    without_store(one).save(folder / "images", overwrite=True)
    real, models = images(size // 2, np.random.default_rng(0))
    several = compare_sources(real, models, settings, progress=True)
    own = {name: without_store(each) for name, each in several.evaluations.items()}
    replace(several, evaluations=own).save(folder / "compare", overwrite=True)
    texts, lines = scenarios.text_models(size)
    settings = Settings(encoder="all-minilm-l6-v2", explain=True, store=store)
    removed = open_source(lines["a source removed"])
    one = evaluate_sources(open_source(texts), removed, settings, progress=True)
    without_store(one).save(folder / "text", overwrite=True)
    rows, tables = table_models()
    real, benign = undiagnosed(rows), undiagnosed(tables["benign only"])
    evaluate_sources(real, benign, Settings(explain=True), progress=True).save(
        folder / "table", overwrite=True
    )
    write_copies(folder)
    _remove_values(folder)


def write_copies(folder: Path, *, size: int = 400) -> None:
    """A model of which some images are flipped training images, or noisy ones."""
    pixels = datasets.cifar_pixels().test.features
    rng = np.random.default_rng(0)
    order = rng.permutation(len(pixels))[: 3 * size]
    train, held_out, made = pixels[order].reshape(3, size, *pixels.shape[1:])
    copied = int(COPIED * size)
    flips, others = train[: copied // 2, :, ::-1], train[copied // 2 : copied]
    noisy = (others + rng.normal(0, NOISE, others.shape)).clip(0, 255).astype(np.uint8)
    made = np.concatenate((flips, noisy, made[copied:]))
    result = evaluate_sources(
        ArraySource(held_out, name="real"),
        ArraySource(made, name="generated"),
        Settings(
            encoder="efficientnet-lite0",
            size=128,
            metrics=("copies", "curve"),
            diagnose=False,
            explain=True,
        ),
        train=ArraySource(train, name="train"),
        progress=True,
    )
    result.save(folder / "copies", overwrite=True)
    _remove_values(folder / "copies")


def _remove_values(folder: Path) -> None:
    """Values of single samples, which pages do not need."""
    for values in folder.rglob("*.parquet"):
        values.unlink()


def without_store(one: Evaluation) -> Evaluation:
    """The result as a run without the folder of features would give it."""
    return replace(one, settings=replace(one.settings, store=None))


def draw(folder: Path) -> None:
    """Write the upper part of the page of images as a picture of 256 colors."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as name, sync_playwright() as driver:
        page = Path(name) / "page.html"
        load(folder / "images").report(page)
        binary = shutil.which("chromium")
        browser = driver.chromium.launch(executable_path=binary, args=["--no-sandbox"])
        opened = browser.new_page(viewport={"width": 1280, "height": 1200})
        opened.goto(page.as_uri())
        shot = opened.screenshot(clip=SHOWN)
        browser.close()
    picture = Image.open(io.BytesIO(shot)).convert("RGB")
    picture.quantize(256, dither=Image.Dither.NONE).save(PICTURE, optimize=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the results")
    parser.add_argument("--size", type=int, default=2000, help="samples of each side")
    parser.add_argument("--store", help="folder in which features are kept")
    parser.add_argument("--picture", action="store_true", help="draw the picture of the README")
    parser.add_argument("--copies", action="store_true", help="only make the page of copies")
    given = parser.parse_args()
    if given.picture:
        draw(given.out)
    elif given.copies:
        write_copies(given.out)
    else:
        write(given.out, size=given.size, store=given.store)
