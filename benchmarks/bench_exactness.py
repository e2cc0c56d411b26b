"""Counts of the tile engine against a brute force in float64, on data sets made to be hard.

Ties, duplicates, points a millionth apart and a common offset are where distances from matrix
products go wrong. Every radius, neighbor and count must be equal, for both inequalities.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import joblib
import numpy as np

from benchmarks.harness import Row, run
from tests.known.neighbors import (
    DRAWS,
    differences,
    draw,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    Draw = Callable[[np.random.Generator, int, int], np.ndarray]

SETS = 200


def exactness(kind: str, sets: int) -> Row:
    """All data sets of one kind."""
    each = joblib.Parallel(n_jobs=-1)(
        joblib.delayed(lambda number: differences(draw(kind, number)))(n) for n in range(sets)
    )
    found, compared = (int(total) for total in np.sum(each, axis=0))
    return {"data sets": sets, "numbers": compared, "ratio": found, "bar": 0}


CASES = {kind: (lambda kind=kind: exactness(kind, SETS // len(DRAWS))) for kind in DRAWS}

if __name__ == "__main__":
    run("exactness", "Numbers of the tile engine that differ from brute force", CASES)
