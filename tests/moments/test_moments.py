"""Fréchet and kernel distance, and the inception score."""

import numpy as np
import pytest
from scipy.linalg import sqrtm

from tradeoff import InvalidInputError, UndefinedError, frechet_distance, kernel_distance
from tradeoff.metrics.moments import inception_score
from tradeoff.metrics.moments.exact import ExactSums, Grid
from tradeoff.metrics.moments.frechet import Moments


@pytest.fixture
def samples():
    rng = np.random.default_rng(0)
    mix = rng.normal(size=(5, 5))
    return rng.normal(size=(400, 5)) @ mix + 3.0, rng.normal(size=(300, 5)) @ mix.T


def test_moments_merge_in_any_order(samples):
    x = samples[0] + 1e6  # far from the origin, where sums of squares would lose everything
    whole = Moments.of(x)
    parts = [Moments.of(part) for part in np.array_split(x, [1, 50, 51, 300])]
    for order in ((0, 1, 2, 3, 4), (4, 2, 0, 3, 1)):
        merged = parts[order[0]]
        for i in order[1:]:
            merged = merged.merge(parts[i])
        assert merged.count == 400
        np.testing.assert_allclose(merged.mean, whole.mean, rtol=1e-14)
        np.testing.assert_allclose(merged.covariance, np.cov(samples[0].T), rtol=1e-7)


def test_frechet_distance_is_the_published_formula(samples):
    x, y = samples
    a, b = np.cov(x.T), np.cov(y.T)
    expected = ((x.mean(0) - y.mean(0)) ** 2).sum() + np.trace(a + b - 2 * np.real(sqrtm(a @ b)))
    found = frechet_distance(real=x, generated=y)
    assert found == pytest.approx(expected, rel=1e-9)
    moments = frechet_distance(real=Moments.of(x), generated=Moments.of(y))
    assert found == pytest.approx(moments, rel=1e-14)
    assert found == pytest.approx(frechet_distance(real=y, generated=x), rel=1e-9)


def test_frechet_distance_with_fewer_samples_than_columns():
    x = np.random.default_rng(0).normal(size=(20, 50))
    assert frechet_distance(real=x, generated=x) == pytest.approx(0.0, abs=1e-6)
    assert frechet_distance(real=x, generated=x + 2.0) == pytest.approx(200.0, rel=1e-6)


def test_kernel_distance_is_unbiased():
    """Over all pairs: the mean of many draws of one law is 0, within five standard errors."""
    rng = np.random.default_rng(0)
    values = [
        kernel_distance(
            real=rng.normal(size=(40, 3)),
            generated=rng.normal(size=(40, 3)),
            subsets=1,
            subset_size=40,
        ).mean
        for _ in range(400)
    ]
    assert abs(np.mean(values)) < 5 * np.std(values) / 20
    assert np.std(values) < 1.0


def test_kernel_distance_of_given_samples():
    x, y = np.array([[0.0], [1.0]]), np.array([[2.0], [1.0]])
    found = kernel_distance(real=x, generated=y, subsets=3, subset_size=2)
    # k(x, y) = (xy + 1)³: within real 1, within generated 27, across (1 + 1 + 27 + 8) / 4
    assert found.values == pytest.approx([1 + 27 - 2 * 37 / 4] * 3)


def test_inception_score_bounds():
    rng = np.random.default_rng(0)
    assert inception_score(np.full((50, 7), 1 / 7)).mean == pytest.approx(1.0)
    assert inception_score(np.eye(7)[np.arange(70) % 7], splits=2).mean == pytest.approx(7.0)
    p = rng.dirichlet(np.ones(7), 100)
    assert 1.0 < inception_score(p).mean < 7.0
    assert len(inception_score(p, splits=4).values) == 4


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda x, y: frechet_distance(real=x, generated=y[:, :3]),
            "same number of columns. Got 5 in",
        ),
        (
            lambda x, y: frechet_distance(real=Moments.of(x), generated=y[:, :3]),
            "same number of columns. Got 5 in `real` and 3 in `generated`",
        ),
        (
            lambda x, y: Moments.of(x).merge(Moments.of(y[:, :2])),
            "same number of columns. Got 5 and 2",
        ),
        (
            lambda x, y: Moments.given(count=5, mean=x[0], covariance=np.ones((2, 2))),
            "`covariance` must be square and fit `mean`",
        ),
        (
            lambda x, y: Moments.given(count=5, mean=[0, 0], covariance=[[1, 1], [0, 1]]),
            "`covariance` must be symmetric",
        ),
        (
            lambda x, y: kernel_distance(real=x, generated=y),
            "`subset_size` must lie between 2 and the smaller side, 300. Got 1000",
        ),
        (
            lambda x, y: frechet_distance(real=x, generated=[[np.nan] * 5]),
            "`generated` must be finite",
        ),
        (
            lambda x, y: Moments.given(count=9, mean=[np.nan], covariance=[[1.0]]),
            "`mean` and `covariance` must hold finite numbers",
        ),
        (
            lambda x, y: Moments.given(count=9, mean=[], covariance=np.empty((0, 0))),
            "must hold finite numbers",
        ),
        (lambda x, y: Moments.given(count=1, mean=[0.0], covariance=[[1.0]]), "at least 2. Got 1"),
        (
            lambda x, y: Moments.given(count=9, mean=[0, 0], covariance=-np.eye(2)),
            "must not have negative eigenvalues",
        ),
        (lambda x, y: frechet_distance(real=x * 1e90, generated=y * 1e90), "scale both sides down"),
        (
            lambda x, y: kernel_distance(real=x * 1e60, generated=y * 1e60, subset_size=50),
            "too large for their cubes",
        ),
        (lambda x, y: inception_score(x), "`probabilities` must be non-negative and sum to 1"),
        (lambda x, y: inception_score([[1.0]], splits=2), "`splits` must be at most the number"),
    ],
)
def test_mistakes_get_a_sentence(samples, call, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        call(*samples)


def test_one_sample_has_no_covariance():
    with pytest.raises(UndefinedError, match="requires at least 2 samples. Got 1"):
        _ = Moments.of([[1.0, 2.0]]).covariance


def test_one_array_as_both_sides_gives_what_two_equal_ones_give():
    x = np.random.default_rng(0).normal(size=(1500, 4))
    one, two = (kernel_distance(real=x, generated=y).values for y in (x, x.copy()))
    np.testing.assert_allclose(one, two, atol=1e-9)


def test_a_column_that_is_constant_at_first_counts_later():
    first = np.stack((np.arange(8.0), np.ones(8)), axis=1).astype(np.float32)
    later = np.stack((np.arange(8.0), np.arange(8.0) % 2), axis=1).astype(np.float32)
    grid, sums = Grid.of(first), ExactSums.empty(2)
    sums.update(grid(later))
    found = sums.moments(grid)
    np.testing.assert_allclose(found.mean, later.mean(0), atol=1e-3)
    np.testing.assert_allclose(found.covariance, np.cov(later.T), atol=1e-3)
