r"""Held-out log-ratios of both sides, and the curve that is counted from them.

.. math:: \hat\alpha(\lambda) = \lambda\, \hat P(\log r < -\log\lambda)
                               + \hat Q(\log r \ge -\log\lambda)

for a log-ratio :math:`\log r` fitted on other data. Nothing is chosen on the data that is counted,
neither a hull nor a threshold, so the expectation is never below the true curve.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._result import Result
from tradeoff._sides import Sides
from tradeoff._validation import FloatArray, check_type, check_vector, check_weights, freeze
from tradeoff.core.curve import curve_of_atoms
from tradeoff.core.law import LogRatioLaw, scale_weights

if TYPE_CHECKING:
    import numpy.typing as npt

    from tradeoff.core.curve import PRCurve

__all__ = ["HeldOutLogRatios"]

_STEEPEST = 700.0


@dataclass(frozen=True, eq=False, kw_only=True, init=False)
class HeldOutLogRatios(Result):
    """Held-out log-ratios of both sides, from which the curve is counted.

    The weights are stored as one value for both sides, `weights.real` and `weights.generated`.

    Args:
        real: Log p/q of held-out real samples, shape (n,).
        generated: Log p/q of held-out generated samples, shape (m,).
        real_weights: Weights of the real samples, shape (n,), on one scale for all folds; equal if
            not given.
        generated_weights: Weights of the generated samples, shape (m,), likewise.

    Example:
        >>> from tradeoff import HeldOutLogRatios
        >>> held_out = HeldOutLogRatios(real=[1.2, 0.7, -0.3, 0.9], generated=[-1.0, 0.2, -0.6, -2])
        >>> held_out.curve().precision(1.0)
        0.5

    References:
        :cite:`simon2019`, theorem 5.
    """

    real: FloatArray
    generated: FloatArray
    weights: Sides[FloatArray]

    def __init__(
        self,
        *,
        real: npt.ArrayLike,
        generated: npt.ArrayLike,
        real_weights: npt.ArrayLike | None = None,
        generated_weights: npt.ArrayLike | None = None,
    ) -> None:
        sides = Sides._fields
        given = Sides(real_weights, generated_weights)
        values = [check_vector(*side) for side in zip(sides, (real, generated), strict=True)]
        weights = [
            check_weights(f"{side}_weights", weight, value.size)
            for side, weight, value in zip(sides, given, values, strict=True)
        ]
        for side, value in zip(sides, values, strict=True):
            object.__setattr__(self, side, freeze(side, value))
        frozen = Sides(*(freeze("weights", weight) for weight in weights))
        object.__setattr__(self, "weights", frozen)

    @classmethod
    def _from_fields(cls, **fields: Any) -> HeldOutLogRatios:
        return cls._of(Sides(fields["real"], fields["generated"]), fields["weights"])

    @classmethod
    def _of(cls, log_ratios: Sides[FloatArray], weights: Sides[FloatArray]) -> HeldOutLogRatios:
        return cls(
            real=log_ratios.real,
            generated=log_ratios.generated,
            real_weights=weights.real,
            generated_weights=weights.generated,
        )

    def merge(self, *others: HeldOutLogRatios) -> HeldOutLogRatios:
        """Pool the samples of several folds, each held out once.

        Example:
            >>> fold = HeldOutLogRatios(real=[1.0], generated=[-1.0])
            >>> fold.merge(HeldOutLogRatios(real=[-1.0], generated=[-1.0])).curve().precision(1.0)
            0.5
        """
        for other in others:
            check_type("others", other, HeldOutLogRatios)
        parts = (self, *others)
        log_ratios = zip(*(part.log_ratios for part in parts), strict=True)
        weights = zip(*(part.weights for part in parts), strict=True)
        return self._of(
            Sides(*(np.concatenate(side) for side in log_ratios)),
            Sides(*(np.concatenate(side) for side in weights)),
        )

    def curve(self) -> PRCurve:
        """The held-out curve as counted, which jumps and may exceed min(1, λ).

        Its ends only tell whether infinite log-ratios occurred: with finite ones they are 1.
        Finite log-ratios beyond ±700 count as ±700, so that slopes stay within float64.
        """
        negated = np.concatenate((-self.real, -self.generated))
        order = np.argsort(negated)
        negated = negated[order]
        bounded = np.where(np.isinf(negated), negated, np.clip(negated, -_STEEPEST, _STEEPEST))
        real, generated = self.weights.map(scale_weights)
        # Each atom is a sample of one side, and weighs nothing on the other.
        weights = Sides(
            real=np.append(real, np.zeros(generated.size))[order],
            generated=np.append(np.zeros(real.size), generated)[order],
        )
        laws = self.laws
        return curve_of_atoms(
            np.exp(bounded),
            weights,
            max_precision=_end(laws.generated, laws.real, -np.inf),
            max_recall=_end(laws.real, laws.generated, np.inf),
        )

    def swap(self) -> HeldOutLogRatios:
        """The log-ratios with the roles of real and generated exchanged."""
        return self._of(Sides(-self.generated, -self.real), Sides(*reversed(self.weights)))

    @property
    def log_ratios(self) -> Sides[FloatArray]:
        """Held-out log p/q of both sides."""
        return Sides(self.real, self.generated)

    @property
    def laws(self) -> Sides[LogRatioLaw]:
        """Empirical distribution of log p/q under P (`real`) and under Q (`generated`)."""
        return Sides(*map(LogRatioLaw.of_samples, self.log_ratios, self.weights))


def _end(own: LogRatioLaw, other: LogRatioLaw, excluded: float) -> float:
    """Limit of the curve: own mass that is not excluded, ∞ if the other side has mass there."""
    if other.weight[other.log_ratio == excluded].any():
        return np.inf
    missing = own.log_ratio == excluded
    return 1.0 - float(own.weight[missing].sum()) if missing.any() else 1.0
