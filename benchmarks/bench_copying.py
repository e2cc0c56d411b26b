"""Copies of training samples: false alarms, power, lower limits, other measures next to it, time.

Models that do not depend on their training set must not be accused, whatever else is wrong with
them. A near-copy is a training sample with noise of a twentieth of a standard deviation.
"""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import binom

from benchmarks.harness import Row, run
from tests.known.curves import over_seeds
from tradeoff.metrics.family import Request, measure
from tradeoff.metrics.neighbors.parts import nearest_real
from tradeoff.metrics.registry import resolve_keys
from tradeoff.samples import Pair, Side

if TYPE_CHECKING:
    from collections.abc import Callable

    from tradeoff._validation import FloatArray
    from tradeoff.metrics.family import Measured

RUNS = 200
LEVEL = 0.05
NOISE = 0.05
KEYS = ("copies.owed_to_training", "copies.near_training")
_BARELY = 0.99  # exact tests at 0.01


def normal(columns: int) -> Callable[[int, np.random.Generator], FloatArray]:
    """Independent columns."""
    return lambda n, rng: rng.normal(size=(n, columns))


def table(n: int, rng: np.random.Generator) -> FloatArray:
    """Six columns of categories, of which many rows are equal."""
    parts = [np.eye(4)[rng.choice(4, n, p=(0.4, 0.3, 0.2, 0.1))] for _ in range(6)]
    return np.concatenate(parts, axis=1)


def fitted(data: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
    """Samples of a Gaussian that was fitted to data."""
    return rng.multivariate_normal(data.mean(0), np.cov(data.T), n, method="cholesky")


def smoothed(data: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
    """Samples of a kernel density estimate."""
    return data[rng.integers(0, len(data), n)] + 0.5 * rng.normal(size=(n, data.shape[1]))


MODELS: dict[str, Callable[[Callable[..., FloatArray], int, np.random.Generator], FloatArray]] = {
    "independent": lambda draw, n, rng: draw(n, rng),
    "shifted": lambda draw, n, rng: draw(n, rng) + 0.5,
    "collapsed": lambda draw, n, rng: 0.3 * draw(n, rng),
    "foreign": lambda draw, n, rng: 4.0 + draw(n, rng) ** 3,
    "Gaussian of other data": lambda draw, n, rng: fitted(draw(n, rng), n, rng),
    "kernel density of other data": lambda draw, n, rng: smoothed(draw(n, rng), n, rng),
}


def measured(
    train: FloatArray, held_out: FloatArray, generated: FloatArray, seed: int, *names: str
) -> Measured:
    """What is measured of three sets."""
    pair = Pair.of(real=held_out, generated=generated, train=train)
    keys = resolve_keys((*KEYS, *names), train=True)
    return measure(pair, Request(keys=keys, seed=seed))


def tested(found: Measured) -> dict[str, float]:
    """Whether the model is found to depend on its training set, to copy, and the lower limit."""
    training = found.training
    assert training is not None
    depends = training.owed.is_established
    copies = depends and training.close.is_established
    return {
        "found": float(depends),
        "copies said": float(copies),
        "limit": training.close.at_least if copies else training.owed.at_least,
        "detectable": training.owed.detectable or np.nan,
    }


def counts(found: list[dict[str, float]]) -> Row:
    """Numbers of runs, of those in which a model depends on its training set, and copies."""
    numbers = {key: int(sum(one[key] for one in found)) for key in ("found", "copies said")}
    return {"runs": len(found)} | numbers


def bar(runs: int) -> float:
    """The largest number of false alarms of an exact test."""
    return float(binom.ppf(_BARELY, runs, LEVEL))


def alarms(model: str, draw: Callable[..., FloatArray], n: int, *, runs: int = RUNS) -> Row:
    """How often a model is accused that does not depend on its training set."""

    def one(seed: int) -> dict[str, float]:
        rng = np.random.default_rng(seed)
        train, held_out = draw(n, rng), draw(n, rng)
        return tested(measured(train, held_out, MODELS[model](draw, n, rng), seed))

    found = over_seeds(one, runs)
    row = counts(found) | {"largest limit": max(one["limit"] for one in found)}
    return row | {"ratio": float(row["found"]), "bar": bar(runs)}


def simple_models(columns: int, n: int, *, runs: int = RUNS) -> Row:
    """How often a Gaussian that was fitted to the training set is said to copy."""

    def one(seed: int) -> dict[str, float]:
        rng = np.random.default_rng(seed)
        train, held_out = normal(columns)(n, rng), normal(columns)(n, rng)
        return tested(measured(train, held_out, fitted(train, n, rng), seed))

    row = counts(over_seeds(one, runs))
    return row | {"ratio": float(row["copies said"]), "bar": bar(runs)}


def with_copies(
    train: FloatArray, share: float, n: int, rng: np.random.Generator, *, bad: bool
) -> FloatArray:
    """Near-copies of different training samples among samples that do not depend on them."""
    copies = round(share * n)
    rest = rng.normal(size=(n - copies, train.shape[1]))
    chosen = train[rng.permutation(len(train))[:copies]]
    near = chosen + NOISE * rng.normal(size=chosen.shape)
    return np.concatenate((near, 0.5 * rest + 0.5 if bad else rest))


def power(
    share: float, *, bad: bool, times: int = 1, columns: int = 32, n: int = 1000, runs: int = RUNS
) -> Row:
    """How often a share of near-copies is found, and whether lower limits hold."""

    def one(seed: int) -> dict[str, float]:
        rng = np.random.default_rng(seed)
        train, held_out = normal(columns)(times * n, rng), normal(columns)(n, rng)
        generated = with_copies(train, share, n, rng, bad=bad)
        return tested(measured(train, held_out, generated, seed))

    found = over_seeds(one, runs)
    row = counts(found) | {
        "mean limit": float(np.mean([one["limit"] for one in found])),
        "limits above": sum(one["limit"] > share for one in found),
        "detectable": float(np.mean([one["detectable"] for one in found])),
    }
    if share < 0.05 or times > 1:
        return row
    missed = runs - row["found"]
    return row | {"ratio": float(max(missed, row["limits above"])), "bar": bar(runs)}


def side_by_side(share: float, *, bad: bool = False, smooth: bool = False, runs: int = 20) -> Row:
    """Means of the measures of the literature, and how often copies are found."""

    def one(seed: int) -> dict[str, float]:
        rng = np.random.default_rng(seed)
        train, held_out = normal(32)(1000, rng), normal(32)(1000, rng)
        if smooth:
            generated = smoothed(train, 1000, rng)
        else:
            generated = with_copies(train, share, 1000, rng, bad=bad)
        found = measured(train, held_out, generated, seed, "training")
        values = {k: one.value for k, one in found.scores.items() if k.startswith("training.")}
        return tested(found) | values

    rows = over_seeds(one, runs)
    literature = [key for key in rows[0] if key.startswith("training.")]
    return counts(rows) | {key: float(np.mean([one[key] for one in rows])) for key in literature}


def time(n: int = 10_000, columns: int = 384, repeats: int = 3) -> Row:
    """Time of the search over that of the products among all three sets, on the same threads."""
    import torch

    rng = np.random.default_rng(0)
    names = ("train", "real", "generated")
    x = [rng.normal(size=(n, columns)).astype(np.float32) for _ in names]
    tensors = [torch.from_numpy(one) for one in x]
    ratios = []
    for _ in range(repeats):
        sides = [Side.of(name, one) for name, one in zip(names, x, strict=True)]
        start = perf_counter()
        nearest_real(train=sides[0], held_out=sides[1], generated=sides[2], progress=False)
        middle = perf_counter()
        for i, j in ((0, 1), (0, 2), (1, 2)):
            tensors[i] @ tensors[j].T
        ratios.append((middle - start) / (perf_counter() - middle))
    return {"runs": repeats, "ratio": min(ratios), "bar": 1.3}


CASES: dict[str, Callable[[], Row]] = {
    "time": time,
    "5% copies": partial(power, 0.05, bad=False),
    "5% copies, bad remainder": partial(power, 0.05, bad=True),
    "independent, 64 columns": partial(alarms, "independent", normal(64), 1000),
    "shifted, 64 columns": partial(alarms, "shifted", normal(64), 1000),
    "collapsed, 64 columns": partial(alarms, "collapsed", normal(64), 1000),
    "foreign, 8 columns": partial(alarms, "foreign", normal(8), 1000),
    "independent, table": partial(alarms, "independent", table, 1000),
    "Gaussian of its training set, 64 columns, N = 200": partial(simple_models, 64, 200),
    "Gaussian of its training set, 8 columns, N = 200": partial(simple_models, 8, 200),
    "Gaussian of other data, 8 columns": partial(alarms, "Gaussian of other data", normal(8), 1000),
    "kernel density of other data, 8 columns": partial(
        alarms, "kernel density of other data", normal(8), 1000
    ),
    "independent, 2 columns": partial(alarms, "independent", normal(2), 1000),
    "collapsed, 2 columns": partial(alarms, "collapsed", normal(2), 1000),
    "shifted, 8 columns, N = 200": partial(alarms, "shifted", normal(8), 200),
    "2% copies": partial(power, 0.02, bad=False),
    "1% copies": partial(power, 0.01, bad=False),
    "20% copies": partial(power, 0.2, bad=False),
    "2% copies, bad remainder": partial(power, 0.02, bad=True),
    "1% copies, bad remainder": partial(power, 0.01, bad=True),
    "20% copies, bad remainder": partial(power, 0.2, bad=True),
    "5% copies, 10 times as many training samples": partial(
        power, 0.05, bad=False, times=10, runs=50
    ),
    "20% copies, 10 times as many training samples": partial(
        power, 0.2, bad=False, times=10, runs=50
    ),
    "5% copies, 30 times as many training samples": partial(
        power, 0.05, bad=False, times=30, runs=50
    ),
    "20% copies, 30 times as many training samples": partial(
        power, 0.2, bad=False, times=30, runs=50
    ),
    "others: no copies": partial(side_by_side, 0.0),
    "others: 5% copies": partial(side_by_side, 0.05),
    "others: bad, no copies": partial(side_by_side, 0.0, bad=True),
    "others: bad, 5% copies": partial(side_by_side, 0.05, bad=True),
    "others: kernel density of the training set": partial(side_by_side, 0.0, smooth=True),
    "independent, 1,280 columns, N = 500": partial(alarms, "independent", normal(1280), 500),
    "shifted, 8 columns, N = 5,000": partial(alarms, "shifted", normal(8), 5000, runs=50),
}

if __name__ == "__main__":
    run("copying", "Copies of training samples, N = 1,000 a side unless stated", CASES)
