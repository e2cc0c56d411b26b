r"""Two models against one reference: is one of them better, and what could have been seen?

Both are counted on the same real samples in the same folds, so the difference
:math:`D(\lambda) = \hat\alpha_1(\lambda) - \hat\alpha_2(\lambda)` has a paired variance. Fitting
makes it vary too, and folds share training data: to each counted variance, doubled near identity
as in intervals, :math:`S^2 / (K - 1)` is added, where :math:`S^2` is the variance between the
:math:`K` folds, and :math:`1 / (K - 1)` the ratio of held-out to training samples
:cite:p:`nadeau2003`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, ndtri

from tradeoff._result import Result
from tradeoff._threads import single_threaded
from tradeoff._validation import FloatArray, check_share, check_slopes, check_type
from tradeoff.core.counts import BAND_SLOPES
from tradeoff.curves.estimate import CurveEstimate
from tradeoff.exceptions import InvalidInputError
from tradeoff.inference import policy
from tradeoff.inference.paired import SumOfMeans

if TYPE_CHECKING:
    import numpy.typing as npt

    from tradeoff.goals import Best

__all__ = ["CurveComparison", "TestedDifference", "compare_curves", "difference_of", "value_of"]

_DRAWS = 10_000
_MUST_AGREE = ("estimator", "folds", "seed", "columns", "digest")


@dataclass(frozen=True)
class TestedDifference(Result):
    """A difference between two models, first minus second.

    Args:
        value: Difference, first minus second.
        error: Standard error of the difference; it includes the fits, except for a single split.
        p_value: P-value of the hypothesis of no difference.
        resolvable: Smallest difference that a test at the comparison's level would find nine times
            in ten with as many samples.

    Example:
        >>> from tradeoff.comparison.curves import TestedDifference
        >>> TestedDifference(value=0.1, error=0.02, p_value=6e-7, resolvable=0.065).value
        0.1
    """

    value: float
    error: float
    p_value: float
    resolvable: float


@dataclass(frozen=True, eq=False, kw_only=True)
class CurveComparison(Result):
    """How two models differ from each other.

    Args:
        precision: Difference in precision at each requested slope, by slope.
        recall: Difference in recall at each requested slope, by slope.
        area: Difference in the area under the curve between slopes 1/20 and 20.
        f_score: Difference in the largest F-score, each model at its own best slope.
        curve_p_value: P-value of the hypothesis that the curves agree at all slopes in [1/20, 20].
        largest: Slope at which the curves differ most, in standard errors.

    Example:
        >>> import numpy as np
        >>> from tradeoff import pr_curve
        >>> from tradeoff.comparison.curves import compare_curves
        >>> rng = np.random.default_rng(0)
        >>> real = rng.normal(0, 1, (1000, 2))
        >>> near, far = rng.normal(0.2, 1, (1000, 2)), rng.normal(1, 1, (1000, 2))
        >>> first, second = (
        ...     pr_curve(real=real, generated=x, estimator="logistic") for x in (near, far)
        ... )
        >>> result = compare_curves(first, second)
        >>> bool(result.precision[1.0].value > 0), result.curve_p_value < 0.01
        (True, True)
    """

    precision: Mapping[float, TestedDifference]
    recall: Mapping[float, TestedDifference]
    area: TestedDifference
    f_score: TestedDifference
    curve_p_value: float
    largest: float


@single_threaded
def compare_curves(
    first: CurveEstimate,
    second: CurveEstimate,
    *,
    lam: npt.ArrayLike = (policy.COMMON_SLOPES["recall"], 1.0, policy.COMMON_SLOPES["precision"]),
    level: float = 0.95,
) -> CurveComparison:
    """Compare two models that were measured against the same real samples.

    Args:
        first: Estimate of one model.
        second: Estimate of the other, with the same real samples, estimator, folds and seed.
        lam: Slopes at which precision and recall are compared, shape (n,).
        level: Confidence level of the tests, one minus their false-alarm rate, in (0, 1).

    Example:
        Two models with one distribution differ by chance only:

        >>> import numpy as np
        >>> from tradeoff import pr_curve
        >>> from tradeoff.comparison.curves import compare_curves
        >>> rng = np.random.default_rng(1)
        >>> real = rng.normal(0, 1, (1000, 2))
        >>> first, second = (
        ...     pr_curve(real=real, generated=rng.normal(1, 1, (1000, 2)), estimator="logistic")
        ...     for _ in range(2)
        ... )
        >>> compare_curves(first, second).area.p_value > 0.05
        True
    """
    for name, estimate in (("first", first), ("second", second)):
        check_type(name, estimate, CurveEstimate)
    _check_comparable(first, second)
    slopes = check_slopes(lam)
    level = check_share("level", level)
    process = _DifferenceProcess(first, second, np.concatenate((slopes, BAND_SLOPES)))
    precision = {
        float(slope): process.test(np.eye(len(process.lam))[i], level)
        for i, slope in enumerate(slopes)
    }
    recall = {
        float(slope): process.test(np.eye(len(process.lam))[i] / slope, level)
        for i, slope in enumerate(slopes)
    }
    whole = np.arange(slopes.size, len(process.lam))
    curve_p_value, largest = process.largest(whole)
    return CurveComparison(
        precision=precision,
        recall=recall,
        area=process.test(_area_weights(first, second, process.lam, whole), level),
        f_score=_f_score_process(first, second).test(np.ones(1), level),
        curve_p_value=curve_p_value,
        largest=largest,
    )


def value_of(goal: Best, estimate: CurveEstimate) -> float:
    """What a goal asks to be high."""
    curve = estimate.curve
    if goal.is_summary:
        return float(curve.area if goal.key == "area" else curve.f_score(1.0))
    return float(getattr(curve, goal.key)(goal.slope))


@single_threaded
def difference_of(
    goal: Best, first: CurveEstimate, second: CurveEstimate, *, level: float = 0.95
) -> TestedDifference:
    """The difference of what a goal asks to be high, tested as in `compare_curves`.

    Args:
        goal: What is to be high.
        first: Estimate of one model.
        second: Estimate of the other, with the same real samples, estimator, folds and seed.
        level: Confidence level of the test.
    """
    if goal.key == "area":
        return compare_curves(first, second, level=level).area
    _check_comparable(first, second)
    if goal.key == "f_score":
        return _f_score_process(first, second).test(np.ones(1), level)
    process = _DifferenceProcess(first, second, np.array([goal.slope]))
    return process.test(np.ones(1) / goal.scale, level)


class _DifferenceProcess(SumOfMeans):
    """The difference of two curves over slopes.

    Args:
        first: Estimate of one model.
        second: Estimate of the other.
        lam: Slopes, shape (k,), or (2, k) with slopes of each model.
        factor: What the curves are multiplied by, in the same shape.
    """

    def __init__(
        self,
        first: CurveEstimate,
        second: CurveEstimate,
        lam: FloatArray,
        factor: FloatArray | float = 1.0,
    ) -> None:
        slopes = np.broadcast_to(lam, (2, lam.shape[-1]))
        factors = np.broadcast_to(factor, slopes.shape)
        thresholds = -np.log(slopes)
        self.lam = slopes[0]
        weights = slopes * factors
        rejects = [
            (e.real.log_ratios[:, None] < t) * w
            for e, t, w in zip((first, second), thresholds, weights, strict=True)
        ]
        counted = first.real.counted & second.real.counted
        parts = [first.real.counting(rejects[0] - rejects[1], counted, weights.max(0))]
        sides = (first.generated, second.generated)
        for sign, side, t, f in zip((1.0, -1.0), sides, thresholds, factors, strict=True):
            passes = sign * f * (side.log_ratios[:, None] >= t)
            parts.append(side.counting(passes, side.counted, f))
        estimates = zip((first, second), slopes, strict=True)
        unstable = np.any([_is_near_identity(*one) for one in estimates], axis=0)
        super().__init__(parts, np.where(unstable, policy.NEAR_IDENTITY, 1.0))

    def test(self, weights: FloatArray, level: float) -> TestedDifference:
        value, error = float(weights @ self.value), self.error(weights)
        p_value = float(2 * ndtr(-abs(value) / error))
        resolvable = float(ndtri(0.5 + 0.5 * level) + ndtri(policy.POWER)) * error
        return TestedDifference(value, error, p_value, resolvable)

    def largest(self, slopes: npt.NDArray[np.intp]) -> tuple[float, float]:
        """P-value of the largest difference in standard errors, by simulation, and its slope."""
        unit = np.eye(self.lam.size)
        scores = np.abs(self.value[slopes]) / [self.error(unit[i]) for i in slopes]
        covariance = self.covariance[np.ix_(slopes, slopes)]
        counted = np.sqrt(np.diag(covariance))
        draws = np.random.default_rng(0).multivariate_normal(
            np.zeros(slopes.size), covariance / np.outer(counted, counted), _DRAWS, method="eigh"
        )
        exceeded = (np.abs(draws).max(1) >= scores.max()).sum()
        return float((1 + exceeded) / (1 + _DRAWS)), float(self.lam[slopes[scores.argmax()]])


def _is_near_identity(estimate: CurveEstimate, lam: FloatArray) -> npt.NDArray[np.bool_]:
    """Where fits of different folds depend on each other the most; see `curve_interval`."""
    return estimate.interval(lam).precision[:, 1] >= np.minimum(1.0, lam)


def _f_score_process(first: CurveEstimate, second: CurveEstimate) -> _DifferenceProcess:
    r"""The difference of the largest :math:`2\alpha(\lambda) / (1 + \lambda)`.

    To first order, the slopes at which they are largest count as fixed.
    """
    scores = [e.curve.precision(BAND_SLOPES) / (1.0 + BAND_SLOPES) for e in (first, second)]
    slopes = BAND_SLOPES[np.argmax(scores, axis=1)][:, None]
    return _DifferenceProcess(first, second, slopes, 2.0 / (1.0 + slopes))


def _area_weights(
    first: CurveEstimate, second: CurveEstimate, lam: FloatArray, whole: npt.NDArray[np.intp]
) -> FloatArray:
    r"""Weights w with :math:`\sum_i w_i D(\lambda_i)` the difference of areas.

    Half the difference of two squared recalls is their mean recall times their difference; its
    error is that of two models with one curve.
    """
    weights = np.zeros(lam.size)
    mean_recall = 0.5 * (first.raw.recall(lam[whole]) + second.raw.recall(lam[whole]))
    steps = np.diff(lam[whole])
    width = 0.5 * (np.append(steps, 0.0) + np.append(0.0, steps))
    weights[whole] = mean_recall / lam[whole] * width
    return weights


def _check_comparable(first: CurveEstimate, second: CurveEstimate) -> None:
    for key in _MUST_AGREE:
        ours, theirs = first.provenance[key], second.provenance[key]
        if ours != theirs:
            what = "real samples" if key == "digest" else key
            raise InvalidInputError(
                f"Two models must be measured against the same {what} to be compared. "
                f"Got {ours} and {theirs}."
            )
    # A model of a few values moves its copies among the real samples to other folds: each real
    # sample is held out once all the same, and the differences stay paired.
    ours, theirs = (
        np.arange(0) if e.real.groups is None else e.real.groups for e in (first, second)
    )
    if not np.array_equal(ours, theirs):
        raise InvalidInputError(
            "Two models must be measured in the same folds to be compared. Got other real groups."
        )
