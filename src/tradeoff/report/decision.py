"""The picture of a decision: what was known after every look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from tradeoff._registry import resolve
from tradeoff.exceptions import InvalidInputError
from tradeoff.report.base import Display, axes_or_new, colors_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from tradeoff.sequential import Decision

__all__ = ["DecisionDisplay"]


class DecisionDisplay(Display):
    """Draws the estimate with limits of all looks against the number of samples.

    Args:
        decision: Decision about one model or two.

    Example:
        >>> import numpy as np
        >>> from tradeoff import decide
        >>> from tradeoff.report import DecisionDisplay
        >>> rng = np.random.default_rng(0)
        >>> found = decide(
        ...     real=rng.normal(0, 1, (2000, 1)), generated=lambda n: rng.normal(2, 1, (n, 1)),
        ...     question="precision at λ = 1 > 0.6", estimator="logistic", progress=False,
        ... )
        >>> DecisionDisplay(found).plot().ax_.get_ylabel()
        'precision at λ = 1'
    """

    def __init__(self, decision: Decision) -> None:
        if not decision.looks:
            raise InvalidInputError(
                "`decision` must have looks to draw: it has none before the first sample, and "
                "none for more than two models."
            )
        self.decision = decision

    def plot(self, ax: Axes | None = None, *, color: str | Sequence[str] | None = None) -> Self:
        """Draw on the given axes, or on a new figure; `figure_` and `ax_` hold the result.

        Args:
            ax: Matplotlib axes.
            color: Color of the estimate and its limits.
        """
        ax = axes_or_new(ax, height=3.6)
        (tint,) = colors_of(color, 1)
        looks = self.decision.looks
        asked = resolve("tradeoff.sequential.questions:Question").parse(self.decision.question)
        samples = np.array([look.samples for look in looks])
        limits = np.array([(look.low, look.high) for look in looks])
        ax.fill_between(samples, *limits.T, color=tint, alpha=0.2, linewidth=0)
        ax.plot(samples, [look.value for look in looks], color=tint, marker=".")
        ax.axhline(asked.bar or 0.0, color="0.5", linestyle=":")
        ax.plot(samples[-1], looks[-1].value, "o", color=tint)
        ax.annotate(
            f"{self.decision.answer} after {samples[-1]:,}",
            (samples[-1], looks[-1].value),
            xytext=(-6, 10),
            textcoords="offset points",
            ha="right",
        )
        ax.set(xlabel="generated samples that were counted", ylabel=asked.quantity, xlim=(0, None))
        ax.spines[["top", "right"]].set_visible(False)
        return self._finish(ax)
