"""Intervals cover, also where P = Q and where rates are 0 or 1."""

import numpy as np
import pytest
from scipy.stats import norm
from threadpoolctl import threadpool_limits

from tests.known.distributions import gaussians
from tests.known.population import cross_fitted
from tradeoff import HeldOutLogRatios, InvalidInputError
from tradeoff._sides import Sides
from tradeoff.inference import curve_interval
from tradeoff.ratio import Logistic

LAM = np.array([0.1, 0.5, 1.0, 2.0, 10.0])
RUNS = 200
N = 300


def normal_grid(n):
    """Points of equal mass under the standard normal law in the plane: a Fibonacci lattice."""
    i = np.arange(n)
    return norm.ppf(np.stack(((i + 0.5) / n, (i * 0.5 * (1 + 5**0.5) + 0.5) % 1), axis=1))


GRID = normal_grid(10_000)


@pytest.mark.slow
@pytest.mark.parametrize("distance", [0.0, 2.0])
def test_coverage_of_cross_fitted_curves(distance):
    covered, above, widths, binomial = [], [], [], []
    pair = gaussians(2, distance)
    fresh = {"real": GRID, "generated": GRID + np.array([distance, 0.0])}
    for seed in range(RUNS):
        held_out, target = cross_fitted(Logistic(), pair.draw(N, seed), fresh, LAM, seed=seed)
        low, high = curve_interval(held_out, LAM).precision.T
        covered.append((low <= target) & (target <= high))
        above.append(pair.precision(LAM) <= high)
        passed, rejected = held_out.curve().pieces(LAM)
        variance = LAM**2 * rejected * (1 - rejected) / N + passed * (1 - passed) / N
        widths.append(high - low)
        binomial.append(2 * 1.96 * np.sqrt(variance))
    error = np.sqrt(0.93 * 0.07 / RUNS)
    assert (np.mean(covered, axis=0) >= 0.93 - 3 * error).all(), np.mean(covered, axis=0)
    assert (np.mean(above, axis=0) >= 0.95 - 2 * error).all(), np.mean(above, axis=0)
    if distance > 0:
        assert np.median(np.mean(widths, 0) / np.maximum(np.mean(binomial, 0), 1e-9)) < 1.6


@pytest.mark.slow
def test_coverage_with_a_fixed_rule():
    """Without fitting the spread is binomial, and so is the coverage: close to 95%."""
    rng = np.random.default_rng(0)
    target = LAM * norm.cdf(-np.log(LAM) - 0.5) + norm.cdf(np.log(LAM) - 0.5)
    covered = []
    for _ in range(2000):
        x, y = rng.normal(0, 1, 200), rng.normal(1, 1, 200)
        held_out = HeldOutLogRatios(real=0.5 - x, generated=0.5 - y)
        low, high = curve_interval(held_out, LAM).precision.T
        covered.append((low <= target) & (target <= high))
    rates = np.mean(covered, axis=0)
    assert (rates > 0.93).all(), rates
    assert rates[1:4].max() < 0.985


def test_intervals_shrink_and_widen_as_they_should():
    rng = np.random.default_rng(0)
    x, y = rng.normal(0.5, 1, 8000), rng.normal(-0.5, 1, 8000)

    def width(n, level=0.95):
        held_out = HeldOutLogRatios(real=x[:n], generated=y[:n])
        low, high = curve_interval(held_out, [1.0], level=level).precision[0]
        return high - low

    assert width(500) / width(8000) == pytest.approx(4, rel=0.15)
    assert width(500, 0.99) > width(500) > width(500, 0.8)


def test_weights_count_as_repetitions_of_fewer_samples():
    rng = np.random.default_rng(0)
    x, y = rng.normal(0.5, 1, 300), rng.normal(-0.5, 1, 300)
    plain = curve_interval(HeldOutLogRatios(real=x, generated=y), LAM)
    same = curve_interval(
        HeldOutLogRatios(real=x, generated=y, real_weights=np.full(300, 7.0)), LAM
    )
    np.testing.assert_allclose(same.precision, plain.precision)
    np.testing.assert_allclose(plain.recall, plain.precision / LAM[:, None])


@pytest.mark.slow
def test_groups_cover_as_their_number_says():
    """Samples of a group agree more often than not; intervals that know it still cover."""
    rng = np.random.default_rng(0)
    target = LAM * norm.cdf(-np.log(LAM) - 0.5) + norm.cdf(np.log(LAM) - 0.5)
    groups = np.repeat(np.arange(80), 5)
    covered = {"grouped": [], "plain": []}
    for _ in range(400):
        shared = rng.normal(0, np.sqrt(0.8), (2, 80))
        x, y = (np.repeat(s, 5) + rng.normal(0, np.sqrt(0.2), 400) for s in shared)
        held_out = HeldOutLogRatios(real=0.5 - x, generated=-0.5 - y)
        for name, known in (("grouped", groups), ("plain", None)):
            interval = curve_interval(held_out, LAM, groups=Sides(known, known))
            low, high = interval.precision.T
            covered[name].append((low <= target) & (target <= high))
    # 0.905 leaves four standard errors to a nominal 95%; ends have few discordant groups.
    assert (np.mean(covered["grouped"], axis=0)[1:4] > 0.905).all()
    assert np.mean(covered["plain"], axis=0)[2] < 0.85


def test_one_error_among_many_samples_of_few_groups_is_not_certainty():
    """20 groups of 500: whether none, one or two samples err, the groups are what counts."""
    groups = np.repeat(np.arange(20), 500)
    generated = np.full(10_000, -3.0)
    uppers = []
    for wrong in (0, 1, 2):
        real = np.full(10_000, 3.0)
        real[:wrong] = -3.0
        held_out = HeldOutLogRatios(real=real, generated=generated)
        interval = curve_interval(held_out, [1.0], groups=Sides(groups, groups))
        uppers.append(interval.precision[0, 1])
    assert 0.1 < uppers[0] <= uppers[1] <= uppers[2] < 0.4


@pytest.mark.slow
def test_simultaneous_intervals_cover_together():
    rng = np.random.default_rng(1)
    lam = np.geomspace(0.2, 5, 21)
    target = lam * norm.cdf(-np.log(lam) - 0.5) + norm.cdf(np.log(lam) - 0.5)
    together = apart = 0
    for _ in range(300):
        x, y = rng.normal(0, 1, 400), rng.normal(1, 1, 400)
        held_out = HeldOutLogRatios(real=0.5 - x, generated=0.5 - y)
        for simultaneous in (True, False):
            interval = curve_interval(held_out, lam, simultaneous=simultaneous)
            low, high = interval.precision.T
            covered = bool(((low <= target) & (target <= high)).all())
            together += covered * simultaneous
            apart += covered * (not simultaneous)
    assert together / 300 > 0.91
    assert apart < together


def test_certain_rates_have_room():
    """No error among 50 samples does not mean no error at all."""
    held_out = HeldOutLogRatios(real=np.full(50, 3.0), generated=np.full(50, -3.0))
    low, high = curve_interval(held_out, [1.0]).precision[0]
    assert low == 0
    assert 0.05 < high < 0.2


def test_mistakes_get_a_sentence():
    held_out = HeldOutLogRatios(real=[1.0], generated=[0.0])
    with pytest.raises(InvalidInputError, match="`level` must lie strictly between 0 and 1. Got 1"):
        curve_interval(held_out, LAM, level=1)
    with pytest.raises(
        InvalidInputError,
        match="`held_out` must be a HeldOutLogRatios or HeldOutCounts. Got a PRCurve",
    ):
        curve_interval(held_out.curve(), LAM)
    with pytest.raises(InvalidInputError, match="`lam` must be positive and finite"):
        curve_interval(held_out, [0.0])
    with pytest.raises(InvalidInputError, match="`groups` must be a Sides. Got a ndarray"):
        curve_interval(held_out, LAM, groups=np.arange(1))
    with pytest.raises(InvalidInputError, match="Groups must be named per sample, 1. Got 2"):
        curve_interval(held_out, LAM, groups=Sides(None, np.arange(2)))


def test_bands_do_not_depend_on_the_number_of_threads():
    rng = np.random.default_rng(0)
    held_out = HeldOutLogRatios(real=rng.normal(0.5, 1, 3000), generated=rng.normal(-0.5, 1, 2500))
    limits = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found = curve_interval(held_out, np.geomspace(1 / 20, 20, 121), simultaneous=True)
        limits.append(found.precision)
    np.testing.assert_array_equal(*limits)
