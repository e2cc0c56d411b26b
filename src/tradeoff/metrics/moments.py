"""Fréchet and kernel distance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tradeoff.metrics.baseline import score_of
from tradeoff.metrics.family import Measured, Request
from tradeoff.moments import frechet_distance, kernel_distance
from tradeoff.moments.frechet import Moments

if TYPE_CHECKING:
    from tradeoff.samples import Pair

__all__ = ["measure_frechet", "measure_kernel"]

_SUBSET = 1000


def measure_frechet(pair: Pair, request: Request) -> Measured:
    """The Fréchet distance."""
    real = pair.real.remember("moments", lambda: Moments.of(pair.real.x, "real"))
    value = frechet_distance(real=real, generated=pair.generated.x)
    return _measured("frechet.distance", value, pair, request)


def measure_kernel(pair: Pair, request: Request) -> Measured:
    """The kernel distance, averaged over subsets."""
    real, generated = (side.x[side.order_for(request.seed)] for side in pair)
    value = kernel_distance(
        real=real,
        generated=generated,
        subset_size=min(_SUBSET, *pair.sizes.values()),
        seed=request.seed,
        progress=request.progress,
    ).mean
    return _measured("kernel.distance", value, pair, request)


def _measured(key: str, value: float, pair: Pair, request: Request) -> Measured:
    return Measured(scores={key: score_of(key, value, (None, None), pair, request)})
