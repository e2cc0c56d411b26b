"""Predictions of a stack: the same bits in any batch, and by any number of threads."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.special import logsumexp
from threadpoolctl import threadpool_limits

from tests.known.distributions import SCATTERED
from tradeoff import pr_curve
from tradeoff.ratio import FrozenRule, Stack
from tradeoff.ratio.kernel import KernelDensity


@pytest.fixture(scope="module", params=[2, 64, 200], ids="{} columns".format)
def fitted(request):
    rng = np.random.default_rng(0)
    columns = request.param
    real, generated = rng.normal(size=(300, columns)), rng.normal(0.3, 1.2, (300, columns))
    return Stack().fit(real=real, generated=generated, seed=0), rng.normal(size=(700, columns))


@pytest.mark.parametrize("size", [1, 7, 256, 511, 512, 513])
def test_a_row_has_the_same_log_ratio_in_any_batch(fitted, size):
    log_ratio, x = fitted
    whole = log_ratio.log_ratio(x)
    for start in (0, 187):
        part = log_ratio.log_ratio(x[start : start + size])
        np.testing.assert_array_equal(part, whole[start : start + size])


def test_order_and_layout_of_a_batch_do_not_matter(fitted):
    log_ratio, x = fitted
    order = np.random.default_rng(1).permutation(len(x))
    whole = log_ratio.log_ratio(x)
    np.testing.assert_array_equal(log_ratio.log_ratio(x[order]), whole[order])
    np.testing.assert_array_equal(log_ratio.log_ratio(np.asfortranarray(x)), whole)


@pytest.mark.slow
def test_threads_do_not_matter():
    rng = np.random.default_rng(0)
    real, generated, x = rng.normal(size=(3, 300, 20))
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(Stack().fit(real=real, generated=generated + 0.2, seed=0).log_ratio(x))
    np.testing.assert_array_equal(*found)


def test_no_rows_no_log_ratios(fitted):
    log_ratio, x = fitted
    assert log_ratio.log_ratio(x[:0]).shape == (0,)


@pytest.mark.slow
def test_samples_that_lie_close_together_are_told_from_spread_ones():
    """Around 100 points in 8 columns: mean and covariance are equal, and no class is missing."""
    pair = SCATTERED["scattered around 100 points, d = 8"]()
    samples = pair.draw(1500, 0)
    without = Stack(tuple(m for m in Stack().members if not isinstance(m, KernelDensity)))
    ours, blind = (
        pr_curve(**samples, estimator=estimator, seed=0, progress=False).curve
        for estimator in (Stack(), without)
    )
    truth = float(pair.precision(np.array([1.0]))[0])
    assert truth - 0.02 < ours.precision(1.0) < truth + 0.25
    assert blind.precision(1.0) > ours.precision(1.0) + 0.2


@pytest.mark.parametrize("columns", [1, 3, 40])
def test_kernel_densities_are_means_of_gaussians(columns):
    rng = np.random.default_rng(columns)
    real, generated = rng.normal(0, 2, (400, columns)), rng.standard_t(3, (300, columns))
    estimator = KernelDensity(bandwidths=(0.5,))
    fitted = estimator.fit(real=real, generated=generated, seed=0)
    x = np.concatenate((real[:50] * 1.1, 20 * generated[:10]))

    def log_density(kernels, side):
        squares = cdist(fitted.project(x), fitted.project(side), "sqeuclidean")
        sums = logsumexp(-0.5 * squares / kernels.bandwidth**2, axis=1)
        return sums - np.log(len(side)) - columns * np.log(kernels.bandwidth)

    wanted = log_density(fitted.real, real) - log_density(fitted.generated, generated)
    np.testing.assert_allclose(fitted.log_ratio(x), wanted, rtol=1e-4, atol=1e-2)


def test_a_frozen_stack_has_narrow_kernels_in_place_of_densities():
    rng = np.random.default_rng(0)
    real, generated = rng.normal(size=(2, 600, 3))
    rule = FrozenRule.fit(real=real, generated=generated)
    assert "KernelDensity" not in rule.about["estimator"]
    assert rule.about["estimator"].count("KernelLogistic") == 2
