"""Pictures of Rényi frontiers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from tradeoff.core.frontier import RenyiFrontier
from tradeoff.report.base import Display, axes_or_new, colors_of, legend_below, named
from tradeoff.report.display import draw_frame, plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

__all__ = ["FrontierDisplay"]


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
