"""Baselines: at the sizes of the samples, from the real ones alone."""

from unittest import mock

import numpy as np
import pytest

from tradeoff.metrics import Request, Score
from tradeoff.metrics.family import baseline_of, measure
from tradeoff.metrics.neighbors.baselines import neighbors_of
from tradeoff.metrics.registry import find_metric
from tradeoff.samples import Pair


def pair_of(real=200, generated=200, columns=6, seed=0):
    rng = np.random.default_rng(seed)
    return Pair.of(
        real=rng.normal(size=(real, columns)), generated=rng.normal(size=(generated, columns))
    )


def request(*keys, **options):
    return Request(keys=keys, **options)


def test_the_frechet_baseline_is_that_of_the_same_size():
    """One half against the other, as before, is twice as far apart."""
    found = [
        measure(pair_of(seed=seed), request("frechet.distance")).scores["frechet.distance"]
        for seed in range(20)
    ]
    value, expected = (np.mean([getattr(s, n) for s in found]) for n in ("value", "expected"))
    assert expected == pytest.approx(value, rel=0.2)
    assert all(score.expected_low < score.expected < score.expected_high for score in found)


def test_the_frechet_baseline_follows_the_sizes():
    key = "frechet.distance"
    many, few = (
        baseline_of(key, pair_of(generated=size), request(key)).value for size in (2000, 50)
    )
    assert many < 0.8 * baseline_of(key, pair_of(), request(key)).value < 0.6 * few


@pytest.mark.torch
def test_closed_forms_have_no_error():
    pair = pair_of(100, 50)
    for key in ("kernel.distance", "knn.density", "knn.coverage", "cover.precision"):
        assert baseline_of(key, pair, request(key)).error == 0
    assert baseline_of("kernel.distance", pair, request()).value == 0.0


@pytest.mark.parametrize(
    "key",
    [
        "frechet.distance",
        pytest.param("knn.precision", marks=pytest.mark.torch),
        pytest.param("knn.recall", marks=pytest.mark.torch),
        pytest.param("knn.authenticity", marks=pytest.mark.torch),
        pytest.param("knn.realism", marks=pytest.mark.torch),
        pytest.param("clipped.density", marks=pytest.mark.torch),
        pytest.param("clipped.coverage", marks=pytest.mark.torch),
    ],
)
def test_baselines_are_empty_below_a_stated_number(key):
    metric = find_metric(key)
    fewest = max(metric.fewest_real, metric.fewest_ranks * 6)
    assert baseline_of(key, pair_of(fewest - 1, fewest - 1), request()) is None
    found = baseline_of(key, pair_of(fewest, fewest), request())
    assert found.error >= 0
    assert 0 < found.value < 2


@pytest.mark.torch
def test_recall_takes_parts_of_the_size_of_the_generated_side():
    pair = pair_of(400, 60, columns=30)
    recall, precision = (
        baseline_of(key, pair, request()).value for key in ("knn.recall", "knn.precision")
    )
    assert recall > precision + 0.02  # of fewer samples, more lie in each other's balls
    assert baseline_of("knn.recall", pair_of(60, 400), request()) is None
    equal = pair_of(100, 100)
    assert baseline_of("knn.recall", equal, request()) == baseline_of(
        "knn.precision", equal, request()
    )


@pytest.mark.torch
def test_neighbors_that_a_reference_keeps_are_enough():
    """As far as one rank beyond that of a ball, which tells whether it is tied."""
    pair, keys = pair_of(), ("knn.precision", "knn.recall", "knn.density", "knn.coverage")
    neighbors_of(pair.real, 6, progress=False)
    with mock.patch("tradeoff.metrics.neighbors.baselines.own_neighbors") as found:
        measure(pair, request(*keys, k=5))
    assert not found.called


@pytest.mark.torch
def test_density_counts_copies():
    """Three copies of each value: a ball of rank 1 holds two others, and as many of fresh ones."""
    real = np.repeat(np.random.default_rng(0).normal(size=(50, 4)), 3, axis=0)
    found = baseline_of("knn.density", Pair.of(real=real, generated=real), request(k=1))
    assert found.value == 2.0


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("sizes", [(300, 300), (300, 100)])
def test_baselines_of_values_that_repeat(sizes):
    """Points of a lattice: nearly all distances are tied, which closed forms do not know."""
    rng = np.random.default_rng(0)
    keys = ("knn.density", "knn.coverage", "cover.recall", "cover.precision")
    off = {key: [] for key in keys}
    for _ in range(20):
        real, generated = (rng.integers(0, 3, (size, 6)).astype(float) for size in sizes)
        pair = Pair.of(real=real, generated=generated)
        scores = measure(pair, request(*keys)).scores
        for key in keys:
            off[key].append(scores[key].value - scores[key].expected)
    assert abs(np.mean(off["knn.density"])) < 0.1  # 2.2 are expected; 20 runs vary by 0.02
    assert all(abs(np.mean(off[key])) < 0.03 for key in keys[1:])


@pytest.mark.torch
def test_metrics_without_a_baseline_where_values_repeat():
    lattice = np.random.default_rng(0).integers(0, 2, (200, 6)).astype(float)
    pair = Pair.of(real=lattice[:80], generated=lattice)
    for key in ("clipped.density", "clipped.coverage", "cover.precision"):
        assert baseline_of(key, pair, request()) is None
        assert baseline_of(key, pair_of(80, 80), request()) is not None


@pytest.mark.torch
@pytest.mark.parametrize(
    "key", ["frechet.distance", "knn.precision", "knn.recall", "clipped.density", "copies.within"]
)
def test_the_order_of_rows_does_not_matter(key):
    pair = pair_of(120, 80)
    turned = Pair.of(real=pair.real.x[::-1], generated=pair.generated.x)
    first, second = (baseline_of(key, p, request()) for p in (pair, turned))
    assert first.value == pytest.approx(second.value, rel=1e-9)
    assert first.error == pytest.approx(second.error, rel=1e-6)


def test_the_kernel_distance_does_not_depend_on_the_order_of_samples():
    """Its subsets are smaller than the smaller side, so another order would choose others."""
    pair, key = pair_of(1100, 1300), "kernel.distance"
    turned = Pair.of(real=pair.real.x[::-1], generated=pair.generated.x[::-1])
    first, second = (measure(one, request(key)).scores[key].value for one in (pair, turned))
    assert first == pytest.approx(second, rel=1e-9)


def test_samples_without_variance():
    pair = Pair.of(real=np.ones((40, 3)), generated=np.ones((40, 3)))
    assert baseline_of("frechet.distance", pair, request()).value == 0.0


def test_other_metrics_have_no_baseline_here():
    assert baseline_of("curve.area", pair_of(), request()) is None


def test_copies_among_real_samples():
    real = np.repeat(np.random.default_rng(0).normal(size=(50, 2)), 2, axis=0)
    keys = ("copies.of_real", "copies.within")
    pair = Pair.of(real=real, generated=real[:60] + 1.0)
    of_real, within = measure(pair, request(*keys)).scores.values()
    assert of_real.expected == 1.0
    assert 0 <= within.expected_low < within.expected < within.expected_high <= 1
    assert isinstance(within, Score)


def test_repeats_do_not_depend_on_the_order_of_samples():
    rng = np.random.default_rng(0)
    real, made = rng.normal(size=(50, 2)), np.repeat(rng.integers(0, 40, (90, 1)), 2, axis=1)
    pairs = [Pair.of(real=real, generated=rows) for rows in (made, made[::-1])]
    first, second = (measure(pair, request("copies.within")).scores for pair in pairs)
    assert first == second
    assert 0 < first["copies.within"].value < 1
