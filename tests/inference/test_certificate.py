"""The certificate holds, is as narrow as promised, and says only what it can."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.known.certificates import refutes, violated
from tests.known.distributions import gaussians
from tradeoff import HeldOutLogRatios, InvalidInputError, UndefinedError, pr_curve
from tradeoff.inference import certify
from tradeoff.inference.certificate import _binomial_limits, _failure, _level, _watched

GRID = np.geomspace(1e-3, 1e3, 301)


@pytest.mark.parametrize("size", [1, 7, 60, 300])
def test_the_chance_of_failing_is_exact(size):
    """Against 40,000 simulated samples, within five standard errors."""
    watched = _watched(size)
    limits = _binomial_limits(watched, size, 0.01)
    sorted_samples = np.sort(np.random.default_rng(0).random((40_000, size)), axis=1)
    simulated = (sorted_samples[:, watched] > limits).any(1).mean()
    exact = _failure(limits, watched, size)
    assert abs(simulated - exact) < 5 * np.sqrt(exact * (1 - exact) / 40_000)


@pytest.mark.parametrize("size", [1, 20, 500, 5000])
@pytest.mark.parametrize("miss", [0.001, 0.05, 0.3])
def test_the_level_spends_the_risk_and_no_more(size, miss):
    watched = _watched(size)
    spent = _failure(_binomial_limits(watched, size, _level(size, miss)), watched, size)
    assert 0.98 * miss < spent <= miss


@pytest.mark.slow
def test_the_truth_stays_below_the_line():
    """Two limits that hold together leave room: even one violation in 150 runs is suspicious."""
    assert violated(gaussians(2, 1), runs=150, n=300)["violated"] == 0


@pytest.mark.slow
def test_width_against_dvoretzky_kiefer_wolfowitz():
    """Rates of one half are the worst case."""
    for size in (200, 2500, 20_000):
        values = np.linspace(-1, 1, size)
        extra = [np.sqrt(np.log(2 / 0.05) / (2 * n)) for n in (size, size // 2)]
        apart = certify(HeldOutLogRatios(real=values + 0.2, generated=values[::2] - 0.2))
        raw = HeldOutLogRatios(real=values + 0.2, generated=values[::2] - 0.2).curve()
        assert apart.precision(1.0) - raw.precision(1.0) <= 1.2 * sum(extra)


@pytest.mark.slow
def test_it_refutes_a_single_gaussian_for_a_ring():
    assert refutes(runs=1, n=2000)["ratio"] < 1


@pytest.mark.slow
@given(
    real=st.lists(st.integers(-4, 4), min_size=1, max_size=12),
    generated=st.lists(st.integers(-4, 4), min_size=1, max_size=12),
)
def test_tightening_is_what_monotone_bounds_imply(real, generated):
    """Against the smallest implied bound over a dense grid of slopes."""
    raw = HeldOutLogRatios(real=real, generated=generated).curve()
    tight = raw.tightened()
    breaks = raw.breakpoints
    slopes = np.unique(np.concatenate((GRID, breaks, np.nextafter(breaks, 0))))
    bound = np.minimum(raw.precision(slopes), np.minimum(1, slopes))
    later = np.minimum.accumulate(bound[::-1])[::-1]
    recall = np.minimum.accumulate(later / slopes)
    implied = np.minimum(later, recall * slopes)
    np.testing.assert_allclose(tight.precision(slopes), implied, rtol=1e-9, atol=1e-9)


def test_a_certificate_takes_a_single_split_of_independent_samples():
    samples = gaussians(2, 1).draw(200, 0)
    rotated = pr_curve(**samples, estimator="logistic")
    with pytest.raises(UndefinedError, match="call pr_curve with folds=1"):
        rotated.certificate()
    grouped = pr_curve(**samples, estimator="logistic", folds=1, real_groups=np.arange(200) // 2)
    with pytest.raises(UndefinedError, match="keep one sample of each"):
        grouped.certificate()
    single = pr_curve(**samples, estimator="logistic", folds=1)
    assert single.raw.clipped().precision(1.0) < single.certificate().precision(1.0)
    with pytest.raises(InvalidInputError, match="`level` must lie strictly between 0 and 1"):
        single.certificate(level=1)
    with pytest.raises(InvalidInputError, match=r"`level` must lie in \[0.5, 0.999999\], got 0.1"):
        single.certificate(level=0.1)
    with pytest.raises(InvalidInputError, match="requires equal weights"):
        certify(HeldOutLogRatios(real=[0.0, 1.0], generated=[0.0], real_weights=[1.0, 2.0]))
