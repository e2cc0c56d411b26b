"""Memory does not grow with the number of images, nor much with their size."""

import threading
import time
import weakref

import numpy as np
import pytest

from tests.known.costs import peak_memory
from tests.known.scenarios import Images, write_folder
from tradeoff.data import Sample
from tradeoff.embedding import embed_source
from tradeoff.features.store import FeatureStore


@pytest.mark.slow
@pytest.mark.torch
def test_memory_stays_flat(tmp_path):
    """Ten times as many images take at most a tenth more; kept, they would take 220 MB more."""
    shades = np.arange(5000, dtype=np.uint16).view(np.uint8).reshape(5000, 1, 1, 2)
    pixels = np.broadcast_to(np.pad(shades, [(0, 0)] * 3 + [(0, 1)]), (5000, 128, 128, 3))
    few, many = (
        peak_memory(
            write_folder(Images(pixels[:n], np.zeros(n, int)), tmp_path / str(n)),
            tmp_path / f"store-{n}",
        )
        for n in (500, 5000)
    )
    assert many < 1.1 * few


class Watch:
    """Counts arrays that are alive; their memory is reserved but never touched."""

    def __init__(self):
        self.now = self.most = 0
        self.lock = threading.Lock()

    def array(self, mebibytes):
        values = np.empty(mebibytes * 2**20, np.uint8)
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        weakref.finalize(values, self.gone)
        return values

    def gone(self):
        with self.lock:
            self.now -= 1


class Sizes:
    """An embedder that is slower than its source."""

    name, kind, preprocessing, weights = "sizes", "image", "none", "1"

    def __init__(self, ready):
        self.ready = ready

    def prepare(self, sample):
        return self.ready(sample)

    def embed(self, prepared):
        time.sleep(0.01)
        return np.array([[float(len(values))] for values in prepared])


class Made:
    kind = "image"

    def __init__(self, make, count):
        self.make, self.count = make, count

    def __iter__(self):
        for i in range(self.count):
            content = self.make()
            content[:8] = np.frombuffer(i.to_bytes(8), np.uint8)
            yield Sample(str(i), content)


def test_prepared_images_are_bounded_by_their_bytes():
    """Pixels of 24 MiB: 8 of them close a chunk, and four or five chunks are on their way."""
    watch = Watch()
    source = Made(lambda: np.zeros(8, np.uint8), 300)
    found = embed_source(source, Sizes(lambda _: watch.array(24)), progress=False)
    assert len(found.ids) == 300
    assert watch.most * 24 < 1300  # MiB; all 300 would take 7200


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("stored", [True, False])
def test_contents_are_dropped_once_prepared(stored, tmp_path):
    """A store kept them until a shard was full, and chunks until they were embedded."""
    watch = Watch()
    store = FeatureStore(tmp_path) if stored else None
    source = Made(lambda: watch.array(1), 300)
    found = embed_source(source, Sizes(lambda _: np.zeros(3)), store=store, progress=False)
    assert len(found.ids) == 300
    assert watch.most < 20
