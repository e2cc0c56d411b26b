r"""Intervals and bands of held-out curves, from the two error rates they are made of.

A held-out curve is :math:`\hat\alpha = \lambda\hat b + \hat a` with two independent shares. Each
has Wilson's score limits; the distances to them add up in squares (the method of variance
estimates recovery), so the interval stays sensible where a rate is 0 or 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from tradeoff._threads import single_threaded
from tradeoff._validation import FloatArray, check_share, check_slopes, check_type
from tradeoff.core.curve import PRCurve
from tradeoff.core.errors import HeldOutErrors
from tradeoff.core.law import scale_weights
from tradeoff.exceptions import InvalidInputError

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["CurveInterval", "curve_interval"]

_NEAR_IDENTITY = 2.0**0.5
_DRAWS = 4000
_FEWEST_GROUPS = 8


@dataclass(frozen=True, eq=False, kw_only=True)
class CurveInterval:
    """Limits of precision and recall at given slopes.

    Args:
        lam: slopes λ, shape (n,).
        level: probability with which each interval covers, or all of them if simultaneous.
        simultaneous: whether all intervals cover together.
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
    simultaneous: bool = False

    @property
    def recall(self) -> FloatArray:
        """Lower and upper limit of recall at each slope, shape (n, 2)."""
        return self.precision / self.lam[:, None]

    def curves(self) -> tuple[PRCurve, PRCurve]:
        """The limits as curves, linear between ascending slopes and clipped, ready to draw.

        Beyond the slopes nothing is known: the upper one is 1 there, the lower one level.
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


# Sums, and the quantile simulated from them, would depend on the number of threads in a product.
@single_threaded
def curve_interval(
    errors: HeldOutErrors,
    lam: npt.ArrayLike,
    *,
    level: float = 0.95,
    simultaneous: bool = False,
    real_groups: npt.ArrayLike | None = None,
    generated_groups: npt.ArrayLike | None = None,
) -> CurveInterval:
    r"""Intervals of a held-out curve, each at its own slope or all together.

    They cover the error of the rules that were fitted, which is never below the true curve; the
    upper limit is therefore an upper limit of the truth as well. Samples, or groups of them, must
    be independent. Folds share training data, so their errors are correlated where the ratio is
    unstable: an interval that reaches :math:`\min(1, \lambda)` is widened by :math:`\sqrt2`.

    Args:
        errors: held-out log-ratios of both sides.
        lam: slopes in (0, ∞), shape (n,).
        level: probability of covering, in (0, 1).
        simultaneous: whether all intervals shall cover together.
        real_groups: group of each real sample, if samples of a group are not independent.
        generated_groups: the same for generated samples.

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
    level = check_share("level", level)
    sides = (
        _Rejections.of(errors.generated, errors.generated_weights, slopes, generated_groups),
        _Rejections.of(errors.real, errors.real_weights, slopes, real_groups),
    )
    scales = (np.ones_like(slopes), slopes)
    z = float(ndtri(0.5 + 0.5 * level))
    if simultaneous:
        z = max(z, _largest_deviation(sides, scales, level))
    (below_a, above_a), (below_b, above_b) = (
        wilson_distances(share, side.size, z)
        for share, side in ((1.0 - sides[0].share, sides[0]), (sides[1].share, sides[1]))
    )
    value = 1.0 - sides[0].share + slopes * sides[1].share
    below = np.hypot(slopes * below_b, below_a)
    above = np.hypot(slopes * above_b, above_a)
    widened = np.where(value + above >= np.minimum(1.0, slopes), _NEAR_IDENTITY, 1.0)
    limits = np.stack((np.maximum(value - widened * below, 0.0), value + widened * above), axis=1)
    return CurveInterval(lam=slopes, level=level, precision=limits, simultaneous=simultaneous)


@dataclass(frozen=True, eq=False)
class _Rejections:
    """One side's samples at every slope: who is called generated, and how sure the share is."""

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
        """The number of independent samples that would be as sure, at each slope.

        Never more than Kish's effective size; the number of groups as long as few of them
        disagree, since their spread is unknown then.
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


def _largest_deviation(
    sides: tuple[_Rejections, _Rejections], scales: tuple[FloatArray, FloatArray], level: float
) -> float:
    """The quantile of the largest deviation over slopes, in standard errors, by simulation."""
    covariance = np.zeros((scales[0].size, scales[0].size))
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


def wilson_distances(
    share: FloatArray, size: FloatArray, z: float
) -> tuple[FloatArray, FloatArray]:
    """How far Wilson's limits lie below and above an observed share."""
    center = (share + z**2 / (2 * size)) / (1 + z**2 / size)
    half = z / (1 + z**2 / size) * np.sqrt(share * (1 - share) / size + z**2 / (4 * size**2))
    return share - (center - half), center + half - share


def _through(lam: FloatArray, value: FloatArray) -> PRCurve:
    """A curve through points, level beyond them: in precision on the right, in recall before."""
    slopes = np.diff(value) / np.diff(lam)
    return PRCurve(
        breakpoints=lam,
        intercepts=np.concatenate(([0.0], value[:-1] - slopes * lam[:-1], [value[-1]])),
        slopes=np.concatenate(([value[0] / lam[0]], slopes, [0.0])),
        max_precision=float(value[-1]),
        max_recall=float(value[0] / lam[0]),
    )
