"""A GAN and a flow that learn eight modes on a ring, at rates at which they get worse again."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

from tradeoff.training import NonSaturatingLoss

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tradeoff._validation import FloatArray

__all__ = ["CHECKPOINTS", "MODELS", "Checkpoint", "log_density", "ring"]

CHECKPOINTS = 12
_MODES, _RADIUS, _SPREAD = 8, 3.0, 0.3
_LEARNED = 20_000


class Checkpoint(NamedTuple):
    """A model at one time of its training.

    Args:
        sample: Function from a number to so many samples.
        log_density: Logarithm of its density; None if it is not known.
    """

    sample: Callable[[int], torch.Tensor]
    log_density: Callable[[torch.Tensor], torch.Tensor] | None = None


def ring(n: int, seed: int) -> FloatArray:
    """Real samples, shape (n, 2)."""
    rng = np.random.default_rng(seed)
    return _centers()[rng.integers(0, _MODES, n)] + rng.normal(0, _SPREAD, (n, 2))


def log_density(x: FloatArray) -> FloatArray:
    """Logarithm of their density at places of shape (n, 2)."""
    squared = ((x[:, None] - _centers()) ** 2).sum(2) / _SPREAD**2
    weight = np.log(_MODES * 2.0 * np.pi * _SPREAD**2)
    found: FloatArray = np.logaddexp.reduce(-0.5 * squared, axis=1) - weight
    return found


def _centers() -> FloatArray:
    angle = np.arange(_MODES) * 2.0 * np.pi / _MODES
    return _RADIUS * np.stack((np.cos(angle), np.sin(angle)), axis=1)


def _known(seed: int) -> torch.Tensor:
    return torch.tensor(ring(_LEARNED, 1000 + seed), dtype=torch.float32)


def gan(seed: int) -> Iterator[Checkpoint]:
    """A GAN before it has learned anything, and after every 200 steps."""
    torch.manual_seed(seed)
    x, loss = _known(seed), NonSaturatingLoss()
    generator, discriminator = _network(4), _network(2, 1)
    ours, theirs = (
        torch.optim.Adam(one.parameters(), 3e-3, betas=(0.5, 0.99))
        for one in (generator, discriminator)
    )

    def draw(n: int) -> torch.Tensor:
        made: torch.Tensor = generator(torch.randn(n, 4))
        return made

    for number in range(CHECKPOINTS):
        for _ in range(200 if number else 0):
            real, made = x[torch.randint(len(x), (128,))], draw(128)
            theirs.zero_grad()
            fooled = discriminator(made.detach())
            loss.discriminator_loss(real=discriminator(real), generated=fooled).backward()
            theirs.step()
            ours.zero_grad()
            loss.generator_loss(discriminator(made)).backward()
            ours.step()
        yield Checkpoint(draw)


def _network(inputs: int, outputs: int = 2) -> torch.nn.Sequential:
    return torch.nn.Sequential(
        torch.nn.Linear(inputs, 64),
        torch.nn.LeakyReLU(0.2),
        torch.nn.Linear(64, 64),
        torch.nn.LeakyReLU(0.2),
        torch.nn.Linear(64, outputs),
    )


def flow(seed: int) -> Iterator[Checkpoint]:
    """A flow before it has learned anything, and after every 30 steps at too high a rate."""
    import zuko

    torch.manual_seed(seed)
    x = _known(seed)
    model = zuko.flows.NSF(2, transforms=2, hidden_features=(32, 32))
    ours = torch.optim.Adam(model.parameters(), 3e-2)
    for number in range(CHECKPOINTS):
        for _ in range(30 if number else 0):
            ours.zero_grad()
            (-model().log_prob(x[torch.randint(len(x), (64,))]).mean()).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 10.0)
            ours.step()
        yield Checkpoint(lambda n: model().sample((n,)), lambda x: model().log_prob(x))


MODELS: dict[str, Callable[[int], Iterator[Checkpoint]]] = {"GAN": gan, "flow": flow}
"""Models by name, as functions from a seed to their checkpoints."""
