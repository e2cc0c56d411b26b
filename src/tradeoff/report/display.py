"""Pictures of precision-recall curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from tradeoff._text import printable
from tradeoff.core.curve import PRCurve
from tradeoff.inference import policy
from tradeoff.report.base import Display, axes_or_new, colors_of, legend_below, named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from tradeoff._validation import FloatArray

__all__ = ["PRCurveDisplay", "draw_frame", "plain"]

_MARKERS = {"precision": "^", "recall": ">"}
_LIMIT = 1.02
_ANGLES = 2001
_MOST_BREAKPOINTS = 2000


class PRCurveDisplay(Display):
    """Draws one or many precision-recall curves, with bands and the points of the headline.

    Args:
        curves: One curve, or curves by name.
        balanced: Balanced slopes by name, as an estimate knows them; of a curve without one, that
            of its highest F-score.

    Example:
        >>> from tradeoff import PRCurveDisplay, RatioProfile
        >>> dropped = RatioProfile.from_masses(p=[0.5, 0.5], q=[1.0, 0.0]).curve()
        >>> invented = RatioProfile.from_masses(p=[1.0, 0.0], q=[0.5, 0.5]).curve()
        >>> display = PRCurveDisplay({"drops a mode": dropped, "invents one": invented}).plot()
        >>> display.ax_.get_xlabel(), display.ax_.get_ylabel()
        ('recall', 'precision')
    """

    def __init__(
        self,
        curves: PRCurve | Mapping[str, PRCurve],
        *,
        balanced: Mapping[str, float] | None = None,
    ) -> None:
        self.curves = named("curves", curves, PRCurve, "curve")
        self.balanced = balanced or {}

    def plot(
        self,
        ax: Axes | None = None,
        *,
        color: str | Sequence[str] | None = None,
        headline: bool = True,
    ) -> Self:
        """Draw on the given axes, or on a new figure; `figure_` and `ax_` hold the result.

        Args:
            ax: Matplotlib axes.
            color: Color of the curves, or a color for each of them.
            headline: Whether to mark where precision and recall are read.
        """
        ax = axes_or_new(ax, height=5.0)
        colors = colors_of(color, len(self.curves))
        draw_frame(ax)
        for i, (name, curve) in enumerate(self.curves.items()):
            recall, precision = _outline(curve)
            ax.plot(
                recall, precision, color=colors[i], label=plain(name) or None, linewidth=2, zorder=3
            )
            _draw_band(ax, curve, colors[i])
            if headline:
                balanced = self.balanced.get(name, curve.balanced_slope)
                _draw_headline(ax, curve, balanced, colors[i], size=max(5.0, 11.0 - 2 * i))
        if headline:
            for kind, marker in _MARKERS.items():
                ax.plot([], [], marker, color="0.45", label=kind)
        if any(self.curves) or headline:
            legend_below(ax)
        return self._finish(ax)


def _outline(curve: PRCurve) -> tuple[FloatArray, FloatArray]:
    """Points along the curve, breakpoints among them unless they are too many to be seen."""
    breakpoints = curve.breakpoints
    if breakpoints.size > _MOST_BREAKPOINTS:
        breakpoints = breakpoints[:: breakpoints.size // _MOST_BREAKPOINTS]
    lam = np.tan(np.linspace(0, np.pi / 2, _ANGLES)[1:-1])
    lam = np.concatenate(([0.0], np.union1d(lam, breakpoints), [np.inf]))
    return curve.recall(lam), curve.precision(lam)


def draw_frame(ax: Axes) -> None:
    """The plane of recall and precision, with its diagonal."""
    ax.set(xlim=(0, _LIMIT), ylim=(0, _LIMIT), aspect="equal", xlabel="recall", ylabel="precision")
    ax.plot([0, 1], [0, 1], color="0.6", linewidth=1, linestyle=":", zorder=1)
    ax.annotate(
        "λ = 1",
        (0.5, 0.5),
        xytext=(3, -3),
        textcoords="offset points",
        color="0.45",
        fontsize="small",
        rotation=45,
        rotation_mode="anchor",
        ha="left",
        va="top",
    )
    ax.spines[["top", "right"]].set_visible(False)


def _draw_band(ax: Axes, curve: PRCurve, color: str) -> None:
    if curve.lower is None or curve.upper is None:
        return
    low_recall, low_precision = _outline(curve.lower)
    high_recall, high_precision = _outline(curve.upper)
    ax.fill(
        np.concatenate((low_recall, high_recall[::-1])),
        np.concatenate((low_precision, high_precision[::-1])),
        color=color,
        alpha=0.2,
        linewidth=0,
        zorder=2,
    )


def _draw_headline(ax: Axes, curve: PRCurve, balanced: float, color: str, size: float) -> None:
    """Markers that shrink from curve to curve, so that none hides another."""
    for kind, marker in _MARKERS.items():
        lam = balanced * policy.COMMON_SLOPES[kind]
        point = (curve.recall(lam), curve.precision(lam))
        outside = max(point) > _LIMIT
        ax.plot(
            *point,
            marker,
            color=color,
            markersize=size,
            markeredgecolor="white",
            markeredgewidth=0.6,
            zorder=4,
            clip_on=outside,
        )


def plain(name: str) -> str:
    """A name as text of a picture, in which ``$`` would begin a formula and ``_`` hide a line."""
    text = printable(name).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text
