"""Which metric passes which sanity check: every metric that claims fidelity or diversity.

All of them run the grid of `bench_sanity`, 11 points and 8 sizes of a sweep with 3 repeats; fast
metrics also the published one, 51 points and 20 sizes with 10 repeats.
Seeds are those of `bench_sanity`. The default curve is judged there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.bench_sanity import SEED, judged, measure, passed
from benchmarks.harness import Row, Summary, run
from benchmarks.sanity import Check, checks
from tests.known.curves import curve_in_one_process
from tradeoff import reproduce, support_metrics

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.sanity import Sides


@dataclass(frozen=True)
class Group:
    """Metrics that are measured together.

    Args:
        pairs: Name of each metric of fidelity and diversity, in the order of the values.
        values: Their values for two samples and a seed, fidelity before diversity.
        full: Whether it is fast enough for the published grid.
    """

    pairs: tuple[str, ...]
    values: Callable[[Sides, int], Sequence[float]]
    full: bool = False

    @property
    def grid(self) -> tuple[int, int, int]:
        """Points of a sweep, sizes and repeats."""
        return (51, 20, 10) if self.full else (11, 8, 3)

    def columns(self) -> list[tuple[str, str]]:
        """Name and kind of each value."""
        return [(f"{name}, {kind}", kind) for name in self.pairs for kind in KINDS]


KINDS = ("fidelity", "diversity")
SUPPORT = {
    "improved precision and recall": ("precision", "recall"),
    "density and coverage": ("density", "coverage"),
    "clipped density and coverage": ("clipped_density", "clipped_coverage"),
    "PR-cover": ("cover_precision", "cover_recall"),
}


def support(sides: Sides, seed: int) -> list[float]:
    """Metrics of supports with k = 5; nothing is random."""
    names = [name for pair in SUPPORT.values() for name in pair]
    found = support_metrics(**sides._asdict(), k=5, metrics=names, progress=False)
    return [float(found[name].value) for name in names]


def by_estimator(estimator: str, sides: Sides, seed: int) -> tuple[float, float]:
    """Headline numbers of the curve by an estimator."""
    found = curve_in_one_process(sides._asdict(), estimator=estimator, seed=seed).headline
    return found["curve.precision"], found["curve.recall"]


def by_recipe(name: str, sides: Sides, seed: int) -> tuple[float, float]:
    """The numbers that papers with a recipe report: F-scores that weigh one side eight times.

    Recipes want sides of one size, so rows of the larger one are left out at random.
    """
    rng, size = np.random.default_rng(seed), min(map(len, sides))
    same = {side: rng.permutation(x)[:size] for side, x in sides._asdict().items()}
    curve = reproduce(name, **same, seed=seed, progress=False).curve
    assert curve is not None
    return curve.f_score(1 / 8), curve.f_score(8.0)


GROUPS: dict[str, Group] = {
    "supports": Group(tuple(SUPPORT), support, full=True),
    "supports, reduced grid": Group(tuple(SUPPORT), support),
    **{
        name: Group((f"curve by {name}",), partial(by_estimator, name))
        for name in ("balls-improved", "balls-kernel", "balls-coverage")
    },
    **{
        name: Group((f"recipe {name}",), partial(by_recipe, name))
        for name in ("sajjadi-2018", "simon-2019")
    },
}


def row(group: Group, check: Check, *, repeats: int | None = None) -> Row:
    """Which rows of a check the metrics of a group pass, and their values."""
    values = measure(check, group.values, repeats or group.grid[2], SEED)
    return judged(check, values, group.columns())


def total(rows: dict[str, Row], name: str, group: str) -> Row:
    """Rows of thirty that a metric passes."""
    found = [made for case, made in rows.items() if case.startswith(f"{group}: ")]
    points, sizes, repeats = GROUPS[group].grid
    return {kind: passed(found, f"{name}, {kind}") for kind in KINDS} | {
        "points, sizes, repeats": f"{points}, {sizes}, {repeats}"
    }


def cases() -> dict[str, Callable[[], Row] | Summary]:
    """A row for every group and check, and the totals of every metric after them."""
    made: dict[str, Callable[[], Row] | Summary] = {}
    for title, group in GROUPS.items():
        for check in checks(*group.grid[:2]):
            made[f"{title}: {check.name}"] = partial(row, group, check)
    for title, group in GROUPS.items():
        _, comma, grid = title.partition(", ")
        for name in group.pairs:
            made[f"total, {name}{comma}{grid}"] = Summary(partial(total, name=name, group=title))
    return made


CASES = cases()

if __name__ == "__main__":
    run("metrics", "Sanity checks of every metric, rows of thirty", CASES)
