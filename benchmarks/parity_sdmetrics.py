"""The overfitting protection of SDMetrics, kept for the tests.

Its code, on PyPI under the MIT license, is not part of this project. Install it into an environment
of its own (``pip install sdmetrics==0.32.0``). There, from the root of this repository,

    python -m benchmarks.parity_sdmetrics

writes ``benchmarks/tests/parity/sdmetrics.json``.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

FIXTURE = Path(__file__).parent / "tests" / "parity" / "sdmetrics.json"
SIZES = {"train": 400, "held_out": 300, "generated": 350}
COPIES = 200
RANGE = 5.0  # SDMetrics divides by the range of the table in which it searches: all have this one
NUMBERS = ("x",)
COLUMNS = {"categories": tuple("abcdefgh"), "one column of numbers": NUMBERS}


def tables(case: str) -> dict[str, pd.DataFrame]:
    """Training, held-out and generated rows, of which the last begin with copies of the first."""
    rng = np.random.default_rng(0)
    found = {
        name: pd.DataFrame({column: _cells(column, n, rng) for column in COLUMNS[case]})
        for name, n in SIZES.items()
    }
    rows = (found["train"].iloc[:COPIES], found["generated"].iloc[COPIES:])
    return found | {"generated": pd.concat(rows, ignore_index=True)}


def _cells(column: str, n: int, rng: np.random.Generator) -> np.ndarray:
    if column not in NUMBERS:
        return rng.choice(list("klmnop"), n)
    return np.concatenate(([-RANGE, RANGE], rng.normal(size=n - 2).clip(-RANGE, RANGE)))


def protection(case: str) -> float:
    """What SDMetrics says of a case."""
    from sdmetrics.single_table import DCROverfittingProtection

    given = tables(case)
    kinds = {
        column: {"sdtype": "numerical" if column in NUMBERS else "categorical"}
        for column in COLUMNS[case]
    }
    return float(
        DCROverfittingProtection.compute(
            real_training_data=given["train"],
            synthetic_data=given["generated"],
            real_validation_data=given["held_out"],
            metadata={"tables": {"table": {"columns": kinds}}},
            table_name="table",
        )
    )


if __name__ == "__main__":
    found = {case: protection(case) for case in COLUMNS}
    record = {"sdmetrics": version("sdmetrics"), "protection": found}
    FIXTURE.write_text(json.dumps(record, indent=2) + "\n")
