"""What every training loop repeats."""

import torch


def descend(optimizer: torch.optim.Optimizer, loss: torch.Tensor) -> None:
    """One step of an optimizer."""
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
