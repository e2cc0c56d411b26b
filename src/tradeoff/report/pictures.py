"""Pictures of budgets, of frontiers and of decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from tradeoff._validation import check_type
from tradeoff.core.frontier import RenyiFrontier
from tradeoff.exceptions import InvalidInputError
from tradeoff.report.base import Display, axes_or_new, colors_of, legend_below, named
from tradeoff.report.display import draw_frame, plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from tradeoff.ratio.calibration import Reliability
    from tradeoff.sampling.planner import Plan
    from tradeoff.sequential import Decision

__all__ = ["DecisionDisplay", "FrontierDisplay", "PlanDisplay", "ReliabilityDisplay"]


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
            (numbers["curve.precision"], colors[0], "precision"),
            (numbers["curve.recall"], colors[1], "recall"),
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


class FrontierDisplay(Display):
    """Draws one or many Rényi frontiers in the plane of recall and precision.

    Points are joined in the order in which a frontier holds them. Several kinds and orders of the
    same two distributions may share a picture, since they have the same axes.

    Args:
        frontiers: One frontier, or frontiers by name.

    Example:
        >>> import numpy as np
        >>> from tradeoff import RatioProfile
        >>> from tradeoff.core import renyi_frontier
        >>> from tradeoff.report import FrontierDisplay
        >>> profile = RatioProfile.from_masses(p=[0.2, 0.3, 0.5], q=[0.5, 0.25, 0.25])
        >>> weight = np.linspace(0.01, 0.99, 99)
        >>> frontiers = {
        ...     kind: renyi_frontier(profile, order=1, kind=kind, weight=weight)
        ...     for kind in ("exclusive", "inclusive")
        ... }
        >>> display = FrontierDisplay(frontiers).plot()
        >>> [text.get_text() for text in display.ax_.get_legend().get_texts()]
        ['exclusive', 'inclusive']

    References:
        :cite:`djolonga2020`.
    """

    def __init__(self, frontiers: RenyiFrontier | Mapping[str, RenyiFrontier]) -> None:
        self.frontiers = named("frontiers", frontiers, RenyiFrontier, "frontier")

    def plot(self, ax: Axes | None = None, *, color: str | Sequence[str] | None = None) -> Self:
        """Draw on the given axes, or on a new figure; `figure_` and `ax_` hold the result.

        Args:
            ax: Matplotlib axes.
            color: Color of the frontiers, or a color for each of them.
        """
        ax = axes_or_new(ax, height=5.0)
        colors = colors_of(color, len(self.frontiers))
        draw_frame(ax)
        for one, (name, frontier) in zip(colors, self.frontiers.items(), strict=True):
            ax.plot(
                frontier.recall,
                frontier.precision,
                color=one,
                label=plain(name) or None,
                linewidth=2,
                marker="o" if frontier.recall.size == 1 else None,
                zorder=3,
            )
        if any(self.frontiers):
            legend_below(ax)
        return self._finish(ax)


class DecisionDisplay(Display):
    """Draws the estimate with limits of all looks against the number of samples.

    Args:
        decision: Decision about one model or two.

    Example:
        >>> import numpy as np
        >>> from tradeoff import Above, decide
        >>> from tradeoff.report import DecisionDisplay
        >>> rng = np.random.default_rng(0)
        >>> found = decide(
        ...     real=rng.normal(0, 1, (2000, 1)), generated=lambda n: rng.normal(2, 1, (n, 1)),
        ...     goal=Above("precision", 0.6, lam=1.0), estimator="logistic", progress=False,
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
        goal = self.decision.goal
        samples = np.array([look.samples for look in looks])
        limits = np.array([(look.low, look.high) for look in looks])
        ax.fill_between(samples, *limits.T, color=tint, alpha=0.2, linewidth=0)
        ax.plot(samples, [look.value for look in looks], color=tint, marker=".")
        ax.axhline(goal.bar or 0.0, color="0.5", linestyle=":")
        ax.plot(samples[-1], looks[-1].value, "o", color=tint)
        ax.annotate(
            f"{self.decision.answer} after {samples[-1]:,}",
            (samples[-1], looks[-1].value),
            xytext=(-6, 10),
            textcoords="offset points",
            ha="right",
        )
        ax.set(xlabel="generated samples that were counted", ylabel=goal.quantity, xlim=(0, None))
        ax.spines[["top", "right"]].set_visible(False)
        return self._finish(ax)
