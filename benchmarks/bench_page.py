"""The page of 10,000 + 10,000 images: its size, what it adds to the time, and its first paint.

Crops of 96 × 96 pixels from two photographs, with cached features.
"""

from __future__ import annotations

import shutil
import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.harness import Row, run
from tests.known.costs import first_paint
from tradeoff import Settings
from tradeoff.data.arrays import ArraySource
from tradeoff.evaluation.pipeline import evaluate_sources
from tradeoff.features import Function

if TYPE_CHECKING:
    from collections.abc import Callable


def pooled(images: list[np.ndarray]) -> np.ndarray:
    """Mean colors of 8 × 8 squares, 432 columns."""
    pixels = np.stack([np.asarray(image, np.float32) for image in images])
    return pixels.reshape(len(pixels), 12, 8, 12, 8, 3).mean((2, 4)).reshape(len(pixels), -1)


POOLED = Function(pooled, "pooled", "image", "1")


def photographs(rng: np.random.Generator, count: int, *, missing: bool) -> ArraySource:
    """Crops of 96 × 96 pixels from two photographs, or from the first alone."""
    from sklearn.datasets import load_sample_images

    photos = load_sample_images().images
    pixels = np.empty((count, 96, 96, 3), np.uint8)
    for i in range(count):
        photo = photos[0 if missing else i % 2]
        y, x = (rng.integers(0, size - 96) for size in photo.shape[:2])
        pixels[i] = photo[y : y + 96, x : x + 96]
    return ArraySource(pixels, name="crop")


def large_page(n: int = 10_000) -> Row:
    """The page of 10,000 + 10,000 images: its size, what it adds to the time, and first paint."""
    rng = np.random.default_rng(0)
    real, made = (photographs(rng, n, missing=missing) for missing in (False, True))
    with TemporaryDirectory() as folder:
        settings = Settings(encoder=POOLED, store=f"{folder}/store")
        page = Path(folder) / "page.html"
        seconds = {}
        for name, explain in (("embedding", False), ("plain", False), ("explained", True)):
            start = time.perf_counter()
            asked = replace(settings, explain=explain)
            result = evaluate_sources(real, made, asked, progress=False)
            if explain:
                result.report(page)
            seconds[name] = time.perf_counter() - start
        size, paint = page.stat().st_size / 1e6, painted(page)
    more = seconds["explained"] / seconds["plain"]
    return {
        "megabytes": size,
        "time over the evaluation": more,
        "first paint, seconds": paint,
        "ratio": max(size, more / 1.2, paint / 0.5),
        "bar": 1.0,
    }


def painted(page: Path) -> float:
    """Seconds until Chromium shows something."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        binary = shutil.which("chromium")
        browser = driver.chromium.launch(executable_path=binary, args=["--no-sandbox"])
        opened = browser.new_page()
        opened.goto(page.as_uri())
        found = first_paint(opened)
        browser.close()
    return found


CASES: dict[str, Callable[[], Row]] = {"10,000 + 10,000 images": large_page}

if __name__ == "__main__":
    run("page", "The page of a result", CASES)
