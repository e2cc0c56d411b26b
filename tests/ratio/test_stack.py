"""Predictions of a stack: the same bits in any batch, and by any number of threads."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from tradeoff.ratio import Stack


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
