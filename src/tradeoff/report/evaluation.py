"""Pictures of evaluations and comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tradeoff.core.headline import HEADLINE_PRECISION_LAM, HEADLINE_RECALL_LAM
from tradeoff.exceptions import InvalidInputError
from tradeoff.report.display import COLORS, PRCurveDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tradeoff.evaluation import Comparison, Evaluation

__all__ = ["ComparisonDisplay", "EvaluationDisplay"]


class EvaluationDisplay:
    """Draws the curve of a model with its band, and the ceiling, real against real.

    Args:
        evaluation: that measured the curve.

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

    figure_: Figure
    ax_: Axes

    def __init__(self, evaluation: Evaluation) -> None:
        if evaluation.curve is None:
            raise InvalidInputError(
                "There is no curve to draw: add curve to the metrics, and more distinct samples "
                "if it is among them."
            )
        self.evaluation = evaluation

    def plot(self, ax: Axes | None = None) -> EvaluationDisplay:
        """Draw on the given axes, or on a new figure; `figure_` and `ax_` hold the result."""
        curves = {"generated": self.evaluation.curve, "real vs real": self.evaluation.ceiling}
        display = PRCurveDisplay({name: c for name, c in curves.items() if c is not None})
        display.plot(ax)
        self.figure_, self.ax_ = display.figure_, display.ax_
        return self


class ComparisonDisplay:
    """Draws all curves in one picture, and all models as points with intervals in another.

    Models of which there is no curve, since they repeat a few samples, are left out.

    Args:
        comparison: of models whose curves were measured.

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

    figure_: Figure
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

    def plot(self, axes: tuple[Axes, Axes] | None = None) -> ComparisonDisplay:
        """Draw on two axes, or on a new figure; `figure_` and `axes_` hold the result."""
        if axes is None:
            from matplotlib.figure import Figure

            figure = Figure(figsize=(10, 5), layout="constrained")
            axes = (figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2))
        curves = {n: e.curve for n, e in self.evaluations.items() if e.curve is not None}
        PRCurveDisplay(curves).plot(axes[0])
        axes[0].set_title("trade-off", fontsize="medium")
        self._plot_points(axes[1])
        self.axes_, self.figure_ = axes, axes[0].figure.figure
        return self

    def _plot_points(self, ax: Axes) -> None:
        for i, evaluation in enumerate(self.evaluations.values()):
            x, y = evaluation["curve.recall"], evaluation["curve.precision"]
            errors = [
                [[abs(s.value - (s.low or 0.0))], [abs((s.high or s.value) - s.value)]]
                for s in (x, y)
            ]
            ax.errorbar(
                x.value,
                y.value,
                xerr=errors[0],
                yerr=errors[1],
                marker="o",
                capsize=3,
                color=COLORS[i % len(COLORS)],
                linestyle="none",
                clip_on=False,
            )
        ax.set(
            xlim=(0, 1.02),
            ylim=(0, 1.02),
            aspect="equal",
            xlabel=f"recall at λ = {HEADLINE_RECALL_LAM:g}",
            ylabel=f"precision at λ = {HEADLINE_PRECISION_LAM:g}",
        )
        ax.set_title("models", fontsize="medium")
        ax.spines[["top", "right"]].set_visible(False)
