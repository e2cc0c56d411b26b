"""What a value of a knob is chosen for, read from a sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tradeoff._result import Result
from tradeoff.comparison.curves import compare_curves
from tradeoff.exceptions import InvalidInputError
from tradeoff.inference import policy

if TYPE_CHECKING:
    from tradeoff.curves import CurveEstimate

__all__ = ["LARGEST_AREA", "Wish"]

_AT_LEAST = re.compile(r"highest (precision|recall) with (precision|recall) at least (\d*\.?\d+)")
_AT_SLOPE = re.compile(r"best at (?:λ|lam|lambda)? ?=? ?(\d*\.?\d+)")
LARGEST_AREA = "largest area"
_F_SCORE = "highest F-score"


@dataclass(frozen=True, kw_only=True)
class Wish(Result):
    """What a value of a knob is chosen for.

    Args:
        key: What is to be high: "area", "f_score", "precision" or "recall".
        lam: Slope at which precision or recall is taken; None for the area and the F-score.
        condition: What must not be too low, "precision" or "recall"; None without a condition.
        at_least: Bound of the condition.

    Example:
        >>> from tradeoff.comparison.goals import Wish
        >>> Wish.parse("highest precision with recall at least 0.8").at_least
        0.8
        >>> Wish.parse("best at λ = 2").lam
        2.0
    """

    key: str = "area"
    lam: float | None = None
    condition: str | None = None
    at_least: float = 0.0

    @classmethod
    def parse(cls, text: str) -> Wish:
        """Read a wish: four kinds of sentences are understood."""
        plain = " ".join(str(text).split())
        if plain in (LARGEST_AREA, _F_SCORE):
            return cls(key="area" if plain == LARGEST_AREA else "f_score")
        if found := _AT_LEAST.fullmatch(plain):
            key, condition, bound = found.groups()
            if key != condition and float(bound) <= 1.0:
                return cls(
                    key=key, lam=policy.HEADLINE[key], condition=condition, at_least=float(bound)
                )
        if found := _AT_SLOPE.fullmatch(plain):
            lam = float(found.group(1))
            if lam > 0:
                return cls(key="precision" if lam >= 1 else "recall", lam=lam)
        raise InvalidInputError(
            f'`wish` must read like "{LARGEST_AREA}", "{_F_SCORE}", "best at λ = 2" or '
            f'"highest precision with recall at least 0.8". Got {text!r}.'
        )

    def value_of(self, estimate: CurveEstimate) -> float:
        """What is to be high."""
        curve = estimate.curve
        if self.key == "area":
            return float(curve.area)
        return float(curve.f_score(1.0) if self.lam is None else getattr(curve, self.key)(self.lam))

    def is_surely_lower(self, first: CurveEstimate, second: CurveEstimate, level: float) -> bool:
        """Whether the first value is lower than the second, by a paired test at a level."""
        slopes = (1.0,) if self.lam is None else (self.lam,)
        found = compare_curves(first, second, lam=slopes, level=level)
        tested = getattr(found, self.key)
        if self.lam is not None:
            tested = tested[self.lam]
        return bool(tested.value < 0 and tested.p_value < 1.0 - level)
