r"""Contributions of parts of the data to a loss, with lower confidence limits.

With :math:`M = \{\log r \ge -\log\lambda\}` and :math:`I` its complement, for any partition into
parts :math:`g`,

.. math:: 1 - \beta(\lambda) = \sum_g P(g \cap M) - Q(g \cap M) / \lambda, \qquad
          1 - \alpha(\lambda) = \sum_g Q(g \cap I) - \lambda P(g \cap I) .

For a partition and a rule that were fixed beforehand, the expectation of a part is never above its
true value, so its lower limit is one of the truth; an upper limit would not be.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from tradeoff.inference import policy
from tradeoff.inference.shares import wilson_distances

if TYPE_CHECKING:
    import numpy.typing as npt

    from tradeoff._sides import Sides
    from tradeoff._validation import FloatArray
    from tradeoff.curves.estimate import CurveEstimate, HeldOut

__all__ = ["Counted", "Flagged", "count_parts"]

_TIMES = 2.0 ** (np.arange(25) / 4)  # from 1 to 64, in steps of a fifth


@dataclass(frozen=True, eq=False)
class Flagged:
    """The samples that make up a loss at a slope.

    Args:
        kind: "recall" or "precision".
        factor: Samples are flagged where the other side is more than this many times rarer.
    """

    kind: str
    factor: float

    @property
    def own(self) -> int:
        """The side that loses: 0 real for recall, 1 generated for precision."""
        return 0 if self.kind == "recall" else 1

    def __call__(self, log_ratios: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        """Which samples of either side are flagged; those without a log-ratio are not."""
        threshold = float(np.log(self.factor))
        if self.kind == "recall":
            return np.asarray(log_ratios >= threshold)
        return np.asarray(log_ratios < -threshold)


@dataclass(frozen=True, eq=False)
class Counted:
    """Counts of flagged samples in each part, and what they contribute.

    Args:
        own: Flagged samples of the side that loses, shape (parts,).
        other: Flagged samples of the other side, shape (parts,).
        share: Contribution of each part, shape (parts,).
        at_least: Lower limit of each, all of them together at the level, shape (parts,).
        times_needed: How many times as many samples would establish each four times in five, if
            the shares stay the same; NaN if that is more than 64 times, shape (parts,).
    """

    own: npt.NDArray[np.int64]
    other: npt.NDArray[np.int64]
    share: FloatArray
    at_least: FloatArray
    times_needed: FloatArray


def count_parts(
    flagged: Flagged,
    estimate: CurveEstimate,
    parts: Sides[npt.NDArray[np.intp]],
    *,
    count: int,
    level: float,
) -> Counted:
    """Contributions of parts to a loss, on the samples that a curve was counted from.

    Args:
        flagged: Which samples make up the loss.
        estimate: The curve.
        parts: Number of the part in which each sample of both sides lies.
        count: Number of parts.
        level: Confidence level of all limits together, with those of the other kind of loss.
    """
    z = float(ndtri(1.0 - (1.0 - level) / (2 * count)))
    counts, shares = [], []
    for side, part in zip(estimate.sides, parts, strict=True):
        rows = side.counted
        found = np.bincount(part[rows][flagged(side.log_ratios[rows])], minlength=count)
        counts.append(found)
        shares.append(found / rows.sum())
    own, other = flagged.own, 1 - flagged.own
    share = shares[own] - flagged.factor * shares[other]
    sizes = [_independent(side) for side in estimate.sides]

    def distance(times: float) -> FloatArray:
        """Distances down to the lower limits, with so many times as many samples."""
        below = wilson_distances(shares[own], np.full(count, times * sizes[own]), z)[0]
        above = wilson_distances(shares[other], np.full(count, times * sizes[other]), z)[1]
        return np.asarray(np.hypot(below, flagged.factor * above))

    needed = np.full(count, np.nan)
    for times in _TIMES[::-1]:
        needed[share > policy.CONTROL_POWER * distance(times)] = times
    at_least = np.maximum(share - distance(1.0), 0.0)
    return Counted(counts[own], counts[other], share, at_least, needed)


def _independent(side: HeldOut) -> float:
    """Number of counted samples; of groups, the number of equal ones with the same weight."""
    if side.groups is None:
        return float(side.counted.sum())
    sizes = np.unique(side.groups[side.counted], return_counts=True)[1]
    return float(sizes.sum() ** 2 / (sizes**2).sum())
