"""One number with what it takes to read it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tradeoff._result import Result

__all__ = ["Baseline", "Score", "number"]


@dataclass(frozen=True, kw_only=True)
class Score(Result):
    """A score with its confidence limits and baseline.

    Args:
        value: The number.
        low: Lower confidence limit; None where no valid one is known, as for a held-out curve,
            which lies above the true one in the mean.
        high: Upper confidence limit.
        expected: The baseline: the mean score when both sets come from the real data, for the same
            numbers of samples; None where it is not known.
        expected_low: Lower confidence limit of the baseline; None where it is exact.
        expected_high: Upper confidence limit of the baseline.

    Example:
        >>> from tradeoff.metrics import Score
        >>> score = Score(value=0.713, low=0.69, high=0.735, expected=0.998)
        >>> print(score)
        0.713 [0.690, 0.735], 0.998 expected when both sides come from the real data
        >>> float(score)
        0.713
        >>> print(Score(value=0.713, high=0.735))
        0.713 (at most 0.735)
    """

    value: float
    low: float | None = None
    high: float | None = None
    expected: float | None = None
    expected_low: float | None = None
    expected_high: float | None = None

    def __str__(self) -> str:
        text = self.text
        if self.expected is None:
            return text
        return f"{text}, {self.expected_text} expected when both sides come from the real data"

    def __float__(self) -> float:
        return self.value

    @property
    def is_known(self) -> bool:
        """Whether the interval is narrower than everything from 0 to 1."""
        return (self.low, self.high) != (0.0, 1.0)

    @property
    def value_text(self) -> str:
        """The value as text, with about four digits."""
        return number(self.value)

    @property
    def text(self) -> str:
        """The value with its limits as text."""
        limits = self.interval_text
        if limits and (self.low is None or self.high is None):
            limits = f"({limits})"
        return f"{self.value_text} {limits}".rstrip()

    @property
    def interval_text(self) -> str:
        """The limits as text; empty without any, and where the upper one alone is 1 or more."""
        if self.high is None:
            return f"at least {number(math.floor(self.low * 1000) / 1000)}" if self.low else ""
        if self.low is None and self.high >= 1.0:
            return ""
        if self.low is None:
            return f"at most {number(math.ceil(self.high * 1000 - 1e-9) / 1000)}"
        return f"[{number(self.low)}, {number(self.high)}]"

    @property
    def expected_text(self) -> str:
        """The baseline as text; empty without one."""
        return "" if self.expected is None else number(self.expected)


@dataclass(frozen=True)
class Baseline:
    """The mean of a metric when both sets come from the real data.

    Args:
        value: The mean.
        error: Its standard error; 0 for a closed form.
    """

    value: float
    error: float = 0.0


def number(value: float) -> str:
    """Three decimals for what is small, four digits for what is not, and e-notation for tiny."""
    if 1e-9 < abs(value) < 1e-3:
        return f"{value:.1e}"
    return f"{value:.3f}" if abs(value) < 100 else f"{value:.4g}"
