"""Samples of a network in training, which goes on as if none had been drawn."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["undisturbed"]


@contextmanager
def undisturbed(network: torch.nn.Module, *, seed: int) -> Iterator[None]:
    """Evaluation mode, no gradients and a seed of its own; afterwards everything is as before.

    Args:
        network: Network that generates, or that holds the one that does.
        seed: Seed of PyTorch's generators, the same at every step.
    """
    modes = [(module, module.training) for module in network.modules()]
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(seed)
        network.eval()
        try:
            yield
        finally:
            for module, is_training in modes:
                module.training = is_training
