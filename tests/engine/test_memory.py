"""Memory does not grow with the number of images."""

import numpy as np
import pytest

from benchmarks.bench_embedding import _peak
from benchmarks.scenarios import Images, write_folder


@pytest.mark.torch
def test_memory_stays_flat(tmp_path):
    """Ten times as many images take at most a tenth more; whole, they would take twice as much."""
    pixels = np.random.default_rng(0).integers(0, 256, (5000, 32, 32, 3), dtype=np.uint8)
    few, many = (
        _peak(
            write_folder(Images(pixels[:n], np.zeros(n, int)), tmp_path / str(n)),
            tmp_path / f"store-{n}",
        )
        for n in (500, 5000)
    )
    assert many < 1.1 * few
