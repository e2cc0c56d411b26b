"""Our overfitting protection next to that of SDMetrics, on the same tables."""

import json

import pytest

from benchmarks.parity_sdmetrics import COLUMNS, FIXTURE, tables
from tradeoff import evaluate

pytest.importorskip("torch")

pytestmark = pytest.mark.torch

KEPT = json.loads(FIXTURE.read_text())


@pytest.mark.parametrize("case", COLUMNS)
def test_the_protection_is_that_of_sdmetrics(case):
    """With categories alone, or one column, its distances order rows as Euclidean ones do."""
    given = tables(case)
    found = evaluate(
        given["held_out"],
        given["generated"],
        train=given["train"],
        metrics="training.protection",
        diagnose=False,
        progress=False,
    )
    assert found["training.protection"].value == pytest.approx(KEPT["protection"][case], abs=1e-12)
    assert 0.1 < KEPT["protection"][case] < 0.99
