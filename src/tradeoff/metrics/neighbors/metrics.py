r"""What each neighbor metric counts, and how sure it is.

Balls :math:`B_k(x_i)` around real and :math:`B_k(y_j)` around generated samples reach the k-th
neighbor in their own set. Density and coverage depend on the real samples through all radii: the
jackknife leaves out one real sample at a time, whose neighbors' balls then reach one rank farther.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tradeoff.metrics.neighbors.expectations import (
    expected_coverage,
    expected_density,
    expected_filling,
    share_that_fills,
)
from tradeoff.metrics.neighbors.scores import SupportScore

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy.typing as npt

    from tradeoff._validation import FloatArray

__all__ = ["METRICS", "Counts", "Held", "Metric"]


@dataclass(frozen=True, eq=False)
class Held:
    """A family of balls: points of the other side in each, and for each of them its balls."""

    inside: npt.NDArray[np.int64]
    holding: npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, kw_only=True)
class Counts:
    """All that metrics are made of; families of balls by the name of their radii.

    Args:
        k: Rank of the neighbor that balls reach.
        strict: Whether a point on a surface is outside.
        far: Rank that balls of PR-cover reach.
        sizes: Numbers of real and generated samples.
        real: Families around real samples.
        index_sums: Sums over the generated samples in each ball of rank k around a real one.
        generated: Families around generated samples.
        squares: Squared distances of real samples to their own neighbors, by rank.
        index: The nearest real samples of every real one, shape (n, at least k).
        nearest: Squared distance to, and row of, the nearest real sample.
        realism: The largest quotient of a squared radius and the squared distance to it.
        held: Number of other real samples in each ball around a real one, by the name of its
            radii; more than the rank where distances are tied.
    """

    k: int
    strict: bool
    far: int
    sizes: tuple[int, int]
    real: Mapping[str, Held]
    index_sums: npt.NDArray[np.int64]
    generated: Mapping[str, Held]
    squares: Mapping[int, FloatArray]
    index: npt.NDArray[np.int64]
    nearest: tuple[FloatArray, npt.NDArray[np.int64]] | None
    realism: FloatArray | None
    held: Mapping[str, npt.NDArray[np.int64]]

    def filling(self, radii: str, rank: int, *, at_least: int = 1) -> float | None:
        """Expected share of balls around real samples that hold enough generated ones."""
        held = self.held[radii]
        if self.strict and (held > rank).any():
            return None
        repeats = self.squares[1] == 0.0 if 1 in self.squares else np.zeros(held.size, bool)
        filled = expected_filling(held, repeats, k=rank, others=self.sizes[1], at_least=at_least)
        return float(filled[0] if (filled == filled[0]).all() else filled.mean())


@dataclass(frozen=True)
class Metric:
    """The balls that a metric counts, the radii that it takes besides, and what it makes of them.

    Radii are named ``first``, ``k``, ``next`` (k + 1), ``far`` and ``clipped``; ``every`` are those
    up to k. Of radii in `ties`, it is counted how many real samples lie within them.
    """

    score: Callable[[Counts], SupportScore]
    real: tuple[str, ...] = ()
    generated: tuple[str, ...] = ()
    radii: tuple[str, ...] = ()
    ties: tuple[str, ...] = ()


def _precision(counts: Counts) -> SupportScore:
    return _mean(counts.real["k"].holding > 0, is_share=True)


def _recall(counts: Counts) -> SupportScore:
    return _mean(counts.generated["k"].holding > 0, is_share=True)


def _density(counts: Counts) -> SupportScore:
    balls, k, m = counts.real["k"], counts.k, counts.sizes[1]
    samples = balls.holding / k
    tied = (counts.held["k"] > k).any()
    expected = float(expected_density(counts.held["k"], k=k).mean()) if tied else 1.0
    known = None if tied and counts.strict else expected
    if "next" not in counts.real or m == 1:
        return _mean(samples, expected=known)
    changes = _without_each(counts, balls.inside, counts.real["next"].inside) / (k * m)
    variance = _jackknife(changes) + samples.var(ddof=1) / m
    return _mean(samples, expected=known, variance=variance)


def _coverage(counts: Counts) -> SupportScore:
    balls, (n, m) = counts.real["k"], counts.sizes
    covered = balls.inside > 0
    expected = counts.filling("k", counts.k)
    if "next" not in counts.real or m == 1:
        return _mean(covered, expected=expected)
    changes = _without_each(counts, covered, counts.real["next"].inside > 0) / (n - 1)
    only = np.bincount(counts.index_sums[balls.inside == 1], minlength=m) / n
    variance = _jackknife(changes) + _jackknife(only)
    return _mean(covered, expected=expected, variance=variance, is_share=True)


def _without_each(counts: Counts, inside: npt.ArrayLike, farther: npt.ArrayLike) -> FloatArray:
    """How the sum over balls changes when each real sample is left out, shape (n,)."""
    near, far = np.asarray(inside, float), np.asarray(farther, float)
    neighbors = counts.index[:, : counts.k]
    gains = np.repeat(far - near, neighbors.shape[1])
    return np.asarray(np.bincount(neighbors.ravel(), gains, minlength=len(near)) - near)


def _jackknife(changes: FloatArray) -> float:
    """The variance of a statistic from how it changes, but for a constant, without each sample."""
    return float((len(changes) - 1) * changes.var())


def _clipped_density(counts: Counts) -> SupportScore:
    k = counts.k
    clipped = np.minimum(counts.squares[k], median_square(counts.squares[k]))
    within = np.less if counts.strict else np.less_equal
    listed = np.stack([within(counts.squares[rank], clipped) for rank in range(1, k + 1)], axis=1)
    own = np.bincount(counts.index[:, :k][listed], minlength=counts.sizes[0])
    samples = np.minimum(counts.real["clipped"].holding, k) / k
    scale = float(np.minimum(own, k).mean()) / k
    if scale == 0.0:
        return SupportScore(value=0.0, samples=np.zeros_like(samples))
    return SupportScore(value=min(float(samples.mean()) / scale, 1.0), samples=samples / scale)


def _clipped_coverage(counts: Counts) -> SupportScore:
    k, (n, m) = counts.k, counts.sizes
    samples = np.minimum(counts.real["k"].inside, k) / k
    value = share_that_fills(float(samples.mean()), own=n, other=m, k=k)
    return SupportScore(value=value, samples=samples)


def _cover_precision(counts: Counts) -> SupportScore:
    (n, m), k, far = counts.sizes, counts.k, counts.far
    tied = (counts.held["far"] > far).any()  # then it depends on ties of generated samples
    expected = None if tied else expected_coverage(own=m, other=n, k=far, at_least=k)
    return _mean(counts.generated["far"].inside >= k, expected=expected)


def _cover_recall(counts: Counts) -> SupportScore:
    expected = counts.filling("far", counts.far, at_least=counts.k)
    return _mean(counts.real["far"].inside >= counts.k, expected=expected)


def _realism(counts: Counts) -> SupportScore:
    assert counts.realism is not None
    samples = np.sqrt(counts.realism)
    return SupportScore(value=float(np.median(samples)), samples=samples)


def _authenticity(counts: Counts) -> SupportScore:
    assert counts.nearest is not None
    square, row = counts.nearest
    return _mean(square > counts.squares[1][row], is_share=True)


def _mean(
    samples: npt.ArrayLike,
    *,
    expected: float | None = None,
    variance: float | None = None,
    is_share: bool = False,
) -> SupportScore:
    values = np.asarray(samples, float)
    return SupportScore(
        value=float(values.mean()),
        samples=values,
        expected=expected,
        error=None if variance is None else float(np.sqrt(variance)),
        is_share=is_share,
    )


def median_square(squares: FloatArray) -> float:
    """The square of the median root; one of the squares, where it is one of the roots."""
    low, high = np.sort(squares)[[(len(squares) - 1) // 2, len(squares) // 2]]
    return float(low if low == high else (0.5 * (np.sqrt(low) + np.sqrt(high))) ** 2)


METRICS: dict[str, Metric] = {
    "precision": Metric(_precision, real=("k",)),
    "recall": Metric(_recall, generated=("k",)),
    "density": Metric(_density, real=("k", "next"), ties=("k",)),
    "coverage": Metric(_coverage, real=("k", "next"), ties=("k",)),
    "clipped_density": Metric(_clipped_density, real=("clipped",), radii=("every",)),
    "clipped_coverage": Metric(_clipped_coverage, real=("k",)),
    "cover_precision": Metric(_cover_precision, generated=("far",), ties=("far",)),
    "cover_recall": Metric(_cover_recall, real=("far",), ties=("far",)),
    "realism": Metric(_realism, radii=("k",)),
    "authenticity": Metric(_authenticity, radii=("first",)),
}
"""Every neighbor metric by name."""

METRIC_KEYS = {name: name.replace("_", ".") if "_" in name else f"knn.{name}" for name in METRICS}
"""What results call them, since precision alone could be many things."""
