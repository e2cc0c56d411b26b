"""Four real tables, and faults with known traces that are planted in a part of their rows."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.bench_tables import shifted
from tests.known.tables import shuffled

if TYPE_CHECKING:
    from collections.abc import Callable

    Columns = dict[str, list[Any]]

__all__ = ["CATEGORY", "COPIED", "FAULTS", "parts", "with_copies", "with_gaps"]

COPIED = 0.2


@cache
def table_of(name: str) -> Columns:
    """Columns of a real table, with its classes as a column."""
    if name == "penguins":
        from palmerpenguins import load_penguins

        frame = load_penguins()
        return {str(c): [None if v != v else v for v in frame[c].tolist()] for c in frame}
    from sklearn import datasets

    if name == "diabetes":
        found = datasets.load_diabetes(scaled=False)
        return _numbers(found) | {"sex": [f"{one:.0f}" for one in found.data[:, 1]]}
    found = getattr(datasets, f"load_{name}")()
    return _numbers(found) | {"class": [str(found.target_names[one]) for one in found.target]}


def _numbers(found: Any) -> Columns:
    return {str(one): found.data[:, i].tolist() for i, one in enumerate(found.feature_names)}


CATEGORY = {"breast_cancer": "class", "wine": "class", "diabetes": "sex", "penguins": "species"}
"""A column of categories of each table."""

ORDER = {
    "breast_cancer": ("mean radius", "worst radius"),
    "wine": ("nonflavanoid_phenols", "total_phenols"),
    "diabetes": ("s2", "s1"),
    "penguins": ("bill_depth_mm", "bill_length_mm"),
}
"""Two columns, the first of which never exceeds the second: a part and a whole, for example."""


def parts(name: str, count: int, rng: np.random.Generator) -> list[Columns]:
    """Random parts of equal size of the rows of a table."""
    columns = table_of(name)
    rows = np.array_split(rng.permutation(len(next(iter(columns.values())))), count)
    return [{key: [values[i] for i in one] for key, values in columns.items()} for one in rows]


def numeric(columns: Columns) -> list[str]:
    """Columns of many numbers."""
    return [
        name
        for name, values in columns.items()
        if len({one for one in values if isinstance(one, float)}) > len(values) // 4
    ]


def dropped(name: str, made: Columns, rng: np.random.Generator) -> tuple[Columns, set[str]]:
    """The least frequent category is replaced with the most frequent one."""
    column = CATEGORY[name]
    values, counts = np.unique(table_of(name)[column], return_counts=True)
    rare, usual = str(values[counts.argmin()]), str(values[counts.argmax()])
    return made | {column: [usual if one == rare else one for one in made[column]]}, {column}


def moved(name: str, made: Columns, rng: np.random.Generator) -> tuple[Columns, set[str]]:
    """A column is moved by 0.8 standard deviations."""
    columns, column = shifted({one: made[one] for one in numeric(table_of(name))}, rng)
    return made | columns, {column}


def scattered(name: str, made: Columns, rng: np.random.Generator) -> tuple[Columns, set[str]]:
    """The column that depends most on another one is shuffled."""
    names = numeric(table_of(name))
    table = np.array([table_of(name)[one] for one in names], float)
    known = table[:, ~np.isnan(table).any(axis=0)]
    strength = np.abs(np.corrcoef(known)) - np.eye(len(names))
    column = names[int(strength.max(axis=0).argmax())]
    return shuffled(made, rng, column), {column}


def reversed_order(name: str, made: Columns, rng: np.random.Generator) -> tuple[Columns, set[str]]:
    """In 20% of the rows, the values of two columns change places."""
    smaller, larger = ORDER[name]
    swap = rng.random(len(made[smaller])) < 0.2
    both = list(zip(made[smaller], made[larger], swap, strict=True))
    return made | {
        smaller: [high if wrong else low for low, high, wrong in both],
        larger: [low if wrong else high for low, high, wrong in both],
    }, {smaller, larger}


FAULTS: dict[str, Callable[..., tuple[Columns, set[str]]]] = {
    "category dropped": dropped,
    "column shifted": moved,
    "dependence broken": scattered,
    "order reversed": reversed_order,
}


def with_copies(train: Columns, made: Columns, rng: np.random.Generator) -> Columns:
    """One row in five becomes a training row, whose numbers are jittered by 1%."""
    size = len(next(iter(made.values())))
    places = rng.choice(size, round(COPIED * size), replace=False)
    spread = {one: np.nanstd(np.array(train[one], float)) for one in numeric(train)}
    mixed = {name: list(values) for name, values in made.items()}
    for place, row in zip(places, rng.permutation(len(next(iter(train.values())))), strict=False):
        for name, values in train.items():
            value = values[row]
            if name in spread and value is not None:
                value += 0.01 * spread[name] * rng.normal()
            mixed[name][place] = value
    return mixed


def with_gaps(
    name: str, real: Columns, made: Columns, rng: np.random.Generator
) -> tuple[Columns, Columns, set[str]]:
    """Values of a column are missing at random, but in `made` where another one is large."""
    column, other = map(str, rng.choice(numeric(table_of(name)), 2, replace=False))
    at_random = rng.random(len(real[column])) < 0.3
    value = np.array([np.nan if one is None else one for one in made[other]], float)
    by_rule = value > np.nanquantile(value, 0.7)
    gaps = [
        side | {column: [None if gone else v for v, gone in zip(side[column], hides, strict=True)]}
        for side, hides in ((real, at_random), (made, by_rule))
    ]
    return gaps[0], gaps[1], {column}
