"""The picture of `bench_images`: settings in two planes with intervals, images and classes.

    python -m benchmarks.draw_images --output docs/_static/fashion-tuning.png

Figures come from the committed record; images and shares of classes of the first seed from the
cache, where the benchmark has left them.
"""

from __future__ import annotations

import argparse
import json

import numpy as np

from benchmarks.datasets import CACHE
from benchmarks.harness import RESULTS
from examples.fashion_tuning import Run, picture
from examples.parts.style import neutral


def runs(record: str, data: str) -> list[Run]:
    """The runs of a record; all but the first without images."""
    rows = json.loads((RESULTS / f"{record}.json").read_text())["rows"]
    found: dict[str, dict[str, dict[str, float]]] = {}
    for row in rows:
        setting, _, seed = row["case"].rpartition(", seed ")
        if setting:
            found.setdefault(seed, {})[setting] = row
    first = next(iter(found))
    kept = [
        dict(np.load(CACHE / f"tuning-{data}-{first}-{kind}.npz")) for kind in ("images", "shares")
    ]
    return [Run(rows, *kept) for rows in found.values()]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", required=True)
    parser.add_argument("--record", default="images")
    parser.add_argument("--data", default="fashion")
    options = parser.parse_args()
    with neutral():
        drawn = picture(runs(options.record, options.data))
        drawn.savefig(options.output, dpi=150, bbox_inches="tight")
