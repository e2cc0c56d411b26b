"""Counts at fixed slopes say what samples say there, in memory that does not grow."""

import numpy as np
import pytest
from scipy.stats import binom, norm

from tradeoff import HeldOutLogRatios
from tradeoff._sides import Sides
from tradeoff.core.counts import (
    BAND_SLOPES,
    BUCKETS,
    COUNTED_SLOPES,
    HeldOutCounts,
    count_errors,
    places_of,
)
from tradeoff.core.divergence import KL
from tradeoff.curves.counted import CountedCurve
from tradeoff.exceptions import InvalidInputError, UndefinedError
from tradeoff.inference import certify, curve_interval, policy
from tradeoff.inference.losses import established_losses

INDEPENDENT = Sides(None, None)


def counted(real, generated, groups=INDEPENDENT, buckets=None):
    rng = np.random.default_rng(0)
    sides = (real, generated)
    buckets = buckets or [rng.integers(0, BUCKETS, side.size) for side in sides]
    both = [count_errors(side, bucket) for side, bucket in zip(sides, buckets, strict=True)]
    return HeldOutCounts(real=both[0], generated=both[1], groups=groups)


@pytest.fixture(scope="module")
def sides():
    rng = np.random.default_rng(1)
    return np.round(rng.normal(0.5, 1, 5000), 2), np.round(rng.normal(-0.5, 1, 3000), 2)


def test_every_slope_that_is_reported_is_counted():
    further = [*policy.COMMON_SLOPES.values(), 1.0, 5.0, 0.2, 20.0, 0.05]
    assert places_of(np.concatenate((BAND_SLOPES, further))).size
    np.testing.assert_allclose(np.sort(1 / COUNTED_SLOPES)[1:-1], COUNTED_SLOPES[1:-1], rtol=0.06)


def test_counts_say_what_samples_say(sides):
    real, generated = sides
    samples, counts = HeldOutLogRatios(real=real, generated=generated), counted(real, generated)
    np.testing.assert_allclose(
        counts.curve().precision(COUNTED_SLOPES), samples.curve().precision(COUNTED_SLOPES)
    )
    for simultaneous in (False, True):
        ours, theirs = (
            curve_interval(held_out, BAND_SLOPES, simultaneous=simultaneous).precision
            for held_out in (counts, samples)
        )
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    band, plain = CountedCurve.of(counts).with_band(), samples.curve().clipped()
    # Other slopes take part in making the curve monotone.
    np.testing.assert_allclose(band.precision(BAND_SLOPES), plain.precision(BAND_SLOPES), rtol=0.01)
    assert abs(band.area - plain.area) < 0.002


def test_a_log_ratio_at_a_threshold_is_not_called_generated():
    at = -np.log(COUNTED_SLOPES)
    counts = counted(at, at)
    called = counts.called.real.sum(0)
    np.testing.assert_array_equal(called, [(at < t).sum() for t in at])


def test_losses_of_counts_are_those_of_samples_at_the_next_slope(sides):
    real, generated = sides
    ours = established_losses(counted(real, generated))
    theirs = established_losses(HeldOutLogRatios(real=real, generated=generated))
    assert ours.kinds == theirs.kinds
    assert ours.difference == pytest.approx(theirs.difference, abs=0.01)
    for kind in ours.kinds:
        first, other = getattr(ours, kind)[0], getattr(theirs, kind)[0]
        assert other.factor <= first.factor < 1.06 * other.factor


def test_the_certificate_is_at_most_five_percent_looser(sides):
    real, generated = sides
    lam = np.geomspace(0.05, 20, 50)
    ours = certify(counted(real, generated)).precision(lam)
    theirs = certify(HeldOutLogRatios(real=real, generated=generated)).precision(lam)
    assert (ours <= 1.05 * theirs).all()
    assert (ours[:-1] <= ours[1:] + 1e-12).all()


def test_the_certificate_takes_no_time_at_a_hundred_million():
    sides = []
    for mean in (0.5, -0.5):  # log p/q of two Gaussians one apart
        below = norm.cdf(-np.log(COUNTED_SLOPES[::-1]), mean)
        sides.append(np.zeros((BUCKETS, COUNTED_SLOPES.size + 1), np.int64))
        sides[-1][0] = np.rint(1e8 * np.diff(below, prepend=0, append=1)[::-1])
    counts = HeldOutCounts(real=sides[0], generated=sides[1])
    assert 0 < certify(counts).precision(1.0) - counts.curve().precision(1.0) < 1e-3


def test_divergences_of_counts_are_finite_and_not_above_the_truth():
    """Gaussians three apart: beyond the counted slopes no rule is better than a constant one."""
    rng = np.random.default_rng(4)
    log_ratios = rng.normal(4.5, 3, 20_000), rng.normal(-4.5, 3, 20_000)
    assert 3.0 < KL().of_curve(counted(*log_ratios).curve()) < 4.5
    planted = counted(np.r_[log_ratios[0], np.full(5000, 6.0)], log_ratios[1])
    assert np.isfinite(KL().of_curve(planted.curve()))
    assert np.isfinite(planted.curve().area)


def test_the_certificate_holds_in_simulations():
    """P and Q one apart: with probability 95% at least, the truth lies below at all slopes."""
    rng = np.random.default_rng(2)
    lam = np.geomspace(0.02, 50, 200)
    truth = lam * norm.cdf(-np.log(lam) - 0.5) + norm.cdf(np.log(lam) - 0.5)
    runs, failed = 300, 0
    for _ in range(runs):
        x, y = rng.normal(0.5, 1, 400), rng.normal(-0.5, 1, 400)  # log p/q of both sides
        failed += bool((certify(counted(x, y)).precision(lam) < truth - 1e-12).any())
    assert failed <= binom.ppf(0.999, runs, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("members", [1, 8])
def test_intervals_of_grouped_counts_cover(members):
    """Samples of a group agree entirely; the spread between buckets must tell."""
    rng = np.random.default_rng(3)
    runs, groups, lam = 300, 600, np.array([0.5, 1.0, 2.0])
    slopes = COUNTED_SLOPES[[np.abs(np.log(COUNTED_SLOPES / one)).argmin() for one in lam]]
    exact = slopes * norm.cdf(-np.log(slopes) - 0.5) + 1 - norm.cdf(-np.log(slopes) + 0.5)
    missed = np.zeros(lam.size)
    for _ in range(runs):
        values = [np.repeat(rng.normal(shift, 1, groups), members) for shift in (0.5, -0.5)]
        buckets = [np.repeat(rng.integers(0, BUCKETS, groups), members) for _ in range(2)]
        independent = Sides(*(None if members == 1 else float(groups) for _ in range(2)))
        counts = counted(*values, groups=independent, buckets=buckets)
        low, high = curve_interval(counts, slopes).precision.T
        missed += (exact < low) | (exact > high)
    assert missed.max() <= binom.ppf(0.999, runs, 0.07)


def test_groups_have_no_certificate(sides):
    counts = counted(*sides, groups=Sides(50.0, None))
    with pytest.raises(UndefinedError, match="no"):
        CountedCurve.of(counts).certificate()


def test_other_slopes_are_refused_with_the_nearest(sides):
    with pytest.raises(InvalidInputError, match="fixed slopes, and 3.1 is not among them"):
        curve_interval(counted(*sides), [3.1])
