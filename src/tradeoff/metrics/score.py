"""One number with what it takes to read it."""

from __future__ import annotations

from dataclasses import dataclass

from tradeoff._result import Result

__all__ = ["Score", "number"]


@dataclass(frozen=True, kw_only=True)
class Score(Result):
    """A number, its interval, and what it is worth when nothing is wrong.

    Args:
        value: The number.
        low: Lower confidence limit; None where no honest interval is known.
        high: Upper confidence limit.
        expected: The baseline, the same quantity when both sets come from the real data: one half
            of the real samples against the other, or a closed form where there is one; None where
            it was not measured.
        expected_high: Upper limit of `expected`, where its own noise is known.

    Example:
        >>> from tradeoff.metrics import Score
        >>> print(Score(value=0.713, low=0.69, high=0.735, expected=0.998))
        0.713 [0.690, 0.735], real against real 0.998
    """

    value: float
    low: float | None = None
    high: float | None = None
    expected: float | None = None
    expected_high: float | None = None

    def __str__(self) -> str:
        text = f"{number(self.value)} {self.interval_text}".rstrip()
        return text if self.expected is None else f"{text}, real against real {self.expected_text}"

    @property
    def value_text(self) -> str:
        """In four digits or so."""
        return number(self.value)

    @property
    def interval_text(self) -> str:
        """Both limits, or nothing."""
        if self.low is None or self.high is None:
            return ""
        return f"[{number(self.low)}, {number(self.high)}]"

    @property
    def expected_text(self) -> str:
        """Of a perfect model, or nothing."""
        return "" if self.expected is None else number(self.expected)


def number(value: float) -> str:
    """Three decimals for what is small, four digits for what is not, and e-notation for tiny."""
    if 1e-9 < abs(value) < 1e-3:
        return f"{value:.1e}"
    return f"{value:.3f}" if abs(value) < 100 else f"{value:.4g}"
