"""Baselines at reduced size: the mean score of one distribution against itself."""

import numpy as np
import pytest

pytest.importorskip("torch")
pytestmark = pytest.mark.torch

from benchmarks import bench_baselines as bench  # noqa: E402
from tradeoff.metrics.moments.family import measure_frechet  # noqa: E402

SMALL = [
    (bench.gaussian, (80, 80), 8),
    (bench.gaussian, (40, 120), 16),
    (bench.heavy, (120, 40), 8),
    (bench.repeated, (80, 80), 4),
]


@pytest.mark.slow
@pytest.mark.parametrize(("draw", "sizes", "columns"), SMALL)
def test_scores_equal_their_baselines_on_average(draw, sizes, columns):
    """The bar fails a correct build once in 1,000, over all metrics and cases together."""
    tests = len(SMALL) * len(bench.METRICS)
    row = bench.case(draw, sizes, columns=columns, runs=30, tests=tests)
    assert row["ratio"] < row["bar"], row
    assert row["baselines"] >= 8


def test_a_baseline_of_half_the_size_fails():
    """As baselines used to be: halves of the real samples, next to a score at full size."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(40):
        pair = bench.Pair.of(real=rng.normal(size=(80, 8)), generated=rng.normal(size=(80, 8)))
        request = bench.Request(keys=("frechet.distance",))
        whole, halves = (
            measure_frechet(p, request).scores["frechet.distance"].value
            for p in (pair, pair.real_against_real(0))
        )
        found.append((whole - halves, whole))
    assert bench.z_values({"frechet.distance": np.array(found)}, 80)["frechet.distance"] > 6
