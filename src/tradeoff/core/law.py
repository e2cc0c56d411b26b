"""The law of log p/q under one of the two sides."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import numpy as np

if TYPE_CHECKING:
    from tradeoff._validation import FloatArray

__all__ = ["HasLogRatioLaws", "LogRatioLaw"]


class LogRatioLaw(NamedTuple):
    """Atoms of the law of log p/q under P or under Q.

    Args:
        log_ratio: values in [-∞, ∞], shape (n,).
        weight: their masses, which sum to 1, shape (n,).

    Example:
        >>> from tradeoff import RatioProfile
        >>> profile = RatioProfile.from_masses(p=[0.5, 0.5], q=[1.0, 0.0])
        >>> profile.generated_law.log_ratio.round(3), profile.generated_law.weight
        (array([-0.693]), array([1.]))
    """

    log_ratio: FloatArray
    weight: FloatArray

    @classmethod
    def of_samples(cls, log_ratio: FloatArray, weights: FloatArray) -> LogRatioLaw:
        """The empirical law of weighted samples; those without weight are left out."""
        kept = weights > 0
        weights = scale_weights(weights[kept])
        return cls(log_ratio[kept], weights / weights.sum())


def scale_weights(weights: FloatArray) -> FloatArray:
    """Weights of maximum 1, whose sum does not overflow."""
    return np.asarray(weights / weights.max())


@runtime_checkable
class HasLogRatioLaws(Protocol):
    """Anything that knows the law of log p/q under both sides: a profile, or held-out samples.

    Example:
        >>> from tradeoff import HeldOutErrors
        >>> from tradeoff.core import HasLogRatioLaws
        >>> isinstance(HeldOutErrors(real=[0.0], generated=[0.0]), HasLogRatioLaws)
        True
    """

    @property
    def real_law(self) -> LogRatioLaw:
        """The law of log p/q under P."""

    @property
    def generated_law(self) -> LogRatioLaw:
        """The law of log p/q under Q."""
