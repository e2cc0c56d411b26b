r"""Intervals and bands of held-out curves, from the two error rates that make up the curve.

A held-out curve is :math:`\hat\alpha = \lambda\hat b + \hat a` with two independent shares. Each
has Wilson's score limits; the distances to them add up in squares (the method of variance
estimates recovery), so the interval has a positive width where a rate is 0 or 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._result import Result
from tradeoff._sides import Sides
from tradeoff._threads import single_threaded
from tradeoff._validation import FloatArray, check_share, check_slopes, check_type
from tradeoff.core.curve import PRCurve
from tradeoff.core.held_out import HeldOutLogRatios
from tradeoff.core.law import scale_weights
from tradeoff.exceptions import InvalidInputError
from tradeoff.inference.shares import normal_quantile, wilson_distances

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["CurveInterval", "curve_interval"]

_NEAR_IDENTITY = 2.0**0.5
_DRAWS = 4000
_FEWEST_GROUPS = 8


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
        return lower.clipped(), beyond.clipped()


# Sums, and the quantile simulated from them, would otherwise depend on the number of threads.
@single_threaded
def curve_interval(
    held_out: HeldOutLogRatios,
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
        held_out: Held-out log-ratios of both sides.
        lam: Slopes in (0, ∞), shape (n,).
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
    check_type("held_out", held_out, HeldOutLogRatios)
    slopes = check_slopes(lam)
    level = check_share("level", level)
    z = normal_quantile(level)
    groups = Sides(None, None) if groups is None else groups
    check_type("groups", groups, Sides)
    sides = Sides(
        *(
            _Rejections.of(log_ratio, weights, slopes, group)
            for log_ratio, weights, group in zip(
                held_out.log_ratios, held_out.weights, groups, strict=True
            )
        )
    )
    if simultaneous:
        z = max(z, _largest_deviation(sides, Sides(slopes, np.ones_like(slopes)), level))
    rejected, passed = sides.real.share, 1.0 - sides.generated.share
    below_b, above_b = wilson_distances(rejected, sides.real.size, z)
    below_a, above_a = wilson_distances(passed, sides.generated.size, z)
    value = passed + slopes * rejected
    below = np.hypot(slopes * below_b, below_a)
    above = np.hypot(slopes * above_b, above_a)
    near_identity = value + above >= np.minimum(1.0, slopes)
    widened = np.where(near_identity | always_widen, _NEAR_IDENTITY, 1.0)
    limits = np.stack((np.maximum(value - widened * below, 0.0), value + widened * above), axis=1)
    return CurveInterval(lam=slopes, level=level, precision=limits, simultaneous=simultaneous)


@dataclass(frozen=True, eq=False)
class _Rejections:
    """Which samples of one side are called generated at each slope."""

    called: npt.NDArray[np.bool_]  # (n, slopes)
    weights: FloatArray  # sum to 1
    groups: npt.NDArray[np.intp]

    @classmethod
    def of(
        cls,
        log_ratio: FloatArray,
        weights: FloatArray,
        slopes: FloatArray,
        groups: npt.ArrayLike | None,
    ) -> _Rejections:
        called = log_ratio[:, None] < -np.log(slopes)
        weights = scale_weights(weights)
        if groups is None:
            number = np.arange(log_ratio.size)
        else:
            _, number = np.unique(np.asarray(groups), return_inverse=True)
            if number.shape != log_ratio.shape:
                raise InvalidInputError(
                    f"Groups must be named per sample, {log_ratio.size}. Got {number.size}."
                )
        return cls(called, weights / weights.sum(), number)

    @cached_property
    def share(self) -> FloatArray:
        return np.asarray(self.weights @ self.called)

    @cached_property
    def deviations(self) -> FloatArray:
        """Sum of weighted deviations from the share within each group, shape (groups, slopes)."""
        sums = np.zeros((self.groups.max() + 1, self.share.size))
        np.add.at(sums, self.groups, self.weights[:, None] * (self.called - self.share))
        return sums

    @cached_property
    def size(self) -> FloatArray:
        """The number of independent samples with the same standard error, at each slope.

        At most Kish's effective size. While few groups disagree, their spread is unknown and the
        effective number of groups is used.
        """
        kish = 1.0 / (self.weights**2).sum()
        groups = len(self.deviations)
        if groups == len(self.weights):
            return np.full(self.share.size, kish)
        group_weights = np.bincount(self.groups, self.weights)
        called = np.zeros((groups, self.share.size))
        np.add.at(called, self.groups, self.called)
        members = np.bincount(self.groups)[:, None]
        disagree = np.minimum((called > 0).sum(0), (called < members).sum(0))
        spread = (self.deviations**2).sum(0) * groups / max(groups - 1, 1)
        known = (disagree >= _FEWEST_GROUPS) & (spread > 0)
        binomial = self.share * (1.0 - self.share)
        size = binomial / np.where(known, spread, 1.0)
        return np.asarray(np.minimum(np.where(known, size, 1 / (group_weights**2).sum()), kish))


def _largest_deviation(sides: Sides[_Rejections], scales: Sides[FloatArray], level: float) -> float:
    """Quantile of the largest deviation over slopes, in standard errors, by simulation."""
    covariance = np.zeros((scales.real.size, scales.real.size))
    for side, scale in zip(sides, scales, strict=True):
        covariance += scale[:, None] * (side.deviations.T @ side.deviations) * scale
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
