r"""Pointwise intervals of held-out curves, from the two error rates they are made of.

A held-out curve is :math:`\hat\alpha = \lambda\hat b + \hat a` with two independent shares. Each
has Wilson's score limits; the distances to them add up in squares (the method of variance
estimates recovery), so the interval stays sensible where a rate is 0 or 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from tradeoff._validation import FloatArray, check_share, check_slopes, check_type
from tradeoff.core.errors import HeldOutErrors
from tradeoff.core.law import scale_weights

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["CurveInterval", "curve_interval"]

_NEAR_IDENTITY = 2.0**0.5


@dataclass(frozen=True, eq=False, kw_only=True)
class CurveInterval:
    """Limits of precision and recall at given slopes.

    Args:
        lam: slopes λ, shape (n,).
        level: probability with which each interval covers.
        precision: lower and upper limit at each slope, shape (n, 2).

    Example:
        >>> from tradeoff import HeldOutErrors
        >>> from tradeoff.inference import curve_interval
        >>> errors = HeldOutErrors(real=[1.0, 2.0, -1.0], generated=[-2.0, -1.0, 1.0])
        >>> curve_interval(errors, [1.0]).precision.round(2)
        array([[0.12, 1.58]])
    """

    lam: FloatArray
    level: float
    precision: FloatArray

    @property
    def recall(self) -> FloatArray:
        """Lower and upper limit of recall at each slope, shape (n, 2)."""
        return self.precision / self.lam[:, None]


def curve_interval(
    errors: HeldOutErrors, lam: npt.ArrayLike, *, level: float = 0.95
) -> CurveInterval:
    r"""Intervals of a held-out curve, each at its own slope.

    They cover the error of the rules that were fitted, which is never below the true curve; the
    upper limit is therefore an upper limit of the truth as well. Samples must be independent.
    Folds share training data, so their errors are correlated where the ratio is unstable: an
    interval that reaches :math:`\min(1, \lambda)` is widened by :math:`\sqrt2`.

    Args:
        errors: held-out log-ratios of both sides.
        lam: slopes in (0, ∞), shape (n,).
        level: probability with which each interval covers, in (0, 1).

    Example:
        >>> import numpy as np
        >>> from tradeoff import HeldOutErrors
        >>> from tradeoff.inference import curve_interval
        >>> rng = np.random.default_rng(0)
        >>> real, generated = rng.normal(0.5, 1, 2000), rng.normal(-0.5, 1, 2000)
        >>> errors = HeldOutErrors(real=real, generated=generated)
        >>> curve_interval(errors, [1.0]).precision.round(2)  # the truth is 0.617
        array([[0.6 , 0.66]])

    """
    check_type("errors", errors, HeldOutErrors)
    slopes = check_slopes(lam)
    z = float(ndtri(0.5 + 0.5 * check_share("level", level)))
    curve = errors.curve()
    passed, rejected = curve.pieces(slopes)
    below_a, above_a = _wilson_distances(passed, _effective_size(errors.generated_weights), z)
    below_b, above_b = _wilson_distances(rejected, _effective_size(errors.real_weights), z)
    value = passed + slopes * rejected
    below = np.hypot(slopes * below_b, below_a)
    above = np.hypot(slopes * above_b, above_a)
    widened = np.where(value + above >= np.minimum(1.0, slopes), _NEAR_IDENTITY, 1.0)
    limits = np.stack((np.maximum(value - widened * below, 0.0), value + widened * above), axis=1)
    return CurveInterval(lam=slopes, level=level, precision=limits)


def _wilson_distances(share: FloatArray, size: float, z: float) -> tuple[FloatArray, FloatArray]:
    """How far Wilson's limits lie below and above an observed share."""
    center = (share + z**2 / (2 * size)) / (1 + z**2 / size)
    half = z / (1 + z**2 / size) * np.sqrt(share * (1 - share) / size + z**2 / (4 * size**2))
    return share - (center - half), center + half - share


def _effective_size(weights: FloatArray) -> float:
    """Kish's effective sample size."""
    weights = scale_weights(weights)
    return float(weights.sum() ** 2 / (weights**2).sum())
