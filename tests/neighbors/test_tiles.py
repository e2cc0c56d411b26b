"""The tile engine against brute force, on data made to be hard."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

from tests.known.neighbors import DRAWS, brute_force, differences, draw  # noqa: E402
from tradeoff.metrics.neighbors import nearest, own_neighbors, support_metrics  # noqa: E402
from tradeoff.metrics.neighbors.counters import Closest, sweep  # noqa: E402
from tradeoff.metrics.neighbors.nearest import _Search, nearest_in_own_set  # noqa: E402
from tradeoff.metrics.neighbors.points import points_of  # noqa: E402
from tradeoff.metrics.neighbors.screen import tiles_of  # noqa: E402


@pytest.mark.slow
@pytest.mark.parametrize("number", range(8))
@pytest.mark.parametrize("kind", DRAWS)
def test_every_number_equals_brute_force(kind, number):
    found, compared = differences(draw(kind, number, most=300), tile=(None, 50)[number % 2])
    assert compared > 0
    assert found == 0


@pytest.mark.slow
def test_no_scale_is_too_wide():
    rng = np.random.default_rng(0)
    scale = 10.0 ** rng.uniform(-90, 90, (300, 1))
    samples = {side: rng.normal(size=(300, 5)) * scale for side in ("real", "generated")}
    assert differences(samples, tile=64)[0] == 0


@pytest.mark.parametrize("scale", [1e-40, 1e40])
def test_few_references_whatever_the_scale(scale, monkeypatch):
    counted = []
    exact = nearest.exact_squares

    def count(x, rows, y, columns):
        counted.append(len(rows))
        return exact(x, rows, y, columns)

    monkeypatch.setattr(nearest, "exact_squares", count)
    x = scale * np.random.default_rng(0).normal(size=(500, 8))
    own_neighbors(x, ranks=4, progress=False)
    assert sum(counted) < 500 * 8


def test_many_ties_are_compacted_on_the_way(monkeypatch):
    monkeypatch.setattr("tradeoff.metrics.neighbors.nearest._PENDING", 10)
    compactions = []
    compact = _Search.compact
    monkeypatch.setattr(_Search, "compact", lambda self: compactions.append(1) or compact(self))
    rng = np.random.default_rng(0)
    for samples in (0.1 * rng.integers(0, 3, (400, 3)), rng.normal(size=(400, 3))):
        own = brute_force(samples, samples)
        np.fill_diagonal(own, np.inf)
        order = np.argsort(own, 1, kind="stable")[:, :4]
        np.testing.assert_array_equal(
            own_neighbors(samples, ranks=4, tile=40, progress=False).index, order
        )
    assert len(compactions) > 4


def test_single_ranks_are_exact_too():
    x = np.random.default_rng(0).normal(size=(500, 40)).astype(np.float32)
    (own,) = tiles_of(*points_of(samples=x), size=90)
    some, index = nearest_in_own_set(own, (2, 7), label="", progress=False)
    every = own_neighbors(x, ranks=7, progress=False)
    np.testing.assert_array_equal(some.numpy(), every.squares[:, [1, 6]])
    np.testing.assert_array_equal(np.sort(index.numpy(), 1), np.sort(every.index, 1))


@pytest.mark.parametrize("kind", DRAWS)
def test_the_closest_row_of_every_column(kind):
    samples = draw(kind, 3, most=200)
    pairs = brute_force(samples["real"], samples["generated"])
    divisors = np.random.default_rng(0).integers(0, 3, len(pairs)).astype(float)
    divisors[0] = 1.0
    closest = Closest(torch.as_tensor(divisors), pairs.shape[1])
    sweep(*tiles_of(*points_of(**samples), size=33), [closest], label="", progress=False)
    with np.errstate(divide="ignore", invalid="ignore"):
        quotients = np.where(divisors[:, None] > 0, pairs / divisors[:, None], np.inf)
    np.testing.assert_array_equal(closest.quotient.numpy(), quotients.min(0))
    np.testing.assert_array_equal(closest.index.numpy(), quotients.argmin(0))


def test_rounded_quotients_of_exact_products_lose_nobody():
    """3²/(3²·27) is 1/27, but 3²·(1/(3²·27)) is a little more."""
    square, divisor = 9.0, 27.0
    assert square * (1.0 / (square * divisor)) > 1.0 / divisor
    samples = {"real": np.array([[3], [1]]), "generated": np.array([[0]])}
    closest = Closest(torch.tensor([square * divisor, divisor], dtype=torch.float64), 1)
    sweep(*tiles_of(*points_of(**samples)), [closest], label="", progress=False)
    assert closest.quotient.item() == 1.0 / divisor
    assert closest.index.item() == 0  # ties go to the lower one


@pytest.mark.parametrize("precision", ["high", "medium"])
def test_rough_products_are_not_trusted(precision):
    samples = draw("Gaussian", 1, most=200)
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(precision)
    try:
        assert differences(samples)[0] == 0
    finally:
        torch.set_float32_matmul_precision(before)


def test_settings_by_newer_names_are_taken_for_rough(monkeypatch):
    def unknown():
        raise RuntimeError("mixed settings")

    monkeypatch.setattr(torch, "get_float32_matmul_precision", unknown)
    assert differences(draw("Gaussian", 1, most=200))[0] == 0


@pytest.mark.parametrize("scale", [1e-165, 1e-162, 1e-160, 1e-155])
def test_squares_may_underflow(scale):
    x = scale * np.random.default_rng(0).normal(size=(200, 4))
    own = brute_force(x, x)
    np.fill_diagonal(own, np.inf)
    found = own_neighbors(x, ranks=3, progress=False)
    np.testing.assert_array_equal(found.squares, np.sort(own, 1)[:, :3])


def test_a_rough_product_would_be_caught(monkeypatch):
    """The comparison can fail: a product off by a ten-thousandth is noticed."""
    exact = torch.mm

    def rough(a, b, out):
        return exact(a, b, out=out).mul_(1 + 1e-4)

    monkeypatch.setattr(torch, "mm", rough)
    assert differences(draw("Gaussian", 1, most=300))[0] > 0


def test_autocast_and_gradients_change_nothing():
    x = torch.randn(200, 8, generator=torch.Generator().manual_seed(0))
    y = x + 0.5
    plain = support_metrics(real=x, generated=y, progress=False)
    with torch.autocast("cpu"):
        cast = support_metrics(
            real=x.clone().requires_grad_(), generated=y.clone().requires_grad_(), progress=False
        )
    for name, score in plain.scores.items():
        np.testing.assert_array_equal(score.samples, cast[name].samples)


def test_threads_and_tiles_change_nothing():
    samples = draw("Gaussian", 5, most=800)
    before = torch.get_num_threads()
    results = []
    try:
        for threads, tile in ((1, None), (2, 64), (2, 401)):
            torch.set_num_threads(threads)
            results.append(support_metrics(**samples, tile=tile, progress=False))
    finally:
        torch.set_num_threads(before)
    for other in results[1:]:
        for name, score in results[0].scores.items():
            np.testing.assert_array_equal(score.samples, other[name].samples)
            assert score.error == other[name].error
