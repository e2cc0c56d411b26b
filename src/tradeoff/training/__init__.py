"""Losses that train a generative model for a chosen point of the trade-off.

They drop into any PyTorch loop: a loss for the discriminator, one for the generator, and a monitor
of what both do.
"""

from tradeoff.training.losses import (
    BudgetedLoss,
    DivergenceLoss,
    Loss,
    NonSaturatingLoss,
    PRLoss,
    TruncatedPRLoss,
    likelihood_loss,
)
from tradeoff.training.monitor import Monitor

__all__ = [
    "BudgetedLoss",
    "DivergenceLoss",
    "Loss",
    "Monitor",
    "NonSaturatingLoss",
    "PRLoss",
    "TruncatedPRLoss",
    "likelihood_loss",
]
