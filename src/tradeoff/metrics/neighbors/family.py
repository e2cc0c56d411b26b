"""Scores by nearest neighbors: improved precision and recall, density, coverage and others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tradeoff._sides import Sides
from tradeoff.exceptions import UndefinedError
from tradeoff.metrics.family import Measured, Request
from tradeoff.metrics.neighbors import SupportMetrics, support_metrics
from tradeoff.metrics.neighbors.baselines import neighbors_of
from tradeoff.metrics.neighbors.metrics import METRIC_KEYS
from tradeoff.metrics.neighbors.support import reach_of
from tradeoff.metrics.registry import find_metric
from tradeoff.metrics.score import Score

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from tradeoff.metrics.neighbors.scores import SupportScore
    from tradeoff.samples import Pair

__all__ = ["measure"]

_NAMES = {key: name for name, key in METRIC_KEYS.items()}


def measure(pair: Pair, request: Request) -> Measured:
    """Neighbor metrics."""
    names = [_NAMES[key] for key in request.keys]
    result = _support(pair, names, request)
    values: Sides[dict[str, npt.NDArray[Any]]] = Sides({}, {})
    scores = {}
    for key, name in zip(request.keys, names, strict=True):
        low, high = _limits(result[name], request.level)
        scores[key] = Score(value=result[name].value, low=low, high=high)
        metric = find_metric(key)
        carrier = values.real if metric and metric.side == "real" else values.generated
        carrier[key] = result[name].samples
    if result.nearest_index is not None and result.nearest_distance is not None:
        values.generated["nearest_real"] = result.nearest_index
        values.generated["nearest_distance"] = result.nearest_distance
    return Measured(
        scores=scores,
        values=Sides(values.real, values.generated),
        provenance={"knn": dict(result.provenance)},
    )


def _support(pair: Pair, names: Sequence[str], request: Request) -> SupportMetrics:
    """The neighbors of real samples are found once, however many models they serve."""
    ranks = reach_of(names, k=request.k, samples=len(pair.real))
    known = None
    if 0 < ranks < len(pair.real):  # too few samples are refused with a sentence below
        # Baselines of some metrics look one neighbor farther.
        after = min(max(ranks, request.k + 1), len(pair.real) - 1)
        known = neighbors_of(pair.real, after, progress=request.progress)
    return support_metrics(
        real=pair.real.features,
        generated=pair.generated.features,
        k=request.k,
        metrics=names,
        real_neighbors=known,
        progress=request.progress,
    )


def _limits(score: SupportScore, level: float) -> tuple[float | None, float | None]:
    try:
        return score.interval(level)
    except UndefinedError:
        return None, None
