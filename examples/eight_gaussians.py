"""Eight Gaussians, a flow too simple for them, and three wishes: recall, balance, precision.

A coupling flow begins with a little maximum likelihood and is then trained for λ = 0.1, 1 or 10.
Both densities are known, so the curves are exact up to sampling.

    python -m examples.eight_gaussians --output eight-gaussians.png
"""

import argparse
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import torch
import zuko
from matplotlib.figure import Figure
from torch import nn

from examples.first_picture import COLORS
from examples.parts.loop import descend
from examples.parts.style import neutral
from tradeoff import HeldOutLogRatios, PRCurve, PRCurveDisplay
from tradeoff._progress import track
from tradeoff.core.divergence import GAN, Divergence
from tradeoff.training import DivergenceLoss, Loss, PRLoss, likelihood_loss

SLOPES = (0.1, 1.0, 10.0)
SCALE = 0.2
ANGLES = 2 * torch.pi * torch.arange(8) / 8
CENTERS = 3.0 * torch.stack((ANGLES.cos(), ANGLES.sin()), 1)


def draw_real(n: int) -> torch.Tensor:
    """Samples of the distribution, shape (n, 2)."""
    return CENTERS[torch.randint(8, (n,))] + SCALE * torch.randn(n, 2)


def log_density(x: torch.Tensor) -> torch.Tensor:
    """Log-density of the distribution, shape (n,)."""
    squares = torch.cdist(x, CENTERS).square() / (2 * SCALE**2)
    return torch.logsumexp(-squares, 1) - np.log(8 * 2 * np.pi * SCALE**2)


def make_discriminator() -> nn.Module:
    """From points to outputs of shape (n, 1)."""
    return nn.Sequential(
        *(nn.Linear(2, 256), nn.LeakyReLU(0.2)),
        *(nn.Linear(256, 256), nn.LeakyReLU(0.2)),
        *(nn.Linear(256, 128), nn.LeakyReLU(0.2)),
        nn.Linear(128, 1),
    )


def begin(
    *, steps: int, seed: int, auxiliary: Divergence | None = None, batch: int = 512
) -> tuple[nn.Module, nn.Module]:
    """A flow after a little maximum likelihood, and a discriminator that knows it."""
    torch.manual_seed(seed)
    flow = zuko.flows.NICE(2, transforms=3, hidden_features=(16, 16))
    optimizer = torch.optim.Adam(flow.parameters(), 3e-3)
    for _ in track(range(steps), "maximum likelihood"):
        descend(optimizer, likelihood_loss(flow().log_prob(draw_real(batch))))
    discriminator = make_discriminator()
    loss = DivergenceLoss(GAN() if auxiliary is None else auxiliary)
    optimizer = torch.optim.Adam(discriminator.parameters(), 1e-3)
    for _ in track(range(steps), "training a discriminator"):
        with torch.no_grad():
            made = flow().sample((batch,))
        real = draw_real(batch)
        descend(optimizer, loss.discriminator_loss(discriminator(real), discriminator(made)))
    return flow, discriminator


def tune(
    start: tuple[nn.Module, nn.Module],
    loss: Loss,
    *,
    steps: int,
    seed: int,
    batch: int = 512,
    turns: int = 3,
) -> nn.Module:
    """Train the flow on for a loss; the discriminator has some turns for each of the flow's."""
    torch.manual_seed(seed)
    flow, discriminator = deepcopy(start)
    theirs = torch.optim.Adam(discriminator.parameters(), 5e-4, betas=(0.5, 0.999))
    ours = torch.optim.Adam(flow.parameters(), 5e-4, betas=(0.5, 0.999))
    decay = torch.optim.lr_scheduler.LinearLR(ours, 1.0, 0.0, steps)
    for _ in track(range(steps), "training"):
        for _ in range(turns):
            with torch.no_grad():
                made = flow().sample((batch,))
            real = draw_real(batch)
            descend(theirs, loss.discriminator_loss(discriminator(real), discriminator(made)))
        descend(ours, loss.generator_loss(discriminator(flow().rsample((batch,)))))
        decay.step()
    return flow


def judge(flow: Any, size: int = 20_000) -> tuple[PRCurve, dict[str, float]]:
    """The curve from exact log-ratios, precision within three deviations, and covered modes.

    A mode is covered if it has half of its even share of the samples within modes.
    """
    torch.manual_seed(10**6)
    with torch.no_grad():
        real, made = draw_real(size), flow().sample((size,))
        log_ratios = [(log_density(x) - flow().log_prob(x)).double().numpy() for x in (real, made)]
    curve = HeldOutLogRatios(real=log_ratios[0], generated=log_ratios[1]).curve()
    distance, nearest = torch.cdist(made, CENTERS).min(1)
    within = distance < 3 * SCALE
    shares = torch.bincount(nearest[within], minlength=8) / within.sum()
    row = {f"α at {lam:g}": curve.precision(lam) for lam in SLOPES}
    row["precision"] = within.double().mean().item()
    row["modes"] = int((shares > 0.5 / 8).sum())
    row["rarest mode"] = 8 * shares.min().item()
    return curve, row


def picture(flows: dict[str, nn.Module]) -> Figure:
    """Samples of every flow over those of the distribution, and the curves."""
    figure = Figure(figsize=(6.2, 11), layout="constrained")
    grid = figure.add_gridspec(3, 2, height_ratios=(1, 1, 2))
    real = draw_real(2000)
    for place, (name, flow) in enumerate(flows.items()):
        ax = figure.add_subplot(grid[place // 2, place % 2])
        with torch.no_grad():
            made = flow().sample((2000,))
        ax.scatter(*real.T, s=2, color="0.75", linewidths=0)
        ax.scatter(*made.T, s=2, color=COLORS[place], linewidths=0)
        ax.set(xlim=(-4.5, 4.5), ylim=(-4.5, 4.5), aspect="equal", title=name)
        ax.set_axis_off()
    curves = {name: judge(flow)[0] for name, flow in flows.items()}
    PRCurveDisplay(curves).plot(figure.add_subplot(grid[2, :]))
    return figure


def main() -> None:
    """Print the table and draw the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("eight-gaussians.png"))
    parser.add_argument("--quick", action="store_true", help="a short training")
    steps = 30 if (options := parser.parse_args()).quick else 1000
    start = begin(steps=steps, seed=0)
    flows = {"likelihood": start[0]}
    for lam in SLOPES:
        flows[f"λ = {lam:g}"] = tune(start, PRLoss(lam), steps=steps, seed=0)
    for name, flow in flows.items():
        print(f"{name:10s} " + "  ".join(f"{k} {v:.3f}" for k, v in judge(flow)[1].items()))
    with neutral():
        picture(flows).savefig(options.output, dpi=150)


if __name__ == "__main__":
    main()
