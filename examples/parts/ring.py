"""A flow that learns eight Gaussians, and the options of examples that follow its training."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch
import zuko

from examples.eight_gaussians import draw_real
from examples.parts.style import neutral
from tradeoff.tracking import Tracker

__all__ = ["RATE", "Ring", "Size", "draw_real", "show"]

RATE = 3e-2
"""Learning rate, at which the flow gets worse now and then."""


class Size(NamedTuple):
    """Steps of training, steps between two measurements, and samples of each side."""

    steps: int = 2000
    every: int = 200
    samples: int = 2000


QUICK = Size(120, 40, 1000)


class Ring(torch.nn.Module):
    """A flow of the plane."""

    def __init__(self) -> None:
        super().__init__()
        self.flow = zuko.flows.NSF(2, transforms=3, hidden_features=(32, 32))

    def loss(self, batch: torch.Tensor) -> torch.Tensor:
        """The mean negative log-likelihood."""
        return -self.flow().log_prob(batch).mean()

    def sample(self, n: int) -> torch.Tensor:
        """Samples, shape (n, 2)."""
        return self.flow().sample((n,))


def show(about: str, follow: Callable[[Size], Tracker]) -> None:
    """Run an example, print its steps, and draw them."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("steps.png"))
    parser.add_argument("--quick", action="store_true", help="a short training, few samples")
    options = parser.parse_args()
    torch.manual_seed(0)
    tracker = follow(QUICK if options.quick else Size())
    print(tracker)
    with neutral():
        figure = tracker.plot().figure_
        figure.savefig(options.output, dpi=150, bbox_inches="tight")
