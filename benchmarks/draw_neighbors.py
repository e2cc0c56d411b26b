"""Draws how the time of neighbor metrics grows, from the committed figures."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from benchmarks.harness import RESULTS
from examples.parts.style import COLORS, INK, name, neutral

PICTURE = Path(__file__).parents[1] / "docs" / "_static" / "neighbors.png"
_SERIES = {
    "stored reference,\nmore real samples": ("time against real samples", 1, (2.6e5, 4.0)),
    "stored reference, more\ngenerated samples": ("time against generated", 1, (1.0e4, 37.0)),
    "neighbors within one set": ("time of radii", 2, (5.5e4, 2.4)),
}


def main() -> None:
    """Seconds against samples, with the powers that theory says."""
    rows = json.loads((RESULTS / "memory.json").read_text())["rows"]
    with neutral():
        figure = Figure(figsize=(6.2, 4.4), layout="constrained")
        axes = figure.subplots()
        for (label, (case, power, place)), color in zip(_SERIES.items(), COLORS, strict=False):
            (row,) = (row for row in rows if row["case"].startswith(case))
            sizes, times = np.array(row["sizes"]), np.array(row["times"])
            axes.loglog(sizes, times, "o", color=color)
            through = times[-1] * (sizes / sizes[-1]) ** power
            axes.loglog(sizes, through, color=color, alpha=0.6, linewidth=1)
            name(axes, f"{label}\n(measured slope {row['slope']:.2f})", place, color, side="right")
        axes.set(xlabel="samples", ylabel="seconds", ylim=(0.5, 60))
        axes.set_title("Neighbor metrics; lines are linear and quadratic growth", size=10, pad=10)
        axes.grid(alpha=0.25, color=INK)
        axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(PICTURE, dpi=200)


if __name__ == "__main__":
    main()
