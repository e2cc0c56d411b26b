"""A curve from counted errors: its intervals, band, losses and certificate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tradeoff._result import Result
from tradeoff._sides import Sides
from tradeoff.core.counts import BAND_SLOPES, HeldOutCounts
from tradeoff.core.curve import PRCurve
from tradeoff.exceptions import UndefinedError
from tradeoff.inference.certificate import certify
from tradeoff.inference.intervals import curve_interval
from tradeoff.inference.losses import balance_of, established_losses

if TYPE_CHECKING:
    import numpy.typing as npt

    from tradeoff.core.divergence import Divergence
    from tradeoff.core.held_out import HeldOutLogRatios
    from tradeoff.inference.intervals import CurveInterval
    from tradeoff.inference.losses import Balance, Losses

__all__ = ["CountedCurve", "EstimatedCurve"]


@dataclass(frozen=True, eq=False, kw_only=True)
class EstimatedCurve(Result):
    """What every estimated curve can tell, however its errors were counted.

    Args:
        raw: The curve as counted; its expectation is never below the truth.
        curve: The curve as shown, clipped at min(1, λ) and made monotone.
        provenance: How it was made.
    """

    raw: PRCurve
    curve: PRCurve
    provenance: Mapping[str, Any]

    @property
    def held_out(self) -> HeldOutLogRatios | HeldOutCounts:
        """The held-out errors from which the curve was counted."""
        raise NotImplementedError

    @property
    def groups(self) -> Sides[npt.NDArray[Any] | None]:
        """Group of each counted sample of both sides; None where all are independent."""
        return Sides(None, None)

    @property
    def is_grouped(self) -> bool:
        """Whether samples of a side are counted in groups, or are copies."""
        raise NotImplementedError

    @cached_property
    def balance(self) -> Balance:
        """The balanced slope, at 1.5 and 1/1.5 times of which precision and recall are read."""
        return balance_of(self.held_out, groups=self.groups)

    @property
    def headline(self) -> dict[str, float]:
        """Precision, recall and overlap, by the keys that they have in every result."""
        return self.balance.headline(self.curve)

    def interval(
        self, lam: npt.ArrayLike, *, level: float = 0.95, simultaneous: bool = False
    ) -> CurveInterval:
        """Limits of precision and recall; see :func:`~tradeoff.inference.curve_interval`.

        Args:
            lam: slopes in (0, ∞), shape (n,).
            level: probability of covering.
            simultaneous: Whether all intervals cover together.
        """
        return curve_interval(
            self.held_out, lam, level=level, simultaneous=simultaneous, groups=self.groups
        )

    def shown(self, kind: str, lam: float, *, level: float = 0.95) -> tuple[float, float, float]:
        """Shown precision or recall at a slope with its limits; see `CurveInterval.around`.

        Args:
            kind: "precision" or "recall".
            lam: Slope.
            level: Probability of covering.
        """
        return self.interval([lam], level=level).around(self.curve, kind)

    def losses(self, *, level: float = 0.95) -> Losses:
        """What is established of losses; see `established_losses`.

        Args:
            level: Confidence level of each statement.
        """
        return established_losses(self.held_out, level=level, groups=self.groups)

    def with_band(self, *, level: float = 0.95) -> PRCurve:
        """The shown curve with a band that covers all slopes in [1/20, 20] together.

        Example:
            >>> import numpy as np
            >>> from tradeoff import pr_curve
            >>> rng = np.random.default_rng(0)
            >>> real, generated = rng.normal(0, 1, (500, 2)), rng.normal(1, 1, (500, 2))
            >>> curve = pr_curve(real=real, generated=generated, estimator="logistic").with_band()
            >>> bool(curve.lower.precision(1.0) < curve.precision(1.0) < curve.upper.precision(1.0))
            True
        """
        lower, upper = self.interval(BAND_SLOPES, level=level, simultaneous=True).curves()
        return replace(self.curve, lower=lower, upper=upper)

    def certificate(self, *, level: float = 0.95) -> PRCurve:
        """An upper bound of the true curve that holds at all slopes at once.

        Args:
            level: Probability, at least, with which the true curve lies below the bound everywhere.
        """
        if self.is_grouped:
            raise UndefinedError(
                "A certificate requires independent samples, not groups or copies: keep one sample "
                'of each, or pass repeats="draws" if equal samples are independent.'
            )
        return certify(self.held_out, level=level)

    def divergence(self, divergence: Divergence) -> float:
        """The held-out dual bound of an f-divergence; its expectation is never above the truth."""
        return divergence.of_curve(self.raw)


@dataclass(frozen=True, eq=False, kw_only=True)
class CountedCurve(EstimatedCurve):
    """A curve of which only counts at fixed slopes are kept, whatever the number of samples.

    Args:
        raw: The curve as counted; its expectation is never below the truth.
        curve: The curve as shown, clipped at min(1, λ) and made monotone.
        counts: Errors of a frozen rule, counted on samples that it was not fitted on.
        provenance: How it was made.

    Example:
        >>> import numpy as np
        >>> from tradeoff.core.counts import HeldOutCounts, count_errors
        >>> from tradeoff.curves.counted import CountedCurve
        >>> rng = np.random.default_rng(1)
        >>> bucket = np.arange(4000) % 256
        >>> counts = HeldOutCounts(
        ...     real=count_errors(rng.normal(0.5, 1, 4000), bucket),
        ...     generated=count_errors(rng.normal(-0.5, 1, 4000), bucket),
        ... )
        >>> CountedCurve.of(counts).interval([1.0]).precision.round(2)  # the truth is 0.617
        array([[0.6 , 0.64]])
    """

    counts: HeldOutCounts

    @classmethod
    def of(cls, counts: HeldOutCounts, provenance: Mapping[str, Any] | None = None) -> CountedCurve:
        """The curve of counts."""
        raw = counts.curve()
        return cls(raw=raw, curve=raw.clipped(), counts=counts, provenance=provenance or {})

    @property
    def held_out(self) -> HeldOutCounts:
        """The counts."""
        return self.counts

    @property
    def is_grouped(self) -> bool:
        """Whether samples of a side are counted in groups, or repeat."""
        return any(groups is not None for groups in self.counts.groups)
