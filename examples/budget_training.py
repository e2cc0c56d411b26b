"""Training that knows of the rejection to come, on 25 Gaussians and on two modes.

With two draws per kept sample, a model may spread further than it otherwise should: what it makes
between the modes is rejected. Both ways of training begin alike and run as long; what counts is the
divergence after optimal rejection, from densities that are known or counted on a fine grid.

    python -m examples.budget_training --output budget-training.png
"""

import argparse
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from matplotlib.figure import Figure
from scipy.special import ndtr
from torch import nn

from benchmarks.gaussians import CENTERS, SCALE, draw_real, network, trained
from examples.first_picture import COLORS
from examples.parts.loop import descend
from examples.parts.style import neutral
from tradeoff import AcceptanceRule, RatioProfile
from tradeoff._progress import track
from tradeoff.core.divergence import GAN, JensenShannon
from tradeoff.training import BudgetedLoss, DivergenceLoss, Loss

BUDGET = 2.0
MOST = 0.85
LINE = np.linspace(-9, 9, 2001)
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
    """Most samples around -2, some around 2; shape (n, 1)."""
    center = torch.where(torch.rand(n, 1) < MOST, -2.0, 2.0)
    return center + 0.7 * torch.randn(n, 1)


def play(
    generator: nn.Module,
    discriminator: nn.Module,
    real: Callable[[int], torch.Tensor],
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
        descend(theirs, loss.discriminator_loss(discriminator(real(batch)), discriminator(made)))
        if step < 0:
            continue
        made = generator(torch.randn(batch, latents))
        descend(ours, loss.generator_loss(discriminator(made)))
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
    mean, scale = model.mean.item(), model.log_scale.exp().item()
    real = sum(
        share * np.diff(ndtr((LINE - center) / 0.7))
        for share, center in ((MOST, -2.0), (1 - MOST, 2.0))
    )
    return Masses(real, np.diff(ndtr((LINE - mean) / scale)))


def train_grid(
    start: tuple[nn.Module, nn.Module], loss: Loss, *, steps: int, seed: int
) -> nn.Module:
    """A GAN of 25 Gaussians, trained on."""
    torch.manual_seed(seed)
    generator, discriminator = deepcopy(start)
    play(
        *(generator.train(), discriminator.train(), draw_real, loss),
        latents=2,
        steps=steps,
        rate=2e-5,
    )
    return generator


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


def picture(models: dict[str, OneGaussian]) -> Figure:
    """The real distribution, each model, and the model after rejection."""
    figure = Figure(figsize=(6.2, 6), layout="constrained")
    line = 0.5 * (LINE[1:] + LINE[:-1])
    for ax, (name, model) in zip(figure.subplots(2, 1, sharex=True), models.items(), strict=True):
        real, made = (mass / mass.sum() for mass in line_masses(model))
        profile = RatioProfile.from_masses(real, made)
        rule = AcceptanceRule.from_profile(profile, budget=BUDGET)
        shown = (made > 0) & (real > 0)
        kept = np.zeros_like(made)
        kept[shown] = made[shown] * rule.acceptance(np.log(real[shown] / made[shown]))
        for label, mass, style in (
            ("real data", real, {"color": "0.7", "linewidth": 4}),
            ("model", made, {"color": COLORS[0]}),
            ("after rejection", kept / kept.sum(), {"color": COLORS[1], "linestyle": "--"}),
        ):
            ax.plot(line, mass / np.diff(LINE), label=label, **style)
        ax.set(title=f"trained {name} the budgeted loss", xlim=(-6, 6), yticks=[], ylabel="density")
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, loc="upper right")  # nothing is drawn there
    return figure


def main() -> None:
    """Print the divergences and draw the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("budget-training.png"))
    parser.add_argument("--quick", action="store_true", help="a short training")
    quick = (options := parser.parse_args()).quick
    models = {
        name: train_one_gaussian(make(), steps=100 if quick else 2000, seed=0)
        for name, make in LOSSES.items()
    }
    start = trained(0.01) if quick else trained()
    for name, make in LOSSES.items():
        grid = train_grid(start, make(), steps=10 if quick else 600, seed=0)
        for law, masses in (
            ("two modes", line_masses(models[name])),
            ("25 Gaussians", grid_masses(grid, 100_000 if quick else 1_000_000)),
        ):
            found = "  ".join(
                f"{word} rejection {value:.4f}" for word, value in masses.row().items()
            )
            print(f"{law}, trained {name} the budgeted loss: {found}")
    with neutral():
        picture(models).savefig(options.output, dpi=150)


if __name__ == "__main__":
    main()
