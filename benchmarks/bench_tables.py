"""Columns and pairs of columns: false alarms, the right one first, and power.

Four real tables are divided into two halves, one of which gets a fault; generated tables have a
known distribution. `alarms` counts runs in which a column, a pair or an order is accused that does
not differ. `ratio` is the worst number of failures over what an exact binomial test at 1% accepts.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import binom

from benchmarks.harness import Row, run
from tests.known.curves import over_seeds
from tests.known.tables import FAULTS, mixed_table, pair_of, rows_of, shuffled
from tradeoff.tables import compare_columns

if TYPE_CHECKING:
    from collections.abc import Callable

    from tradeoff.tables import TableReport

RUNS = 60
_WRONG, _REJECTED = 0.05, 0.01
FIRST_SEED = 40_000


def real_table(name: str) -> dict[str, list[Any]]:
    """Columns of a table of scikit-learn, or of `palmerpenguins`."""
    if name == "penguins":
        from palmerpenguins import load_penguins

        frame = load_penguins()
        return {str(c): [None if v != v else v for v in frame[c].tolist()] for c in frame}
    from sklearn import datasets

    found = getattr(datasets, f"load_{name}")()
    columns = zip(map(str, found.feature_names), found.data.T.tolist(), strict=True)
    return dict(columns)


def halves(name: str, rng: np.random.Generator) -> tuple[dict[str, list[Any]], ...]:
    """Two random halves of the rows of a real table."""
    columns = real_table(name)
    order = rng.permutation(len(next(iter(columns.values()))))
    half = len(order) // 2
    return tuple(
        {key: [values[i] for i in rows] for key, values in columns.items()}
        for rows in (order[:half], order[half:])
    )


def shifted(columns: dict[str, list[Any]], rng: np.random.Generator) -> tuple[Any, str]:
    """One column of numbers moved by 0.8 standard deviations, and its name."""
    numbers = [
        name
        for name, values in columns.items()
        if sum(isinstance(one, float) for one in values) > 0.5 * len(values)
    ]
    name = str(rng.choice(numbers))
    known = np.array([one for one in columns[name] if one is not None])
    step = 0.8 * float(known.std())
    return columns | {name: [None if v is None else v + step for v in columns[name]]}, name


def compared(real: Any, made: Any, seed: int) -> TableReport:
    """What is found."""
    return compare_columns(*pair_of(rows_of(real), rows_of(made)), seed=seed)


def judged(failures: int, runs: int, allowed: float) -> float:
    """Failures over the largest number that is accepted."""
    return failures / max(float(binom.ppf(1.0 - _REJECTED, runs, allowed)), 1.0)


def on_real(name: str, *, runs: int = RUNS) -> Row:
    """Halves of a real table: equal, with shuffled columns, and with one column shifted."""

    def one(seed: int) -> tuple[bool, bool, bool, bool]:
        rng = np.random.default_rng(FIRST_SEED + seed)
        real, made = halves(name, rng)
        equal = compared(real, made, seed)
        mixed = compared(real, shuffled(made, rng), seed)
        moved, which = shifted(made, rng)
        found = compared(real, moved, seed)
        return (
            bool(equal.different or equal.dependent or equal.orders),
            bool(mixed.dependent),
            bool(found.different),
            bool(found.different) and found.columns[0].name == which,
        )

    found = np.array(over_seeds(one, runs))
    alarms, dependence, moved, first = found.sum(0).tolist()
    return {
        "runs": runs,
        "alarms": alarms,
        "lost dependence named": dependence,
        "shift found": moved,
        "right column first": first,
        "ratio": max(judged(alarms, runs, _WRONG), judged(moved - first, moved, 0.1)),
        "bar": 1.0,
    }


def on_generated(fault: str, n: int, *, runs: int = RUNS) -> Row:
    """A generated table with a fault."""
    make, wanted, is_large = FAULTS[fault]

    def one(seed: int) -> tuple[bool, bool, bool]:
        rng = np.random.default_rng(FIRST_SEED + seed)
        real, made = mixed_table(n, rng), make(mixed_table(n, rng), rng)
        found = compared(real, made, seed)
        columns = {one.name for one in found.different}
        pairs = [{one.first, one.second} for one in found.dependent]
        orders = [{one.smaller, one.larger} for one in found.orders]
        is_found = bool(
            columns & wanted
            if len(wanted) == 1
            else wanted in (*pairs, *orders)
            if wanted
            else False
        )
        first = {found.columns[0].name} if len(wanted) == 1 else (pairs + orders or [set()])[0]
        accused = columns - wanted if fault not in _ALL_COLUMNS else set()
        others = [pair for pair in pairs + orders if not pair & wanted]
        return bool(accused or others), is_found, is_found and first == wanted

    alarms, found, first = np.array(over_seeds(one, runs)).sum(0).tolist()
    row: Row = {"runs": runs, "alarms": alarms}
    ratios = [judged(alarms, runs, _WRONG)]
    if wanted:
        row |= {"found": found, "right one first": first}
        ratios.append(judged(found - first, max(found, 1), 0.1))
        if is_large and n >= 2000:
            ratios.append(judged(runs - found, runs, 0.2))
    return row | {"ratio": max(ratios), "bar": 1.0}


_ALL_COLUMNS = ("other marginals", "other shares")


def dependence(columns: int, *, n: int = 200, runs: int = 200) -> Row:
    """Shuffled columns, of which two have a correlation of 0.7."""

    def one(seed: int) -> bool:
        rng = np.random.default_rng(FIRST_SEED + seed)
        x = rng.normal(size=(2, n, columns))
        x[..., 1] = 0.7 * x[..., 0] + np.sqrt(0.51) * x[..., 1]
        real, made = ({f"x{i}": c.tolist() for i, c in enumerate(side.T)} for side in x)
        return bool(compared(real, shuffled(made, rng), seed).dependent)

    found = sum(over_seeds(one, runs))
    return {"runs": runs, "found": found, "ratio": judged(runs - found, runs, 0.05), "bar": 1.0}


def cost(n: int = 100_000, columns: int = 50) -> Row:
    """Seconds for all columns and pairs of a large table; two minutes are the bar."""
    rng = np.random.default_rng(0)
    tables = [
        {f"x{i}": c.tolist() for i, c in enumerate(rng.normal(size=(columns, n)))} for _ in range(2)
    ]
    pair, encoder = pair_of(*map(rows_of, tables))
    start = time.perf_counter()
    compare_columns(pair, encoder)
    seconds = time.perf_counter() - start
    return {"runs": 1, "seconds": seconds, "ratio": seconds / 120.0, "bar": 1.0}


CASES: dict[str, Callable[[], Row]] = {
    f"generated, {fault}, N = {n:,}": partial(
        on_generated, fault, n, runs=RUNS if n < 20_000 else 5
    )
    for fault in FAULTS
    for n in (150, 500, 2000, 20_000)
}
CASES |= {
    f"two of {columns} columns correlated, shuffled, N = 200": partial(dependence, columns)
    for columns in (4, 10)
}
CASES |= {name: partial(on_real, name) for name in ("wine", "diabetes", "penguins")}
CASES |= {"breast_cancer": partial(on_real, "breast_cancer", runs=20)}
CASES |= {"100,000 rows of 50 columns": cost}

if __name__ == "__main__":
    run("tables", "What is found in single columns and pairs, and what is rightly first", CASES)
