"""Memory does not grow with the number of images."""

import numpy as np
import pytest

from benchmarks.bench_embedding import _peak
from benchmarks.scenarios import Images, write_folder


@pytest.mark.torch
def test_memory_stays_flat(tmp_path):
    """Ten times as many images take at most a tenth more; kept, they would take 220 MB more."""
    shades = np.arange(5000, dtype=np.uint16).view(np.uint8).reshape(5000, 1, 1, 2)
    pixels = np.broadcast_to(np.pad(shades, [(0, 0)] * 3 + [(0, 1)]), (5000, 128, 128, 3))
    few, many = (
        _peak(
            write_folder(Images(pixels[:n], np.zeros(n, int)), tmp_path / str(n)),
            tmp_path / f"store-{n}",
        )
        for n in (500, 5000)
    )
    assert many < 1.1 * few
