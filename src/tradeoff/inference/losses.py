r"""What a held-out curve establishes: that two samples differ, and what kind of loss it is.

The *balanced slope* :math:`\lambda^*` is that of the highest F-score,
:math:`2\alpha(\lambda) / (1 + \lambda)`. A pure omission has all its precision from
:math:`\lambda^*` on and a pure invention all its recall up to it, so precision is read at
:math:`1.5\,\lambda^*` and recall at :math:`\lambda^*/1.5`. Every slope whose F-score is within a
standard error of the highest may be the balanced one. A loss of precision is established at 1.5
times the largest of them, and one of recall at 1/1.5 of the smallest: since :math:`\alpha` rises
and :math:`\beta` falls with :math:`\lambda`, its limit holds where the value is read, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tradeoff._result import Result
from tradeoff._sides import Sides
from tradeoff._threads import single_threaded
from tradeoff._validation import check_share
from tradeoff.core.counts import COUNTED_SLOPES, HeldOutCounts
from tradeoff.exceptions import InvalidInputError
from tradeoff.inference import policy
from tradeoff.inference.intervals import curve_interval
from tradeoff.inference.rejections import rejections

if TYPE_CHECKING:
    import numpy.typing as npt

    from tradeoff.core.curve import PRCurve
    from tradeoff.core.held_out import HeldOutLogRatios

__all__ = ["Balance", "Loss", "Losses", "balance_of", "established_losses"]

Kind = Literal["precision", "recall"]
_LAST = COUNTED_SLOPES[-1] / policy.MARGIN
_SLOPES = COUNTED_SLOPES[(COUNTED_SLOPES >= 1.0 / _LAST) & (COUNTED_SLOPES <= _LAST)]
_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class Balance(Result):
    """The balanced slope of a curve, and the slopes that cannot be told from it.

    Args:
        lam: The balanced slope, in the middle (of logarithms) between `low` and `high`.
        low: Smallest slope whose F-score is within a standard error of the highest.
        high: Largest such slope.

    Example:
        >>> from tradeoff.inference.losses import Balance
        >>> Balance(lam=2.0, low=1.0, high=4.0).slope("precision")
        3.0
    """

    lam: float
    low: float
    high: float

    def slope(self, kind: Kind) -> float:
        """The slope at which precision or recall is read."""
        return self.lam * policy.COMMON_SLOPES[kind]

    def factor(self, kind: Kind) -> float:
        """The slope at which a loss of precision is established, or one over that of recall."""
        return policy.MARGIN * (self.high if kind == "precision" else 1.0 / self.low)

    def headline(self, curve: PRCurve) -> dict[str, float]:
        """Precision, recall and overlap of a curve, by the keys that they have in every result."""
        values = {
            "precision": curve.precision(self.slope("precision")),
            "recall": curve.recall(self.slope("recall")),
            "overlap": curve.precision(1.0),
        }
        return {f"curve.{name}": min(float(value), 1.0) for name, value in values.items()}


@dataclass(frozen=True, kw_only=True)
class Loss(Result):
    """A loss of precision or recall that is established at a slope.

    Args:
        factor: Of precision: samples are counted where real data is more than this many times
            rarer than generated data. Of recall: where generated data is.
        at_least: Lower confidence limit of the share of generated (real) samples there.

    Example:
        >>> from tradeoff.inference.losses import Loss
        >>> Loss(factor=3.0, at_least=0.31).at_least
        0.31
    """

    factor: float
    at_least: float


@dataclass(frozen=True, kw_only=True)
class Losses(Result):
    """What a held-out curve establishes.

    Args:
        balance: The balanced slope.
        level: Confidence level of each statement.
        difference: Lower confidence limit of the total variation distance; None if a difference is
            not established, and then no loss is.
        precision: Losses of precision, the smallest factor first; empty if none is established.
        recall: Losses of recall, likewise.

    Example:
        >>> from tradeoff.inference.losses import Balance, Losses
        >>> found = Losses(balance=Balance(lam=1.0, low=1.0, high=1.0), difference=0.1)
        >>> found.kinds, found.at_most("overlap"), found.at_most("recall")
        ((), 0.9, 1.0)
    """

    balance: Balance
    level: float = 0.95
    difference: float | None = None
    precision: tuple[Loss, ...] = ()
    recall: tuple[Loss, ...] = ()

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Which of precision and recall are lost."""
        kinds: tuple[Kind, ...] = ("precision", "recall")
        return tuple(kind for kind in kinds if getattr(self, kind))

    def at_most(self, name: Literal["precision", "recall", "overlap"]) -> float:
        """Upper confidence limit of the true value where it is read; 1 if no loss is known."""
        if name == "overlap":
            return 1.0 - (self.difference or 0.0)
        losses: tuple[Loss, ...] = getattr(self, name)
        return 1.0 - losses[0].at_least if losses else 1.0


def established_losses(
    held_out: HeldOutLogRatios | HeldOutCounts,
    *,
    level: float = 0.95,
    groups: Sides[npt.NDArray[Any] | None] | None = None,
) -> Losses:
    """Whether two samples differ, and whether precision or recall is lost.

    A difference is tested one-sided at λ = 1. Only if there is one, precision and recall are
    tested beyond the slopes that may be the balanced one, and then at factors 5 and 20 as long as
    a loss is established. Each statement has its own level.

    Args:
        held_out: Held-out log-ratios of both sides, or counts of them.
        level: Confidence level of each statement, above 0.5.
        groups: Group of each sample of both sides, if samples of a group are not independent.

    Example:
        A model that never makes a third of the data:

        >>> import numpy as np
        >>> from tradeoff import HeldOutLogRatios
        >>> from tradeoff.inference.losses import established_losses
        >>> rng = np.random.default_rng(0)
        >>> missed = rng.random(3000) < 1 / 3
        >>> real, generated = np.where(missed, 4.0, -0.4), np.full(3000, -0.4)
        >>> found = established_losses(HeldOutLogRatios(real=real, generated=generated))
        >>> found.kinds, [round(loss.at_least, 1) for loss in found.recall]
        (('recall',), [0.3, 0.3, 0.3])
    """
    level = check_share("level", level)
    if level <= 0.5:
        raise InvalidInputError(f"`level` must be above 0.5. Got {level:g}.")
    balance = balance_of(held_out, groups=groups)
    at_one = curve_interval(
        held_out, [1.0], level=2.0 * level - 1.0, always_widen=True, groups=groups
    )
    apart = 1.0 - float(at_one.precision[0, 1])
    if apart < policy.SMALLEST_LOSS:
        return Losses(balance=balance, level=level)

    def losses(kind: Kind) -> tuple[Loss, ...]:
        first = balance.factor(kind)
        if isinstance(held_out, HeldOutCounts):  # the next slope at which errors are counted
            first = float(COUNTED_SLOPES[np.searchsorted(COUNTED_SLOPES, first - _ROUNDING)])
        factors = np.array([first, *(more for more in policy.FURTHER_FACTORS if more > first)])
        slopes = factors if kind == "precision" else 1.0 / factors
        limits = getattr(curve_interval(held_out, slopes, level=level, groups=groups), kind)[:, 1]
        # What any two distributions attain at the slope is no evidence.
        found = _established(factors, limits, np.minimum(1.0, factors) - policy.SMALLEST_LOSS)
        return _carried(found, balance.slope(kind), kind, 1.0 - apart)

    return Losses(
        balance=balance,
        level=level,
        difference=apart,
        precision=losses("precision"),
        recall=losses("recall"),
    )


# Sums of a covariance would otherwise depend on the number of threads.
@single_threaded
def balance_of(
    held_out: HeldOutLogRatios | HeldOutCounts,
    *,
    groups: Sides[npt.NDArray[Any] | None] | None = None,
) -> Balance:
    """The balanced slope, from 1/67 to 67.

    An F-score is compared with the highest one by the standard error of their difference, as if
    one more sample spoke against it on each side.

    Args:
        held_out: Held-out log-ratios of both sides, or counts of them.
        groups: Group of each sample of both sides, if samples of a group are not independent.

    Example:
        A model that never makes half of the data has its highest F-score at λ = 2:

        >>> import numpy as np
        >>> from tradeoff import HeldOutLogRatios
        >>> from tradeoff.inference.losses import balance_of
        >>> real, generated = np.repeat([-0.7, 6.0], 500), np.full(1000, -0.7)
        >>> round(balance_of(HeldOutLogRatios(real=real, generated=generated)).lam, 1)
        2.0
    """
    sides = rejections(held_out, _SLOPES, groups or Sides(None, None))
    scale = 2.0 / (1.0 + _SLOPES)
    alpha = 1.0 - sides.generated.share + _SLOPES * sides.real.share
    score = scale * np.minimum(alpha, np.minimum(1.0, _SLOPES))
    near_one = np.argsort(np.abs(np.log(_SLOPES)), kind="stable")  # ties go to the closest to 1
    best = near_one[score[near_one].argmax()]
    variance = np.zeros(_SLOPES.size)
    for side, weight in ((sides.real, scale * _SLOPES), (sides.generated, scale)):
        covariance = np.outer(weight, weight) * side.covariance
        both = np.diag(covariance) + covariance[best, best] - 2.0 * covariance[best]
        variance += np.maximum(both, 0.0) + 0.5 * (weight / side.size) ** 2
    kept = _SLOPES[score >= score[best] - policy.AS_GOOD * np.sqrt(variance)]
    low, high = float(kept.min()), float(kept.max())
    return Balance(lam=float(np.sqrt(low * high)), low=low, high=high)


def _carried(found: tuple[Loss, ...], slope: float, kind: Kind, overlap: float) -> tuple[Loss, ...]:
    r"""Losses of sets that hardly overlap, where the limit of the overlap says more.

    It holds at other slopes, too: :math:`\alpha(\lambda) \le \max(1, \lambda)\,\alpha(1)`.
    """
    factor = slope if kind == "precision" else 1.0 / slope
    at_least = 1.0 - max(1.0, factor) * overlap
    if not found or overlap >= policy.LITTLE_OVERLAP or at_least <= found[0].at_least:
        return found
    return (Loss(factor=factor, at_least=at_least), *(one for one in found if one.factor > factor))


def _established(
    factors: npt.NDArray[np.float64],
    limits: npt.NDArray[np.float64],
    attained: npt.NDArray[np.float64],
) -> tuple[Loss, ...]:
    """Losses in their order, up to the first that is not established; none exceeds another."""
    found: list[Loss] = []
    for factor, limit, most in zip(factors, limits, attained, strict=True):
        if limit > most:
            break
        share = 1.0 - float(limit)
        share = min(share, found[-1].at_least) if found else share
        found.append(Loss(factor=float(factor), at_least=share))
    return tuple(found)
