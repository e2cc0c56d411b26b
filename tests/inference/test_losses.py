"""Differences and kinds of loss that held-out log-ratios establish."""

import numpy as np
import pytest

from tradeoff import HeldOutLogRatios
from tradeoff.exceptions import InvalidInputError
from tradeoff.inference.losses import established_losses

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
