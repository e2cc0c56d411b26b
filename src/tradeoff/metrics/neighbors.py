"""Scores by nearest neighbors: improved precision and recall, density, coverage and their kin."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from tradeoff._sides import Sides
from tradeoff.exceptions import UndefinedError
from tradeoff.metrics.family import Measured, Request
from tradeoff.metrics.registry import find_metric
from tradeoff.metrics.score import Score
from tradeoff.neighbors import OwnNeighbors, SupportMetrics, own_neighbors, support_metrics
from tradeoff.neighbors.metrics import METRIC_KEYS
from tradeoff.neighbors.support import COVER, reach_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from tradeoff.neighbors.scores import SupportScore
    from tradeoff.samples import Pair, Side

__all__ = ["measure", "neighbors_of"]

_NAMES = {key: name for name, key in METRIC_KEYS.items()}


def measure(pair: Pair, request: Request) -> Measured:
    """Neighbor metrics, each with what one half of the real samples scores against the other."""
    names = [_NAMES[key] for key in request.keys]
    result = _support(pair, names, request)
    perfect = _baseline(pair, names, request)
    values: Sides[dict[str, npt.NDArray[Any]]] = Sides({}, {})
    scores = {}
    for key, name in zip(request.keys, names, strict=True):
        scores[key] = _score(result[name], None if perfect is None else perfect[name], request)
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
        known = neighbors_of(pair.real, ranks, progress=request.progress)
    return support_metrics(
        real=pair.real.features,
        generated=pair.generated.features,
        k=request.k,
        metrics=names,
        real_neighbors=known,
        progress=request.progress,
    )


def neighbors_of(side: Side, ranks: int, *, progress: bool) -> OwnNeighbors:
    """The nearest neighbors of samples among themselves, at least as far as a rank."""

    def compute() -> OwnNeighbors:
        return own_neighbors(side.features, ranks=ranks, progress=progress)

    known = side.remember("neighbors", compute)
    if known.index.shape[1] < ranks:
        side.forget("neighbors")
        known = side.remember("neighbors", compute)
    return known


def _baseline(pair: Pair, names: Sequence[str], request: Request) -> SupportMetrics | None:
    baseline = pair.real_against_real(request.seed)
    reach = request.k * (COVER if any("cover_" in name for name in names) else 1)
    if len(baseline.generated) <= reach + 1:
        return None
    return pair.real.remember(
        ("neighbors of halves", request.seed, request.k, tuple(names)),
        lambda: _support(baseline, names, request),
    )


def _score(score: SupportScore, perfect: SupportScore | None, request: Request) -> Score:
    """With the closed form of the baseline where there is one."""
    limits: tuple[float | None, float | None] = (None, None)
    with contextlib.suppress(UndefinedError):
        limits = score.interval(request.level)
    expected = score.expected
    if expected is None and perfect is not None:
        expected = perfect.value
    return Score(value=score.value, low=limits[0], high=limits[1], expected=expected)
