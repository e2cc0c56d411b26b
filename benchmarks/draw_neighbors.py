"""Draws how the time of neighbor metrics grows, from the committed figures."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from benchmarks.harness import RESULTS

PICTURE = Path(__file__).parents[1] / "docs" / "_static" / "neighbors.png"
_SERIES = {
    "stored reference, by real samples": ("time against real samples", 1),
    "stored reference, by generated samples": ("time against generated samples", 1),
    "radii of one's own set": ("time of radii", 2),
}


def main() -> None:
    """Seconds against samples, with the powers that theory says."""
    rows = json.loads((RESULTS / "memory.json").read_text())["rows"]
    figure = Figure(figsize=(6.4, 4.8), layout="constrained")
    axes = figure.subplots()
    for label, (case, power) in _SERIES.items():
        (row,) = (row for row in rows if row["case"].startswith(case))
        sizes, times = np.array(row["sizes"]), np.array(row["times"])
        (line,) = axes.loglog(sizes, times, "o", label=f"{label}: slope {row['slope']:.2f}")
        through = times[-1] * (sizes / sizes[-1]) ** power
        axes.loglog(sizes, through, color=line.get_color(), alpha=0.5, linewidth=1)
    axes.set(xlabel="samples", ylabel="seconds", title="Lines: proportional, and as the square")
    figure.legend(loc="outside lower center")
    axes.grid(alpha=0.2, which="both")
    figure.savefig(PICTURE, dpi=120)


if __name__ == "__main__":
    main()
