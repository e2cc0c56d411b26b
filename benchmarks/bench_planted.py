"""Faults planted on four real tables: which are found, and whether the right column is accused.

A table is divided into two random halves, and one gets a fault. `alarms` counts runs that accuse a
column, a pair or an order without the columns that the fault touches. `ratio` is the worst number
of failures over what an exact binomial test at 1% accepts: 5% alarms, and 10% of the found faults
with another column first. For near-copies the table is divided into training, real and generated
rows; alarms are runs in which copies are said to exist where none were planted, or in which more of
them are guaranteed than there are.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.bench_tables import judged
from benchmarks.harness import Row, run
from benchmarks.planted_tables import CATEGORY, COPIED, FAULTS, parts, with_copies, with_gaps
from tests.known.curves import over_seeds
from tests.known.tables import pair_of, rows_of
from tradeoff import evaluate
from tradeoff.tables import compare_columns

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.planted_tables import Columns

RUNS = 60
FIRST_SEED = 70_000
GAPS = "missing by a rule"


def accused(real: Columns, made: Columns, seed: int) -> list[set[str]]:
    """The columns of every statement, those on orders and on columns before those on pairs."""
    found = compare_columns(*pair_of(rows_of(real), rows_of(made)), seed=seed)
    orders = [{one.smaller, one.larger} for one in found.orders]
    columns = [{one.name} for one in found.columns if one in found.different]
    return orders + columns + [{one.first, one.second} for one in found.dependent]


def planted(name: str, fault: str, *, runs: int = RUNS) -> Row:
    """A fault in one half of a table."""

    def one(seed: int) -> tuple[bool, bool, bool]:
        rng = np.random.default_rng(FIRST_SEED + seed)
        real, made = parts(name, 2, rng)
        if fault == GAPS:
            real, made, touched = with_gaps(name, real, made, rng)
        else:
            made, touched = FAULTS[fault](name, made, rng)
        return verdict_on(accused(real, made, seed), touched)

    alarms, found, first = np.array(over_seeds(one, runs)).sum(axis=0).tolist()
    return {
        "runs": runs,
        "found": found,
        "right column first": first,
        "alarms": alarms,
        "ratio": max(judged(alarms, runs, 0.05), judged(found - first, max(found, 1), 0.1)),
        "bar": 1.0,
    }


def verdict_on(statements: list[set[str]], touched: set[str]) -> tuple[bool, bool, bool]:
    """Whether anything else is accused, anything that was touched, and whether this comes first."""
    right = [bool(one & touched) for one in statements]
    return not all(right), any(right), bool(right) and right[0]


def copied(name: str, *, runs: int = RUNS) -> Row:
    """One generated row in five is a training row, whose numbers are jittered by 1%."""

    def one(seed: int) -> tuple[bool, bool]:
        rng = np.random.default_rng(FIRST_SEED + seed)
        train, real, made = parts(name, 3, rng)
        planted = copies_said(train, real, with_copies(train, made, rng), seed)
        return copies_said(train, real, made, seed) > 0.0 or planted > COPIED, planted > 0.0

    alarms, found = np.array(over_seeds(one, runs)).sum(axis=0).tolist()
    ratio = judged(alarms, runs, 0.05)
    return {"runs": runs, "found": found, "alarms": alarms, "ratio": ratio, "bar": 1.0}


def copies_said(train: Columns, real: Columns, made: Columns, seed: int) -> float:
    """The guaranteed share of copies; 0 if none are found."""
    result = evaluate(
        rows_of(real),
        rows_of(made),
        train=rows_of(train),
        metrics="copies",
        diagnose=False,
        seed=seed,
        progress=False,
    )
    assert result.training is not None
    owed = result.training.owed
    return owed.at_least if owed.is_established else 0.0


CASES: dict[str, Callable[[], Row]] = {
    f"{name}, {fault}": partial(planted, name, fault)
    for name in CATEGORY
    for fault in (*FAULTS, GAPS)
} | {f"{name}, near-copies": partial(copied, name) for name in CATEGORY}

if __name__ == "__main__":
    run("planted", "Faults planted on four real tables", CASES)
