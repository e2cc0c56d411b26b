"""CIFAR-10 with classes dropped and invented: theory, ours, and two recipes of the literature.

    python -m benchmarks.draw_classes --output docs/_static/cifar10.png

P is five classes of the test part, Q the first q classes of the training part, as in figure 5 of
Sajjadi et al. and figure 2 of Simon et al.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure

from benchmarks import datasets
from benchmarks.bench_real import images, published
from tradeoff import PRCurve, RatioProfile, pr_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = (1, 2, 4, 5, 7, 10)
_SLOPES = np.geomspace(1 / 20, 20, 301)


def theory(q: int) -> PRCurve:
    """Classes of equal mass, none of which overlap."""
    classes = np.arange(10)
    return RatioProfile.from_masses((classes < 5) / 5, (classes < q) / q).curve()


def draw(ax: Axes, curve: PRCurve, **style: object) -> None:
    """Precision against recall for slopes in [1/20, 20]."""
    ax.plot(curve.recall(_SLOPES), curve.precision(_SLOPES), **style)


def main(output: str, *, quick: bool) -> None:
    """Draw one panel for each method."""
    size, shown = (datasets.QUICK, (2, 8)) if quick else (datasets.FULL, SHOWN)
    parts = datasets.cifar10(size)
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    axes: dict[str, Axes] = {}
    colors = colormaps["viridis"](np.linspace(0, 0.9, len(shown)))
    for q, color in zip(shown, colors, strict=True):
        samples = images(parts, size, q)
        found = {"ours": pr_curve(**samples, seed=0).curve} | published(samples)
        if not axes:
            panels = figure.subplots(1, len(found), sharex=True, sharey=True)
            axes = dict(zip(found, panels, strict=True))
        for name, curve in found.items():
            draw(axes[name], theory(q), color=color, linestyle="--", linewidth=1)
            draw(axes[name], curve, color=color, linewidth=1.8, label=f"q = {q}")
    for name, ax in axes.items():
        ax.set(title=name, xlabel="recall", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    first, *_, last = axes.values()
    first.set_ylabel("precision")
    last.legend(title="classes in the model", fontsize=8, loc="lower left")
    figure.suptitle("CIFAR-10, five real classes against the first q: theory dashed")
    figure.savefig(output, dpi=130)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", required=True)
    parser.add_argument("--quick", action="store_true", help="two curves of the tests' data")
    arguments = parser.parse_args()
    main(arguments.output, quick=arguments.quick)
