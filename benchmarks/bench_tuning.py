"""Tuning a GAN of Fashion-MNIST for a trade-off: does precision rise, and recall fall, with λ?

Four seeds, the plain loss and three slopes each. Correlations are over the runs with a slope, whose
seeds differ more than their slopes; the trend test of Page compares runs of one seed only.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

from scipy.stats import page_trend_test, spearmanr

from benchmarks.harness import Row, Summary, run
from examples.fashion_tradeoff import LOSSES, tune

if TYPE_CHECKING:
    from collections.abc import Callable

SEEDS = range(4)
MEASURES = {
    "precision": 1,
    "neighbors' precision": 1,
    "recall": -1,
    "neighbors' recall": -1,
}
"""Sign of the correlation with λ that theory gives."""


@cache
def _tuned(seed: int) -> dict[str, Row]:
    return {name: judged.row for name, judged in tune(steps=2400, size=3000, seed=seed).items()}


def correlation(rows: dict[str, Row], measure: str) -> Row:
    """Spearman's correlation of a measure with λ over runs, and its one-sided p-value."""
    runs = [
        (float(case.split("λ = ")[1].split(",")[0]), row[measure])
        for case, row in rows.items()
        if case.startswith("λ")
    ]
    sign = MEASURES[measure]
    side = "greater" if sign > 0 else "less"
    found = spearmanr(*zip(*runs, strict=True), alternative=side)
    return {"correlation": float(found.statistic), "p-value": float(found.pvalue)}


def trend(rows: dict[str, Row], measure: str) -> Row:
    """Whether runs of one seed are in the order that theory gives."""
    names = [name for name in LOSSES if name.startswith("λ")]
    table = [
        [MEASURES[measure] * rows[f"{name}, seed {seed}"][measure] for name in names]
        for seed in SEEDS
    ]
    return {"p-value": float(page_trend_test(table).pvalue)}


CASES: dict[str, Callable[[], Row] | Summary] = {
    **{
        f"{name}, seed {seed}": partial(lambda name, seed: _tuned(seed)[name], name, seed)
        for seed in SEEDS
        for name in LOSSES
    },
    **{
        f"correlation of {measure}": Summary(partial(correlation, measure=measure))
        for measure in MEASURES
    },
    **{
        f"trend of {measure} within seeds": Summary(partial(trend, measure=measure))
        for measure in MEASURES
    },
}

if __name__ == "__main__":
    run("tuning", "Fashion-MNIST, a GAN tuned for a trade-off", CASES)
