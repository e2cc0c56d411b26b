"""What is found in tables of real generators: the Gaussian copula and CTGAN of SDV.

Both were trained on one half of a real table by `benchmarks.train_synthesizers`, in an environment
of its own; their rows are compared with the other half. The control compares both halves. There are
no bars: the truth is not known, but for the control, in which nothing should be found.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

from benchmarks.harness import Row, run
from benchmarks.train_synthesizers import CACHE, MODELS, TABLES, place_of
from tradeoff import evaluate

if TYPE_CHECKING:
    from collections.abc import Callable

    from tradeoff import Evaluation

TARGETS = {"breast cancer": "diagnosis", "penguins": "species"}
CONTROL = "real rows"


def measured(table: str, model: str, *, explain: bool = False) -> Evaluation:
    """Rows of a model against the half of the real rows that it has not seen."""
    made = "train" if model == CONTROL else model
    return evaluate(
        place_of(table, "real"),
        place_of(table, made),
        schema=place_of(table, "schema", "json"),
        target=TARGETS[table],
        metrics=("curve", "copies"),
        diagnose=False,
        explain=explain,
        progress=False,
    )


def compared(table: str, model: str) -> Row:
    """A model, or the half of the real rows that it was trained on."""
    about = json.loads((CACHE / "about.json").read_text())
    found = measured(table, model)
    assert found.table is not None
    assert found.table.use is not None
    use = found.table.use
    row: Row = {} if model == CONTROL else {"quality score": about["quality"][table][model]}
    return row | {
        "sdv": about["versions"]["sdv"],
        "findings": ", ".join(one.name for one in found.findings),
        "columns": len(found.table.columns),
        "columns that differ": len(found.table.different),
        "pairs that differ": len(found.table.dependent),
        "orders broken": len(found.table.orders),
        "recall": found["curve.recall"].text,
        "precision": found["curve.precision"].text,
        "trained on it": use.generated,
        "trained on real rows": use.real,
        "lost at least": use.low,
        "lost at most": use.high,
    }


CASES: dict[str, Callable[[], Row]] = {
    f"{table}, {model}": partial(compared, table, model)
    for table in TABLES
    for model in (*MODELS, CONTROL)
}

if __name__ == "__main__":
    run("synthesizers", "Tables of real generators, and of real rows for comparison", CASES)
