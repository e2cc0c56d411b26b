"""Scores become log-ratios on other data."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from tradeoff import HeldOutLogRatios, InvalidInputError
from tradeoff.ratio.calibration import Isotonic, balance

values = st.lists(st.floats(-30, 30), min_size=1, max_size=40).map(np.array)


@given(values, values)
def test_balance_makes_both_sides_add_up(real, generated):
    shift = balance(real=real, generated=generated)
    total = expit(real + shift).mean() + expit(generated + shift).mean()
    assert total == pytest.approx(1, abs=1e-9)


@given(values, values)
def test_calibrated_log_ratios_are_finite_monotone_and_balanced(real, generated):
    calibrate = Isotonic.fit(real=real, generated=generated)
    grid = calibrate(np.linspace(-40, 40, 201))
    assert np.isfinite(grid).all()
    assert (np.diff(grid) >= -1e-12).all()
    assert balance(real=calibrate(real), generated=calibrate(generated)) == pytest.approx(
        0, abs=1e-9
    )


def test_any_increasing_score_gives_the_true_ratio():
    rng = np.random.default_rng(0)
    x, y = rng.normal(0, 1, 50_000), rng.normal(1, 1, 50_000)
    calibrate = Isotonic.fit(real=np.tanh(-x), generated=np.tanh(-y))
    points = np.linspace(-1, 2, 13)
    np.testing.assert_allclose(calibrate(np.tanh(-points)), 0.5 - points, atol=0.2)


def test_an_uninformative_score_becomes_the_trivial_rule():
    """On fresh data of one law the curve is 1 at λ = 1 on average, neither better nor worse."""
    rng = np.random.default_rng(0)
    values = []
    for _ in range(200):
        a, b, c, d = rng.normal(size=(4, 500))
        calibrate = Isotonic.fit(real=a, generated=b)
        values.append(
            HeldOutLogRatios(real=calibrate(c), generated=calibrate(d)).curve().precision(1.0)
        )
    assert np.mean(values) == pytest.approx(1.0, abs=4 * np.std(values) / np.sqrt(200))


def test_a_dropped_mode_is_not_forced_to_unit_mean():
    """E_Q[r] is the real mass that the model can make: ½, not 1."""
    rng = np.random.default_rng(0)
    real = np.where(rng.random(20_000) < 0.5, 5.0, 0.0) + 0.1 * rng.normal(size=20_000)
    generated = 0.1 * rng.normal(size=20_000)
    calibrate = Isotonic.fit(real=real, generated=generated)
    assert np.exp(calibrate(generated)).mean() == pytest.approx(0.5, abs=0.02)


def test_scores_far_from_zero_balance():
    assert balance(real=np.array([500.0]), generated=np.array([500.0])) == pytest.approx(-500.0)


def test_broken_scores_get_a_sentence():
    good = np.array([0.0, 1.0])
    with pytest.raises(InvalidInputError, match="`real` must be finite. Got infinite scores"):
        Isotonic.fit(real=np.array([np.inf]), generated=good)
    with pytest.raises(InvalidInputError, match="`generated` must be finite"):
        balance(real=good, generated=np.array([-np.inf]))
    with pytest.raises(InvalidInputError, match="`scores` must not contain NaN. Got 1 of 2"):
        Isotonic.fit(real=good, generated=good)(np.array([0.0, np.nan]))


def test_certain_scores_stay_finite_and_grow_with_the_sample():
    small = Isotonic.fit(real=np.ones(10), generated=np.zeros(10))
    large = Isotonic.fit(real=np.ones(1000), generated=np.zeros(1000))
    assert 0 < small(np.ones(1))[0] < large(np.ones(1))[0] < 10
