"""Ratios of networks: through their divergence, calibrated, and looked at."""

import numpy as np
import pytest

from tradeoff import InvalidInputError, UndefinedError
from tradeoff.core.divergence import GAN, KL, Hellinger, JensenShannon, Pearson, ReverseKL
from tradeoff.ratio import Calibrated, Discriminator, calibrated_ratio, reliability

RNG = np.random.default_rng(0)
REAL, MADE = RNG.normal(0, 1, (6000, 1)), RNG.normal(1, 1, (6000, 1))
TRUTH = np.linspace(-2.5, 2.5, 11)


@pytest.mark.parametrize(
    "divergence", [GAN(), KL(), ReverseKL(), JensenShannon(), Hellinger(), Pearson()], ids=repr
)
def test_an_optimal_network_gives_back_the_ratio(divergence):
    """The output w with a(w) = f'(r), found by bisection, is turned back into log r."""
    from scipy.optimize import brentq

    def output(log_ratio):
        target = float(divergence.derivative(np.exp(log_ratio)))
        return brentq(lambda w: float(divergence.activation(np.float64(w))) - target, -60, 400)

    outputs = np.array([output(value) for value in TRUTH])
    ratio = Discriminator(lambda x: outputs[:, None], divergence)
    np.testing.assert_allclose(ratio.log_ratio(TRUTH), TRUTH, atol=1e-6)


@pytest.mark.parametrize("loss", ["hinge", "wasserstein", "wgan-gp"])
def test_critics_without_a_ratio_are_refused_with_a_way_out(loss):
    with pytest.raises(UndefinedError, match="carries no ratio.*calibrated_ratio"):
        Discriminator(lambda x: x, loss)
    with pytest.raises(InvalidInputError, match="`divergence` must be a Divergence"):
        Discriminator(lambda x: x, "vanilla")
    with pytest.raises(InvalidInputError, match="one output per sample, 3. Got shape .3, 2."):
        Discriminator(lambda x: np.zeros((3, 2)), GAN()).log_ratio(np.zeros((3, 1)))


@pytest.mark.torch
def test_a_network_in_half_precision():
    import torch

    ratio = Discriminator(lambda x: torch.tensor([[0.5], [-1.0]], dtype=torch.bfloat16), GAN())
    np.testing.assert_array_equal(ratio.log_ratio(np.zeros((2, 1))), [0.5, -1.0])


def test_calibration_does_not_force_the_mean_ratio():
    """A model that drops half of the data: the mean ratio of its samples is one half."""
    real = np.concatenate((RNG.normal(-4, 1, 3000), RNG.normal(4, 1, 3000)))[:, None]
    made = RNG.normal(-4, 1, (6000, 1))
    network = Discriminator(lambda x: np.where(x[:, 0] < 0, -2.0, 9.0) + 0.1 * x[:, 0], GAN())
    ratio = Calibrated.fit(network, real=real, generated=made)
    found = reliability(
        real=ratio.log_ratio(real[::2]), generated=ratio.log_ratio(made[::2]), bins=5
    )
    assert found.mean_ratio == pytest.approx(0.5, abs=0.05)


def test_a_head_in_one_call():
    ratio = calibrated_ratio(real=REAL, generated=MADE)
    held_out = RNG.normal(0, 1, (4000, 1)), RNG.normal(1, 1, (4000, 1))
    found = reliability(real=ratio.log_ratio(held_out[0]), generated=ratio.log_ratio(held_out[1]))
    assert np.abs(found.gap).max() < 0.12
    assert np.abs(found.gap).mean() < 0.04
    assert found.warnings == ()
    with pytest.raises(
        InvalidInputError, match="at least 40 distinct samples to fit and to calibrate"
    ):
        calibrated_ratio(real=REAL[:10], generated=MADE)


def test_copies_are_not_calibrated_on_what_they_were_fitted_on():
    real, made = RNG.normal(size=(400, 2)), np.repeat(RNG.normal(size=(100, 2)), 8, axis=0)
    ratio = calibrated_ratio(real=real, generated=made, estimator="neighbors")
    assert np.abs(ratio.log_ratio(made)).mean() < 0.5


@pytest.mark.parametrize("sizes", [(200, 20_000), (2000, 2000), (20_000, 200)])
def test_limits_of_reliability_hold_for_sides_of_any_size(sizes):
    """An exact ratio, 60 runs of ten bins: more than 60 misses of 600 once in 10,000 at 5%."""
    rng, missed, warned = np.random.default_rng(0), 0, 0
    for _ in range(60):
        real, made = rng.normal(0.5, 1, sizes[0]), rng.normal(-0.5, 1, sizes[1])  # log p/q
        found = reliability(real=real, generated=made)
        missed += np.sum((found.predicted < found.low) | (found.predicted > found.high))
        warned += any("not calibrated" in warning for warning in found.warnings)
    assert missed <= 60
    assert warned <= 6


def test_what_is_wrong_with_a_ratio_is_said():
    real, made = 0.5 - REAL[:, 0], 0.5 - MADE[:, 0]
    assert reliability(real=real, generated=made).warnings == ()
    sure = reliability(real=4 * real, generated=4 * made)
    assert "The ratio is not calibrated: where it predicts a share of" in sure.warnings[0]
    flat = reliability(real=np.zeros(100), generated=np.zeros(100))
    assert any("saturated: 100% of samples" in warning for warning in flat.warnings)
