"""Differences and kinds of loss that held-out log-ratios establish."""

import numpy as np
import pytest

from tests.known.headline import truth
from tradeoff import HeldOutLogRatios, RatioProfile
from tradeoff.core.counts import BUCKETS, COUNTED_SLOPES, HeldOutCounts, count_errors
from tradeoff.exceptions import InvalidInputError
from tradeoff.inference import curve_interval
from tradeoff.inference.losses import Balance, balance_of, established_losses

N = 2000
LOG = np.log


def omission(share, seed, n=N):
    """A share of the real samples is missed; a perfect rule."""
    rng = np.random.default_rng(seed)
    missed = rng.random(n) < share
    return HeldOutLogRatios(
        real=np.where(missed, 9.0, LOG(1 - share)), generated=np.full(n, LOG(1 - share))
    )


def invention(share, seed, n=N):
    """A share of the generated samples is invented; a perfect rule."""
    swapped = omission(share, seed, n)
    return HeldOutLogRatios(real=-swapped.generated, generated=-swapped.real)


def counted(held_out):
    """The same as counts at fixed slopes."""
    sides = [
        count_errors(x, np.arange(x.size) % BUCKETS) for x in (held_out.real, held_out.generated)
    ]
    return HeldOutCounts(real=sides[0], generated=sides[1])


def exactly(p, q, n=N):
    """Log-ratios of masses of which each atom is drawn exactly as often as it should be."""
    with np.errstate(divide="ignore"):
        log_ratio = np.log(p) - np.log(q)
    real, generated = (np.repeat(log_ratio, np.rint(n * np.array(x)).astype(int)) for x in (p, q))
    return HeldOutLogRatios(real=real, generated=generated)


MODELS = {
    "omission of 10%": ([0.9, 0.1], [1.0, 0.0], 1 / 0.9, (1.0, 0.9)),
    "omission of half": ([0.5, 0.5], [1.0, 0.0], 2.0, (1.0, 0.5)),
    "omission of 90%": ([0.1, 0.9], [1.0, 0.0], 10.0, (1.0, 0.1)),
    "invention of 10%": ([1.0, 0.0], [0.9, 0.1], 0.9, (0.9, 1.0)),
    "invention of half": ([1.0, 0.0], [0.5, 0.5], 0.5, (0.5, 1.0)),
    "invention of 90%": ([1.0, 0.0], [0.1, 0.9], 0.1, (0.1, 1.0)),
    "both": ([0.6, 0.4, 0.0], [0.75, 0.0, 0.25], 1.25, (0.75, 0.6)),
    "equal": ([0.3, 0.7], [0.3, 0.7], 1.0, (1.0, 1.0)),
    "proportions within the margin": ([0.55, 0.45], [0.45, 0.55], 1.0, (1.0, 1.0)),
}


@pytest.mark.parametrize("as_counts", [False, True], ids=["samples", "counts"])
@pytest.mark.parametrize("name", MODELS)
def test_the_balanced_slope_gives_the_precision_and_recall_of_the_fault(name, as_counts):
    """What a model omits is all missing from recall, and what it invents from precision."""
    p, q, slope, values = MODELS[name]
    held_out = exactly(p, q)
    balance = balance_of(counted(held_out) if as_counts else held_out)
    assert balance.low / 1.06 <= slope <= balance.high * 1.06  # slopes of the grid are 5% apart
    assert 1 / 1.5 < balance.lam / slope < 1.5  # so that neither value depends on the error
    found = balance.headline(held_out.curve().clipped())
    assert found["curve.precision"] == pytest.approx(values[0], abs=0.005)
    assert found["curve.recall"] == pytest.approx(values[1], abs=0.005)
    overlap = np.minimum(p, q).sum()
    assert found["curve.overlap"] == pytest.approx(overlap, abs=0.005)
    known = RatioProfile.from_masses(p, q).curve()
    assert truth(known) == pytest.approx(dict(zip(("precision", "recall"), values, strict=True)))


def test_slopes_of_precision_and_recall_are_those_of_the_margin():
    balance = Balance(lam=2.0, low=1.0, high=4.0)
    assert balance.slope("precision") == pytest.approx(3.0)
    assert balance.slope("recall") == pytest.approx(2.0 / 1.5)
    # Losses are tested beyond every slope that may be the balanced one.
    assert balance.factor("precision") == pytest.approx(6.0)
    assert balance.factor("recall") == pytest.approx(1.5)


def test_fewer_samples_leave_more_slopes_that_may_be_balanced():
    """With enough of them, the slope is so close to the true one that precision is read right."""
    widths = []
    for n in (40, 400, 4000):
        found = [balance_of(omission(0.5, seed, n)) for seed in range(10)]
        widths.append(np.mean([np.log(one.high / one.low) for one in found]))
        assert n == 40 or all(2 / 1.5 < one.lam < 2 * 1.5 for one in found)
    assert widths[0] > 1.5 * widths[1] > 1.5 * widths[2]


@pytest.mark.parametrize("seed", range(20))
def test_there_is_no_loss_without_a_difference(seed):
    rng = np.random.default_rng(seed)
    n = rng.integers(20, 300)
    held_out = HeldOutLogRatios(real=rng.normal(0.2, 2, n), generated=rng.normal(-0.2, 2, n))
    for found in (established_losses(held_out), established_losses(counted(held_out))):
        if found.difference is None:
            assert found.kinds == ()
            assert [found.at_most(x) for x in ("precision", "recall", "overlap")] == [1.0] * 3


def test_a_loss_that_no_difference_supports_is_not_stated():
    """At λ = 1 the rule guesses, which hides 3% that are invented and visible at λ = 1.5."""
    guesses = np.where(np.arange(400) % 2, 0.05, -0.05)
    generated = np.where(np.arange(400) < 12, -4.0, guesses)
    held_out = HeldOutLogRatios(real=guesses, generated=generated)
    assert curve_interval(held_out, [1.5]).precision[0, 1] < 0.999
    found = established_losses(held_out)
    assert found.difference is None
    assert found.kinds == ()


def random_log_ratios(seed):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(20, 2000, 2)
    shift, scale = rng.uniform(0, 3), rng.uniform(0.5, 3)
    return HeldOutLogRatios(
        real=rng.normal(shift, scale, n), generated=rng.normal(-shift, scale, m)
    )


def test_no_loss_at_a_further_factor_exceeds_one_before():
    """What is lost at a factor is lost at every smaller one."""
    several = 0
    for seed in range(200):
        found = established_losses(random_log_ratios(seed))
        for losses in (found.precision, found.recall):
            shares = [loss.at_least for loss in losses]
            assert shares == sorted(shares, reverse=True), seed
            factors = [loss.factor for loss in losses]
            assert factors == sorted(factors), seed
            several += len(losses) > 1
    assert several > 50
    # Rejected real samples weigh 5 at a factor of 5, and are none at 20.
    real, generated = np.repeat([0.5, -2.0], [980, 20]), np.repeat([0.5, -9.0], 500)
    found = established_losses(HeldOutLogRatios(real=real, generated=generated))
    shares = [loss.at_least for loss in found.precision]
    assert len(shares) == 3
    assert shares == sorted(shares, reverse=True)


def test_the_limit_holds_where_the_value_is_read():
    """The first factor is no smaller than that at which the value is read."""
    for seed in range(200):
        found = established_losses(random_log_ratios(seed))
        for kind in found.kinds:
            read = found.balance.slope(kind)
            read = read if kind == "precision" else 1 / read
            assert getattr(found, kind)[0].factor >= read * (1 - 1e-12), seed
            assert found.at_most(kind) == 1 - getattr(found, kind)[0].at_least


@pytest.mark.parametrize("make", [omission, invention])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.8])
def test_counts_say_what_log_ratios_say(make, share):
    for seed in range(5):
        held_out = make(share, seed)
        ours, theirs = established_losses(counted(held_out)), established_losses(held_out)
        assert ours.kinds == theirs.kinds
        assert (ours.difference is None) == (theirs.difference is None)
        assert ours.balance.lam == pytest.approx(theirs.balance.lam)
        for kind in ours.kinds:
            first, other = getattr(ours, kind)[0], getattr(theirs, kind)[0]
            assert first.at_least == pytest.approx(other.at_least, abs=0.02)
            assert other.factor * (1 - 1e-9) <= first.factor < 1.06 * other.factor
            assert np.isclose(COUNTED_SLOPES, first.factor).any()


def apart(n):
    """Sides without overlap."""
    return HeldOutLogRatios(real=np.full(n, 9.0), generated=np.full(n, -9.0))


@pytest.mark.parametrize("n", [30, 60])
def test_of_few_samples_that_hardly_overlap_no_kind_is_known(n):
    """The balanced slope may be anywhere, and at the outermost ones few samples show nothing."""
    found = established_losses(apart(n))
    assert found.at_most("overlap") < 1 / 3
    assert found.kinds == ()
    assert found.balance.high / found.balance.low > 1000


@pytest.mark.parametrize("n", [400, 1000])
def test_where_sets_hardly_overlap_the_limit_of_the_overlap_is_carried(n):
    """Far from λ = 1 errors weigh more: without it, less would be said of either kind."""
    found = established_losses(apart(n))
    overlap = found.at_most("overlap")
    assert overlap < 1 / 3
    assert found.kinds == ("precision", "recall")
    for kind in found.kinds:
        read = found.balance.slope(kind)
        factor = read if kind == "precision" else 1 / read
        assert found.at_most(kind) <= max(1.0, factor) * overlap + 1e-12
        assert overlap <= found.at_most(kind) + 1e-12  # and it does not claim more than that
        # Alone, the limit at the outermost of these slopes would be much looser.
        limit = curve_interval(apart(n), [found.balance.factor("precision")]).precision[0, 1]
        assert found.at_most(kind) < 0.5 * limit


def test_limits_of_sets_that_overlap_are_not_carried():
    """Two thirds in common: the limits are those at their own slopes."""
    held_out = exactly([0.65, 0.35, 0.0], [0.65, 0.0, 0.35])
    found = established_losses(held_out)
    assert found.at_most("overlap") > 1 / 3
    for kind in ("precision", "recall"):
        loss = getattr(found, kind)[0]
        assert loss.factor == pytest.approx(found.balance.factor(kind))


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5, 0.8])
@pytest.mark.parametrize(("make", "kind"), [(omission, "recall"), (invention, "precision")])
def test_the_kind_is_that_of_the_fault(make, kind, share):
    found = [established_losses(make(share, seed)) for seed in range(20)]
    assert all(one.kinds == (kind,) for one in found)
    limits = [getattr(one, kind)[0].at_least for one in found]
    assert np.sum(np.array(limits) > share) <= 4  # 2.5% each, of 20: more once in 10,000
    assert np.mean(limits) > 0.5 * share


def test_both_kinds_of_one_model():
    rng = np.random.default_rng(0)
    real = np.where(rng.random(N) < 0.3, 9.0, 0.0)
    generated = np.where(rng.random(N) < 0.3, -9.0, 0.0)
    assert established_losses(HeldOutLogRatios(real=real, generated=generated)).kinds == (
        "precision",
        "recall",
    )


def test_a_small_shift_has_no_kind():
    """Every sample a little likelier on its own side: a difference, and nothing is invented."""
    rng = np.random.default_rng(0)
    real, generated = (np.where(rng.random(20_000) < p, 0.1, -0.1) for p in (0.525, 0.475))
    found = established_losses(HeldOutLogRatios(real=real, generated=generated))
    assert found.kinds == ()
    assert 0 < found.difference < 0.05


@pytest.mark.slow
def test_noise_is_rarely_a_difference():
    """A rule that knows nothing, 400 runs: about 5% is allowed, √2 makes it fewer."""
    alarms = 0
    for seed in range(400):
        real, generated = np.random.default_rng(seed).normal(size=(2, 300))
        held_out = HeldOutLogRatios(real=0.3 * real, generated=0.3 * generated)
        alarms += established_losses(held_out).difference is not None
    assert alarms <= 29  # binomial, 400 draws at 4%: more has probability below 1 in 1,000


def test_factors_grow_until_a_loss_is_not_established():
    """Invented samples are 3 times too frequent: that is no loss at 5 or 20."""
    rng = np.random.default_rng(0)
    real = np.where(rng.random(N) < 0.25, -LOG(3.0), LOG(3.0))
    generated = np.where(rng.random(N) < 0.75, -LOG(3.0), LOG(3.0))
    found = established_losses(HeldOutLogRatios(real=real, generated=generated))
    assert all(loss.factor < 5 for loss in (*found.precision, *found.recall))
    sure = established_losses(invention(0.4, 0))
    assert [round(loss.factor) for loss in sure.precision][1:] == [5, 20]


def test_a_level_below_a_half_is_refused_in_its_own_words():
    held_out = HeldOutLogRatios(real=[0.0], generated=[0.0])
    with pytest.raises(InvalidInputError, match="`level` must be above 0.5. Got 0.4"):
        established_losses(held_out, level=0.4)
