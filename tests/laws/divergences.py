"""Every divergence of the package, for tests that run over all of them."""

from tradeoff.core.divergence import (
    GAN,
    KL,
    Amari,
    Hellinger,
    JensenShannon,
    Pearson,
    PRDivergence,
    ReverseKL,
    TotalVariation,
)
from tradeoff.core.divergence.kullback import Jeffreys
from tradeoff.core.divergence.mixture import FrontierIntegral
from tradeoff.core.divergence.power import Neyman

SMOOTH = {
    repr(divergence): divergence
    for divergence in (
        KL(),
        ReverseKL(),
        JensenShannon(),
        2 * JensenShannon(),
        GAN(),
        Pearson(),
        0.5 * Pearson(),
        Neyman(),
        Hellinger(),
        Jeffreys(),
        Amari(-0.5),
        Amari(0.0),
        Amari(0.3),
        Amari(0.5),
        Amari(1.0),
        Amari(2.0),
        Amari(3.0),
        FrontierIntegral(),
    )
}
KINKED = {
    repr(divergence): divergence
    for divergence in (TotalVariation(), PRDivergence(0.2), PRDivergence(1.0), PRDivergence(5.0))
}
ALL = SMOOTH | KINKED
