"""Embedding a stream: time over that of the bare encoder, memory against the number of images.

EfficientNet-Lite0 on 2,000 PNG files of CIFAR-10, read, decoded, resized and stored, over the same
network on ready-made batches; peak memory with 20,000 images over that with 2,000, by a tiny
encoder; and the time of `tradeoff --help` over that of a bare Typer application.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.datasets import cifar_pixels
from benchmarks.harness import Row, run
from tests.known.costs import help_time, peak_memory
from tests.known.scenarios import Images, write_folder

if TYPE_CHECKING:
    from collections.abc import Callable


def overlap(images: int = 2000, size: int = 128, repeats: int = 5) -> Row:
    """Seconds of the whole way over those of the network alone, the best of several turns."""
    from tradeoff.data.images import ImageFolder
    from tradeoff.embedding import embed_source
    from tradeoff.features.offline import EfficientNetLite0
    from tradeoff.features.store import FeatureStore

    pixels = cifar_pixels().test.features[:images]
    encoder = EfficientNetLite0(size=size)
    with tempfile.TemporaryDirectory() as folder:
        part = Images(pixels, np.zeros(images, int))
        source = ImageFolder(write_folder(part, Path(folder, "png")))
        ready = [encoder.prepare(sample) for sample in source]
        encoder.embed(ready[:64])
        bare, whole = [], []
        for turn in range(repeats):
            start = time.perf_counter()
            expected = encoder.embed(ready)
            middle = time.perf_counter()
            store = FeatureStore(Path(folder, f"store-{turn}"))
            found = embed_source(source, encoder, store=store, progress=False)
            bare.append(middle - start)
            whole.append(time.perf_counter() - middle)
        assert np.array_equal(found.features, expected)
    ratio = min(whole) / min(bare)
    return {"seconds": min(whole), "bare": min(bare), "ratio": ratio, "bar": 1.1}


def memory(few: int = 2000, many: int = 20_000) -> Row:
    """Peak memory of a fresh process that embeds a folder, with many and with few images."""
    pixels = cifar_pixels().train.features[:many]
    with tempfile.TemporaryDirectory() as folder:
        peaks = []
        for count in (few, many):
            part = Images(pixels[:count], np.zeros(count, int))
            path = write_folder(part, Path(folder, str(count)))
            peaks.append(peak_memory(path, Path(folder, f"store-{count}")))
    return {"MB": peaks[1], "with few": peaks[0], "ratio": peaks[1] / peaks[0], "bar": 1.1}


CASES: dict[str, Callable[[], Row]] = {
    "embedding": overlap,
    "memory": memory,
    "help": help_time,
}

if __name__ == "__main__":
    run("embedding", "Embedding over the bare encoder, memory, and the time of --help", CASES)
