"""Tuning a GAN of pixels for a trade-off: what the penalty on its discriminator decides.

Three seeds, each a GAN that is tuned for λ = 0.1 and for λ = 10 with three penalties. A mean is
what a measure changes by from λ = 0.1 to λ = 10, with its standard error over seeds.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.harness import Row, Summary, run
from examples.fashion_tradeoff import begin, tune, warm
from tradeoff.training import PRLoss

if TYPE_CHECKING:
    from collections.abc import Callable

    from examples.fashion_tradeoff import Begun

SEEDS = range(3)
PENALTIES = (0.0, 0.1, 10.0)
SLOPES = (0.1, 10.0)
STEPS, TUNING, SIZE = 2000, 700, 3000
MEASURES = ("precision", "recall", "neighbors' precision", "neighbors' recall")
OF_RATIO = ("errors of the discriminator", "standard deviation of log-ratios")


@cache
def begun(seed: int) -> Begun:
    """The GAN of a seed."""
    return begin(steps=STEPS, size=SIZE, seed=seed)


@cache
def warmed(penalty: float, seed: int) -> Begun:
    """The same GAN after training its discriminator alone, with a penalty."""
    return warm(begun(seed), steps=TUNING, penalty=penalty)


def name_of(penalty: float, lam: float, seed: int) -> str:
    """The case of a run."""
    return f"penalty {penalty:g}, λ = {lam:g}, seed {seed}"


def tuned(penalty: float, lam: float, seed: int) -> Row:
    """What the judge says, and the log-ratios of the discriminator."""
    return tune(warmed(penalty, seed), PRLoss(lam), steps=TUNING, penalty=penalty).row


def mean_row(rows: dict[str, Row], penalty: float) -> Row:
    """Mean changes with the slope, and means of what the discriminator knows."""
    low, high = ([rows[name_of(penalty, lam, seed)] for seed in SEEDS] for lam in SLOPES)
    row: Row = {}
    for key in MEASURES:
        change = np.array([b[key] - a[key] for a, b in zip(low, high, strict=True)])
        row[f"change of {key}"] = float(change.mean())
        row[f"± {key}"] = float(change.std(ddof=1) / np.sqrt(len(change)))
    for key in OF_RATIO:
        row[key] = float(np.mean([one[key] for one in (*low, *high)]))
    for lam, runs in zip(SLOPES, (low, high), strict=True):
        row[f"share of samples in a step, λ = {lam:g}"] = float(
            np.mean([one["share of samples in a step"] for one in runs])
        )
    return row


CASES: dict[str, Callable[[], Row] | Summary] = {
    **{
        name_of(penalty, lam, seed): partial(tuned, penalty, lam, seed)
        for seed in SEEDS
        for penalty in PENALTIES
        for lam in SLOPES
    },
    **{
        f"penalty {penalty:g}, mean": Summary(partial(mean_row, penalty=penalty))
        for penalty in PENALTIES
    },
}

if __name__ == "__main__":
    run("tuning", "Fashion-MNIST, a GAN of pixels tuned with three penalties", CASES)
