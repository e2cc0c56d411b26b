r"""What a held-out curve establishes: that two samples differ, and what kind of loss it is.

At :math:`\lambda = 1` every fault lowers the curve, so an upper limit below 1 shows a difference
but not its kind. A pure omission has :math:`\alpha(\lambda) = \min(1, \lambda\,\alpha(1))`: its
precision is back at 1 from :math:`\lambda = 1/\alpha(1)` on. So precision is judged at
:math:`k = 1.5 / \min(1, \hat\alpha(1))`, where 1.5 is a margin, and recall at :math:`1/k`; then at
5 and at 20 (1/5, 1/20), in this fixed order, as long as a loss is established.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._result import Result
from tradeoff._validation import check_share
from tradeoff.core.counts import COUNTED_SLOPES, HeldOutCounts
from tradeoff.exceptions import InvalidInputError
from tradeoff.inference import policy
from tradeoff.inference.intervals import curve_interval

if TYPE_CHECKING:
    import numpy.typing as npt

    from tradeoff._sides import Sides
    from tradeoff.core.held_out import HeldOutLogRatios

__all__ = ["Loss", "Losses", "established_losses", "judged_factor"]


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
        difference: Lower confidence limit of the total variation distance; None if a difference is
            not established.
        precision: Losses of precision, the smallest factor first; empty if none is established.
        recall: Losses of recall, likewise.

    Example:
        >>> from tradeoff.inference.losses import Losses
        >>> Losses(difference=0.1).kinds
        ()
    """

    difference: float | None = None
    precision: tuple[Loss, ...] = ()
    recall: tuple[Loss, ...] = ()

    @property
    def kinds(self) -> tuple[str, ...]:
        """Which of precision and recall are lost."""
        return tuple(kind for kind in ("precision", "recall") if getattr(self, kind))


def established_losses(
    held_out: HeldOutLogRatios | HeldOutCounts,
    *,
    level: float = 0.95,
    groups: Sides[npt.NDArray[Any] | None] | None = None,
) -> Losses:
    """Whether two samples differ, and whether precision or recall is lost.

    A difference is tested one-sided at λ = 1, precision and recall two-sided at slopes that depend
    on the curve at λ = 1 only. Each statement has its own level.

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
    at_one = curve_interval(
        held_out, [1.0], level=2.0 * level - 1.0, always_widen=True, groups=groups
    )
    apart = 1.0 - float(at_one.precision[0, 1])
    judged = judged_factor(held_out)
    factors = [judged, *(further for further in policy.FURTHER_FACTORS if further > judged)]
    precision, recall = (
        _first_established(factors, 1.0 - limits[:, 1])
        for limits in (
            curve_interval(held_out, factors, level=level, groups=groups).precision,
            curve_interval(held_out, 1.0 / np.array(factors), level=level, groups=groups).recall,
        )
    )
    shares = [apart, *(loss.at_least for loss in (*precision, *recall))]
    # Every loss is a difference, also where the test of the difference alone is weaker.
    return Losses(
        difference=max(shares) if max(shares) >= policy.SMALLEST_LOSS else None,
        precision=precision,
        recall=recall,
    )


def judged_factor(held_out: HeldOutLogRatios | HeldOutCounts) -> float:
    """The slope at which precision is judged, and the inverse of that for recall."""
    factor = policy.JUDGED_MARGIN / float(
        np.clip(held_out.curve().precision(1.0), policy.SMALLEST_CURVE, 1.0)
    )
    if isinstance(held_out, HeldOutCounts):  # the next slope at which errors are counted
        factor = float(COUNTED_SLOPES[np.searchsorted(COUNTED_SLOPES, factor)])
    return factor


def _first_established(factors: list[float], shares: npt.NDArray[np.float64]) -> tuple[Loss, ...]:
    """Losses in their order, up to the first that is not established."""
    found = []
    for factor, share in zip(factors, shares, strict=True):
        if share < policy.SMALLEST_LOSS:
            break
        found.append(Loss(factor=factor, at_least=float(share)))
    return tuple(found)
