"""The benchmark of known truths at reduced size: N = 1,500 in place of 5,000, one seed."""

import numpy as np
import pytest

from tests.known.curves import errors
from tests.known.honesty import KNOWN, honest
from tradeoff.ratio import ESTIMATORS

# Errors shrink like one over the root of N: 1.8 times the full-size bars, and slack for one seed.
REDUCED = {
    "Gaussians, d = 16, distance 2": (0.16, "sajjadi-2018"),
    "ring, one Gaussian": (0.22, "sajjadi-2018"),
    "two modes, one wide": (0.2, "simon-2019"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", REDUCED)
def test_the_default_is_close_to_the_truth(name):
    found = errors(name, 1500, 0)
    bar, weaker = REDUCED[name]
    assert found["ours"] <= bar
    assert found["ours"] < 0.6 * found[weaker]


@pytest.mark.slow
@pytest.mark.parametrize("name", KNOWN)
def test_never_below_the_truth(name):
    """N = 150 and 8 seeds in place of 500 and 40."""
    row = honest("stack", name, n=150, seeds=8)
    # With so few seeds the standard error is itself uncertain: Student's 1 in 10,000.
    assert row["ratio"] <= 7.0, row


@pytest.mark.slow
@pytest.mark.parametrize("name", ["identical Gaussians", "two modes, left only"])
@pytest.mark.parametrize("estimator", sorted(set(ESTIMATORS) - {"fast", "stack"}))
def test_no_other_estimator_is_below_the_truth(estimator, name):
    """N = 150 and 16 seeds in place of 500 and 200."""
    row = honest(estimator, name, n=150, seeds=16)
    assert row["ratio"] <= 5.0, row  # Student's 1 in 10,000


@pytest.mark.slow
def test_identical_laws_are_not_told_apart():
    values = [errors("Gaussians, d = 16, distance 0", 1000, seed)["ours"] for seed in range(3)]
    assert np.mean(values) < 0.06
