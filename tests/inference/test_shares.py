"""Wilson's limits of a share, as numbers and as arrays."""

import numpy as np
import pytest
from scipy.stats import binomtest

from tradeoff import InvalidInputError
from tradeoff.inference.shares import normal_quantile, wilson_distances, wilson_interval


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize(("count", "size"), [(0, 1), (1, 1), (3, 10), (0, 40), (40, 40), (17, 900)])
def test_the_limits_are_those_of_scipy(count, size, level):
    reference = binomtest(count, size).proportion_ci(level, method="wilson")
    assert wilson_interval(count / size, size, level) == pytest.approx(reference, abs=1e-14)


def test_numbers_and_arrays_agree_to_the_last_bit():
    rng = np.random.default_rng(0)
    size = rng.integers(1, 5000, 300).astype(float)
    share = rng.integers(0, size + 1) / size
    low, high = wilson_interval(share, size, 0.9)
    assert ((low >= 0) & (low <= share) & (share <= high) & (high <= 1)).all()
    for i in range(300):
        alone = wilson_interval(float(share[i]), float(size[i]), 0.9)
        assert [type(limit) for limit in alone] == [float, float]
        assert alone == (low[i], high[i])


def test_limits_are_clipped_and_otherwise_what_the_distances_say():
    size = np.arange(1.0, 400.0)
    outside = 0
    for share in (np.zeros_like(size), np.ones_like(size), np.floor(size / 3) / size):
        below, above = wilson_distances(share, size, normal_quantile(0.95))
        low, high = wilson_interval(share, size, 0.95)
        np.testing.assert_array_equal(low, np.maximum(share - below, 0.0))
        np.testing.assert_array_equal(high, np.minimum(share + above, 1.0))
        outside += int(((share - below < 0) | (share + above > 1)).sum())
    assert outside > 0  # rounding does leave [0, 1], so clipping is needed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1.5, 10, 0.95), r"`share` must lie in \[0, 1\]. Got 1.5"),
        ((0.5, 10, 1.0), "`level` must lie strictly between 0 and 1. Got 1.0"),
    ],
)
def test_mistakes_get_a_sentence(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        wilson_interval(*arguments)
