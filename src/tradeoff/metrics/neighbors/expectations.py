r"""Expected values of neighbor metrics when both distributions are the same, by sample sizes.

Around a point, own and other points come in random order, so the number of others that come before
the k-th own one is negative hypergeometric, whatever the distribution.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import hypergeom

from tradeoff._validation import check_count
from tradeoff.exceptions import InvalidInputError
from tradeoff.metrics.neighbors.counters import Balls, sweep
from tradeoff.metrics.neighbors.points import points_of
from tradeoff.metrics.neighbors.screen import tiles_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from tradeoff._validation import FloatArray

__all__ = [
    "ball_sizes",
    "expected_coverage",
    "expected_density",
    "expected_filling",
    "share_that_fills",
]


def expected_coverage(*, own: int, other: int, k: int, at_least: int = 1) -> float:
    r"""Expected share of balls that hold enough points of the other side, for equal distributions.

    A ball reaches from a point to its k-th own neighbor; with ``at_least=1`` this is coverage,
    :math:`1 - \binom{N-1}{k} / \binom{N+M-1}{k}`, and with more it is PR-cover.

    Args:
        own: Number of points of the side around which the balls are.
        other: Number of points of the other side.
        k: Rank of the own neighbor that a ball reaches.
        at_least: Number of points of the other side that a ball must hold.

    Example:
        Five real samples for each generated one:

        >>> from tradeoff.metrics.neighbors.expectations import expected_coverage
        >>> round(expected_coverage(own=5000, other=500, k=5), 2)
        0.38
        >>> round(expected_coverage(own=10_000, other=10_000, k=5), 5)
        0.96877
    """
    own, other, k = check_count("own", own), check_count("other", other), check_count("k", k)
    if k >= own:
        raise InvalidInputError(f"`k` must be below the number of own points, {own}. Got {k}.")
    return _held(own, other, k, check_count("at_least", at_least))


def expected_density(held: npt.NDArray[np.int64], *, k: int) -> FloatArray:
    """Expected density in each ball, for equal distributions, shape (n,).

    A ball holds one in n of fresh samples for each own sample that it holds.

    Args:
        held: Number of other own samples in each ball: k, or more if distances are tied.
        k: Rank of the own neighbor that a ball reaches.
    """
    return np.asarray(held / k)


def expected_filling(
    held: npt.NDArray[np.int64],
    repeats: npt.NDArray[np.bool_],
    *,
    k: int,
    others: int,
    at_least: int = 1,
) -> FloatArray:
    """Chance of each ball to hold enough points of the other side, shape (n,).

    A ball with ties fills like one whose rank is the number of own samples that it holds. A sample
    that has copies counts in its own ball: its place is a part of the distribution.

    Args:
        held: Number of other own samples in each ball: k, or more if distances are tied.
        repeats: Whether the sample in the center has copies.
        k: Rank of the own neighbor that a ball reaches.
        others: Number of points of the other side.
        at_least: Number of points of the other side that a ball must hold.
    """
    own = len(held)
    held = np.minimum(held + ((held > k) & repeats), own - 1)
    ranks, which = np.unique(held, return_inverse=True)
    filled = [
        expected_coverage(own=own, other=others, k=int(rank), at_least=at_least) for rank in ranks
    ]
    return np.array(filled)[which]


def share_that_fills(mean: float, *, own: int, other: int, k: int) -> float:
    """Share of others from the same distribution that would fill balls as much, up to k each.

    The expected number in a ball, counted up to k, rises with the number of others: it is inverted,
    with other + 1 in the denominator as published.

    Args:
        mean: Mean of the numbers in balls, counted up to k and divided by it.
        own: Number of points around which the balls are.
        other: Number of points of the other side.
        k: Rank of the own neighbor that a ball reaches.
    """

    def expected(number: int) -> float:
        return sum(_held(own, number, k, j) for j in range(1, k + 1)) / k

    return bisect_left(range(other + 1), mean, key=expected) / (other + 1)


def _held(own: int, other: int, k: int, at_least: int) -> float:
    if at_least > other:
        return 0.0
    return float(hypergeom.sf(at_least - 1, own + other - 1, other, k + at_least - 1))


def ball_sizes(
    x: Any, reach: FloatArray, farther: FloatArray | None, k: int, *, progress: bool
) -> npt.NDArray[np.int64]:
    """Number of other samples in the ball of rank k around each sample, shape (n,).

    It is k unless several samples are as far as the k-th.

    Args:
        x: Samples, shape (n, d).
        reach: Squared distance of each sample to its k-th neighbor, shape (n,).
        farther: Squared distance to the next neighbor; None if there are only k others.
        k: Rank of the neighbor that a ball reaches.
        progress: False silences the progress line.

    Example:
        Around the first of three copies, the ball that reaches its nearest neighbor holds two:

        >>> from tradeoff.metrics.neighbors import own_neighbors
        >>> from tradeoff.metrics.neighbors.expectations import ball_sizes
        >>> x = np.array([[0.0], [0.0], [0.0], [1.0], [3.0]])
        >>> squares = own_neighbors(x, ranks=2, progress=False).squares
        >>> ball_sizes(x, squares[:, 0], squares[:, 1], 1, progress=False)
        array([2, 2, 2, 3, 1])
    """
    sizes = np.full(len(x), k, np.int64)
    (tied,) = np.nonzero(np.zeros(len(x), bool) if farther is None else farther == reach)
    if tied.size:
        centers, others = tiles_of(*points_of(centers=x[tied], samples=x))
        balls = Balls(centers.norms.new_tensor(reach[None, tied]), len(x), strict=False, around=0)
        sweep(centers, others, [balls], label="samples at equal distances", progress=progress)
        sizes[tied] = balls.inside[0].cpu().numpy() - 1
    return sizes
