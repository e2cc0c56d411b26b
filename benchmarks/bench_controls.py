"""Groups of the size that a control states: how often is a loss of that size found?

For each draw, the control states a size on real samples. Other groups of that size are then missing
from the generated side (recall), or from the real one (precision). The promise is four times in
five; `ratio` is the number of misses over the largest that an exact binomial test at 1% accepts.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import joblib
from scipy.stats import binom

from benchmarks.harness import Row, run
from tests.known.controls import found_at_the_stated_size

if TYPE_CHECKING:
    from collections.abc import Callable

RUNS, SIZE = 200, 600
FIRST_SEED = 4_000
_MISSED, _REJECTED = 0.2, 0.01


def measure(*, labeled: bool, runs: int = RUNS) -> Row:
    """Misses among the draws in which a size is stated."""
    found = joblib.Parallel(n_jobs=-1)(
        joblib.delayed(found_at_the_stated_size)(SIZE, seed, labeled=labeled)
        for seed in range(FIRST_SEED, FIRST_SEED + runs)
    )
    stated = [one for one in found if one["stated"] is not None]
    allowed = int(binom.ppf(1.0 - _REJECTED, len(stated), _MISSED))
    row: Row = {"runs": runs, "stated": len(stated), "allowed": allowed}
    row |= {f"{kind} missed": sum(not one[kind] for one in stated) for kind in KINDS}
    row["size, mean"] = sum(one["stated"] for one in stated) / max(len(stated), 1)
    worst = max(row[f"{kind} missed"] for kind in KINDS)
    return row | {"ratio": worst / max(allowed, 1), "bar": 1.0}


KINDS = ("recall", "precision")
CASES: dict[str, Callable[[], Row]] = {
    f"{groups}, N = {SIZE}": partial(measure, labeled=labeled)
    for groups, labeled in (("classes", True), ("clusters", False))
}

if __name__ == "__main__":
    run("controls", "Misses of groups of the stated size, which is found four times in five", CASES)
