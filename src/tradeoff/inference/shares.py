"""Limits of a share of independent samples: Wilson's score limits and exact ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

import numpy as np
from scipy.special import betaincinv, ndtri

from tradeoff._validation import FloatArray, check_numbers, check_share, check_shares, same_kind

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["exact_upper_limits", "normal_quantile", "wilson_distances", "wilson_interval"]


_NONE = 1e-9  # samples: where all were seen, the limit is 1


def normal_quantile(level: float) -> float:
    """Number of standard errors within which a normal variable lies with probability `level`."""
    return float(ndtri(0.5 + 0.5 * check_share("level", level)))


def exact_upper_limits(
    counts: npt.ArrayLike, size: npt.ArrayLike, risk: npt.ArrayLike
) -> FloatArray:
    """Clopper and Pearson's upper limits of shares, each of which is exceeded with some risk.

    Lower limits are one minus the upper limits of the other samples.

    Args:
        counts: How many samples were seen, any shape.
        size: Number of independent samples.
        risk: Largest probability that the true share is above its limit.

    Example:
        >>> from tradeoff.inference.shares import exact_upper_limits
        >>> exact_upper_limits([0, 10], 10, 0.05).round(2).tolist()
        [0.26, 1.0]
    """
    seen, others = np.asarray(counts) + 1.0, np.subtract(size, counts)
    return np.asarray(betaincinv(seen, np.maximum(others, _NONE), np.subtract(1.0, risk)))


@overload
def wilson_interval(share: float, size: float, level: float) -> tuple[float, float]: ...
@overload
def wilson_interval(
    share: FloatArray, size: npt.ArrayLike, level: float
) -> tuple[FloatArray, FloatArray]: ...
def wilson_interval(
    share: npt.ArrayLike, size: npt.ArrayLike, level: float
) -> tuple[float | FloatArray, float | FloatArray]:
    """Lower and upper confidence limit of shares, within [0, 1]; numbers give numbers.

    Args:
        share: Observed shares, any shape.
        size: Numbers of independent samples, same shape as `share` or one number.
        level: Confidence level, in (0, 1).

    Example:
        Half of ten samples, and none of ten:

        >>> from tradeoff.inference.shares import wilson_interval
        >>> [round(limit, 2) for limit in wilson_interval(0.5, 10, 0.95)]
        [0.24, 0.76]
        >>> [round(limit, 2) for limit in wilson_interval(0.0, 10, 0.95)]
        [0.0, 0.28]
    """
    shares, sizes = check_shares("share", share), check_numbers("size", size)
    below, above = wilson_distances(shares, sizes, normal_quantile(level))
    # Rounding can take the limits of 0 and of 1 a little outside.
    return same_kind(np.maximum(shares - below, 0.0)), same_kind(np.minimum(shares + above, 1.0))


def wilson_distances(
    share: FloatArray, size: FloatArray, z: float
) -> tuple[FloatArray, FloatArray]:
    """Distances from observed shares down to the lower and up to the upper limit.

    Args:
        share: Observed shares, any shape.
        size: Numbers of independent samples, same shape.
        z: Number of standard errors, see :func:`normal_quantile`.
    """
    center = (share + z**2 / (2 * size)) / (1 + z**2 / size)
    half = z / (1 + z**2 / size) * np.sqrt(share * (1 - share) / size + z**2 / (4 * size**2))
    return share - (center - half), center + half - share
