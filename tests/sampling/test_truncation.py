"""Truncated latents have the distribution that drawing again, or scaling, would give."""

import numpy as np
import pytest
from scipy.stats import kstest, truncnorm

from tradeoff.exceptions import InvalidInputError
from tradeoff.sampling import truncated_latents


@pytest.mark.parametrize("within", [0.3, 1.0, 3.0])
def test_hard_truncation_is_drawing_again(within):
    z = truncated_latents(20_000, 1, within=within, seed=1)
    assert kstest(z[:, 0], truncnorm(-within, within).cdf).pvalue > 1e-3


def test_soft_truncation_scales_and_without_any_latents_are_gaussian():
    plain = truncated_latents(20_000, 2, seed=2)
    assert kstest(plain.ravel(), "norm").pvalue > 1e-3
    np.testing.assert_allclose(truncated_latents(20_000, 2, scale=0.4, seed=2), 0.4 * plain)
    assert abs(np.corrcoef(plain.T)[0, 1]) < 0.03


@pytest.mark.parametrize(
    ("wrong", "name"), [({"within": 0}, "within"), ({"scale": -1}, "scale"), ({"n": 0}, "n")]
)
def test_mistakes_are_named(wrong, name):
    with pytest.raises(InvalidInputError, match=f"`{name}`"):
        truncated_latents(**({"n": 5, "columns": 2} | wrong))
