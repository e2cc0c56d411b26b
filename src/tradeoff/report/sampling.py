"""Pictures of plans and of ratios."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from tradeoff._validation import check_type
from tradeoff.inference import policy
from tradeoff.report.base import Display, axes_or_new, colors_of, legend_below

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from tradeoff.ratio.calibration import Reliability
    from tradeoff.sampling.planner import Plan

__all__ = ["PlanDisplay", "ReliabilityDisplay"]


class PlanDisplay(Display):
    """Draws what a budget brings: precision and recall against draws per kept sample.

    Args:
        plan: Plan from `plan_budget`.

    Example:
        >>> import numpy as np
        >>> from tradeoff import HeldOutLogRatios
        >>> from tradeoff.report import PlanDisplay
        >>> from tradeoff.sampling import plan_budget
        >>> rng = np.random.default_rng(0)
        >>> real, generated = rng.normal(1, 1, 500), rng.normal(-1, 1, 500)
        >>> held_out = HeldOutLogRatios(real=real, generated=generated)
        >>> PlanDisplay(plan_budget(held_out)).plot().ax_.get_xlabel()
        'draws per kept sample'
    """

    def __init__(self, plan: Plan) -> None:
        from tradeoff.sampling.planner import Plan  # curves alone are drawn without it

        check_type("plan", plan, Plan)
        self.plan = plan

    def plot(self, ax: Axes | None = None, *, color: str | Sequence[str] | None = None) -> Self:
        """Draw on the given axes, or on a new figure; `figure_` and `ax_` hold the result.

        Args:
            ax: Matplotlib axes.
            color: Colors of precision and of recall, or one color for both.
        """
        ax, numbers = axes_or_new(ax, height=4.5), self.plan.headline
        colors = colors_of(color, 2)
        for values, shade, label in (
            (numbers["curve.precision"], colors[0], f"precision at λ = {policy.PRECISION_LAM:g}"),
            (numbers["curve.recall"], colors[1], f"recall at λ = {policy.RECALL_LAM:g}"),
        ):
            ax.plot(self.plan.budgets, values, "o-", color=shade, label=label, clip_on=False)
        ax.axvline(self.plan.enough, color="0.6", linestyle=":", label="hardly more beyond")
        ax.set(xscale="log", ylim=(0, 1.02), xlabel="draws per kept sample", ylabel="predicted")
        labels = [f"{budget:g}" for budget in self.plan.budgets]
        ax.set_xticks(self.plan.budgets, labels, fontsize="x-small")
        ax.minorticks_off()
        ax.spines[["top", "right"]].set_visible(False)
        legend_below(ax)
        return self._finish(ax)


class ReliabilityDisplay(Display):
    """Draws the observed share of real samples against the share that a ratio predicts.

    Args:
        reliability: Result of `reliability`.

    Example:
        >>> import numpy as np
        >>> from tradeoff.ratio import reliability
        >>> from tradeoff.report import ReliabilityDisplay
        >>> rng = np.random.default_rng(0)
        >>> found = reliability(real=rng.normal(1, 1, 500), generated=rng.normal(-1, 1, 500))
        >>> ReliabilityDisplay(found).plot().ax_.get_ylabel()
        'observed share of real samples'
    """

    def __init__(self, reliability: Reliability) -> None:
        from tradeoff.ratio.calibration import Reliability

        check_type("reliability", reliability, Reliability)
        self.reliability = reliability

    def plot(self, ax: Axes | None = None, *, color: str | Sequence[str] | None = None) -> Self:
        """Draw on the given axes, or on a new figure; `figure_` and `ax_` hold the result.

        Args:
            ax: Matplotlib axes.
            color: Color of the observed shares.
        """
        ax, found = axes_or_new(ax, height=4.5), self.reliability
        ax.plot([0, 1], [0, 1], color="0.6", linewidth=1, linestyle=":")
        errors = np.stack((found.observed - found.low, found.high - found.observed))
        ax.errorbar(
            found.predicted,
            found.observed,
            yerr=np.maximum(errors, 0.0),
            marker="o",
            capsize=3,
            color=colors_of(color, 1)[0],
        )
        ax.set(
            xlim=(0, 1),
            ylim=(0, 1),
            aspect="equal",
            xlabel="predicted share, r / (1 + r)",
            ylabel="observed share of real samples",
        )
        ax.spines[["top", "right"]].set_visible(False)
        return self._finish(ax)
