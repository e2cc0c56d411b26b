"""f-divergences, written once for every array namespace."""

from tradeoff.core.divergence.base import Divergence, Scaled
from tradeoff.core.divergence.kinked import PRDivergence, TotalVariation
from tradeoff.core.divergence.smooth import (
    GAN,
    KL,
    Amari,
    FrontierIntegral,
    Hellinger,
    Jeffreys,
    JensenShannon,
    Neyman,
    Pearson,
    ReverseKL,
)
from tradeoff.core.divergence.special import lambert_w

__all__ = [
    "GAN",
    "KL",
    "Amari",
    "Divergence",
    "FrontierIntegral",
    "Hellinger",
    "Jeffreys",
    "JensenShannon",
    "Neyman",
    "PRDivergence",
    "Pearson",
    "ReverseKL",
    "Scaled",
    "TotalVariation",
    "lambert_w",
]
