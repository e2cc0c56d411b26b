"""What precision, recall and λ mean, on two densities over a line.

    python -m examples.meaning --output meaning.png

The model makes one mode too rarely, one that is not real, and the rest as it should.
"""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from examples.parts.style import COLORS, INK, name, neutral
from tradeoff import RatioProfile
from tradeoff.inference.policy import MARGIN

X = np.linspace(-7.4, 7.4, 4001)
REAL, MODEL = {-3.5: 0.4, 0.0: 0.6}, {-3.5: 0.1, 0.0: 0.6, 3.5: 0.3}
BLUE, ORANGE = COLORS[:2]


def density(modes: dict[float, float]) -> np.ndarray:
    """A mixture of Gaussians of width 0.7 by the weight at each place."""
    parts = [weight * np.exp(-((X - mean) ** 2) / (2 * 0.7**2)) for mean, weight in modes.items()]
    return np.sum(parts, axis=0) / (0.7 * np.sqrt(2 * np.pi))


def draw_densities(ax: Axes, p: np.ndarray, q: np.ndarray) -> None:
    """Both densities by name."""
    ax.plot(X, p, color=INK, linewidth=2)
    ax.plot(X, q, color=BLUE, linewidth=2)
    name(ax, "real data", (-3.5, 0.26), INK, side="middle")
    name(ax, "model", (3.5, 0.205), BLUE, side="middle")
    ax.set_title("Densities of real data and model")


def draw_losses(ax: Axes, p: np.ndarray, q: np.ndarray) -> None:
    """What is lost at λ = 1, as two areas."""
    shared = np.minimum(p, q)
    ax.fill_between(X, shared, color=INK, alpha=0.35, linewidth=0)
    ax.fill_between(X, shared, p, where=p > q, color=ORANGE, alpha=0.55, linewidth=0)
    ax.fill_between(X, shared, q, where=q > p, color=BLUE, alpha=0.55, linewidth=0)
    name(ax, "missed:\nlost recall", (-4.5, 0.19), ORANGE)
    name(ax, "shared", (0.0, 0.14), INK, side="middle")
    name(ax, "invented:\nlost precision", (4.3, 0.13), BLUE, side="right")
    ax.set_title("At λ = 1, precision = recall = the shared area")


def draw_slopes(ax: Axes, p: np.ndarray, q: np.ndarray) -> None:
    """Precision and recall against the slope."""
    step = X[1] - X[0]
    curve = RatioProfile.from_masses(p=p * step / (p * step).sum(), q=q * step / (q * step).sum())
    slopes = np.geomspace(0.05, 20, 400)
    shown = curve.curve()
    for values, color in ((shown.precision(slopes), BLUE), (shown.recall(slopes), ORANGE)):
        ax.plot(slopes, values, color=color, linewidth=2)
    balanced = shown.balanced_slope
    high, low = MARGIN * balanced, balanced / MARGIN
    name(ax, "precision", (1.6, 0.76), BLUE, side="right")
    name(ax, "recall", (0.62, 0.69), ORANGE)
    ax.plot(high, shown.precision(high), "o", color=BLUE)
    ax.plot(low, shown.recall(low), "o", color=ORANGE)
    ax.axvline(balanced, color=INK, linewidth=0.8, linestyle=":")
    name(ax, "balanced slope", (1.05, 0.06), INK, side="right")
    ax.set(xscale="log", xlabel="λ", ylim=(0, 1.02), xlim=(0.05, 20))
    ax.set_xticks([0.05, low, balanced, high, 20], ["0.05", "1/1.5", "1", "1.5", "20"])
    ax.set_title("Precision and recall are read next to the balanced slope")


def draw() -> Figure:
    """The whole picture."""
    p, q = density(REAL), density(MODEL)
    figure = Figure(figsize=(5.2, 6.4), layout="constrained")
    axes = figure.subplots(3, 1, height_ratios=(1, 1, 1.1))
    for ax, part in zip(axes, (draw_densities, draw_losses, draw_slopes), strict=True):
        part(ax, p, q)
        ax.spines[["top", "right"]].set_visible(False)
        ax.title.set_fontsize(10)
    for ax in axes[:2]:
        ax.set(xticks=[], yticks=[], xlim=(-7.4, 7.4), ylim=(0, 0.4))
        ax.spines["left"].set_visible(False)
    return figure


def main() -> None:
    """Draw the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("meaning.png"))
    parser.add_argument("--quick", action="store_true", help="fewer pixels")
    options = parser.parse_args()
    with neutral():
        draw().savefig(options.output, dpi=100 if options.quick else 200)
    print(f"wrote {options.output}")


if __name__ == "__main__":
    main()
