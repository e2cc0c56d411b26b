"""Samples that nearly repeat another one of their side, and are hardly independent of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.neighbors import NearestNeighbors

from tradeoff.inference.shares import wilson_interval

if TYPE_CHECKING:
    from tradeoff._validation import FloatArray
    from tradeoff.samples import Pair, Side

__all__ = ["near_copies"]

_CLOSER = 1 / 3
_USUAL = 0.05  # two sides of one distribution do not have more, in any number of columns
_FEWEST = 200
_MOST = 5000  # samples of a side that are looked at


def near_copies(pair: Pair, *, level: float, seed: int) -> dict[str, float]:
    """Share of near-copies on each side on which there are surely more than usual.

    A near-copy is closer to another sample of its side than a third of the distance to the nearest
    that 95% of the other side's samples keep; exact copies are left out. Distances shrink with the
    number of samples, so as many of both sides are looked at.

    Args:
        pair: Samples.
        level: Probability with which a share is rightly called larger than usual.
        seed: Seed of which samples are looked at, where a side has more.
    """
    size = min(pair.real.distinct, pair.generated.distinct, _MOST)
    if size < _FEWEST:
        return {}
    real, made = (_distances(side, size, seed) for side in pair)
    found = {}
    for side, own, other in (("real", real, made), ("generated", made, real)):
        share = float((own < _CLOSER * np.quantile(other, _USUAL)).mean())
        if wilson_interval(share, size / 2, level)[0] > _USUAL:  # two are each other's nearest
            found[side] = share
    return found


def _distances(side: Side, size: int, seed: int) -> FloatArray:
    """Distance to the nearest other one, of so many samples that differ; shape (size,)."""
    _, distinct = np.unique(side.keys_for(seed), return_index=True)  # in an order by content
    x = side.x[distinct[:size]]
    nearest = NearestNeighbors(n_neighbors=1, algorithm="brute").fit(x - x.mean(0))
    return np.asarray(nearest.kneighbors()[0][:, 0])
