"""Pictures of evaluations and comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from tradeoff.exceptions import InvalidInputError
from tradeoff.report.base import Display, axes_or_new, balanced_of, colors_of
from tradeoff.report.display import PRCurveDisplay, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from tradeoff.comparison import Comparison, Sweep
    from tradeoff.evaluation import Evaluation

__all__ = ["ComparisonDisplay", "EvaluationDisplay", "SweepDisplay", "display_of"]

_AXES = {"xlabel": "recall", "ylabel": "precision"}


class EvaluationDisplay(Display):
    """Draws the curve of a model with its band.

    Args:
        evaluation: Evaluation with a curve.

    Example:
        >>> import numpy as np
        >>> from tradeoff import evaluate
        >>> from tradeoff.report import EvaluationDisplay
        >>> rng = np.random.default_rng(0)
        >>> real, generated = rng.normal(0, 1, (300, 2)), rng.normal(1, 1, (300, 2))
        >>> options = {"metrics": ("curve",), "estimator": "logistic", "diagnose": False}
        >>> result = evaluate(real=real, generated=generated, progress=False, **options)
        >>> EvaluationDisplay(result).plot().ax_.get_ylabel()
        'precision'
    """

    def __init__(self, evaluation: Evaluation) -> None:
        if evaluation.curve is None:
            raise InvalidInputError(
                "There is no curve to draw: add curve to the metrics. If it is among them, a side "
                "repeats too few distinct samples: add more."
            )
        self.evaluation = evaluation
        self._curve = evaluation.curve

    def plot(self, ax: Axes | None = None, *, color: str | Sequence[str] | None = None) -> Self:
        """Draw on the given axes, or on a new figure; `figure_` and `ax_` hold the result.

        Args:
            ax: Matplotlib axes.
            color: Color of the curve.
        """
        balanced = balanced_of({"generated": self.evaluation})
        display = PRCurveDisplay({"generated": self._curve}, balanced=balanced)
        return self._finish(display.plot(ax, color=color).ax_)


class ComparisonDisplay(Display):
    """Draws all curves in one picture, and all models as points with limits in another.

    Models of which there is no curve, since they repeat a few samples, are left out.

    Args:
        comparison: Comparison of models whose curves were measured.

    Example:
        >>> import numpy as np
        >>> from tradeoff import compare
        >>> from tradeoff.report import ComparisonDisplay
        >>> rng = np.random.default_rng(0)
        >>> real = rng.normal(0, 1, (300, 2))
        >>> models = {"near": rng.normal(0, 1, (300, 2)), "far": rng.normal(1, 1, (300, 2))}
        >>> options = {"metrics": ("curve",), "estimator": "logistic", "diagnose": False}
        >>> result = compare(real=real, generated=models, progress=False, **options)
        >>> len(ComparisonDisplay(result).plot().axes_)
        2
    """

    axes_: tuple[Axes, Axes]

    def __init__(self, comparison: Comparison) -> None:
        needed = {"curve.precision", "curve.recall"}
        self.evaluations = {
            name: found
            for name, found in comparison.evaluations.items()
            if found.curve is not None and needed <= found.scores.keys()
        }
        if not self.evaluations:
            raise InvalidInputError("There are no curves to draw: add curve to the metrics.")

    def plot(
        self,
        ax: tuple[Axes, Axes] | None = None,
        *,
        color: str | Sequence[str] | None = None,
    ) -> Self:
        """Draw on two axes, or on a new figure.

        `figure_` and `axes_` hold the result; `ax_` is the first of the axes, with the curves.

        Args:
            ax: Two Matplotlib axes, of the curves and of the points.
            color: Color of all models, or a color for each of them.
        """
        curves_ax, points_ax = _two_axes(ax)
        colors = colors_of(color, len(self.evaluations))
        curves = {n: e.curve for n, e in self.evaluations.items() if e.curve is not None}
        balanced = balanced_of(self.evaluations)
        PRCurveDisplay(curves, balanced=balanced).plot(curves_ax, color=colors)
        curves_ax.set_title("trade-off", fontsize="medium")
        self._plot_points(points_ax, colors)
        self.axes_ = (curves_ax, points_ax)
        return self._finish(curves_ax)

    def _plot_points(self, ax: Axes, colors: list[str]) -> None:
        for (name, evaluation), color in zip(self.evaluations.items(), colors, strict=True):
            x, y = evaluation["curve.recall"], evaluation["curve.precision"]
            errors = [[[0.0], [(s.high or s.value) - s.value]] for s in (x, y)]
            ax.errorbar(
                x.value,
                y.value,
                xerr=errors[0],
                yerr=errors[1],
                marker="o",
                capsize=3,
                color=color,
                linestyle="none",
                clip_on=False,
            )
            ax.annotate(
                plain(name),
                (x.value, y.value),
                xytext=(-6, -12),
                textcoords="offset points",
                ha="right",
                fontsize="small",
                color=color,
            )
        ax.set(xlim=(0, 1.02), ylim=(0, 1.02), aspect="equal", **_AXES)
        ax.set_title("models", fontsize="medium")
        ax.spines[["top", "right"]].set_visible(False)


class SweepDisplay(Display):
    """Draws the path of a knob through the plane of recall and precision, with limits.

    Args:
        sweep: Sweep of a knob.

    Example:
        >>> import numpy as np
        >>> from tradeoff import sweep
        >>> from tradeoff.report import SweepDisplay
        >>> rng = np.random.default_rng(0)
        >>> made = {scale: rng.normal(0, scale, (300, 1)) for scale in (0.3, 1.0)}
        >>> options = {"estimator": "gaussians", "progress": False}
        >>> result = sweep(real=rng.normal(0, 1, (300, 1)), generated=made, **options)
        >>> SweepDisplay(result).plot().ax_.get_ylabel()
        'precision'
    """

    def __init__(self, sweep: Sweep) -> None:
        self.sweep = sweep

    def plot(self, ax: Axes | None = None, *, color: str | Sequence[str] | None = None) -> Self:
        """Draw on the given axes, or on a new figure; `figure_` and `ax_` hold the result.

        Args:
            ax: Matplotlib axes.
            color: Color of the path.
        """
        ax = axes_or_new(ax, height=5.0)
        (tint,) = colors_of(color, 1)
        points = self.sweep.points
        x, y = [point.recall for point in points], [point.precision for point in points]
        ax.plot(x, y, color=tint, linewidth=1.5, zorder=2, clip_on=False)
        for point in points:
            across, along = point.recall_limits[1], point.precision_limits[1]
            ax.plot((point.recall, across), [point.precision] * 2, color=tint, alpha=0.4, zorder=1)
            ax.plot([point.recall] * 2, (point.precision, along), color=tint, alpha=0.4, zorder=1)
            inside = tint if point.is_pareto else "white"
            ax.plot(
                point.recall,
                point.precision,
                "o",
                color=tint,
                markerfacecolor=inside,
                clip_on=False,
            )
            ax.annotate(
                plain(point.value),
                (point.recall, point.precision),
                xytext=(6, -12),
                textcoords="offset points",
                fontsize="small",
                fontweight="bold" if point.value == self.sweep.best else "normal",
            )
        ax.set(xlim=(0, 1.02), ylim=(0, 1.02), aspect="equal", **_AXES)
        ax.spines[["top", "right"]].set_visible(False)
        return self._finish(ax)


def _two_axes(ax: Any) -> tuple[Axes, Axes]:
    """The two given axes, or those of a new figure."""
    if ax is None:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(10, 5), layout="constrained")
        return figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2)
    try:
        first, second = ax
    except (TypeError, ValueError):
        raise InvalidInputError(
            "`ax` must hold two axes, one for the curves and one for the models. Got "
            f"{type(ax).__name__}: make them with `plt.subplots(1, 2)`."
        ) from None
    return first, second


def display_of(result: Evaluation | Comparison | Sweep) -> Display:
    """The display of a result."""
    kinds: dict[str, Any] = {
        "Evaluation": EvaluationDisplay,
        "Comparison": ComparisonDisplay,
        "Sweep": SweepDisplay,
    }
    found: Display = kinds[type(result).__name__](result)
    return found
