"""Generated samples that lie closer to a real one than real ones lie to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.neighbors import NearestNeighbors

if TYPE_CHECKING:
    import numpy.typing as npt

    from tradeoff._sides import Sides
    from tradeoff._validation import FloatArray

__all__ = ["closest_pairs"]

_SHOWN = 6


def closest_pairs(
    coordinates: Sides[FloatArray],
) -> list[tuple[int, int, float, float]]:
    """Indices of generated and real samples, their distance, and the usual one; closest first.

    The usual distance is that of the real sample from its nearest real neighbor. Each real sample
    occurs once.
    """
    real, generated = coordinates
    search = NearestNeighbors(n_neighbors=2, algorithm="brute").fit(real)
    usual = _own(search, real)
    distance, nearest = (found[:, 0] for found in search.kneighbors(generated))
    relative = distance / np.maximum(usual[nearest], 1e-12)
    found: list[tuple[int, int, float, float]] = []
    taken = set[int]()
    for i in np.argsort(relative, kind="stable"):
        j = int(nearest[i])
        if relative[i] >= 1.0 or len(found) == _SHOWN:
            break
        if j not in taken:
            taken.add(j)
            found.append((int(i), j, float(distance[i]), float(usual[j])))
    return found


def _own(search: NearestNeighbors, real: FloatArray) -> npt.NDArray[np.float64]:
    """Distance of each real sample from its nearest other one that is not a copy of it."""
    distance: FloatArray = search.kneighbors(real)[0][:, 1]
    return np.where(distance > 0, distance, np.median(distance))
