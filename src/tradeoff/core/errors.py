r"""Errors of a rule that was fixed elsewhere, counted on held-out samples.

.. math:: \hat\alpha(\lambda) = \lambda\, \hat P(\log r < -\log\lambda)
                               + \hat Q(\log r \ge -\log\lambda)

for a log-ratio :math:`\log r` fitted on other data. There is no hull and no minimum: nothing is
chosen on the data that is counted, so the expectation is never below the true curve.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tradeoff._validation import FloatArray, check_type, check_vector, check_weights, freeze
from tradeoff.core.curve import PRCurve
from tradeoff.core.law import LogRatioLaw, scale_weights

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["HeldOutErrors"]

_STEEPEST = 700.0


@dataclass(frozen=True, eq=False, kw_only=True, init=False)
class HeldOutErrors:
    """The two empirical laws of held-out log-ratios.

    Args:
        real: log p/q of held-out real samples, shape (n,).
        generated: log p/q of held-out generated samples, shape (m,).
        real_weights: weights of the real samples, shape (n,), on one scale for all folds; equal if
            not given.
        generated_weights: weights of the generated samples, shape (m,).

    Example:
        >>> from tradeoff import HeldOutErrors
        >>> errors = HeldOutErrors(real=[1.2, 0.7, -0.3, 0.9], generated=[-1.0, 0.2, -0.6, -2.0])
        >>> errors.curve().precision(1.0)
        0.5

    References:
        :cite:`simon2019`, theorem 5.
    """

    real: FloatArray
    generated: FloatArray
    real_weights: FloatArray
    generated_weights: FloatArray

    def __init__(
        self,
        *,
        real: npt.ArrayLike,
        generated: npt.ArrayLike,
        real_weights: npt.ArrayLike | None = None,
        generated_weights: npt.ArrayLike | None = None,
    ) -> None:
        real, generated = check_vector("real", real), check_vector("generated", generated)
        fields = {
            "real": real,
            "generated": generated,
            "real_weights": check_weights("real_weights", real_weights, real.size),
            "generated_weights": check_weights(
                "generated_weights", generated_weights, generated.size
            ),
        }
        for name, value in fields.items():
            object.__setattr__(self, name, freeze(name, value.copy()))

    def merge(self, *others: HeldOutErrors) -> HeldOutErrors:
        """Pool the samples of several folds, each held out once.

        Example:
            >>> fold = HeldOutErrors(real=[1.0], generated=[-1.0])
            >>> fold.merge(HeldOutErrors(real=[-1.0], generated=[-1.0])).curve().precision(1.0)
            0.5
        """
        for other in others:
            check_type("others", other, HeldOutErrors)
        parts = (self, *others)
        return HeldOutErrors(
            real=np.concatenate([part.real for part in parts]),
            generated=np.concatenate([part.generated for part in parts]),
            real_weights=np.concatenate([part.real_weights for part in parts]),
            generated_weights=np.concatenate([part.generated_weights for part in parts]),
        )

    def curve(self) -> PRCurve:
        """The held-out curve, as counted: it jumps, and may exceed min(1, λ).

        Its ends say only whether infinite log-ratios occurred: with finite ones they are 1.
        Finite log-ratios beyond ±700 count as ±700, so that slopes stay within float64.
        """
        negated = np.concatenate((-self.real, -self.generated))
        order = np.argsort(negated)
        negated = negated[order]
        bounded = np.where(np.isinf(negated), negated, np.clip(negated, -_STEEPEST, _STEEPEST))
        return PRCurve._from_atoms(
            np.exp(bounded),
            np.append(scale_weights(self.real_weights), np.zeros(self.generated.size))[order],
            np.append(np.zeros(self.real.size), scale_weights(self.generated_weights))[order],
            max_precision=_end(self.generated_law, self.real_law, -np.inf),
            max_recall=_end(self.real_law, self.generated_law, np.inf),
        )

    def swap(self) -> HeldOutErrors:
        """The errors with the roles of real and generated exchanged."""
        return HeldOutErrors(
            real=-self.generated,
            generated=-self.real,
            real_weights=self.generated_weights,
            generated_weights=self.real_weights,
        )

    @property
    def real_law(self) -> LogRatioLaw:
        """The empirical law of log p/q under P."""
        return LogRatioLaw.of_samples(self.real, self.real_weights)

    @property
    def generated_law(self) -> LogRatioLaw:
        """The empirical law of log p/q under Q."""
        return LogRatioLaw.of_samples(self.generated, self.generated_weights)


def _end(own: LogRatioLaw, other: LogRatioLaw, excluded: float) -> float:
    """Limit of the curve: own mass that is not excluded, ∞ if the other side has mass there."""
    if other.weight[other.log_ratio == excluded].any():
        return np.inf
    missing = own.log_ratio == excluded
    return 1.0 - float(own.weight[missing].sum()) if missing.any() else 1.0
