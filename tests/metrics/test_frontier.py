"""MAUVE and the frontier integral from held-out log-ratios."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from tests.known.curves import curve_in_one_process
from tests.known.distributions import gaussians
from tradeoff import HeldOutLogRatios, InvalidInputError, RatioProfile, evaluate
from tradeoff.core import mauve
from tradeoff.core.divergence.mixture import FrontierIntegral
from tradeoff.metrics.curve import resampled_folds

GRID = 4e-4  # error of straight lines between the points of the frontier


def masses(seed, concentration):
    p, q = np.random.default_rng(seed).dirichlet(np.full(20, concentration), 2) + 1e-9
    return p / p.sum(), q / q.sum()


def integral(found):
    return FrontierIntegral().of_curve(found.curve())


def held_out(p, q, log_ratio):
    """Log-ratios of so many draws that shares are masses."""
    return HeldOutLogRatios(
        real=log_ratio, generated=log_ratio, real_weights=p, generated_weights=q
    )


@pytest.mark.slow
@given(st.integers(0, 10**6), st.sampled_from([0.3, 1.0, 5.0]), st.sampled_from([1.0, 5.0]))
def test_with_the_true_ratio_it_is_mauve(seed, concentration, scaling):
    p, q = masses(seed, concentration)
    expected = mauve(RatioProfile.from_masses(p, q), scaling=scaling)
    found = mauve(held_out(p, q, np.log(p / q)), scaling=scaling)
    assert found == pytest.approx(expected, abs=GRID)


@pytest.mark.slow
@given(st.integers(0, 10**6), st.floats(0.0, 4.0))
def test_with_a_wrong_ratio_it_is_never_below(seed, error):
    p, q = masses(seed, 1.0)
    wrong = np.log(p / q) + error * np.random.default_rng([seed, 1]).normal(size=p.size)
    assert mauve(held_out(p, q, wrong)) >= mauve(RatioProfile.from_masses(p, q)) - GRID


def test_weights_are_those_of_the_published_code():
    p, q = masses(0, 1.0)
    weight = np.linspace(0.02, 0.98, 25)
    expected = mauve(RatioProfile.from_masses(p, q), weight=weight)
    assert mauve(held_out(p, q, np.log(p / q)), weight=weight) == pytest.approx(expected, abs=1e-12)


def test_sides_can_be_exchanged():
    p, q = masses(1, 1.0)
    noisy = held_out(p, q, np.log(p / q) + np.sin(np.arange(20)))
    assert mauve(noisy.swap()) == pytest.approx(mauve(noisy), abs=GRID)


def test_certain_ratios():
    right = HeldOutLogRatios(real=[np.inf, 800.0], generated=[-np.inf, -800.0])
    assert mauve(right, scaling=1.0) == pytest.approx(0.5, abs=GRID)  # Γ(2)²/Γ(3)
    wrong = HeldOutLogRatios(real=[-np.inf], generated=[np.inf])
    assert mauve(wrong) == 1.0


@pytest.mark.slow
def test_intervals_cover_the_mean_over_samples():
    """Nominal 95%; an exact binomial test at 0.001 allows 13 misses of 100."""
    line = np.linspace(-10, 11, 20_001)
    p, q = norm.pdf(line), norm.pdf(line, 1.0)
    profile = RatioProfile.from_masses(p / p.sum(), q / q.sum())
    pair = gaussians(2, 1.0)
    estimates = [
        curve_in_one_process(pair.draw(300, 700 + seed), estimator="logistic", seed=seed)
        for seed in range(100)
    ]
    for function, truth, upward in (
        (mauve, mauve(profile), 1),
        (integral, FrontierIntegral().of(profile), -1),
    ):
        value, low, high = np.array([resampled_folds(e, function, 0.95) for e in estimates]).T
        mean, error = value.mean(), value.std() / np.sqrt(100)
        assert -3 * error < upward * (mean - truth) < 0.15
        assert np.sum((low > mean) | (mean > high)) <= 13


def test_it_is_a_metric_of_evaluate():
    rng = np.random.default_rng(0)
    real, generated = rng.normal(size=(400, 2)), rng.normal(1.0, 1.0, (400, 2))
    options = {"estimator": "logistic", "diagnose": False, "progress": False}
    result = evaluate(real=real, generated=generated, metrics=["mauve", "frontier"], **options)
    assert list(result.scores) == ["frontier.mauve", "frontier.integral"]
    score, other = result["frontier.mauve"], result["frontier.integral"]
    assert 0 <= score.low < score.value < score.high <= 1
    assert score.expected == 1
    assert other.expected == 0
    # The truth: two Gaussians √2 apart.
    line = np.linspace(-10, 12, 20_001)
    p, q = norm.pdf(line), norm.pdf(line, 2**0.5)
    truth = FrontierIntegral().of(RatioProfile.from_masses(p / p.sum(), q / q.sum()))
    assert other.low < truth
    assert other.value == pytest.approx(truth, abs=0.1)


def test_a_single_split_has_no_interval():
    estimate = curve_in_one_process(
        gaussians(2, 1.0).draw(200, 0), estimator="logistic", folds=1, seed=0
    )
    value, low, high = resampled_folds(estimate, mauve, 0.95)
    assert 0 < value < 1
    assert low is high is None


def test_a_frozen_rule_has_no_mauve():
    x = np.random.default_rng(0).normal(size=(400, 2))
    with pytest.raises(InvalidInputError, match="`frontier.mauve` needs all samples at once"):
        evaluate(real=x, generated=x + 1, metrics=["mauve"], rule="frozen", progress=False)
