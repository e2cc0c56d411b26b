"""The picture of `bench_digits_gan`: images before and after rejection, and every setting.

    python -m benchmarks.draw_digits_gan --output docs/_static/digits-gan.png

Figures come from the committed record; images are drawn again from the published generator.
"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

import torch
from matplotlib.figure import Figure

from benchmarks.bench_digits_gan import METHODS, PLAIN, TRUNCATIONS, published
from benchmarks.harness import RESULTS
from examples.parts.fashion import show_images
from examples.parts.style import COLORS, INK, neutral
from tradeoff.sampling import BudgetedSampler

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, ORANGE = COLORS[:2]
SHOWN = (PLAIN, *TRUNCATIONS, *METHODS)
NAMES = {PLAIN: "all draws", **{name: name.replace(", K = ", ", K=") for name in METHODS}}


def picture() -> Figure:
    """Images above, figures of all settings below."""
    rows = json.loads((RESULTS / "digits_gan.json").read_text(encoding="utf-8"))["rows"]
    means = {row["case"]: row for row in rows}
    figure = Figure(figsize=(6.4, 6.0), layout="constrained")
    upper, lower = figure.subfigures(2, 1, height_ratios=(1, 1.35))
    gan, ratio = published()
    torch.manual_seed(1)
    sampler = BudgetedSampler(gan.draw, ratio, budget=4.0, batch=4096)
    kept = torch.as_tensor(sampler.sample(40, progress=False).samples)
    drawn = {"All draws of a published GAN": gan.draw(40), "One of four kept": kept}
    for ax, (title, images) in zip(upper.subplots(1, 2), drawn.items(), strict=True):
        show_images(ax, images, title)
    left, middle, right = lower.subplots(1, 3, sharey=True)
    found = [means[f"digits, {setting}, mean"] for setting in SHOWN]
    real = means["digits, real images, mean"]
    for ax, key, title in (
        (left, "area", "area under the curve"),
        (middle, "k-NN recall", "k-NN recall"),
        (right, "share of ones", "share of ones"),
    ):
        points(ax, [row[key] for row in found], [row[f"± {key}"] for row in found])
        ax.axvline(real[key], color=INK, linewidth=1, linestyle=":")
        ax.set_title(title, fontsize=10)
    left.set_yticks(range(len(SHOWN)), [NAMES.get(setting, setting) for setting in SHOWN])
    left.invert_yaxis()
    middle.set_xlabel("dotted: other real images")
    return figure


def points(ax: Axes, values: list[float], halves: list[float]) -> None:
    """A value with its interval for each setting; optimal rejection stands out."""
    for i, (setting, value, half) in enumerate(zip(SHOWN, values, halves, strict=True)):
        color = ORANGE if setting.startswith("OBRS") else BLUE if setting in METHODS else INK
        ax.errorbar(value, i, xerr=half, color=color, marker="o", markersize=5, linewidth=1.5)
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(x=0.15)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", required=True)
    with neutral():
        drawing = picture()
        drawing.savefig(parser.parse_args().output, dpi=150, bbox_inches="tight")
