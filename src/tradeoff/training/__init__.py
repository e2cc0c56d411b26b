"""Losses that train a generative model for a chosen point of the trade-off.

They work in any PyTorch loop: a loss for the discriminator, one for the generator, and a monitor
of both.
"""

from tradeoff._extras import import_extra

import_extra("torch", extra="torch", purpose="`tradeoff.training`")

from tradeoff.training.base import Loss  # noqa: E402
from tradeoff.training.losses import (  # noqa: E402
    BudgetedLoss,
    DivergenceLoss,
    NonSaturatingLoss,
    PRLoss,
    TruncatedPRLoss,
    likelihood_loss,
)
from tradeoff.training.monitor import Monitor  # noqa: E402

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
