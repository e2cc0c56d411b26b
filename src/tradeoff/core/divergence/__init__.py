"""f-divergences, written once for every array namespace."""

from tradeoff.core.divergence.base import Divergence, Scaled
from tradeoff.core.divergence.kinked import PRDivergence, TotalVariation
from tradeoff.core.divergence.kullback import KL, Jeffreys, ReverseKL
from tradeoff.core.divergence.mixture import GAN, FrontierIntegral, JensenShannon
from tradeoff.core.divergence.power import Amari, Hellinger, Neyman, Pearson
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
