"""The grid of 25 Gaussians, a generator of it and a ratio network, trained in minutes on a CPU.

Spacing 2, standard deviation 0.05; networks 2-256-512-1024-2 and 2-1024-512-256-1 with leaky ReLU,
as in the literature. The generator first learns to match the ranks of its coordinates with those
of real samples, which optimal transport between product laws does, and then plays against a
discriminator; so a run of minutes covers all modes and leaves bridges between them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import torch

from benchmarks.datasets import CACHE
from examples.parts.loop import descend
from tradeoff._progress import track

if TYPE_CHECKING:
    import numpy as np

SCALE = 0.05
CENTERS = torch.cartesian_prod(torch.arange(-4.0, 5.0, 2.0), torch.arange(-4.0, 5.0, 2.0))
_softplus = torch.nn.functional.softplus


def draw_real(n: int, rng: torch.Generator | None = None) -> torch.Tensor:
    """Samples of the grid, shape (n, 2)."""
    chosen = torch.randint(len(CENTERS), (n,), generator=rng)
    return CENTERS[chosen] + SCALE * torch.randn(n, 2, generator=rng)


def network(*sizes: int) -> torch.nn.Sequential:
    """Linear layers with leaky ReLU between them."""
    layers: list[torch.nn.Module] = []
    for a, b in pairwise(sizes):
        layers += [torch.nn.Linear(a, b), torch.nn.LeakyReLU(0.2)]
    return torch.nn.Sequential(*layers[:-1])


def spread(discriminator: torch.nn.Sequential, width: float = 5.0) -> torch.nn.Sequential:
    """Weights that do not shrink signals, and kinks all over the square of a width.

    The default initialization puts all kinks near the origin and spends a thousand steps there.
    """
    layers = [layer for layer in discriminator if isinstance(layer, torch.nn.Linear)]
    with torch.no_grad():
        for layer in layers:
            torch.nn.init.kaiming_normal_(layer.weight, 0.2)
            torch.nn.init.zeros_(layer.bias)
        first = layers[0]
        anchors = (2 * torch.rand(first.weight.shape) - 1) * width
        first.bias -= (first.weight * anchors).sum(1)
        layers[-1].weight *= 0.1
    return discriminator


def match_ranks(generator: torch.nn.Module, steps: int, batch: int = 256) -> None:
    """Regress real coordinates on latent ones of the same rank."""
    latents, targets = torch.randn(5000, 2), draw_real(5000)
    targets = targets.sort(0).values.gather(0, latents.argsort(0).argsort(0))
    optimizer = torch.optim.Adam(generator.parameters(), 1e-3)
    decay = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, steps)
    for _ in track(range(steps), "matching ranks"):
        chosen = torch.randint(len(latents), (batch,))
        descend(optimizer, (generator(latents[chosen]) - targets[chosen]).square().mean())
        decay.step()


def train_discriminator(
    discriminator: torch.nn.Module,
    generator: torch.nn.Module,
    *,
    steps: int,
    rate: float = 3e-4,
    batch: int = 256,
) -> None:
    """Cross-entropy on fresh samples of both sides, with a rate that falls to 0."""
    optimizer = torch.optim.Adam(discriminator.parameters(), rate)
    decay = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, steps)
    for _ in track(range(steps), "training a discriminator"):
        descend(optimizer, _cross_entropy(discriminator, generator, batch))
        decay.step()


def train_gan(
    generator: torch.nn.Module, discriminator: torch.nn.Module, *, steps: int, batch: int = 256
) -> None:
    """Both in turn; the generator's loss does not saturate."""
    ours = torch.optim.Adam(generator.parameters(), 2e-5, betas=(0.5, 0.999))
    theirs = torch.optim.Adam(discriminator.parameters(), 2e-4, betas=(0.5, 0.999))
    for _ in track(range(steps), "training a GAN"):
        descend(theirs, _cross_entropy(discriminator, generator, batch))
        descend(ours, _softplus(-discriminator(generator(torch.randn(batch, 2)))).mean())


def trained(share: float = 1.0, seed: int = 0) -> tuple[torch.nn.Module, torch.nn.Module]:
    """A generator, and a network whose output is log p/q on fresh samples of it; kept in the cache.

    Args:
        share: of the steps of a full training.
        seed: of weights and samples.
    """
    torch.manual_seed(seed)
    generator, discriminator = network(2, 256, 512, 1024, 2), network(2, 1024, 512, 256, 1)
    path = CACHE / f"gaussians-{share:g}-{seed}.pt"
    if path.exists():
        for module, state in zip((generator, discriminator), torch.load(path), strict=True):
            module.load_state_dict(state)
    else:
        match_ranks(generator, int(2500 * share))
        train_discriminator(spread(discriminator), generator, steps=int(2000 * share))
        train_gan(generator, discriminator, steps=int(3000 * share))
        train_discriminator(discriminator, generator, steps=int(8000 * share), rate=1e-3)
        CACHE.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(".tmp")
        torch.save([generator.state_dict(), discriminator.state_dict()], fresh)
        fresh.replace(path)
    return generator.eval(), discriminator.eval()


def modes(x: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
    """The nearest center of each sample, and whether it is within three standard deviations."""
    distance, nearest = torch.cdist(x.double(), CENTERS.double()).min(1)
    return nearest.numpy(), (distance < 3 * SCALE).numpy()


def _cross_entropy(
    discriminator: torch.nn.Module, generator: torch.nn.Module, batch: int
) -> torch.Tensor:
    with torch.no_grad():
        made = generator(torch.randn(batch, 2))
    return (
        _softplus(-discriminator(draw_real(batch))).mean() + _softplus(discriminator(made)).mean()
    )
