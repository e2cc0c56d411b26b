"""What is established on tables with one known fault each, next to a quality score.

The score is that of SDMetrics on the same tables, kept by `benchmarks.parity_quality`: 1 is best.
`found` counts runs in which anything is established; a perfect model should have none. For copies,
it counts runs in which they are. `ratio` is the number of failures over what an exact binomial test
at 1% accepts, of 20% misses, or of 10% false alarms: the curve and the columns have 5% each.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

from benchmarks.bench_tables import judged
from benchmarks.harness import Row, run
from benchmarks.parity_quality import FIXTURE
from benchmarks.quality_cases import CASES as TABLES
from benchmarks.quality_cases import RUNS, digest_of, tables
from tests.known.tables import rows_of
from tradeoff import evaluate

if TYPE_CHECKING:
    from collections.abc import Callable

    from tradeoff import Evaluation

_BY_CURVE = {"no overlap", "precision lost", "recall lost", "proportions", "difference"}


def measured(case: str, one: int) -> Evaluation:
    """The result of a run; training rows are given where the fault is that they are copied."""
    given = {side: rows_of(columns) for side, columns in tables(case, one).items()}
    train = {"train": given["train"]} if TABLES[case][2] == "copies" else {}
    return evaluate(
        given["real"],
        given["generated"],
        metrics=("curve", "copies"),
        diagnose=False,
        seed=one,
        progress=False,
        **train,
    )


def compared(case: str) -> Row:
    """A case, over all runs."""
    score = json.loads(FIXTURE.read_text())["quality"][case]
    if score["tables"] != digest_of(case):
        raise SystemExit(f"{FIXTURE.name} was made of other tables: run benchmarks.parity_quality.")
    kind = TABLES[case][2]
    names = [{one.name for one in measured(case, i).findings} for i in range(RUNS)]
    by_columns = sum("columns" in found for found in names)
    by_curve = sum(bool(found & _BY_CURVE) for found in names)
    copies = sum("copies" in found for found in names)
    found = copies if kind == "copies" else sum(bool(one) for one in names)
    failures, allowed = (found, 0.1) if kind == "none" else (RUNS - found, 0.2)
    return {
        "quality score": score["score"],
        "its column shapes": score["shapes"],
        "its pair trends": score["pairs"],
        "runs": RUNS,
        "found": found,
        "by columns and pairs": by_columns,
        "by the curve": by_curve,
        "as copies": copies,
        "ratio": judged(failures, RUNS, allowed),
        "bar": 1.0,
    }


CASES: dict[str, Callable[[], Row]] = {case: partial(compared, case) for case in TABLES}

if __name__ == "__main__":
    run("quality", "A quality score and what is established, on tables with known faults", CASES)
