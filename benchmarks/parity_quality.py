"""The quality report of SDMetrics on tables with known faults, kept for `benchmarks.bench_quality`.

Its code, on PyPI under the MIT license, is not part of this project. Install it into an environment
of its own (``pip install sdmetrics==0.32.0``). There, from the root of this repository,

    python -m benchmarks.parity_quality

writes ``benchmarks/tests/parity/quality.json``.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.quality_cases import CASES, RUNS, digest_of, tables

FIXTURE = Path(__file__).parent / "tests" / "parity" / "quality.json"


def scores(case: str, run: int) -> list[float]:
    """The quality score, and its parts: shapes of columns and trends of pairs."""
    from sdmetrics.reports import QualityReport

    given = tables(case, run)
    kinds = {
        name: {"sdtype": "categorical" if isinstance(values[0], str) else "numerical"}
        for name, values in given["real"].items()
    }
    frames = ({"table": pd.DataFrame(given[side])} for side in ("real", "generated"))
    report = QualityReport()
    report.generate(*frames, {"tables": {"table": {"columns": kinds}}}, verbose=False)
    return [report.get_score(), *report.get_properties()["Score"].tolist()]


if __name__ == "__main__":
    found = {}
    for case in CASES:
        means = np.mean([scores(case, run) for run in range(RUNS)], axis=0).round(6).tolist()
        found[case] = dict(zip(("score", "shapes", "pairs"), means, strict=True))
        found[case]["tables"] = digest_of(case)
    record = {"sdmetrics": version("sdmetrics"), "quality": found}
    FIXTURE.write_text(json.dumps(record, indent=2) + "\n")
