"""Precision and recall of a training run over its steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from tradeoff._validation import check_type
from tradeoff.exceptions import InvalidInputError
from tradeoff.report.base import Display, axes_or_new, colors_of, legend_below
from tradeoff.tracking.steps import TrackedStep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

__all__ = ["TrainingDisplay"]

_KINDS = (("precision", "o"), ("recall", "s"))
_MUTED = "0.5"


class TrainingDisplay(Display):
    """Draws precision and recall by step with their limits; steps not resolved are hollow.

    Limits of each step hold on their own. Precision is read at λ = 1.5 and recall at λ = 1/1.5. A
    dashed line is the F-score, by which steps are chosen unless a goal says otherwise.

    Args:
        steps: Steps in their order, such as those of a `Tracker`.
        best: The kept step, which is marked; None if there is none.

    Example:
        >>> from tradeoff.report import TrainingDisplay
        >>> from tradeoff.tracking import TrackedStep
        >>> steps = [
        ...     TrackedStep(step=step, score=score, precision=score, precision_limits=(0.6, 0.9),
        ...                 recall=score, recall_limits=(0.6, 0.9))
        ...     for step, score in ((100, 0.7), (200, 0.8))
        ... ]
        >>> TrainingDisplay(steps, best=steps[1]).plot().ax_.get_xlabel()
        'step'
    """

    def __init__(self, steps: Sequence[TrackedStep], *, best: TrackedStep | None = None) -> None:
        for step in steps:
            check_type("steps", step, TrackedStep)
        self.steps, self.best = tuple(steps), best

    def plot(self, ax: Axes | None = None, *, color: str | Sequence[str] | None = None) -> Self:
        """Draw on the given axes, or on a new figure; `figure_` and `ax_` hold the result.

        Args:
            ax: Matplotlib axes.
            color: Colors of precision and of recall, or one color for both.
        """
        measured = [step for step in self.steps if step.precision is not None]
        if not measured:
            raise InvalidInputError("`steps` must hold a step with a curve. Got none.")
        ax = axes_or_new(ax, height=4.0)
        for (kind, marker), shade in zip(_KINDS, colors_of(color, 2), strict=True):
            _draw(ax, measured, kind, marker, shade)
        scores = [step.f_score if step.resolved else None for step in measured]
        if any(score is not None for score in scores):
            x, y = [step.step for step in measured], np.array(scores, float)
            ax.plot(x, y, "--", color=_MUTED, label="F-score", zorder=2)
        for step in self.steps:
            if step.precision is None:
                ax.plot(step.step, 0.0, "x", color=_MUTED, clip_on=False)
        if self.best is not None:
            ax.axvline(self.best.step, color=_MUTED, linestyle=":", zorder=1)
            ax.annotate(
                "kept",
                (self.best.step, 0.0),
                xycoords=("data", "axes fraction"),
                xytext=(3, 3),
                textcoords="offset points",
                color=_MUTED,
                fontsize="small",
            )
        if not all(step.resolved for step in self.steps):
            ax.plot([], [], "o", color=_MUTED, markerfacecolor="none", label="not resolved")
        if len(measured) < len(self.steps):
            ax.plot([], [], "x", color=_MUTED, label="no curve")
        ax.set(ylim=(0, 1.02), xlabel="step", ylabel="measured")
        ax.spines[["top", "right"]].set_visible(False)
        legend_below(ax)
        return self._finish(ax)


def _draw(ax: Axes, steps: Sequence[TrackedStep], kind: str, marker: str, color: str) -> None:
    """A line with its band through the resolved steps, and hollow markers for the others."""
    x = np.array([step.step for step in steps])
    y = np.array([getattr(step, kind) for step in steps])
    low, high = np.array([getattr(step, f"{kind}_limits") for step in steps]).T
    resolved = np.array([step.resolved for step in steps])
    # Where a step is not resolved, line and band have a gap.
    line, low, high = (np.where(resolved, values, np.nan) for values in (y, low, high))
    ax.fill_between(x, low, high, color=color, alpha=0.2, linewidth=0, zorder=2)
    ax.plot(x, line, marker=marker, color=color, label=kind, zorder=3, clip_on=False)
    ax.plot(x[~resolved], y[~resolved], marker, color=color, markerfacecolor="none", clip_on=False)
