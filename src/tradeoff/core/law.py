"""The law of log p/q under one of the two sides."""

from typing import NamedTuple, Protocol, runtime_checkable

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
