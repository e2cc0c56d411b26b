"""Ways of improving a model's samples that need gradients or latents: baselines, not the package.

Each takes latents and returns samples, and counts what it costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

    Network = Callable[[torch.Tensor], torch.Tensor]

_SOFTENING = 1e-3


@dataclass
class Calls:
    """Samples that went through the generator and the discriminator, and gradients of either."""

    generator: int = 0
    discriminator: int = 0
    gradient: int = 0


def truncated(shape: tuple[int, ...], limit: float, rng: torch.Generator) -> torch.Tensor:
    """Latents of a normal law whose coordinates beyond the limit are drawn again."""
    latents = torch.randn(shape, generator=rng)
    while (outside := latents.abs() > limit).any():
        latents[outside] = torch.randn(int(outside.sum()), generator=rng)
    return latents


def lipschitz(x: torch.Tensor, critic: Network) -> float:
    """The steepest slope of the critic between pairs of samples."""
    with torch.no_grad():
        rise = critic(x) - critic(x.roll(1, 0))
    run = (x - x.roll(1, 0)).norm(dim=1)
    return float((rise.abs() / run.clamp(min=1e-6)).max())


def transported(
    x: torch.Tensor, critic: Network, *, slope: float, steps: int, rate: float, calls: Calls
) -> torch.Tensor:
    """Discriminator optimal transport: the y that minimizes the distance to x less the critic.

    Args:
        x: samples, shape (n, d).
        critic: log p/q of samples, shape (n,).
        slope: the critic's steepest, which makes it a potential of slope 1.
        steps: of gradient descent.
        rate: of gradient descent.
        calls: is kept up to date.
    """
    start = x.detach()
    y = start.clone()
    for _ in range(steps):
        y.requires_grad_()
        loss = (start - y + _SOFTENING).norm(dim=1) - critic(y) / slope
        (gradient,) = torch.autograd.grad(loss.sum(), y)
        y = y.detach() - rate * gradient
        calls.discriminator += len(y)
        calls.gradient += len(y)
    return y


def flowed(
    latents: torch.Tensor,
    generator: Network,
    critic: Network,
    *,
    steps: int,
    rate: float,
    noise: float,
    rng: torch.Generator,
    calls: Calls,
) -> torch.Tensor:
    """Discriminator gradient flow of the Kullback-Leibler divergence, in the latents.

    Args:
        latents: shape (n, d).
        generator: from latents to samples.
        critic: log p/q of samples, shape (n,).
        steps: of Euler and Maruyama.
        rate: length of a step.
        noise: temperature of the flow.
        rng: of the noise.
        calls: is kept up to date.
    """
    z = latents
    for _ in range(steps):
        z = z.detach().requires_grad_()
        (gradient,) = torch.autograd.grad(critic(generator(z)).sum(), z)
        fresh = torch.randn(z.shape, generator=rng)
        z = z.detach() + rate * gradient + (2 * noise * rate) ** 0.5 * fresh
        calls.generator += len(z)
        calls.discriminator += len(z)
        calls.gradient += 2 * len(z)
    with torch.no_grad():
        calls.generator += len(z)
        return generator(z)
