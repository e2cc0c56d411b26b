"""Groups of missed and invented samples: formed on one half of the data, counted on the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from tradeoff._sides import Sides
from tradeoff._threads import single_threaded
from tradeoff.explain.shares import Counted, Flagged, count_parts
from tradeoff.inference import policy
from tradeoff.ratio.base import MOST_COMPONENTS, Projection, squared_distances

if TYPE_CHECKING:
    import numpy.typing as npt

    from tradeoff._validation import FloatArray
    from tradeoff.curves.estimate import CurveEstimate
    from tradeoff.samples import Pair

__all__ = ["Formed", "coordinates_of", "examples_of", "form_groups", "nearest_of_other"]

_MOST_GROUPS = 8
_STABLE, _FAIRLY_STABLE = 0.8, 0.5  # adjusted Rand index between fits to two halves
_TRIALS = 4
_EXAMPLES = 8
_INNER = 0.8
_ALIKE = 0.05  # of the typical distance within a group, below which two examples look the same


@dataclass(frozen=True, eq=False)
class Formed:
    """Groups of the flagged samples of one side, and what was counted of them.

    Args:
        flagged: Which samples are in question.
        centers: Centers of the groups, to which samples belong by distance, shape (groups, d).
        members: Indices of flagged samples by group, from both halves.
        counted: Contributions of the groups.
    """

    flagged: Flagged
    centers: FloatArray
    members: tuple[npt.NDArray[np.intp], ...]
    counted: Counted


def coordinates_of(pair: Pair, single: CurveEstimate) -> Sides[FloatArray]:
    """Coordinates in which samples are grouped and compared, found on the half that forms groups.

    Above 64 columns, principal components of length 1, so that angles count.
    """
    real, generated = (side.x[~held.counted] for side, held in zip(pair, single.sides, strict=True))
    project = Projection.fit(real, generated)
    found = Sides(*(project(side.x) for side in pair))
    if pair.columns <= MOST_COMPONENTS:
        return found
    return found.map(lambda z: z / np.maximum(np.linalg.norm(z, axis=1), 1e-12)[:, None])


@single_threaded
def form_groups(
    coordinates: Sides[FloatArray],
    single: CurveEstimate,
    flagged: Flagged,
    *,
    level: float,
    seed: int,
) -> Formed | None:
    """Groups of flagged samples; None if too few are flagged in the half that forms them.

    Args:
        coordinates: Coordinates of both sides.
        single: Curve of a single split: its training half forms groups, the other counts them.
        flagged: Which samples are in question.
        level: Confidence level of the limits, together over the groups of both sides.
        seed: Seed of k-means.
    """
    if not flags_enough(flagged, single):
        return None
    own, training = flagged.own, _training_log_ratios(flagged, single)
    forming = np.flatnonzero(flagged(training))
    centers = _cluster(coordinates[own][forming], seed).cluster_centers_
    parts = coordinates.map(lambda z: _nearest_center(z, centers))
    found = count_parts(flagged, single, parts, count=len(centers), level=level)
    values = np.where(np.isnan(training), single.sides[own].log_ratios, training)
    everyone = flagged(values)
    members = tuple(
        np.flatnonzero(everyone & (parts[own] == group)) for group in range(len(centers))
    )
    return Formed(flagged, centers, members, found)


def flags_enough(flagged: Flagged, single: CurveEstimate) -> bool:
    """Whether the half that forms groups has enough samples in question for one group."""
    return int(flagged(_training_log_ratios(flagged, single)).sum()) >= policy.FEWEST_FLAGGED


def _training_log_ratios(flagged: Flagged, single: CurveEstimate) -> FloatArray:
    found = single.sides[flagged.own].training_log_ratios
    assert found is not None
    return found


def _cluster(x: FloatArray, seed: int) -> KMeans:
    """As many clusters as fits to two halves agree on, at most 8; copies count once."""
    distinct = np.unique(x, axis=0)
    if len(distinct) < len(x):
        x = distinct
    most = min(_MOST_GROUPS, len(x) // policy.FEWEST_FLAGGED)
    agreement = {count: _agreement(x, count, seed) for count in range(2, most + 1)}
    stable = [count for count, found in agreement.items() if found >= _STABLE]
    count = max(stable, default=1)
    if not stable and agreement:
        best = max(agreement, key=lambda one: agreement[one])
        count = best if agreement[best] >= _FAIRLY_STABLE else 1
    return KMeans(count, n_init=10, random_state=seed).fit(x)


def _agreement(x: FloatArray, count: int, seed: int) -> float:
    """Mean adjusted Rand index of clusters from two random halves."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(_TRIALS):
        order = rng.permutation(len(x))
        fits = [
            KMeans(count, n_init=3, random_state=seed).fit(x[half])
            for half in (order[::2], order[1::2])
        ]
        found.append(adjusted_rand_score(*(fit.predict(x) for fit in fits)))
    return float(np.mean(found))


def _nearest_center(x: FloatArray, centers: FloatArray) -> npt.NDArray[np.intp]:
    return np.asarray(np.argmin(squared_distances(x, centers), axis=1))


def examples_of(x: FloatArray, members: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """The most typical member, then each the farthest from those before, near-duplicates left out.

    Args:
        x: Coordinates of all samples of the side, shape (n, d).
        members: Indices of the members.
    """
    if not len(members):
        return members
    from_center = ((x[members] - x[members].mean(0)) ** 2).sum(1)
    kept = max(1, int(_INNER * len(members)))
    inner = members[np.argsort(from_center, kind="stable")[:kept]]
    distance = ((x[inner] - x[inner[0]]) ** 2).sum(1)
    alike = _ALIKE**2 * float(np.median(distance))
    chosen = [inner[0]]
    while len(chosen) < _EXAMPLES and distance.max() > alike:
        chosen.append(inner[np.argmax(distance)])
        distance = np.minimum(distance, ((x[inner] - x[chosen[-1]]) ** 2).sum(1))
    return np.array(chosen)


def nearest_of_other(x: FloatArray, other: FloatArray) -> tuple[npt.NDArray[np.intp], FloatArray]:
    """For each row the nearest of the other side that no earlier row has taken, and its distance.

    Args:
        x: Coordinates of a few samples, shape (n, d).
        other: Coordinates of the other side, shape (m, d).
    """
    squares = squared_distances(x, other)
    chosen = np.empty(len(x), np.intp)
    for i, row in enumerate(squares):
        chosen[i] = np.argmin(row)
        if len(other) > len(x):
            squares[i + 1 :, chosen[i]] = np.inf
    return chosen, np.sqrt(((x - other[chosen]) ** 2).sum(1))
