"""Precision and recall at the balanced point, against models whose true curve is known.

A row is the mean absolute error of precision and recall, also with the slopes of the earlier
headline (precision at λ = 20, recall at λ = 0.4) and with other rules for the balanced slope, and
how often what is said is wrong: a kind of loss that is not there, a limit below the true value at
its slope, a statement that contradicts another one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
from scipy.stats import binom

from benchmarks.harness import Row, Summary, run
from tests.known.faults import faults
from tests.known.headline import run_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

COLUMNS = (2, 32)
RUNS = {60: 20, 200: 20, 1000: 10}
BARS = {200: 0.7, 1000: 0.55}
FIRST_SEED = 50_000
_RULES = ("ours", "earlier", "highest", "other folds", "closest to 1")
_WRONG, _REJECTED = 0.05, 0.01


def measure(columns: int, name: str, n: int, *, runs: int, first: int = FIRST_SEED) -> Row:
    """Errors and wrong statements of one fault."""
    found = joblib.Parallel(n_jobs=-1)(
        joblib.delayed(run_of)(columns, name, n, seed) for seed in range(first, first + runs)
    )
    row: Row = {"runs": runs}
    row |= {rule: _mean(found, rule) for rule in (*_RULES, "precision", "recall", "difference")}
    row["no overlap named"] = _mean(found, "named")
    counts = {
        "wrong kind": sum(one["wrong kind"] for one in found),
        "limit below truth": sum(one["limit below truth"] > 0 for one in found),
    }
    if name == "equal":
        counts["false alarms"] = sum(one["difference"] for one in found)
    row |= counts | {"contradictions": sum(one["contradictions"] for one in found)}
    allowed = max(1, int(binom.ppf(1.0 - _REJECTED, runs, _WRONG)))
    missed = runs - sum(one["named"] for one in found) if name == "no overlap" else 0
    failed = row["contradictions"] + missed
    return row | {"ratio": 2.0 if failed else max(counts.values()) / allowed, "bar": 1.0}


def _mean(found: list[dict[str, Any]], key: str) -> float:
    return float(np.mean([one[key] for one in found]))


def over_faults(rows: Mapping[str, Row], n: int) -> Row:
    """Errors over all faults of a size, relative to the earlier headline."""
    chosen = [row for case, row in rows.items() if case.endswith(f"N = {n:,}")]
    row = {rule: float(np.mean([one[rule] for one in chosen])) for rule in _RULES}
    row |= {"runs": sum(one["runs"] for one in chosen)}
    return row | {"ratio": row["ours"] / row["earlier"], "bar": BARS[n]}


CASES: dict[str, Callable[[], Row] | Summary] = {
    f"{name}, {columns} columns, N = {n:,}": (
        lambda columns=columns, name=name, n=n, runs=runs: measure(columns, name, n, runs=runs)
    )
    for n, runs in RUNS.items()
    for columns in COLUMNS
    for name in faults(columns)
}
CASES |= {
    f"all faults with N = {n:,} samples": Summary(lambda rows, n=n: over_faults(rows, n))
    for n in BARS
}

if __name__ == "__main__":
    run("headline", "Mean absolute error of precision and recall, and wrong statements", CASES)
