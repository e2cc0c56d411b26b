"""Monitors of a training loop: right on laws that are known."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tradeoff import InvalidInputError, RatioProfile  # noqa: E402
from tradeoff.core.divergence import GAN, KL, Pearson  # noqa: E402
from tradeoff.training import DivergenceLoss, Monitor, PRLoss  # noqa: E402

pytestmark = pytest.mark.torch


def batches(steps=40, size=256, shift=0.0, scale=1.0, seed=0):
    """Outputs of the true discriminator of N(0, 1) against N(1, 1), or of a mistaken one."""
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        sides = rng.normal(0, 1, size), rng.normal(1, 1, size)
        yield [torch.tensor(scale * (0.5 - x) + shift) for x in sides]


def filled(monitor, **options):
    for real, made in batches(**options):
        monitor.update(real, made)
    return monitor.compute()


@pytest.mark.parametrize("lam", [0.2, 1.0, 5.0])
def test_precision_and_recall_of_known_laws(lam):
    line = np.linspace(-10, 11, 20_001)
    p, q = np.exp(-(line**2) / 2), np.exp(-((line - 1) ** 2) / 2)
    truth = RatioProfile.from_masses(p / p.sum(), q / q.sum()).curve().precision(lam)
    found = filled(Monitor(PRLoss(lam)))
    error = np.sqrt((lam**2 + 1) / (40 * 256)) / 2
    assert abs(found["precision"] - truth) < 4 * error
    assert found["recall"] == pytest.approx(found["precision"] / lam)


def test_the_true_ratio_leaves_no_gap_and_a_mistaken_one_does():
    found = filled(Monitor(DivergenceLoss(KL())), shift=1.0)  # a KL critic is 1 + log-ratio
    assert found["dual"] == pytest.approx(0.5, abs=0.08)
    assert found["dual_gap"] == pytest.approx(0.0, abs=0.15)
    assert found["mean_ratio"] == pytest.approx(1.0, abs=0.08)
    mistaken = filled(Monitor(DivergenceLoss(GAN())), shift=1.0)
    assert mistaken["mean_ratio"] == pytest.approx(np.e, rel=0.1)
    assert abs(mistaken["dual_gap"]) > 0.3


def test_saturation_is_told():
    monitor = Monitor(PRLoss(1.0))
    monitor.update(torch.zeros(5), torch.full((5,), -9.0))
    assert "Hardly any sample has a gradient at λ = 1 (no sample has" in monitor.warnings()[0]
    assert "with a higher temperature" in monitor.warnings()[0]
    monitor = Monitor(DivergenceLoss(GAN()))
    monitor.update(torch.full((5,), 9.0), torch.full((5,), -9.0))
    assert monitor.warnings()[0].endswith("begin with a model that has learned something.")
    monitor = Monitor(PRLoss(1.0, auxiliary=Pearson()), lam=3.0)
    monitor.update(torch.zeros(2), torch.tensor([-9.0, 9.0]))
    assert monitor.warnings() == ()
    assert monitor.compute()["saturation"] == 0.5


@pytest.mark.parametrize(("lam", "word"), [(0.1, "no"), (10.0, "every")])
def test_a_goal_that_is_reached_is_no_trouble(lam, word):
    """Of one law, λr is λ: below or above 1 everywhere."""
    monitor = Monitor(PRLoss(lam))
    rng = torch.Generator().manual_seed(0)
    monitor.update(*(0.2 * torch.randn(500, generator=rng) for _ in range(2)))
    assert f"nothing left to gain at λ = {lam:g} ({word} sample" in monitor.warnings()[0]


def test_extreme_outputs_stay_finite():
    monitor = Monitor(PRLoss(1.0))
    monitor.update(torch.tensor([-800.0, 3.0]), torch.tensor([-800.0, 1.0], dtype=torch.bfloat16))
    assert monitor.compute()["dual"] == pytest.approx(-400, rel=0.01)
    with pytest.raises(InvalidInputError, match="`generated` must not be empty"):
        monitor.update(torch.zeros(3), torch.zeros(0))
    with pytest.raises(InvalidInputError, match="`real` must be a Tensor"):
        monitor.update([0.0], torch.zeros(3))
    assert monitor.compute()["saturation"] == 0.5


def test_only_the_last_steps_count():
    monitor = Monitor(PRLoss(1.0), window=2)
    for value in (9.0, -9.0, -9.0):
        monitor.update(torch.zeros(3), torch.full((3,), value))
    assert monitor.compute()["saturation"] == 0.0


def test_held_out_samples_tell_a_raw_ratio_from_a_calibrated_one():
    """The discriminator is too sure of "real"; the truth at λ = 1 is 0.617."""
    monitor = Monitor(PRLoss(1.0))
    found = filled(monitor, scale=2.0, shift=3.0)
    assert found["precision"] > 0.75
    assert "held_out_precision" not in found
    before = monitor.warnings()
    (held_out,) = batches(steps=1, size=4000, scale=2.0, shift=3.0, seed=1)
    monitor.check(*held_out)
    found = monitor.compute()
    assert found["held_out_precision"] == pytest.approx(0.617, abs=4 * np.sqrt(0.5 / 4000))
    assert found["held_out_recall"] == found["held_out_precision"]
    (told,) = set(monitor.warnings()) - set(before)
    assert "on held-out samples with its ratio calibrated: rely on the latter" in told


def test_a_ratio_that_is_right_is_not_contradicted():
    for seed in range(5):
        monitor = Monitor(PRLoss(1.0))
        filled(monitor, seed=seed)
        (held_out,) = batches(steps=1, size=2000, seed=100 + seed)
        monitor.check(*held_out)
        assert not any("held-out" in sentence for sentence in monitor.warnings())
    with pytest.raises(InvalidInputError, match="at least 40 outputs"):
        monitor.check(torch.zeros(10), torch.zeros(100))
