"""The picture of `bench_faces`: faces of scaled latents, and what rejection changes.

    python -m benchmarks.draw_faces --output docs/_static/faces.png

Figures come from the committed record; faces are drawn again from the published generator.
"""

from __future__ import annotations

import argparse
import json

import numpy as np
from matplotlib.figure import Figure

from benchmarks import generators
from benchmarks.drawn_faces import EXACT, METHODS, TRUNCATIONS
from benchmarks.harness import RESULTS
from examples.parts.style import COLORS, INK, neutral

BLUE, ORANGE = COLORS[:2]
ACROSS, DOWN, SEED = 4, 2, 7
SHOWN = {
    "area": "area under the curve",
    "k-NN recall": "k-NN recall",
    "mean square of latents": "mean square of latents",
}


def picture() -> Figure:
    """Faces above, figures of all settings below."""
    rows = json.loads((RESULTS / "faces.json").read_text(encoding="utf-8"))["rows"]
    means = {row["case"]: row for row in rows}
    settings = [*TRUNCATIONS, *METHODS]
    figure = Figure(figsize=(6.4, 5.2), layout="constrained")
    upper, lower = figure.subfigures(2, 1, height_ratios=(1, 2.5))
    for ax, scale in zip(upper.subplots(1, 3), (1.0, 0.9, 0.8), strict=True):
        tiles = generators.faces(ACROSS * DOWN, scale, SEED).reshape(DOWN, ACROSS, 64, 64, 3)
        ax.imshow(np.concatenate(np.concatenate(tiles, axis=1), axis=1))
        ax.set_title(f"latents × {scale:g}", fontsize=10)
        ax.axis("off")
    for number, (ax, (key, title)) in enumerate(
        zip(lower.subplots(1, 3, sharey=True), SHOWN.items(), strict=True)
    ):
        for i, setting in enumerate(settings):
            found = means[f"faces, {setting}, mean"]
            color = ORANGE if setting.startswith(EXACT) else BLUE if setting in METHODS else INK
            ax.errorbar(found[key], i, xerr=found[f"± {key}"], color=color, marker="o", ms=4)
        ax.set_title(title, fontsize=10)
        ax.spines[["top", "right"]].set_visible(False)
        ax.margins(x=0.15)
        if not number:
            ax.set_yticks(range(len(settings)), settings)
            ax.invert_yaxis()
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", required=True)
    with neutral():
        drawing = picture()
        drawing.savefig(parser.parse_args().output, dpi=150, bbox_inches="tight")
