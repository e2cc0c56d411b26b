"""The baseline of every metric is its mean when both sets come from one distribution.

In each case pairs of samples of one distribution are drawn and the score less its baseline is
averaged. A row has the largest average over metrics, in standard errors; the bar is the normal
quantile that all metrics of all cases exceed together with probability 0.001.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import joblib
import numpy as np
from scipy.stats import norm, t

from benchmarks.harness import Row, run
from tradeoff.metrics import Request
from tradeoff.metrics.family import measure
from tradeoff.samples import Pair

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

METRICS = (
    "frechet.distance",
    "kernel.distance",
    "knn.precision",
    "knn.recall",
    "knn.density",
    "knn.coverage",
    "knn.authenticity",
    "knn.realism",
    "clipped.density",
    "clipped.coverage",
    "cover.precision",
    "cover.recall",
    "copies.of_real",
    "copies.within",
)
RUNS = 200
SIZES = (
    (100, 100),
    (300, 300),
    (1000, 1000),
    (5000, 5000),
    (100, 1000),
    (1000, 100),
    (500, 5000),
    (5000, 500),
)
_FALSE_ALARMS = 0.001

Draw = "Callable[[np.random.Generator, int], np.ndarray]"


def gaussian(rng: np.random.Generator, n: int, *, columns: int) -> np.ndarray:
    """Independent columns of variance 1."""
    return rng.normal(size=(n, columns))


def mixture(rng: np.random.Generator, n: int, *, columns: int) -> np.ndarray:
    """Five clusters, far apart."""
    centers = np.random.default_rng(1).normal(size=(5, columns))
    return 2.0 * centers[rng.integers(0, 5, n)] + 0.7 * rng.normal(size=(n, columns))


def heavy(rng: np.random.Generator, n: int, *, columns: int) -> np.ndarray:
    """Multivariate Student's t with five degrees of freedom."""
    return rng.normal(size=(n, columns)) / np.sqrt(rng.chisquare(5, (n, 1)) / 5)


def decaying(rng: np.random.Generator, n: int, *, columns: int) -> np.ndarray:
    """A spectrum like that of an encoder's features: the i-th column has variance 1/i."""
    return rng.normal(size=(n, columns)) / np.sqrt(np.arange(1, columns + 1))


def repeated(rng: np.random.Generator, n: int, *, columns: int) -> np.ndarray:
    """Every tenth sample is one of twenty that come again and again."""
    x = rng.normal(size=(n, columns))
    fixed = np.random.default_rng(1).normal(size=(20, columns))
    again = rng.random(n) < 0.1
    x[again] = fixed[rng.integers(0, 20, again.sum())]
    return x


def differences(
    draw: Draw,
    sizes: tuple[int, int],
    metrics: Sequence[str],
    runs: int,
    *,
    columns: int,
    seed: int,
) -> dict[str, np.ndarray]:
    """Score less baseline by metric, shape (runs, 2), and the score; empty baselines left out."""
    one = partial(_difference, draw, sizes, metrics, columns)
    rows = joblib.Parallel(n_jobs=-1)(joblib.delayed(one)((seed, run)) for run in range(runs))
    found = {key: np.array([row[key] for row in rows if key in row]) for key in metrics}
    return {key: values for key, values in found.items() if len(values)}


def _difference(
    draw: Draw, sizes: tuple[int, int], metrics: Sequence[str], columns: int, seed: tuple[int, int]
) -> dict[str, tuple[float, float]]:
    """Score less baseline, and the score, of one run."""
    rng = np.random.default_rng(seed)
    real, generated = (draw(rng, size, columns=columns) for size in sizes)
    pair = Pair.of(real=real, generated=generated)
    scores = measure(pair, Request(keys=tuple(metrics))).scores
    return {
        key: (score.value - score.expected, score.value)
        for key, score in scores.items()
        if score.expected is not None
    }


def z_values(found: dict[str, np.ndarray], size: int) -> dict[str, float]:
    """Mean difference over its standard error, as a normal quantile, by metric.

    Shares near 1 may not vary at all: one sample in all runs is the least error of a mean.
    """
    values = {}
    for key, pairs in found.items():
        off, runs = pairs[:, 0], len(pairs)
        error = max(off.std(ddof=1) / np.sqrt(runs), 1 / (runs * size))
        values[key] = float(norm.isf(t.sf(abs(off.mean()) / error, runs - 1)))
    return values


def case(
    draw: Draw,
    sizes: tuple[int, int],
    *,
    columns: int,
    metrics: Sequence[str] = METRICS,
    runs: int = RUNS,
    tests: int | None = None,
    seed: int = 0,
) -> Row:
    """The metric that is farthest off, and the relative bias of the Fréchet baseline."""
    found = differences(draw, sizes, metrics, runs, columns=columns, seed=seed)
    values = z_values(found, min(sizes))
    worst = max(values, key=values.__getitem__)
    row: Row = {"worst metric": worst, "baselines": len(values)}
    if "frechet.distance" in found:
        off, score = found["frechet.distance"].mean(0)
        row["frechet.distance"] = float(score)
        row["off by"] = float(off / score)
    bar = float(norm.isf(_FALSE_ALARMS / 2 / (tests or TESTS)))
    return row | {"ratio": values[worst], "bar": bar}


LAWS = {
    "Gaussian, 8 columns": (gaussian, 8),
    "Gaussian, 64 columns": (gaussian, 64),
    "five clusters, 8 columns": (mixture, 8),
    "five clusters, 64 columns": (mixture, 64),
    "Student's t, 8 columns": (heavy, 8),
    "Student's t, 64 columns": (heavy, 64),
    "variance 1/i, 64 columns": (decaying, 64),
    "copies, 8 columns": (repeated, 8),
}
MANY = 5000
FEW = ("frechet.distance", "knn.precision", "knn.recall", "knn.authenticity", "knn.coverage")
"""Metrics of cases with 5,000 samples, and the distributions that they are drawn from."""
FEW_LAWS = ("Gaussian, 64 columns", "five clusters, 8 columns", "variance 1/i, 64 columns")
GRID = [(name, sizes) for name in LAWS for sizes in SIZES if max(sizes) < MANY or name in FEW_LAWS]


def metrics_of(sizes: tuple[int, int]) -> tuple[str, ...]:
    """Metrics that are compared at these sizes."""
    return FEW if max(sizes) == MANY else METRICS


TESTS = sum(len(metrics_of(sizes)) for _, sizes in GRID)
CASES: dict[str, Callable[[], Row]] = {
    f"{name}, {sizes[0]:,} against {sizes[1]:,}": partial(
        case, LAWS[name][0], sizes, columns=LAWS[name][1], metrics=metrics_of(sizes)
    )
    for name, sizes in GRID
}

if __name__ == "__main__":
    run("baselines", f"Score less baseline in standard errors, {RUNS} runs", CASES)
