"""Answers to questions that are asked while samples are being generated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tradeoff._result import Result
from tradeoff._text import in_percent, printable
from tradeoff.evaluation.result import Paged
from tradeoff.goals import Above, Below, Best

__all__ = ["Answer", "Decision", "Look"]

Answer = Literal["yes", "no", "best found", "undecided", "undecidable"]


@dataclass(frozen=True, kw_only=True)
class Look(Result):
    """What was known after so many samples.

    Args:
        samples: Number of generated samples of each model that were counted.
        value: Measured precision or recall; of two models, first minus second.
        low: Lower limit. The limits of all looks hold together.
        high: Upper limit.
        capital: Evidence for one of both answers, as the capital of a gambler who began with 1;
            2 divided by the allowed error is enough.

    Example:
        >>> from tradeoff.sequential.questions import Look
        >>> Look(samples=500, value=0.7, low=0.6, high=0.8, capital=3.0).high
        0.8
    """

    samples: int
    value: float
    low: float
    high: float
    capital: float


@dataclass(frozen=True, kw_only=True)
class Decision(Paged, Result):
    """The answer to a question, and how many samples it took.

    Args:
        goal: What was asked.
        answer: "yes" or "no", for several models "best found"; "undecided" after the largest
            number of samples; "undecidable" if the real side alone cannot resolve the difference.
        best: Models of which one is the best; the name of the model if there is one.
        looks: What was known at each look, if there are one or two models.
        samples: Number of generated samples of each model, including those that its rule was
            fitted on.
        level: Probability with which the answer is right.
        enough: About how many real samples would make the question decidable, where it is not.
        warnings: Reasons not to trust the answer.
        provenance: Real samples, encoder, estimator, seed and versions.

    Example:
        >>> import numpy as np
        >>> from tradeoff import Above, decide
        >>> rng = np.random.default_rng(0)
        >>> found = decide(
        ...     real=rng.normal(0, 1, (4000, 1)), generated=lambda n: rng.normal(3, 1, (n, 1)),
        ...     goal=Above("precision", 0.6, lam=1.0), estimator="logistic", progress=False,
        ... )
        >>> found.answer, found.samples["generated"] < 2000
        ('no', True)
    """

    _derived = ("sentences",)

    goal: Above | Below | Best
    answer: Answer
    best: tuple[str, ...]
    looks: tuple[Look, ...]
    samples: Mapping[str, int]
    level: float
    enough: int | None = None
    warnings: tuple[str, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return "\n".join(map(printable, self.sentences))

    @property
    def sentences(self) -> tuple[str, ...]:
        """The answer, what it means, and what it took."""
        taken = " and ".join(f"{n:,} of {name}" for name, n in self.samples.items())
        used = f"Samples used, including those that the rule was fitted on: {taken}."
        return (*self._answer(self.goal), used, *self.warnings)

    def _answer(self, asked: Above | Below | Best) -> tuple[str, ...]:
        sure = f"with {in_percent(self.level)} confidence"
        if self.answer == "undecidable":
            more = f" About {self.enough:,} real samples would be enough." if self.enough else ""
            return (
                "Undecidable: the sampling error of the real samples alone is larger than the "
                f"distance between {asked.name} and {asked.bar:g}.{more}",
            )
        if isinstance(asked, Best):
            found = f"{sure.capitalize()}, {self.best[0]} has the best {asked.name}."
            if self.answer == "undecided":
                found = (
                    "Undecided when the limit was reached or no samples were left: "
                    f"{' and '.join(self.best)} cannot be told apart by {asked.name}."
                )
                if others := [name for name in self.samples if name not in self.best]:
                    found += f" {sure.capitalize()}, {' and '.join(others)} cannot be the best."
            return (
                found,
                "This ranks measured values. They are upper bounds, so the true values may rank "
                "differently.",
            )
        if self.answer == "undecided":
            last = self.looks[-1] if self.looks else None
            limits = f": {sure} it lies between {last.low:.3f} and {last.high:.3f}" if last else ""
            return (f"Undecided when the limit was reached or no samples were left{limits}.",)
        if (self.answer == "yes") == isinstance(asked, Above):
            return (
                f"Above: {sure} the measured {asked.name} exceeds {asked.bar:g}.",
                f"The true {asked.key} may be lower, since a measured one is an upper bound.",
            )
        return (
            f"Below: {sure} the {asked.name} is less than {asked.bar:g}.",
            f"The true {asked.key} is below it too, however well the rule was fitted.",
        )
