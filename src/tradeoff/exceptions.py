"""What tradeoff raises: one sentence that says what was expected, what came, and what to do."""

__all__ = [
    "InvalidInputError",
    "MissingExtraError",
    "TradeoffError",
    "UnavailableError",
    "UndefinedError",
    "UnreadableError",
]


def first_line(error: BaseException) -> str:
    """What another library says, without its full stop, for use within a sentence."""
    return (str(error) or type(error).__name__).splitlines()[0].rstrip(".")


class TradeoffError(Exception):
    """Base class of every error that tradeoff raises on purpose.

    Example:
        >>> from tradeoff import RatioProfile, TradeoffError
        >>> try:
        ...     RatioProfile.from_masses(p=[0.5, 0.4], q=[0.5, 0.5])
        ... except TradeoffError as error:
        ...     print(error)
        `p` must sum to 1. Got a sum of 0.9. Divide it by its sum if it holds counts.
    """


class InvalidInputError(TradeoffError, ValueError):
    """An argument is outside what a function accepts.

    Example:
        >>> from tradeoff.core import AcceptanceRule
        >>> AcceptanceRule.from_log_ratios([0.1, -0.2], budget=0.5)
        Traceback (most recent call last):
        ...
        tradeoff.exceptions.InvalidInputError: `budget` must be at least 1. Got 0.5.
    """


class UndefinedError(TradeoffError):
    """A quantity was asked for that does not exist.

    Example:
        >>> from tradeoff.core.divergence import PRDivergence
        >>> PRDivergence(2.0).ratio(0.3)
        Traceback (most recent call last):
        ...
        tradeoff.exceptions.UndefinedError: The PR-divergence has no ratio: its discriminator ...
    """


class MissingExtraError(TradeoffError, ImportError):
    """A part was asked for whose optional package is not installed.

    Example:
        >>> from tradeoff.exceptions import MissingExtraError
        >>> issubclass(MissingExtraError, ImportError)
        True
    """


class UnavailableError(TradeoffError):
    """Something outside, such as a model hub or a full disk, cannot be used now.

    Example:
        >>> from tradeoff.exceptions import TradeoffError, UnavailableError
        >>> issubclass(UnavailableError, TradeoffError)
        True
    """


class UnreadableError(TradeoffError):
    """One sample cannot be read; the message is the reason.

    Example:
        >>> from tradeoff._pictures import decode_image
        >>> decode_image("cat.png", b"")
        Traceback (most recent call last):
        ...
        tradeoff.exceptions.UnreadableError: The file is empty.
    """
