"""Fréchet and kernel distance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tradeoff.metrics.family import Measured, Request, part_sizes
from tradeoff.metrics.moments import frechet_distance, kernel_distance
from tradeoff.metrics.moments.expectations import SamplingNoise
from tradeoff.metrics.moments.frechet import Moments
from tradeoff.metrics.score import Baseline, Score

if TYPE_CHECKING:
    from tradeoff.samples import Pair, Side

__all__ = ["expected_frechet", "expected_kernel", "measure_frechet", "measure_kernel"]

_SUBSET = 1000
_FEW_COLUMNS = 256  # up to here distances cost little, and vary much from split to split


def measure_frechet(pair: Pair, request: Request) -> Measured:
    """The Fréchet distance."""
    real = pair.real.remember("moments", lambda: Moments.of(pair.real.x, "real"))
    value = frechet_distance(real=real, generated=pair.generated.x)
    return Measured(scores={"frechet.distance": Score(value=value)})


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
    return Measured(scores={"kernel.distance": Score(value=value)})


def expected_frechet(real: Side, size: int, request: Request) -> Baseline:
    """Distances between parts of the real samples, extrapolated by the theory of sampling noise."""
    n, noise = len(real), SamplingNoise.of(real.x)
    if not noise.trace:
        return Baseline(0.0)
    sizes = part_sizes(n, size)
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


def expected_kernel(real: Side, size: int, request: Request) -> Baseline:
    """The estimate of the squared distance is unbiased."""
    return Baseline(0.0)
