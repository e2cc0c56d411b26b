r"""What neighbor metrics are worth when both laws are the same, for the given numbers of samples.

Around a point, own and other points come in random order, so the number of others that come before
the k-th own one is negative hypergeometric, whatever the law.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import hypergeom

if TYPE_CHECKING:
    from tradeoff._validation import FloatArray

__all__ = ["expected_coverage", "expected_hits"]


def expected_coverage(*, own: int, other: int, k: int, at_least: int = 1) -> float:
    r"""The expected share of balls that hold enough points of the other side, under one law.

    A ball reaches from a point to its k-th own neighbor; with ``at_least=1`` this is coverage,
    :math:`1 - \binom{N-1}{k} / \binom{N+M-1}{k}`, and with more it is PR-cover.

    Args:
        own: number of points of the side around which the balls are.
        other: number of points of the other side.
        k: rank of the own neighbor that a ball reaches.
        at_least: how many points of the other side it must hold.

    Example:
        Five real samples for each generated one:

        >>> from tradeoff.neighbors import expected_coverage
        >>> round(expected_coverage(own=5000, other=500, k=5), 2)
        0.38
        >>> round(expected_coverage(own=10_000, other=10_000, k=5), 5)
        0.96877
    """
    return float(hypergeom.sf(at_least - 1, own + other - 1, other, k + at_least - 1))


def expected_hits(*, own: int, other: int, k: int) -> FloatArray:
    """The expected number of others in a ball, counted up to k and divided by it.

    The value for 0, 1, … others of the same law, shape (other + 1,); it inverts clipped coverage.
    """
    numbers = np.arange(other + 1)
    shares = [hypergeom.sf(j, own - 1 + numbers, numbers, k + j) for j in range(k)]
    return np.asarray(np.mean(shares, axis=0))
