"""A real table, through the command line, with models of known faults."""

import pytest

from tests.cli.faults import compare, findings, limits
from tests.known.scenarios import table_models, write_csv


@pytest.mark.slow
@pytest.mark.torch
def test_a_removed_class_of_a_table_is_found(tmp_path):
    real, models = table_models()
    result = compare(
        write_csv(real, tmp_path / "real.csv"),
        {n: write_csv(m, tmp_path / f"{n}.csv") for n, m in models.items()},
    )
    assert findings(result, "benign only") == {"recall lost", "columns"}
    assert findings(result, "all") == set()
    fine = result["evaluations"]["all"]["scores"]["curve.recall"]
    assert limits(result, "benign only", "curve.recall")[1] < fine["value"]
    assert fine["high"] == 1.0
