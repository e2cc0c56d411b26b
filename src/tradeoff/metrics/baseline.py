"""The baseline of a metric: its mean when both sets come from the real data.

It is always that of the given numbers of samples: a closed form, the real samples each left out of
the others, or a value between parts of the real samples that is extrapolated with its error. It is
empty below `fewest_real` real samples.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tradeoff.inference.shares import normal_quantile
from tradeoff.metrics.registry import find_metric
from tradeoff.metrics.repeats import error_of_repeats, is_repeated
from tradeoff.metrics.score import Score
from tradeoff.moments.expectations import SamplingNoise
from tradeoff.moments.frechet import Moments, frechet_distance
from tradeoff.neighbors import own_neighbors, support_metrics
from tradeoff.neighbors.expectations import (
    expected_coverage,
    expected_density,
    expected_filling,
)
from tradeoff.neighbors.leave_one_out import authentic, ball_sizes, inside_others, realism
from tradeoff.neighbors.support import COVER

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from tradeoff.metrics.family import Request
    from tradeoff.neighbors.nearest import OwnNeighbors
    from tradeoff.samples import Pair, Side

__all__ = ["Baseline", "baseline_of", "fewest_real", "neighbors_of", "score_of"]

_FEW_COLUMNS = 256  # up to here distances cost little, and vary much from split to split
_SAME_SIZE = 1.05  # recall hardly changes within this ratio of sizes
_BOUND_BY_GENERATED = ("knn.recall", "clipped.density", "clipped.coverage")
_MOST_PARTS = 8
_REALISM_ROWS = 1000
_CLIPPED_SPLITS = 4
_MOST_TIED = 0.01


@dataclass(frozen=True)
class Baseline:
    """The mean of a metric when both sets come from the real data.

    Args:
        value: The mean.
        error: Its standard error; 0 for a closed form.
    """

    value: float
    error: float = 0.0


def score_of(
    key: str,
    value: float,
    limits: tuple[float | None, float | None],
    pair: Pair,
    request: Request,
) -> Score:
    """A score with its baseline.

    Args:
        key: Key of the metric.
        value: Its value.
        limits: Its confidence limits; None where no valid interval is known.
        pair: Samples.
        request: Rank of neighbors, seed and confidence level.
    """
    baseline, metric = baseline_of(key, pair, request), find_metric(key)
    score = Score(value=value, low=limits[0], high=limits[1])
    if baseline is None:
        return score
    if not baseline.error:
        return replace(score, expected=baseline.value)
    least, most = (-np.inf, np.inf) if metric is None else metric.range
    distance = normal_quantile(request.level) * baseline.error
    return replace(
        score,
        expected=baseline.value,
        expected_low=max(baseline.value - distance, least),
        expected_high=min(baseline.value + distance, most),
    )


def baseline_of(key: str, pair: Pair, request: Request) -> Baseline | None:
    """The baseline of a metric for the sizes of a pair, from its real samples alone.

    Args:
        key: Key of the metric.
        pair: Samples; of the generated ones only the number is used.
        request: Rank of neighbors and seed.

    Returns:
        The baseline; None for a metric that has none and below `fewest_real` real samples. For
        knn.recall, clipped.density and clipped.coverage it is None, too, if there are more
        generated than real samples: parts of the real samples would be too small. Where real
        samples repeat or are equally far from others, those of knn.coverage and of cover metrics
        are approximate, and None for cover.precision with more generated than real samples and
        for clipped metrics if this holds for more than 1% of the real samples.
    """
    make = _BASELINES.get(key)
    if make is None or len(pair.real) < fewest_real(key, request.k):
        return None
    if key in _BOUND_BY_GENERATED and len(pair.generated) > _SAME_SIZE * len(pair.real):
        return None
    what = (key, "baseline", len(pair.generated), request.k, request.seed)
    return pair.real.remember(what, lambda: make(pair.real, len(pair.generated), request))


def fewest_real(key: str, k: int) -> int:
    """Smallest number of real samples with which a metric has a baseline.

    Args:
        key: Key of the metric.
        k: Rank of neighbors.
    """
    if key == "frechet.distance":
        return 20
    if key in ("clipped.density", "clipped.coverage"):
        return 4 * (k + 1)
    if key == "knn.realism":  # a median over samples left out in turn is biased, unlike a mean
        return 1000
    if key in ("knn.precision", "knn.recall", "knn.authenticity"):
        return 2 * (k + 1)
    return 1


def neighbors_of(side: Side, ranks: int, *, progress: bool) -> OwnNeighbors:
    """The nearest neighbors of samples among themselves, at least as far as a rank."""

    def compute() -> OwnNeighbors:
        return own_neighbors(side.features, ranks=ranks, progress=progress)

    known = side.remember("neighbors", compute)
    if known.index.shape[1] < ranks:
        side.forget("neighbors")
        known = side.remember("neighbors", compute)
    return known


def _kernel(real: Side, size: int, request: Request) -> Baseline:
    """The estimate of the squared distance is unbiased."""
    return Baseline(0.0)


def _frechet(real: Side, size: int, request: Request) -> Baseline:
    """Distances between parts of the real samples, extrapolated by the theory of sampling noise."""
    n, noise = len(real), SamplingNoise.of(real.x)
    if not noise.trace:
        return Baseline(0.0)
    sizes = _part_sizes(n, size)
    observed = []
    for seed in range(request.seed, request.seed + (4 if real.columns < _FEW_COLUMNS else 2)):
        parts = [Moments.of(part.x) for part in real.parted(*sizes, seed)]
        shift = parts[0].mean - parts[1].mean
        distance = frechet_distance(real=parts[0], generated=parts[1])
        observed.append(distance - float(shift @ shift))
    covariances = np.array(observed) * noise.between(n, size) / noise.between(*sizes)
    value = noise.trace * (1 / n + 1 / size) + float(covariances.mean())
    norms = ((real.x - real.x.mean(0)) ** 2).sum(1)
    of_trace = value * float(norms.std() / norms.mean()) / np.sqrt(n)
    return Baseline(value, float(np.hypot(of_trace, covariances.std(ddof=1))))


def _precision(real: Side, size: int, request: Request) -> Baseline:
    """Depends on the number of real samples alone."""
    known = neighbors_of(real, request.k, progress=request.progress)
    return _share(inside_others(known, request.k))


def _recall(real: Side, size: int, request: Request) -> Baseline:
    """Depends on the number of generated samples alone: parts of the real data of that size."""
    n = len(real)
    if _SAME_SIZE * size >= n:
        return _precision(real, size, request)
    rows = (size + 1) * min(_MOST_PARTS, n // (size + 1))
    parts = real.order_for(request.seed)[:rows].reshape(-1, size + 1)
    found = [
        inside_others(
            own_neighbors(real.x[part], ranks=request.k, progress=request.progress), request.k
        )
        for part in parts
    ]
    return _share(np.concatenate(found))


def _authenticity(real: Side, size: int, request: Request) -> Baseline:
    return _share(authentic(neighbors_of(real, 1, progress=request.progress)))


def _share(passed: npt.NDArray[np.bool_]) -> Baseline:
    """With the standard error of a share that is neither 0 nor 1."""
    center = (passed.sum() + 1) / (passed.size + 2)
    error = float(np.sqrt(center * (1 - center) / passed.size))
    return Baseline(float(passed.mean()), error)


def _realism(real: Side, size: int, request: Request) -> Baseline | None:
    rows = real.order_for(request.seed)[:_REALISM_ROWS]
    known = neighbors_of(real, request.k + 1, progress=request.progress)
    found = np.sort(realism(real.x, known, request.k, rows))
    half = 0.5 / np.sqrt(len(rows))
    low, median, high = np.quantile(found, [0.5 - half, 0.5, 0.5 + half], method="nearest")
    return Baseline(float(median), float(0.5 * (high - low))) if np.isfinite(high) else None


def _density(real: Side, size: int, request: Request) -> Baseline | None:
    held = _held(real, request.k, request)
    return None if held is None else _mean(expected_density(held, k=request.k), real)


def _coverage(real: Side, size: int, request: Request) -> Baseline | None:
    return _filled(real, size, request.k, request)


def _cover_precision(real: Side, size: int, request: Request) -> Baseline | None:
    """Balls around generated samples: around as many real ones if distances are tied."""
    k, around = COVER * request.k, real
    if _tied_share(real, k, request) > 0:
        if size > _SAME_SIZE * len(real):
            return None
        if size < len(real):
            around, _ = real.parted(size, len(real) - size, request.seed)
        return _filled(around, len(real), k, request, at_least=request.k)
    if k >= size:
        return None
    return Baseline(expected_coverage(own=size, other=len(real), k=k, at_least=request.k))


def _cover_recall(real: Side, size: int, request: Request) -> Baseline | None:
    return _filled(real, size, COVER * request.k, request, at_least=request.k)


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


def _clipped(name: str) -> Callable[[Side, int, Request], Baseline | None]:
    """What is missing to 1 falls like the inverse root of the number of samples, without ties."""

    def make(real: Side, size: int, request: Request) -> Baseline | None:
        if _tied_share(real, request.k, request) > _MOST_TIED:
            return None
        n = len(real)
        own, other = _part_sizes(n, size)
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
        return Baseline(
            1.0 - float(scale * np.mean(missing)), float(scale * np.std(missing, ddof=1))
        )

    return make


def _copies_of_real(real: Side, size: int, request: Request) -> Baseline:
    """A real sample looks for its copy among the others; a pair of copies counts twice."""
    _, place, counts = np.unique(real.keys, return_inverse=True, return_counts=True)
    known = float((counts[place] > 1).mean())
    return Baseline(known, float(np.sqrt(2 * known * (1 - known) / len(real))))


def _copies_within(real: Side, size: int, request: Request) -> Baseline:
    """Among as many samples as are counted on the generated side."""
    keys = real.keys[real.order_for(request.seed)[:size]]
    return Baseline(float(is_repeated(keys).mean()), error_of_repeats(keys))


def _part_sizes(n: int, size: int) -> tuple[int, int]:
    """Sizes of two parts of n samples with the ratio of both sides; halves if n is the smaller."""
    other = max(2, round(n * size / (n + size))) if size < n else n // 2
    return n - other if size < n else other, other


_BASELINES: dict[str, Callable[[Side, int, Request], Baseline | None]] = {
    "frechet.distance": _frechet,
    "kernel.distance": _kernel,
    "knn.precision": _precision,
    "knn.recall": _recall,
    "knn.density": _density,
    "knn.coverage": _coverage,
    "knn.authenticity": _authenticity,
    "knn.realism": _realism,
    "clipped.density": _clipped("clipped_density"),
    "clipped.coverage": _clipped("clipped_coverage"),
    "cover.precision": _cover_precision,
    "cover.recall": _cover_recall,
    "copies.of_real": _copies_of_real,
    "copies.within": _copies_within,
}
