"""Training that knows of the rejection to come, on 25 Gaussians and on two modes.

With two draws per kept sample, a model may spread further than it otherwise should: what it makes
between the modes is rejected. Both ways of training begin alike and run as long; what counts is the
divergence after optimal rejection, from densities that are known or counted on a fine grid.

    python -m examples.budget_training --output budget-training.png
"""

from copy import deepcopy
from typing import NamedTuple

import numpy as np
import torch
from scipy.special import ndtr
from torch import nn

from benchmarks.gaussians import CENTERS, SCALE, draw_real, match_ranks, network, spread
from tradeoff import AcceptanceRule, RatioProfile
from tradeoff._progress import track
from tradeoff.core.divergence import GAN, JensenShannon
from tradeoff.training import BudgetedLoss, DivergenceLoss, Loss

BUDGET = 2.0
LOSSES = {"without": lambda: DivergenceLoss(GAN()), "with": lambda: BudgetedLoss(BUDGET, GAN())}


class Masses(NamedTuple):
    """Real and generated masses of the cells of a grid."""

    real: np.ndarray
    generated: np.ndarray

    def row(self) -> dict[str, float]:
        """Jensen-Shannon divergence before and after rejection."""
        profile = RatioProfile.from_masses(*(side / side.sum() for side in self))
        refined = AcceptanceRule.from_profile(profile, budget=BUDGET).refine(profile)
        return {"before": JensenShannon().of(profile), "after": JensenShannon().of(refined)}


class OneGaussian(nn.Module):
    """A model with a mean and a scale."""

    def __init__(self, mean: float) -> None:
        super().__init__()
        self.mean = nn.Parameter(torch.tensor(mean))
        self.log_scale = nn.Parameter(torch.tensor(0.0))

    def forward(self, latents: torch.Tensor) -> torch.Tensor:
        """Samples, shape (n, 1)."""
        return self.mean + self.log_scale.exp() * latents


def two_modes(n: int) -> torch.Tensor:
    """Half of the samples around -2, half around 2; shape (n, 1)."""
    return 4.0 * torch.randint(2, (n, 1)) - 2.0 + 0.7 * torch.randn(n, 1)


def play(
    generator: nn.Module,
    discriminator: nn.Module,
    real: object,
    loss: Loss,
    *,
    latents: int,
    steps: int,
    rate: float,
    alone: int = 0,
    batch: int = 256,
) -> None:
    """Both networks in turn, after the discriminator has had some steps alone."""
    ours = torch.optim.Adam(generator.parameters(), rate, betas=(0.5, 0.999))
    theirs = torch.optim.Adam(discriminator.parameters(), 1e-3, betas=(0.5, 0.999))
    decays = [torch.optim.lr_scheduler.LinearLR(o, 1.0, 0.0, steps) for o in (ours, theirs)]
    for step in track(range(-alone, steps), "training"):
        with torch.no_grad():
            made = generator(torch.randn(batch, latents))
        theirs.zero_grad()
        loss.discriminator_loss(discriminator(real(batch)), discriminator(made)).backward()
        theirs.step()
        if step < 0:
            continue
        ours.zero_grad()
        loss.generator_loss(discriminator(generator(torch.randn(batch, latents)))).backward()
        ours.step()
        for decay in decays:
            decay.step()


def train_one_gaussian(loss: Loss, *, steps: int, seed: int) -> OneGaussian:
    """The model with a mean and a scale, of two modes."""
    torch.manual_seed(seed)
    generator = OneGaussian(4 * torch.rand(()).item() - 2)
    discriminator = network(1, 64, 64, 1)
    play(generator, discriminator, two_modes, loss, latents=1, steps=steps, rate=1e-2, alone=300)
    return generator


def line_masses(model: OneGaussian) -> Masses:
    """Of two modes and a Gaussian, exactly."""
    line = np.linspace(-9, 9, 4001)
    mean, scale = model.mean.item(), model.log_scale.exp().item()
    real = 0.5 * np.diff(ndtr((line + 2) / 0.7)) + 0.5 * np.diff(ndtr((line - 2) / 0.7))
    return Masses(real, np.diff(ndtr((line - mean) / scale)))


def train_grid(losses: dict[str, Loss], *, steps: int, seed: int) -> dict[str, nn.Module]:
    """Small networks of 25 Gaussians, from one beginning."""
    torch.manual_seed(seed)
    start, judge = network(2, 256, 512, 2), spread(network(2, 512, 256, 1))
    match_ranks(start, steps)
    found = {}
    for name, loss in losses.items():
        torch.manual_seed(seed)
        generator, discriminator = deepcopy((start, judge))
        play(
            generator,
            discriminator,
            draw_real,
            loss,
            latents=2,
            steps=steps,
            rate=1e-4,
            alone=steps,
        )
        found[name] = generator
    return found


def grid_masses(generator: nn.Module, size: int) -> Masses:
    """Of 25 Gaussians, exactly, and of what a generator makes, counted."""
    edges = np.arange(-5.5, 5.5 + SCALE / 2, SCALE)
    centers = np.unique(CENTERS[:, 0])
    side = np.mean([np.diff(ndtr((edges - center) / SCALE)) for center in centers], axis=0)
    counts = np.zeros((edges.size - 1,) * 2)
    with torch.inference_mode():
        for _ in range(max(size // 100_000, 1)):
            made = generator(torch.randn(100_000, 2)).clamp(-5.49, 5.49).numpy()
            counts += np.histogram2d(*made.T, bins=edges)[0]
    return Masses(np.outer(side, side).ravel(), counts.ravel())
