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
from examples.parts.style import INK, neutral
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


def label(ax: Axes, q: int, color: object) -> None:
    """Write the number of classes at the end of the dashed line: above it, or to its right."""
    place = (q / 5, 1.04) if q <= 5 else (1.02, 5 / q)
    align = {"ha": "center", "va": "bottom"} if q <= 5 else {"ha": "left", "va": "center"}
    ax.annotate(f"{q}", place, color=color, annotation_clip=False, **align)


def main(output: str, *, quick: bool) -> None:
    """Draw one panel for each method."""
    size, shown = (datasets.QUICK, (2, 8)) if quick else (datasets.FULL, SHOWN)
    parts = datasets.cifar10(size)
    curves = {}
    for q in shown:
        samples = images(parts, size, q)
        curves[q] = {"tradeoff": pr_curve(**samples, seed=0).curve} | published(samples)
    with neutral():
        draw_all(curves).savefig(output, dpi=200)


def draw_all(curves: dict[int, dict[str, PRCurve]]) -> Figure:
    """One panel for each method, below each other so that they can be read on a phone."""
    figure = Figure(figsize=(6.2, 8.4), layout="constrained")
    names = list(next(iter(curves.values())))
    panels = figure.subplots(len(names), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    # Ends of the color map that vanish on white or on black are left out.
    colors = colormaps["viridis"](np.linspace(0.2, 0.8, len(curves)))
    for name, ax in zip(names, panels, strict=True):
        for (q, found), color in zip(curves.items(), colors, strict=True):
            draw(ax, theory(q), color=color, linestyle="--", linewidth=1)
            draw(ax, found[name], color=color, linewidth=2)
            label(ax, q, color)
        ax.set(ylabel="precision", xlim=(0, 1.02), ylim=(0, 1.02))
        ax.set_title(name, color=INK, pad=18)
        ax.spines[["top", "right"]].set_visible(False)
    panels[-1].set_xlabel("recall")
    figure.suptitle(
        "Five real classes; colored numbers: classes of the model; dashed: truth", size=10
    )
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", required=True)
    parser.add_argument("--quick", action="store_true", help="two curves of the tests' data")
    arguments = parser.parse_args()
    main(arguments.output, quick=arguments.quick)
