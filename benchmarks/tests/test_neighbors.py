"""Claims on speed and memory of neighbor metrics at reduced size."""

import pytest

pytest.importorskip("torch")
pytestmark = pytest.mark.torch

from benchmarks import bench_memory, bench_neighbors  # noqa: E402


@pytest.mark.slow
def test_metrics_take_the_time_of_a_few_products():
    """The bar of 1.5 is for 10,000 samples on a quiet machine; here other tests run beside it."""
    ratios = [bench_neighbors.ours(384, 1.5, n=4000, repeats=1)["ratio"] for _ in range(3)]
    assert min(ratios) < 3.0


@pytest.mark.slow
def test_memory_does_not_hold_the_pairs():
    """Four times 10⁸ distances would take 1.6 GB."""
    found = bench_memory.measure(20_000, 20_000, 16, ("precision", "recall", "coverage"))
    assert found["gigabytes"] < 0.3


@pytest.mark.slow
def test_a_stored_reference_is_swept_once():
    sizes = [(7_000, 2_000), (28_000, 2_000), (112_000, 2_000)]
    assert bench_memory.slope(sizes, 16)["slope"] < 1.3
