r"""What neighbor metrics score on samples of the real data, each left out of it in turn.

A fresh sample of the same distribution relates to n − 1 real samples as a real sample relates to
the others. Without sample i, the ball of another sample j that held it reaches one rank farther, so
that i lies in it if and only if :math:`d(i, j) \le r_k(j)`: own neighbors tell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff.neighbors.counters import Balls, sweep
from tradeoff.neighbors.points import points_of
from tradeoff.neighbors.screen import tiles_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from tradeoff._validation import FloatArray
    from tradeoff.neighbors.nearest import OwnNeighbors

__all__ = ["authentic", "ball_sizes", "inside_others", "realism"]

_ROWS_AT_ONCE = 250
_ROUNDING = 1e-9  # of squared distances by products, between samples that are not far off


def inside_others(neighbors: OwnNeighbors, k: int) -> npt.NDArray[np.bool_]:
    """Whether each sample lies in the ball of rank k around another one, shape (n,).

    Exact unless many samples are equally far, as on a lattice: then a few may be missed.

    Args:
        neighbors: Own neighbors, at least up to rank k.
        k: Rank of the neighbor that a ball reaches.

    Example:
        Four samples in a row, and one far off, which is the nearest neighbor of none of them:

        >>> from tradeoff.neighbors import own_neighbors
        >>> from tradeoff.neighbors.leave_one_out import inside_others
        >>> found = own_neighbors([[0.0], [1.0], [2.1], [3.3], [9.0]], ranks=1, progress=False)
        >>> inside_others(found, 1)
        array([ True,  True,  True,  True, False])
    """
    index, radii = neighbors.index, neighbors.squares[:, k - 1]
    inside = np.zeros(len(index), bool)
    inside[index[:, :k]] = True
    # Of several samples at the same distance only some are listed: look from the other end too.
    return np.asarray(inside | (neighbors.squares <= radii[index]).any(1))


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

        >>> from tradeoff.neighbors import own_neighbors
        >>> from tradeoff.neighbors.leave_one_out import ball_sizes
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


def authentic(neighbors: OwnNeighbors) -> npt.NDArray[np.bool_]:
    """Whether each sample's nearest one has another sample nearer to it, shape (n,).

    Args:
        neighbors: Own neighbors.
    """
    nearest = neighbors.squares[:, 0]
    return np.asarray(nearest > nearest[neighbors.index[:, 0]])


def realism(
    x: FloatArray, neighbors: OwnNeighbors, k: int, rows: npt.NDArray[np.integer]
) -> FloatArray:
    """Realism of some samples among all others, shape of `rows`.

    Args:
        x: Samples, shape (n, d).
        neighbors: Their own neighbors, at least up to rank k + 1.
        k: Rank of the neighbor that a ball reaches.
        rows: Samples whose realism is computed.
    """
    z = x - x.mean(0)
    norms = (z**2).sum(1)
    radii, farther = neighbors.squares[:, k - 1], neighbors.squares[:, k]
    found = np.empty(len(rows))
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        part = rows[start : start + _ROWS_AT_ONCE]
        squares = np.maximum(norms[part, None] + norms - 2.0 * z[part] @ z.T, 0.0)
        reach = np.where(squares <= radii * (1 + _ROUNDING), farther, radii)
        reach[np.arange(len(part)), part] = np.nan
        small = reach <= np.nanmedian(reach, axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            quotients = np.where(small & (reach > 0), reach / squares, 0.0)
        found[start : start + len(part)] = np.sqrt(quotients.max(1))
    return found
