"""Tables with one known fault each, on which a quality report and tradeoff are compared.

They need NumPy and scikit-learn alone, so that the environment of `benchmarks.parity_quality` makes
the same ones. Real rows are new rows of the true distribution; the model has seen training rows.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["CASES", "RUNS", "digest_of", "tables"]

N, RUNS = 1000, 10
FIRST_SEED = 50_000

Table = dict[str, list[Any]]


def mixed(n: int, rng: np.random.Generator) -> Table:
    """Numbers, two of which are correlated, and a category on which another number depends."""
    x = rng.normal(size=n)
    kind = rng.choice(["a", "b", "c", "d"], n, p=[0.4, 0.3, 0.2, 0.1])
    return {
        "x": x.tolist(),
        "y": (0.8 * x + 0.6 * rng.normal(size=n)).tolist(),
        "kind": kind.tolist(),
        "level": (rng.normal(size=n) + 1.5 * (kind == "a")).tolist(),
    }


def squared(n: int, rng: np.random.Generator) -> Table:
    """A column that is the square of another one but for noise: their correlation is zero."""
    x = rng.normal(size=n)
    return mixed(n, rng) | {"u": x.tolist(), "v": (x**2 + 0.3 * rng.normal(size=n)).tolist()}


def ruled(n: int, rng: np.random.Generator) -> Table:
    """Three columns, any two of which are independent: the product of their signs is positive."""
    u, v, w = rng.normal(size=(3, n))
    return mixed(n, rng) | {
        "u": u.tolist(),
        "v": v.tolist(),
        "w": (np.abs(w) * np.sign(u * v)).tolist(),
    }


def measured(n: int, rng: np.random.Generator) -> Table:
    """Rows of the breast cancer data: ten measurements and the diagnosis; all rows at most."""
    from sklearn.datasets import load_breast_cancer

    found = load_breast_cancer()
    rows = rng.permutation(len(found.data))[:n]
    columns = zip(found.feature_names[:10], found.data[rows, :10].T.tolist(), strict=True)
    diagnosis = np.where(found.target[rows] == 1, "benign", "malignant").tolist()
    return {str(name): values for name, values in columns} | {"diagnosis": diagnosis}


def shuffled(table: Table, rng: np.random.Generator, *names: str) -> Table:
    """The same with some columns shuffled, all if none are named."""
    order = {name: rng.permutation(len(table[name])) for name in names or table}
    return {
        name: [values[i] for i in order[name]] if name in order else values
        for name, values in table.items()
    }


def shifted(table: Table, rng: np.random.Generator) -> Table:
    """A column is moved by half a standard deviation."""
    return table | {"level": [one + 0.6 for one in table["level"]]}


def without_category(table: Table, rng: np.random.Generator) -> Table:
    """Rows of a category are made as if they were of the most frequent one."""
    return table | {"kind": ["a" if one == "d" else one for one in table["kind"]]}


def unchanged(table: Table, rng: np.random.Generator) -> Table:
    """No fault."""
    return table


CASES: dict[str, tuple[Callable[..., Table], Callable[..., Table], str]] = {
    "perfect": (mixed, unchanged, "none"),
    "perfect, real table": (measured, unchanged, "none"),
    "all columns shuffled": (mixed, shuffled, "fault"),
    "all columns shuffled, real table": (measured, shuffled, "fault"),
    "square dependence shuffled": (squared, lambda t, rng: shuffled(t, rng, "v"), "fault"),
    "rule of three columns shuffled": (ruled, lambda t, rng: shuffled(t, rng, "w"), "fault"),
    "a column shifted": (mixed, shifted, "fault"),
    "a category dropped": (mixed, without_category, "fault"),
    "copies of training rows": (mixed, unchanged, "copies"),
}
"""Distribution, fault, and of what kind it is, by the name of a case."""


def tables(case: str, run: int) -> dict[str, Table]:
    """Training, real and generated rows of a run."""
    make, spoil, kind = CASES[case]
    rng = np.random.default_rng([FIRST_SEED, run])
    whole = make(3 * N, rng)
    third = len(next(iter(whole.values()))) // 3
    parts = [
        {name: values[i * third : (i + 1) * third] for name, values in whole.items()}
        for i in range(3)
    ]
    train, real, generated = parts
    if kind == "copies":
        generated = train
    return {"train": train, "real": real, "generated": spoil(generated, rng)}


def digest_of(case: str) -> str:
    """A hash of the tables of all runs, by which both environments know that they are the same."""
    made = [tables(case, run) for run in range(RUNS)]
    return blake2b(json.dumps(made).encode(), digest_size=8).hexdigest()
