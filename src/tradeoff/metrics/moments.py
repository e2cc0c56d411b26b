"""Fréchet and kernel distance, with those of one half of the real samples to the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tradeoff.metrics.family import Measured, Request
from tradeoff.metrics.score import Score
from tradeoff.moments import frechet_distance, kernel_distance
from tradeoff.moments.frechet import Moments

if TYPE_CHECKING:
    from collections.abc import Callable

    from tradeoff.samples import Pair

__all__ = ["measure_frechet", "measure_kernel"]

_SUBSET = 1000


def measure_frechet(pair: Pair, request: Request) -> Measured:
    """The Fréchet distance."""
    return _measure("frechet.distance", pair, request, _frechet)


def measure_kernel(pair: Pair, request: Request) -> Measured:
    """The kernel distance, averaged over subsets."""

    def distance(pair: Pair) -> float:
        return kernel_distance(
            real=pair.real.features,
            generated=pair.generated.features,
            subset_size=min(_SUBSET, *pair.sizes.values()),
            seed=request.seed,
            progress=request.progress,
        ).mean

    return _measure("kernel.distance", pair, request, distance)


def _frechet(pair: Pair) -> float:
    real = pair.real.remember("moments", lambda: Moments.of(pair.real.x, "real"))
    return frechet_distance(real=real, generated=pair.generated.x)


def _measure(key: str, pair: Pair, request: Request, distance: Callable[[Pair], float]) -> Measured:
    baseline = pair.real_against_real(request.seed)
    expected = None
    if len(baseline.generated) > 1:
        expected = pair.real.remember((key, request.seed), lambda: distance(baseline))
    return Measured(scores={key: Score(value=distance(pair), expected=expected)})
