"""Distribution of log p/q under each of the two sides."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import numpy as np

if TYPE_CHECKING:
    from tradeoff._sides import Sides
    from tradeoff._validation import FloatArray

__all__ = ["HasLogRatioLaws", "LogRatioLaw", "scale_weights"]


class LogRatioLaw(NamedTuple):
    """Atoms of the distribution of log p/q under P or under Q.

    Args:
        log_ratio: Values in [-∞, ∞], shape (n,).
        weight: Masses of the values, which sum to 1, shape (n,).

    Example:
        >>> from tradeoff import RatioProfile
        >>> profile = RatioProfile.from_masses(p=[0.5, 0.5], q=[1.0, 0.0])
        >>> profile.laws.generated.log_ratio.round(3), profile.laws.generated.weight
        (array([-0.693]), array([1.]))
    """

    log_ratio: FloatArray
    weight: FloatArray

    @classmethod
    def of_samples(cls, log_ratio: FloatArray, weights: FloatArray) -> LogRatioLaw:
        """The empirical distribution of weighted samples; those of weight 0 are left out."""
        kept = weights > 0
        weights = scale_weights(weights[kept])
        return cls(log_ratio[kept], weights / weights.sum())


def scale_weights(weights: FloatArray) -> FloatArray:
    """Weights divided by their maximum, so that their sum does not overflow."""
    return np.asarray(weights / weights.max())


@runtime_checkable
class HasLogRatioLaws(Protocol):
    """An object with the distribution of log p/q under both sides: a profile or held-out samples.

    Example:
        >>> from tradeoff import HeldOutLogRatios
        >>> from tradeoff.core.law import HasLogRatioLaws
        >>> isinstance(HeldOutLogRatios(real=[0.0], generated=[0.0]), HasLogRatioLaws)
        True
    """

    @property
    def laws(self) -> Sides[LogRatioLaw]:
        """Distribution of log p/q under P (`real`) and under Q (`generated`)."""
