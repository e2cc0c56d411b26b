r"""Held-out errors as integer counts at fixed slopes, whatever the number of samples.

A log-ratio that is fixed beforehand calls a sample generated at slope :math:`\lambda` if it is
below :math:`-\log\lambda`. How many samples of each side it calls generated at each of fixed slopes
is all that the curve, its intervals and its certificate need, and counts of parts add up.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tradeoff._result import Result
from tradeoff._sides import Sides
from tradeoff.core.curve import PRCurve
from tradeoff.exceptions import InvalidInputError

if TYPE_CHECKING:
    from tradeoff._validation import FloatArray

__all__ = ["BAND_SLOPES", "BUCKETS", "COUNTED_SLOPES", "HeldOutCounts", "count_errors"]

BAND_SLOPES = np.geomspace(1 / 20, 20, 121)
"""Slopes at which bands are computed and whole curves are compared."""
_FURTHER = np.geomspace(20, 100, 34)[1:]
_NAMED = np.array([0.4, 1.0, 1.5, 2.0, 5.0, 10.0, 20.0])
COUNTED_SLOPES: npt.NDArray[np.float64] = np.unique(
    np.concatenate((BAND_SLOPES, _FURTHER, 1 / _FURTHER, _NAMED, 1 / _NAMED)).round(12)
)
"""Slopes at which errors are counted: all that are reported, and further ones up to 100."""
BUCKETS = 256
"""Parts of each side, by group, whose spread shows how much samples of a group agree."""
_SAME = 1e-9


@dataclass(frozen=True, eq=False, kw_only=True)
class HeldOutCounts(Result):
    """Counts of the errors of a log-ratio that was fitted on other samples.

    Args:
        real: Number of real samples by bucket and by the number of slopes at which they are called
            generated, shape (256, slopes + 1).
        generated: The same for generated samples.
        groups: Number of independent groups of samples on each side; None if all samples of a side
            are independent.

    Example:
        >>> import numpy as np
        >>> from tradeoff.core.counts import HeldOutCounts, count_errors
        >>> bucket = np.arange(4)
        >>> counts = HeldOutCounts(
        ...     real=count_errors(np.array([1.2, 0.7, -0.3, 0.9]), bucket),
        ...     generated=count_errors(np.array([-1.0, 0.2, -0.6, -2.0]), bucket),
        ... )
        >>> counts.sizes, counts.curve().precision(1.0)
        (Sides(real=4, generated=4), 0.5)
    """

    real: npt.NDArray[np.int64]
    generated: npt.NDArray[np.int64]
    groups: Sides[float | None] = Sides(None, None)  # noqa: RUF009, a plain tuple

    @cached_property
    def sizes(self) -> Sides[int]:
        """Number of samples of each side."""
        return Sides(int(self.real.sum()), int(self.generated.sum()))

    @cached_property
    def called(self) -> Sides[npt.NDArray[np.int64]]:
        """Samples called generated, by bucket and slope, shapes (256, slopes)."""
        return Sides(called_of(self.real), called_of(self.generated))

    def curve(self) -> PRCurve:
        """The curve as counted: exact at the slopes of the counts, nearest threshold in between.

        Any threshold gives an expectation that is not below the true curve. Beyond the slopes,
        all samples are taken for generated, or for real ones.
        """
        rejected, passed = self.shares
        between = np.sqrt(COUNTED_SLOPES[1:] * COUNTED_SLOPES[:-1])
        ends = COUNTED_SLOPES[[0, -1]] ** 2 / between[[0, -1]]
        return PRCurve(
            breakpoints=np.concatenate((ends[:1], between, ends[1:])),
            intercepts=np.concatenate(([0.0], passed, [1.0])),
            slopes=np.concatenate(([1.0], rejected, [0.0])),
            max_precision=1.0,
            max_recall=1.0,
        )

    @property
    def shares(self) -> tuple[FloatArray, FloatArray]:
        """Share of real samples that are called generated, and of generated ones that are not."""
        real, generated = (
            called.sum(0) / max(size, 1)
            for called, size in zip(self.called, self.sizes, strict=True)
        )
        return real, 1.0 - generated


def count_errors(
    log_ratios: FloatArray, buckets: npt.NDArray[np.integer[Any]]
) -> npt.NDArray[np.int64]:
    """Samples by bucket and by the number of slopes at which they are called generated.

    Args:
        log_ratios: Log p/q of samples, shape (n,).
        buckets: Bucket of each sample, below 256, shape (n,).
    """
    return held_by(buckets.astype(np.int64), BUCKETS, log_ratios, COUNTED_SLOPES)


def held_by(
    parts: npt.NDArray[np.integer[Any]],
    count: int,
    log_ratios: FloatArray,
    slopes: FloatArray,
    weights: FloatArray | None = None,
) -> npt.NDArray[Any]:
    """Samples, or their weights, by part and by the number of slopes that call them generated.

    Args:
        parts: Number of the part of each sample, shape (n,).
        count: Number of parts.
        log_ratios: Log p/q of samples, shape (n,).
        slopes: Slopes in ascending order.
        weights: Weight of each sample; they are counted if not given.
    """
    cells = slopes.size + 1
    calling = slopes.size - np.searchsorted(-np.log(slopes[::-1]), log_ratios, side="right")
    held = np.bincount(parts * cells + calling, weights, minlength=count * cells)
    return held.reshape(count, cells)


def places_of(slopes: FloatArray) -> npt.NDArray[np.intp]:
    """Places of slopes among those at which errors are counted."""
    after = np.clip(np.searchsorted(COUNTED_SLOPES, slopes), 1, COUNTED_SLOPES.size - 1)
    nearer = slopes - COUNTED_SLOPES[after - 1] < COUNTED_SLOPES[after] - slopes
    place = np.where(nearer, after - 1, after)
    off = np.abs(COUNTED_SLOPES[place] / slopes - 1.0) > _SAME
    if off.any():
        raise InvalidInputError(
            f"Errors are counted at fixed slopes, and {slopes[off][0]:g} is not among them: the "
            f"nearest is {COUNTED_SLOPES[place][off][0]:.4g}."
        )
    return np.asarray(place)


def called_of(held: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """From samples by the number of slopes that call them generated to samples by slope."""
    return np.asarray(held[:, ::-1].cumsum(1)[:, -2::-1])
