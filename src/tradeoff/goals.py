"""What a model or a value of a knob is to reach: above or below a bar, or the best of several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tradeoff._result import Result
from tradeoff._validation import check_choice, check_number, check_positive
from tradeoff.exceptions import InvalidInputError
from tradeoff.inference import policy

__all__ = ["Above", "Below", "Best"]


class Goal:
    """What goals about precision or recall at a slope have in common."""

    key: str
    lam: float | None
    bar: float | None = None

    @property
    def slope(self) -> float:
        """Slope at which precision or recall is taken."""
        return policy.COMMON_SLOPES[self.key] if self.lam is None else self.lam

    @property
    def scale(self) -> float:
        """What precision at the slope is divided by."""
        return 1.0 if self.key == "precision" else self.slope

    @property
    def largest(self) -> float:
        """The largest value that it can have."""
        return min(1.0, self.slope) / self.scale

    @property
    def name(self) -> str:
        """The quantity in a sentence."""
        return self.key if self.lam is None else f"{self.key} at λ = {self.lam:g}"

    @property
    def quantity(self) -> str:
        """What is looked at: a value, or without a bar the difference of two."""
        return self.name if self.bar is not None else f"difference of {self.name}"

    def _check_bar(self, name: str, bar: float) -> None:
        check_choice("key", self.key, ("precision", "recall"))
        _check_slope(self.lam)
        if not 0.0 < check_number(name, bar) < self.largest:
            raise InvalidInputError(
                f"A threshold for {self.name} must lie between 0 and {self.largest:g}, which are "
                f"its smallest and largest value. Got {bar}."
            )


def _check_slope(lam: float | None) -> None:
    if lam is not None:
        check_positive("lam", lam)


@dataclass(frozen=True)
class Above(Goal, Result):
    """Precision or recall lies above a bar.

    Args:
        key: "precision" or "recall".
        above: The bar.
        lam: Slope at which it is taken; None for 1.5 (precision) and 1/1.5 (recall), whatever the
            samples: those of a perfect model.

    Example:
        >>> from tradeoff import Above
        >>> print(Above("recall", 0.6))
        recall > 0.6
    """

    key: Literal["precision", "recall"]
    above: float
    lam: float | None = None

    def __post_init__(self) -> None:
        self._check_bar("above", self.above)

    @property
    def bar(self) -> float:  # type: ignore[override]
        """The bar."""
        return self.above

    def __str__(self) -> str:
        return f"{self.name} > {self.above:g}"


@dataclass(frozen=True)
class Below(Goal, Result):
    """Precision or recall lies below a bar.

    Args:
        key: "precision" or "recall".
        below: The bar.
        lam: Slope at which it is taken; None for 1.5 (precision) and 1/1.5 (recall), whatever the
            samples: those of a perfect model.

    Example:
        >>> from tradeoff import Below
        >>> print(Below("precision", 0.9, lam=2.0))
        precision at λ = 2 < 0.9
    """

    key: Literal["precision", "recall"]
    below: float
    lam: float | None = None

    def __post_init__(self) -> None:
        self._check_bar("below", self.below)

    @property
    def bar(self) -> float:  # type: ignore[override]
        """The bar."""
        return self.below

    def __str__(self) -> str:
        return f"{self.name} < {self.below:g}"


@dataclass(frozen=True)
class Best(Goal, Result):
    """The best of several models or values.

    Args:
        key: What is to be high: "area", "f_score", "precision" or "recall".
        lam: Slope at which precision or recall is taken; None for 1.5 and 1/1.5.
        given: What must not be too low.

    Example:
        >>> from tradeoff import Above, Best
        >>> print(Best("precision", given=Above("recall", 0.8)))
        highest precision with recall at least 0.8
    """

    key: Literal["area", "f_score", "precision", "recall"] = "area"
    lam: float | None = None
    given: Above | None = None

    def __post_init__(self) -> None:
        check_choice("key", self.key, ("area", "f_score", "precision", "recall"))
        _check_slope(self.lam)
        if self.lam is not None and self.is_summary:
            raise InvalidInputError(f"`lam` must be None for {self.key}, which has no slope.")
        if not (self.given is None or isinstance(self.given, Above)):
            raise InvalidInputError(
                f'`given` must be a bar such as Above("recall", 0.8). Got {self.given!r}.'
            )

    @property
    def is_summary(self) -> bool:
        """Whether it is a summary of the whole curve."""
        return self.key in ("area", "f_score")

    def __str__(self) -> str:
        summaries = {"area": "largest area", "f_score": "highest F-score"}
        at = "" if self.lam is None else f" at λ = {self.lam:g}"
        found = summaries.get(self.key, f"highest {self.key}{at}")
        return found if self.given is None else f"{found} with {_at_least(self.given)}"


def _at_least(goal: Above) -> str:
    name = goal.key if goal.lam is None else goal.name
    return f"{name} at least {goal.above:g}"
