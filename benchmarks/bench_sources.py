"""Our recipes of two papers next to the code of their authors, on the same features.

The first rows turn the same masses, or scores, into a curve. Others are random, so both sides are
run with ten seeds and means are compared. Their ratio is the largest difference in standard
deviations of the authors' numbers over seeds. If both draw from one distribution, it has a standard
deviation of 0.45 for each number, and exceeds 2 about once in 1,000 times.

Two sources have no bar, since our recipes differ from them on purpose or of necessity: k-means in
mini-batches is another algorithm since scikit-learn 0.19, and the script of Simon and others stops
training early, which their paper does not mention.
"""

from __future__ import annotations

import json
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.datasets import QUICK, cifar10
from benchmarks.harness import Row, run
from benchmarks.parity_sources import (
    ANGLES,
    EXACT,
    FIXTURE,
    SEEDS,
    SLOPES,
    inputs,
    masses,
    scores,
)
from benchmarks.parity_sources import CASES as SAMPLES
from tradeoff import PRCurve, RatioProfile, reproduce

if TYPE_CHECKING:
    from collections.abc import Callable

OUTPUTS = json.loads(FIXTURE.read_text())["outputs"]
SCORES = {"sajjadi-2018": "prd", "simon-2019": "classifier"}
OLD, EARLY = "sajjadi-2018, scikit-learn 0.19.2", "simon-2019, early stopping"
BAR = 2.0


def points(curve: PRCurve) -> dict[str, float]:
    """The curve at three slopes."""
    return {
        name: (curve.recall if name.startswith("recall") else curve.precision)(SLOPES[angle])
        for name, angle in ANGLES.items()
    }


def exact(recipe: str) -> Row:
    """Masses of clusters, or scores of a classifier, as a curve."""
    if recipe == "sajjadi-2018":
        profile = RatioProfile.from_masses(p=masses()["real"], q=masses()["generated"])
    else:
        values, is_real = scores()
        profile = RatioProfile.from_scores(real=values[is_real], generated=values[~is_real])
    (theirs,), ours = OUTPUTS[recipe][EXACT], points(profile.curve())
    row: Row = {name: f"{ours[name]:.4f} / {theirs[name]:.4f}" for name in ours}
    row["difference"] = row["ratio"] = max(abs(ours[name] - theirs[name]) for name in ours)
    return row | {"bar": 1e-9}


def random(source: str, case: str) -> Row:
    """Means over seeds of F-scores and of the curve at three slopes."""
    recipe = source.split(",")[0]
    if case.startswith("CIFAR-10"):
        cifar10(QUICK)  # makes the file that `inputs` reads
    theirs = _columns(OUTPUTS[source][case])
    ours = _columns(_runs(recipe, case))
    row: Row = {name: f"{ours[name].mean():.3f} / {theirs[name].mean():.3f}" for name in ours}
    differences = {name: abs(ours[name].mean() - theirs[name].mean()) for name in ours}
    row["difference"] = float(max(differences.values()))
    row["ratio"] = float(max(differences[name] / theirs[name].std(ddof=1) for name in ours))
    return row if source in (OLD, EARLY) else row | {"bar": BAR}


@cache
def _runs(recipe: str, case: str) -> list[dict[str, float]]:
    found = []
    for seed in range(SEEDS):
        one = reproduce(recipe, **inputs(case), seed=seed, progress=False)
        assert one.curve is not None
        scores = {f: one.scores[f"{SCORES[recipe]}.{f}"] for f in ("f_8", "f_1/8")}
        found.append(scores | points(one.curve))
    return found


def _columns(rows: list[dict[str, float]]) -> dict[str, np.ndarray]:
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


CASES: dict[str, Callable[[], Row]] = {
    "sajjadi-2018: the same masses of clusters": partial(exact, "sajjadi-2018"),
    "simon-2019: the same scores": partial(exact, "simon-2019"),
    **{
        f"{source}: {case}": partial(random, source, case)
        for source in (*SCORES, OLD, EARLY)
        for case in SAMPLES
    },
}

if __name__ == "__main__":
    run(
        "sources",
        "Ours / the authors', and the largest difference, also in their noise over seeds",
        CASES,
    )
