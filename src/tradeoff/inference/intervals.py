r"""Intervals and bands of held-out curves, from the two error rates that make up the curve.

A held-out curve is :math:`\hat\alpha = \lambda\hat b + \hat a` with two independent shares. Each
has Wilson's score limits; the distances to them add up in squares (the method of variance
estimates recovery), so the interval has a positive width where a rate is 0 or 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._result import Result
from tradeoff._sides import Sides
from tradeoff._threads import single_threaded
from tradeoff._validation import FloatArray, check_share, check_slopes, check_type
from tradeoff.core.counts import HeldOutCounts
from tradeoff.core.curve import PRCurve, clip
from tradeoff.core.held_out import HeldOutLogRatios
from tradeoff.inference import policy
from tradeoff.inference.rejections import Rejections, rejections
from tradeoff.inference.shares import normal_quantile, wilson_distances

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["CurveInterval", "curve_interval"]

_DRAWS = 4000


@dataclass(frozen=True, eq=False, kw_only=True)
class CurveInterval(Result):
    """Limits of precision and recall at given slopes.

    Args:
        lam: Slopes λ, shape (n,).
        level: Probability with which each interval covers, or all of them if simultaneous.
        simultaneous: Whether all intervals cover together.
        precision: Lower and upper limit at each slope, shape (n, 2).

    Example:
        >>> from tradeoff import HeldOutLogRatios
        >>> from tradeoff.inference import curve_interval
        >>> held_out = HeldOutLogRatios(real=[1.0, 2.0, -1.0], generated=[-2.0, -1.0, 1.0])
        >>> curve_interval(held_out, [1.0]).precision.round(2)
        array([[0.12, 1.58]])
    """

    lam: FloatArray
    level: float
    precision: FloatArray
    simultaneous: bool = False

    @property
    def recall(self) -> FloatArray:
        """Lower and upper limit of recall at each slope, shape (n, 2)."""
        return self.precision / self.lam[:, None]

    def around(self, curve: PRCurve, kind: str) -> tuple[float, float, float]:
        """Precision or recall of a shown curve at the first slope with its limits, within [0, 1].

        A shown curve is monotone, and may lie a little above what was counted at one slope: then
        it is its own upper limit.

        Args:
            curve: The curve as shown.
            kind: "precision" or "recall".
        """
        value = float(getattr(curve, kind)(self.lam[0]))
        low, high = np.clip(getattr(self, kind)[0], 0.0, 1.0)
        return value, min(float(low), value), max(float(high), value)

    def curves(self) -> tuple[PRCurve, PRCurve]:
        """The lower and the upper limit as clipped curves, linear between ascending slopes.

        Beyond the slopes nothing is known: the upper limit is 1 there, and the lower one constant.
        """
        lower, upper = (_through(self.lam, limit) for limit in self.precision.T)
        beyond = replace(
            upper,
            intercepts=np.append(upper.intercepts[:-1], 1.0),
            slopes=np.append(1.0, upper.slopes[1:]),
            max_precision=1.0,
            max_recall=1.0,
        )
        return clip(lower), clip(beyond)


# Sums, and the quantile simulated from them, would otherwise depend on the number of threads.
@single_threaded
def curve_interval(
    held_out: HeldOutLogRatios | HeldOutCounts,
    lam: npt.ArrayLike,
    *,
    level: float = 0.95,
    simultaneous: bool = False,
    always_widen: bool = False,
    groups: Sides[npt.NDArray[Any] | None] | None = None,
) -> CurveInterval:
    r"""Intervals of a held-out curve, each at its own slope or all together.

    They cover the error of the fitted rules, whose expectation is never below the true curve.
    Samples, or groups of them, must be independent. Folds share training data, so their errors are
    correlated where the ratio is unstable: an interval that reaches :math:`\min(1, \lambda)` is
    widened by :math:`\sqrt2`.

    Args:
        held_out: Held-out log-ratios of both sides, or counts of them.
        lam: Slopes in (0, ∞), shape (n,); of counts, those at which errors are counted.
        level: Confidence level, in (0, 1).
        simultaneous: Whether all intervals cover together with probability `level`.
        always_widen: Whether every interval is widened by :math:`\sqrt2`, so that one that excludes
            :math:`\min(1, \lambda)` is a valid test of identical distributions.
        groups: Group of each sample of both sides, shapes (n,) and (m,), if samples of a group are
            not independent; None for a side whose samples are.

    Example:
        >>> import numpy as np
        >>> from tradeoff import HeldOutLogRatios
        >>> from tradeoff.inference import curve_interval
        >>> rng = np.random.default_rng(0)
        >>> real, generated = rng.normal(0.5, 1, 2000), rng.normal(-0.5, 1, 2000)
        >>> held_out = HeldOutLogRatios(real=real, generated=generated)
        >>> curve_interval(held_out, [1.0]).precision.round(2)  # the truth is 0.617
        array([[0.6 , 0.66]])

    """
    check_type("held_out", held_out, HeldOutLogRatios, HeldOutCounts)
    slopes = check_slopes(lam)
    level = check_share("level", level)
    z = normal_quantile(level)
    groups = Sides(None, None) if groups is None else groups
    check_type("groups", groups, Sides)
    sides = rejections(held_out, slopes, groups)
    if simultaneous:
        z = max(z, _largest_deviation(sides, slopes, level))
    rejected, passed = sides.real.share, 1.0 - sides.generated.share
    below_b, above_b = wilson_distances(rejected, sides.real.size, z)
    below_a, above_a = wilson_distances(passed, sides.generated.size, z)
    value = passed + slopes * rejected
    below = np.hypot(slopes * below_b, below_a)
    above = np.hypot(slopes * above_b, above_a)
    near_identity = value + above >= np.minimum(1.0, slopes)
    widened = np.where(near_identity | always_widen, policy.NEAR_IDENTITY, 1.0)
    limits = np.stack((np.maximum(value - widened * below, 0.0), value + widened * above), axis=1)
    return CurveInterval(lam=slopes, level=level, precision=limits, simultaneous=simultaneous)


def _largest_deviation(sides: Sides[Rejections], slopes: FloatArray, level: float) -> float:
    """Quantile of the largest deviation over slopes, in standard errors, by simulation."""
    covariance = slopes[:, None] * sides.real.covariance * slopes + sides.generated.covariance
    error = np.sqrt(np.diag(covariance))
    varies = error > 0
    if not varies.any():
        return 0.0
    correlation = covariance[np.ix_(varies, varies)] / np.outer(error[varies], error[varies])
    draws = np.random.default_rng(0).multivariate_normal(
        np.zeros(len(correlation)), correlation, _DRAWS, method="eigh"
    )
    return float(np.quantile(np.abs(draws).max(1), level))


def _through(lam: FloatArray, value: FloatArray) -> PRCurve:
    """A curve through points; beyond them precision (right) and recall (left) are constant."""
    slopes = np.diff(value) / np.diff(lam)
    return PRCurve(
        breakpoints=lam,
        intercepts=np.concatenate(([0.0], value[:-1] - slopes * lam[:-1], [value[-1]])),
        slopes=np.concatenate(([value[0] / lam[0]], slopes, [0.0])),
        max_precision=float(value[-1]),
        max_recall=float(value[0] / lam[0]),
    )
