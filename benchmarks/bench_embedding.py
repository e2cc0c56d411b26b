"""Embedding a stream: time over that of the bare encoder, memory against the number of images.

EfficientNet-Lite0 on 2,000 PNG files of CIFAR-10, read, decoded, resized and stored, over the same
network on ready-made batches; peak memory with 20,000 images over that with 2,000, by a tiny
encoder; and the time of `tradeoff --help` over that of a bare Typer application.
"""

from __future__ import annotations

import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from benchmarks.datasets import cifar_pixels
from benchmarks.harness import Row, run
from tests.known.costs import help_time, peak_memory
from tests.known.scenarios import Images, write_folder

if TYPE_CHECKING:
    from collections.abc import Callable


def overlap(
    runtime: Literal["torch", "onnx"], images: int = 2000, size: int = 128, repeats: int = 5
) -> Row:
    """Seconds of the whole way over those of the network alone, the best of several turns."""
    from tradeoff.data.images import ImageFolder
    from tradeoff.embedding import embed_source
    from tradeoff.features.offline import EfficientNetLite0
    from tradeoff.features.store import FeatureStore

    pixels = cifar_pixels().test.features[:images]
    encoder = EfficientNetLite0(size=size, runtime=runtime)
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
    found = {"seconds": min(whole), "bare": min(bare), "ratio": ratio}
    # Reading takes as long as a network in ONNX Runtime, which leaves no core for it.
    return found | ({"bar": 1.1} if runtime == "torch" else {})


def runtimes(size: int = 128, repeats: int = 7) -> Row:
    """CPU time of one thread for a batch of 32 images in both runtimes, the best of some turns."""
    import torch

    from tradeoff.features.offline import EfficientNetLite0

    torch.set_num_threads(1)
    x = torch.randn(32, 3, size, size)
    runs = {name: EfficientNetLite0(size=size, runtime=name).run for name in ("torch", "onnx")}
    times: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(repeats):
        for name, embed in runs.items():
            start = time.process_time()
            embed(x)
            if turn:
                times[name].append(time.process_time() - start)
    torch_seconds, onnx_seconds = (min(times[name]) for name in ("torch", "onnx"))
    found, expected = (embed(x) for embed in runs.values())
    gap = float(np.abs(found - expected).max() / np.abs(expected).max())
    return {
        "PyTorch": torch_seconds,
        "ONNX Runtime": onnx_seconds,
        "times as fast": torch_seconds / onnx_seconds,
        "difference": gap,
    }


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
    "embedding": partial(overlap, "torch"),
    "embedding, ONNX Runtime": partial(overlap, "onnx"),
    "batch of 32, one thread": runtimes,
    "memory": memory,
    "help": help_time,
}

if __name__ == "__main__":
    run("embedding", "Embedding over the bare encoder, memory, and the time of --help", CASES)
