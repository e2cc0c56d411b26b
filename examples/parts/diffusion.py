"""A diffusion model of latents with classes and guidance, too small for its data on purpose.

Flow matching: between noise z and data x lies the point (1 - t) z + t x, and a network learns its
velocity x - z from the point, the time t and the class. Samples follow the velocity from t = 0 to
t = 1. The network also learns the velocity of no class in particular; classifier-free guidance of
scale w moves a sample with (1 + w) times the velocity of its class minus w times that of none.
"""

from typing import NamedTuple

import torch
from torch import nn

from examples.parts.latents import LATENTS, batch_of, make_network
from examples.parts.loop import descend
from tradeoff._progress import track
from tradeoff.training import NonSaturatingLoss

CLASSES = 10
_NO_CLASS = CLASSES
_FREQUENCIES = 4
_DROPPED = 0.1
"""Share of training samples whose class is withheld."""


class Labeled(NamedTuple):
    """Latents with their classes.

    Args:
        x: Latents, shape (n, 16).
        labels: Classes from 0 to 9, shape (n,).
    """

    x: torch.Tensor
    labels: torch.Tensor


class Velocity(nn.Module):
    """Velocity of latents, by their place, time and class.

    Args:
        width: Number of units of both hidden layers.
    """

    def __init__(self, width: int = 96) -> None:
        super().__init__()
        self.network = make_network(LATENTS + 2 * _FREQUENCIES + CLASSES + 1, width, width, LATENTS)

    def forward(self, x: torch.Tensor, t: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Velocity of places of shape (n, 16) at times and for classes of shape (n,)."""
        angles = torch.pi * t[:, None] * torch.arange(1, _FREQUENCIES + 1)
        known = nn.functional.one_hot(labels, CLASSES + 1)
        moved: torch.Tensor = self.network(torch.cat((x, angles.sin(), angles.cos(), known), 1))
        return moved

    @torch.no_grad()
    def sample(
        self, labels: torch.Tensor, *, guidance: float = 0.0, steps: int = 20
    ) -> torch.Tensor:
        """Latents of classes, by the midpoint rule, from noise of PyTorch's global generator."""
        x = torch.randn(len(labels), LATENTS)
        for step in range(steps):
            half = x + 0.5 / steps * self._guided(x, step / steps, labels, guidance)
            x = x + 1.0 / steps * self._guided(half, (step + 0.5) / steps, labels, guidance)
        return x

    def _guided(
        self, x: torch.Tensor, t: float, labels: torch.Tensor, guidance: float
    ) -> torch.Tensor:
        times = torch.full((len(x),), t)
        of_class: torch.Tensor = self(x, times, labels)
        if guidance == 0.0:
            return of_class
        of_none: torch.Tensor = self(x, times, torch.full_like(labels, _NO_CLASS))
        return of_class + guidance * (of_class - of_none)


def train_velocity(data: Labeled, *, steps: int, seed: int, width: int = 96) -> Velocity:
    """A network that has learned velocities from latents and their classes."""
    torch.manual_seed(seed)
    network = Velocity(width)
    optimizer = torch.optim.Adam(network.parameters(), 3e-3, fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=steps)
    for _ in track(range(steps), "flow matching"):
        rows = torch.randint(len(data.x), (512,))
        x, t = data.x[rows], torch.rand(512)
        noise = torch.randn_like(x)
        labels = data.labels[rows].where(torch.rand(512) >= _DROPPED, _NO_CLASS)
        found = network(torch.lerp(noise, x, t[:, None]), t, labels)
        descend(optimizer, (found - (x - noise)).square().mean())
        schedule.step()
    return network.eval()


def joint(data: Labeled) -> torch.Tensor:
    """Latents and classes as one vector, shape (n, 26), for the ratio of labeled samples."""
    return torch.cat((data.x, nn.functional.one_hot(data.labels, CLASSES)), 1)


def train_ratio(real: torch.Tensor, generated: torch.Tensor, *, steps: int) -> nn.Module:
    """A discriminator of vectors of both sides; its output stands for log p/q."""
    network, loss = make_network(real.shape[1], 192, 192, 1), NonSaturatingLoss()
    optimizer = torch.optim.AdamW(network.parameters(), 1e-3, weight_decay=1e-2, fused=True)
    decay = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, steps)
    for _ in track(range(steps), "training a discriminator"):
        outputs = network(batch_of(real, 512)), network(batch_of(generated, 512))
        descend(optimizer, loss.discriminator_loss(*outputs))
        decay.step()
    return network.eval()
