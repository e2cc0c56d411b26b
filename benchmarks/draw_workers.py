"""Draws the time of counting with one process, two processes and Ray, from the committed figures.

python -m benchmarks.draw_workers
"""

from __future__ import annotations

import json
from pathlib import Path

from matplotlib.figure import Figure

from benchmarks.harness import RESULTS
from examples.parts.style import COLORS, INK, name, neutral

PICTURE = Path(__file__).parents[1] / "docs" / "_static" / "workers.png"
_SERIES = {
    "one process": ((3.6, 41.0), "left"),
    "two processes": ((3.2, 21.0), "right"),
    "Ray, two workers": ((1.0, 29.0), "middle"),
}


def main() -> None:
    """Seconds against rows, with the name of each line."""
    record = json.loads((RESULTS / "workers.json").read_text())["rows"]
    rows = [row for row in record if row["case"].startswith("counting") and len(row) > 3]
    with neutral():
        figure = Figure(figsize=(6.2, 3.4), layout="constrained")
        axes = figure.subplots()
        for (label, (place, side)), color in zip(_SERIES.items(), COLORS, strict=False):
            seconds = [row[f"{label}, s"] for row in rows]
            axes.plot([row["rows"] / 1e6 for row in rows], seconds, "o-", color=color)
            name(axes, label, place, color, side=side)
        axes.set(xlabel="million rows of 64 columns", ylabel="seconds", xlim=(0, 5.5), ylim=(0, 55))
        axes.set_title("Counting with a frozen rule on two cores", size=10, pad=10)
        axes.grid(alpha=0.25, color=INK)
        axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(PICTURE, dpi=160)


if __name__ == "__main__":
    main()
