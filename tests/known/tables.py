"""Tables with known faults, and their features."""

import numpy as np

from tradeoff.data import open_source
from tradeoff.features.table import TableEncoder
from tradeoff.samples import Pair


def pair_of(real, generated):
    """Features of both sides, and the encoding of the real one."""
    encoder = TableEncoder.fit(real)
    sides = (
        encoder.embed([encoder.prepare(row) for row in open_source(rows)])
        for rows in (real, generated)
    )
    return Pair.of(**dict(zip(("real", "generated"), sides, strict=True))), encoder


def rows_of(columns):
    """Rows of a table, from its columns by name."""
    names = list(columns)
    return [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def mixed_table(n, rng, *, rho=0.7, spread=1.0):
    """Numbers, of which two depend on each other, whole numbers, categories and missing values."""
    x = rng.normal(size=n)
    y = rho * x + np.sqrt(1 - rho**2) * rng.normal(size=n)
    kind = rng.choice(["a", "b", "c", "d"], n, p=[0.4, 0.3, 0.2, 0.1])
    start = rng.exponential(size=n)
    size = np.where(rng.random(n) < 0.1, np.nan, spread * np.exp(0.5 * rng.normal(size=n)))
    return {
        "x": x.tolist(),
        "y": y.tolist(),
        "kind": kind.tolist(),
        "count": rng.poisson(3, n).astype(float).tolist(),
        "level": (rng.normal(size=n) + (kind == "a")).tolist(),
        "size": [None if np.isnan(one) else float(one) for one in size],
        "start": start.tolist(),
        "end": (start + 0.5 * rng.exponential(size=n)).tolist(),
    }


def shuffled(columns, rng, *names):
    """The same with some columns shuffled, all if none are named."""
    return {
        name: [values[i] for i in rng.permutation(len(values))]
        if name in (names or columns)
        else values
        for name, values in columns.items()
    }


def equal(made, rng):
    """No fault."""
    return made


def shifted(made, rng):
    """A column of numbers is moved."""
    return made | {"level": [one + 0.6 for one in made["level"]]}


def without_category(made, rng):
    """A category is never made."""
    return made | {"kind": ["a" if one == "c" else one for one in made["kind"]]}


def broken(made, rng):
    """Two columns have lost their dependence."""
    return shuffled(made, rng, "y")


def violated(made, rng):
    """Some rows break an order."""
    wrong = rng.random(len(made["start"])) < 0.15
    ends = [s - 0.5 if w else e for s, e, w in zip(made["start"], made["end"], wrong, strict=True)]
    return made | {"end": ends}


def missing_by_rule(made, rng):
    """Values are missing where another column is large."""
    other = np.exp(0.5 * rng.normal(size=len(made["size"])))
    known = [o if one is None else one for o, one in zip(other, made["size"], strict=True)]
    largest = np.quantile(made["x"], 0.9)
    return made | {
        "size": [None if x > largest else v for x, v in zip(made["x"], known, strict=True)]
    }


def other_marginals(made, rng):
    """Every column differs, and the dependence does not."""
    return made | {
        "x": np.exp(made["x"]).tolist(),
        "y": [3 * one for one in made["y"]],
        "size": [None if one is None else one**2 for one in made["size"]],
    }


def other_shares(made, rng):
    """Rows of a category are more frequent, whatever else they hold."""
    rows = [i for i, kind in enumerate(made["kind"]) if kind != "a" or rng.random() < 0.4]
    return {name: [values[i] for i in rows] for name, values in made.items()}


FAULTS = {
    "equal": (equal, set(), False),
    "one column shifted": (shifted, {"level"}, True),
    "a category dropped": (without_category, {"kind"}, True),
    "dependence broken": (broken, {"x", "y"}, True),
    "order broken": (violated, {"start", "end"}, False),
    "missing by a rule": (missing_by_rule, {"size", "x"}, False),
    "other marginals": (other_marginals, set(), False),
    "other shares": (other_shares, set(), False),
}
"""Faults by name: what makes them, what should be named, and whether at least 20% differ."""
