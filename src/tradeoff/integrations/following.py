"""What callbacks share: samples of a network in training, and a warning that none will be drawn."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["undisturbed", "warn_if_never"]


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


def warn_if_never(name: str, every: int, unit: str, length: float) -> None:
    """Warn if a callback would never measure in a run of this length.

    Args:
        name: Name of the callback.
        every: Number of units from one measurement to the next.
        unit: "epoch" or "step".
        length: Number of units of the run; infinity if that is not known.
    """
    if length < every:
        warnings.warn(
            f"`{name}` will never measure: `every` is {every} {unit}s, and this run has "
            f"{length:g}. Pass a smaller `every`, or count by the other `unit`.",
            stacklevel=3,
        )
