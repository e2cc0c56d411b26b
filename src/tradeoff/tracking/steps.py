"""A step of a training run as it was measured, and what takes note of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tradeoff._result import Result

if TYPE_CHECKING:
    from tradeoff.evaluation import Evaluation

__all__ = ["Log", "TrackedStep"]


@dataclass(frozen=True, kw_only=True)
class TrackedStep(Result):
    """What was measured at a step of a training run. Numbers are None where there is no curve.

    Args:
        step: Number of the step.
        score: What steps are chosen by: the F-score, or the quantity that the goal names.
        f_score: Highest F-score of the curve.
        f_score_at_most: Limit of the true F-score.
        precision: Precision at λ = 1.5, for all steps the same.
        precision_limits: Lower and upper limit; the true value may lie below the lower one.
        recall: Recall at λ = 1/1.5.
        recall_limits: Lower and upper limit.
        knn_precision: Improved precision, by nearest neighbors.
        knn_recall: Improved recall, by nearest neighbors.
        reason: Why the score cannot be trusted; empty if it can.
        is_broken: Whether the samples themselves are broken: missing, not finite or all alike.

    Example:
        >>> from tradeoff.tracking import TrackedStep
        >>> step = TrackedStep(step=500, reason="All generated samples are equal.", is_broken=True)
        >>> step.resolved
        False
        >>> print(step.sentence)
        Step 500: not resolved. All generated samples are equal.
    """

    _derived = ("resolved", "sentence")

    step: int
    score: float | None = None
    f_score: float | None = None
    f_score_at_most: float | None = None
    precision: float | None = None
    precision_limits: tuple[float, float] | None = None
    recall: float | None = None
    recall_limits: tuple[float, float] | None = None
    knn_precision: float | None = None
    knn_recall: float | None = None
    reason: str = ""
    is_broken: bool = False

    @property
    def resolved(self) -> bool:
        """Whether the score can be trusted to choose a step."""
        return not self.reason

    @property
    def sentence(self) -> str:
        """The scores with their limits, or why there are none."""
        if self.reason:
            return f"Step {self.step:,}: not resolved. {self.reason}"
        assert self.precision_limits is not None
        assert self.recall_limits is not None
        return (
            f"Step {self.step:,}: F-score {self.f_score:.3f} (at most {self.f_score_at_most:.3f}), "
            f"precision {self.precision:.3f} (at most {self.precision_limits[1]:.3f}), "
            f"recall {self.recall:.3f} (at most {self.recall_limits[1]:.3f})."
        )

    @property
    def numbers(self) -> dict[str, float]:
        """What a logger shows, by name; of a step that is not resolved, no score."""
        named = {
            "score": self.score if self.resolved else None,
            "f_score": self.f_score if self.resolved else None,
            "precision": self.precision if self.resolved else None,
            "recall": self.recall if self.resolved else None,
            "resolved": float(self.resolved),
        }
        return {name: value for name, value in named.items() if value is not None}


class Log(Protocol):
    """What takes note of steps, such as TensorBoard.

    Example:
        >>> from tradeoff.tracking import TrackedStep
        >>> class Printed:
        ...     def log(self, step, evaluation):
        ...         print(step.sentence)
        ...     def end(self, best, evaluation):
        ...         pass
        >>> Printed().log(TrackedStep(step=1, reason="There are no generated samples."), None)
        Step 1: not resolved. There are no generated samples.
    """

    def log(self, step: TrackedStep, evaluation: Evaluation | None) -> None:
        """Take note of a step.

        Args:
            step: The step.
            evaluation: Its evaluation, with the curve; None if there is none.
        """

    def end(self, best: TrackedStep | None, evaluation: Evaluation | None) -> None:
        """Take note of the step that was kept, when the run is over.

        Args:
            best: The step; None if none was resolved.
            evaluation: Its evaluation.
        """
