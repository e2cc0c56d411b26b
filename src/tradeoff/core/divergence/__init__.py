"""f-divergences, written once for every array namespace."""

from tradeoff.core.divergence.base import Divergence
from tradeoff.core.divergence.kinked import PRDivergence, TotalVariation
from tradeoff.core.divergence.kullback import KL, ReverseKL
from tradeoff.core.divergence.mixture import GAN, JensenShannon
from tradeoff.core.divergence.power import Amari, Hellinger, Pearson

__all__ = [
    "GAN",
    "KL",
    "Amari",
    "Divergence",
    "Hellinger",
    "JensenShannon",
    "PRDivergence",
    "Pearson",
    "ReverseKL",
    "TotalVariation",
]
