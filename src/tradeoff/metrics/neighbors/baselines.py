r"""Baselines of neighbor metrics: closed forms, or real samples each left out of the others.

A fresh sample of the same distribution relates to n − 1 real samples as a real sample relates to
the others. Without sample i, the ball of another sample j that held it reaches one rank farther, so
that i lies in it if and only if :math:`d(i, j) \\le r_k(j)`: own neighbors tell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tradeoff.inference import policy
from tradeoff.metrics.family import part_sizes
from tradeoff.metrics.neighbors.expectations import (
    ball_sizes,
    expected_coverage,
    expected_density,
    expected_filling,
)
from tradeoff.metrics.neighbors.nearest import own_neighbors
from tradeoff.metrics.neighbors.support import COVER, support_metrics
from tradeoff.metrics.score import Baseline

if TYPE_CHECKING:
    import numpy.typing as npt

    from tradeoff._validation import FloatArray
    from tradeoff.metrics.family import Request
    from tradeoff.metrics.neighbors.nearest import OwnNeighbors
    from tradeoff.samples import Side

__all__ = ["authentic", "inside_others", "neighbors_of", "realism"]

_MOST_PARTS = 8
_REALISM_ROWS = 1000
_CLIPPED_SPLITS = 4
_ROWS_AT_ONCE = 250
_ROUNDING = 1e-9  # of squared distances by products, between samples that are not far off


def neighbors_of(side: Side, ranks: int, *, progress: bool) -> OwnNeighbors:
    """The nearest neighbors of samples among themselves, at least as far as a rank."""

    def compute() -> OwnNeighbors:
        return own_neighbors(side.features, ranks=ranks, progress=progress)

    known = side.remember("neighbors", compute)
    if known.index.shape[1] < ranks:
        side.forget("neighbors")
        known = side.remember("neighbors", compute)
    return known


def expected_precision(real: Side, size: int, request: Request) -> Baseline:
    """Depends on the number of real samples alone."""
    known = neighbors_of(real, request.k, progress=request.progress)
    return _share(inside_others(known, request.k))


def expected_recall(real: Side, size: int, request: Request) -> Baseline:
    """Depends on the number of generated samples alone: parts of the real data of that size."""
    n = len(real)
    if policy.SAME_SIZE * size >= n:
        return expected_precision(real, size, request)
    rows = (size + 1) * min(_MOST_PARTS, n // (size + 1))
    parts = real.order_for(request.seed)[:rows].reshape(-1, size + 1)
    found = [
        inside_others(
            own_neighbors(real.x[part], ranks=request.k, progress=request.progress), request.k
        )
        for part in parts
    ]
    return _share(np.concatenate(found))


def expected_authenticity(real: Side, size: int, request: Request) -> Baseline:
    """Depends on the number of real samples alone."""
    return _share(authentic(neighbors_of(real, 1, progress=request.progress)))


def expected_realism(real: Side, size: int, request: Request) -> Baseline | None:
    """The median over some real samples; None if it is infinite."""
    rows = real.order_for(request.seed)[:_REALISM_ROWS]
    known = neighbors_of(real, request.k + 1, progress=request.progress)
    found = np.sort(realism(real.x, known, request.k, rows))
    half = 0.5 / np.sqrt(len(rows))
    low, median, high = np.quantile(found, [0.5 - half, 0.5, 0.5 + half], method="nearest")
    return Baseline(float(median), float(0.5 * (high - low))) if np.isfinite(high) else None


def expected_density_of(real: Side, size: int, request: Request) -> Baseline | None:
    """A closed form, with the numbers of samples in balls where distances are tied."""
    held = _held(real, request.k, request)
    return None if held is None else _mean(expected_density(held, k=request.k), real)


def expected_coverage_of(real: Side, size: int, request: Request) -> Baseline | None:
    """A closed form; approximate where distances are tied."""
    return _filled(real, size, request.k, request)


def expected_cover_precision(real: Side, size: int, request: Request) -> Baseline | None:
    """Balls around generated samples: around as many real ones if distances are tied."""
    k, around = COVER * request.k, real
    if _tied_share(real, k, request) > 0:
        if size > policy.SAME_SIZE * len(real):
            return None
        if size < len(real):
            around, _ = real.parted(size, len(real) - size, request.seed)
        return _filled(around, len(real), k, request, at_least=request.k)
    if k >= size:
        return None
    return Baseline(expected_coverage(own=size, other=len(real), k=k, at_least=request.k))


def expected_cover_recall(real: Side, size: int, request: Request) -> Baseline | None:
    """A closed form; approximate where distances are tied."""
    return _filled(real, size, COVER * request.k, request, at_least=request.k)


def expected_clipped_density(real: Side, size: int, request: Request) -> Baseline | None:
    """By parts of the real samples; None if distances are tied for more than 1% of them."""
    return _clipped("clipped_density", real, size, request)


def expected_clipped_coverage(real: Side, size: int, request: Request) -> Baseline | None:
    """By parts of the real samples; None if distances are tied for more than 1% of them."""
    return _clipped("clipped_coverage", real, size, request)


def _clipped(name: str, real: Side, size: int, request: Request) -> Baseline | None:
    """What is missing to 1 falls like the inverse root of the number of samples, without ties."""
    if _tied_share(real, request.k, request) > policy.MOST_TIED:
        return None
    n = len(real)
    own, other = part_sizes(n, size)
    missing = []
    for seed in range(request.seed, request.seed + _CLIPPED_SPLITS):
        around, others = real.parted(own, other, seed)
        score = support_metrics(
            real=around.x,
            generated=others.x,
            k=request.k,
            metrics=(name,),
            progress=request.progress,
        )
        missing.append(1.0 - score[name].value)
    scale = np.sqrt((1 / n + 1 / size) / (1 / own + 1 / other))
    return Baseline(1.0 - float(scale * np.mean(missing)), float(scale * np.std(missing, ddof=1)))


def _filled(
    around: Side, others: int, k: int, request: Request, at_least: int = 1
) -> Baseline | None:
    held = _held(around, k, request)
    if held is None:
        return None
    repeats = neighbors_of(around, 1, progress=request.progress).squares[:, 0] == 0.0
    return _mean(expected_filling(held, repeats, k=k, others=others, at_least=at_least), around)


def _tied_share(real: Side, k: int, request: Request) -> float:
    """Share of real samples whose k-th neighbor is as far as the next."""
    held = _held(real, k, request)
    return 0.0 if held is None else float((held > k).mean())


def _held(real: Side, k: int, request: Request) -> npt.NDArray[np.int64] | None:
    """Other real samples in the ball of rank k around each: k unless distances are tied."""
    if k >= len(real):
        return None
    squares = neighbors_of(real, min(k + 1, len(real) - 1), progress=request.progress).squares
    farther = squares[:, k] if squares.shape[1] > k else None
    return real.remember(
        ("ball sizes", k),
        lambda: ball_sizes(real.x, squares[:, k - 1], farther, k, progress=request.progress),
    )


def _mean(values: npt.NDArray[np.float64], real: Side) -> Baseline:
    """With an error by which copies vary together; 0 if all values are equal."""
    if (values == values[0]).all():
        return Baseline(float(values[0]))
    off = values - values.mean()
    of_values = np.bincount(np.unique(real.keys, return_inverse=True)[1], weights=off)
    return Baseline(float(values.mean()), float(np.sqrt((of_values**2).sum())) / len(real))


def _share(passed: npt.NDArray[np.bool_]) -> Baseline:
    """With the standard error of a share that is neither 0 nor 1."""
    center = (passed.sum() + 1) / (passed.size + 2)
    error = float(np.sqrt(center * (1 - center) / passed.size))
    return Baseline(float(passed.mean()), error)


def inside_others(neighbors: OwnNeighbors, k: int) -> npt.NDArray[np.bool_]:
    """Whether each sample lies in the ball of rank k around another one, shape (n,).

    Exact unless many samples are equally far, as on a lattice: then a few may be missed.

    Args:
        neighbors: Own neighbors, at least up to rank k.
        k: Rank of the neighbor that a ball reaches.

    Example:
        Four samples in a row, and one far off, which is the nearest neighbor of none of them:

        >>> from tradeoff.metrics.neighbors import own_neighbors
        >>> from tradeoff.metrics.neighbors.baselines import inside_others
        >>> found = own_neighbors([[0.0], [1.0], [2.1], [3.3], [9.0]], ranks=1, progress=False)
        >>> inside_others(found, 1)
        array([ True,  True,  True,  True, False])
    """
    index, radii = neighbors.index, neighbors.squares[:, k - 1]
    inside = np.zeros(len(index), bool)
    inside[index[:, :k]] = True
    # Of several samples at the same distance only some are listed: look from the other end too.
    return np.asarray(inside | (neighbors.squares <= radii[index]).any(1))


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
