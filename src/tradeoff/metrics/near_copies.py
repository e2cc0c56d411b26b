"""Samples that nearly repeat another one of their side, and are hardly independent of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tradeoff.inference.shares import wilson_interval
from tradeoff.metrics.baseline import neighbors_of

if TYPE_CHECKING:
    from tradeoff._validation import FloatArray
    from tradeoff.samples import Pair, Side

__all__ = ["near_copies"]

_CLOSER = 1 / 3
_USUAL = 0.05  # two sides of one distribution do not have more, in any number of columns
_FEWEST = 200
_MOST = 10_000  # samples of a side that are looked at


def near_copies(pair: Pair, *, level: float, seed: int, progress: bool) -> dict[str, float]:
    """Share of near-copies on each side on which there are surely more than usual.

    A near-copy is closer to another sample of its side than a third of the distance to the nearest
    that 95% of the other side's samples keep; exact copies are not counted. Distances shrink with
    the number of samples, so as many of both sides are looked at.

    Args:
        pair: Samples.
        level: Probability with which a share is rightly called larger than usual.
        seed: Seed of which samples are looked at, where a side has more.
        progress: Whether to show progress lines.
    """
    size = min(*pair.sizes.values(), _MOST)
    if size < _FEWEST:
        return {}
    real, made = (_distances(side, size, seed, progress=progress) for side in pair)
    found = {}
    for side, own, other in (("real", real, made), ("generated", made, real)):
        usual = np.quantile(other[other > 0], _USUAL) if other.any() else 0.0
        share = float(((own > 0) & (own < _CLOSER * usual)).mean())
        if wilson_interval(share, size / 2, level)[0] > _USUAL:  # two are each other's nearest
            found[side] = share
    return found


def _distances(side: Side, size: int, seed: int, *, progress: bool) -> FloatArray:
    """Distance of each sample to the nearest other one of its side, shape (size,)."""
    part = side if len(side) == size else side.parted(size, 0, seed)[0]
    return np.sqrt(neighbors_of(part, 1, progress=progress).squares[:, 0])
