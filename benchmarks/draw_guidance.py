"""The pictures of `bench_guidance`: guidance and rejection by two judges, and the known truth.

    python -m benchmarks.draw_guidance --data fashion --output docs/_static/fashion-guidance.png
    python -m benchmarks.draw_guidance --truth --output docs/_static/guidance-truth.png

Figures come from the committed record, images of the first seed from the cache, where the
benchmark has left them.
"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from benchmarks.bench_guidance import SEEDS, SETTINGS, STRENGTHS, TRUTH_SCALES
from benchmarks.datasets import CACHE
from benchmarks.harness import RESULTS
from examples.fashion_guidance import picture
from examples.parts.style import COLORS, INK, name, neutral

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes

BLUE, ORANGE = COLORS[:2]
DRAWN = {
    "exact overlap": (INK, "o-"),
    "measured overlap": (INK, "o:"),
    "k-NN precision": (ORANGE, "o-"),
    "k-NN recall": (BLUE, "o-"),
}


def rows() -> dict[str, Mapping[str, float]]:
    """The record by case."""
    record = json.loads((RESULTS / "guidance.json").read_text(encoding="utf-8"))
    return {row["case"]: row for row in record["rows"]}


def of_images(data: str) -> Figure:
    """Guidance and rejection over five seeds."""
    found = rows()
    runs = [
        {setting: found[f"{data}, {setting}, seed {seed}"] for setting in SETTINGS}
        for seed in SEEDS
    ]
    with np.load(CACHE / f"guidance-{data}.npz") as images:
        return picture(runs, dict(images))


def of_truth() -> Figure:
    """Exact and measured overlap next to nearest neighbors, where the truth is known."""
    found = rows()
    figure = Figure(figsize=(6.4, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    typical = [found[f"fashion, typical images, strength {one:g}"] for one in STRENGTHS]
    wide = [found[f"model too wide, w = {one:g}"] for one in TRUTH_SCALES]
    lines(left, STRENGTHS, typical)
    lines(right, TRUTH_SCALES, wide)
    left.set(title="Typical real images", xlabel="strength of the preference", ylabel="score")
    right.set(title="Guided Gaussian classes", xlabel="scale of guidance, w", ylim=(0, 1.05))
    for key, height in (("k-NN precision", 0.71), ("k-NN recall", 0.86)):
        name(right, key, (0.98, height), DRAWN[key][0])
    name(left, "exact overlap", (0.02, 0.62), INK, side="right")
    name(left, "dotted: measured", (0.02, 0.54), INK, side="right")
    return figure


def lines(ax: Axes, at: tuple[float, ...], points: list[Mapping[str, float]]) -> None:
    """A line for each figure."""
    for key, (color, style) in DRAWN.items():
        values = [point[key] for point in points]
        ax.plot(at, values, style, color=color, markersize=4, linewidth=1.8)
    ax.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", required=True)
    parser.add_argument("--data", default="fashion")
    parser.add_argument("--truth", action="store_true", help="the picture of the known truth")
    options = parser.parse_args()
    with neutral():
        drawn = of_truth() if options.truth else of_images(options.data)
        drawn.savefig(options.output, dpi=150, bbox_inches="tight")
