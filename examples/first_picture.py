"""The first picture of the documentation: four models of a ring of eight modes, and their curves.

The distributions are known, so the curves are exact: masses of a fine grid go into a profile.

    python -m examples.first_picture --output first-picture.png
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from examples.parts.style import COLORS, name, neutral
from tradeoff import PRCurve, PRCurveDisplay, RatioProfile
from tradeoff.inference.policy import MARGIN

ANGLES = 2 * np.pi * np.arange(8) / 8
MODES = 3 * np.stack((np.cos(ANGLES), np.sin(ANGLES)), axis=1)
CENTER = np.zeros((3, 2))
LABELS = ((0.64, 0.12), (0.23, 0.675), (0.12, 0.48), (0.33, 0.88))

REAL = (MODES, 0.3)
MODELS = {
    "drops three modes": (MODES[:5], 0.3),
    "invents the center": (np.concatenate((MODES, CENTER)), 0.3),
    "blurs": (MODES, 0.75),
    "close to the data": (MODES + np.array([0.12, 0.0]), 0.33),
}


def masses(model: tuple[np.ndarray, float], cells: int) -> np.ndarray:
    """Masses of a mixture of round Gaussians on the cells of a grid."""
    means, sd = model
    axis = np.linspace(-6, 6, cells)
    kernels = [np.exp(-((axis - means[:, [i]]) ** 2) / (2 * sd**2)) for i in (0, 1)]
    grid = np.einsum("kx,ky->xy", *kernels)
    return (grid / grid.sum()).ravel()


def draw_samples(ax: Axes, model: tuple[np.ndarray, float], color: str, title: str) -> None:
    """Samples of the model over those of the data."""
    rng = np.random.default_rng(0)

    def draw(mixture: tuple[np.ndarray, float], n: int) -> np.ndarray:
        means, sd = mixture
        return means[rng.integers(len(means), size=n)] + sd * rng.normal(size=(n, 2))

    ax.scatter(*draw(REAL, 700).T, s=3, color="0.75", linewidths=0)
    ax.scatter(*draw(model, 700).T, s=3, color=color, alpha=0.8, linewidths=0)
    ax.set(xlim=(-5, 5), ylim=(-5, 5), aspect="equal", xticks=[], yticks=[])
    ax.set_title(title, fontsize=8.5, color=color)
    ax.spines[:].set_visible(False)


def exact_curve(model: tuple[np.ndarray, float], cells: int) -> PRCurve:
    """The exact curve of a model against the data, on the grid."""
    return RatioProfile.from_masses(p=masses(REAL, cells), q=masses(model, cells)).curve()


def draw(cells: int, report: Callable[[str], None]) -> Figure:
    """The whole picture."""
    curves = {name: exact_curve(model, cells) for name, model in MODELS.items()}
    figure = Figure(figsize=(5.6, 5.0), layout="constrained")
    grid = figure.add_gridspec(2, 4, height_ratios=(1, 2))
    for i, (title, model) in enumerate(MODELS.items()):
        draw_samples(figure.add_subplot(grid[0, i]), model, COLORS[i], title)
    ax = figure.add_subplot(grid[1, :])
    PRCurveDisplay(curves).plot(ax, color=COLORS, headline=False)
    for part in (ax.get_legend(), ax.lines[0], *ax.texts):  # the diagonal needs an explanation
        part.remove()
    ax.set(aspect="auto", title="Precision-recall curves: up and to the right is better")
    for title, at, color in zip(MODELS, LABELS, COLORS, strict=True):
        name(ax, title, at, color, side="right")
    for title, curve in curves.items():
        lam = curve.balanced_slope
        precision, recall = curve.precision(MARGIN * lam), curve.recall(lam / MARGIN)
        report(f"{title:20s} precision {precision:.3f}  recall {recall:.3f}")
    return figure


def main() -> None:
    """Draw the picture and print precision and recall of each model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("first-picture.png"))
    parser.add_argument("--quick", action="store_true", help="a coarse grid")
    options = parser.parse_args()
    with neutral():
        figure = draw(120 if options.quick else 1200, print)
        figure.savefig(options.output, dpi=110 if options.quick else 200)


if __name__ == "__main__":
    main()
