"""Ranks see how columns depend on each other, whatever the columns themselves look like."""

import numpy as np
import pytest

from tests.known.scenarios import table_models
from tradeoff import evaluate
from tradeoff.ratio import Stack
from tradeoff.ratio.ranked import RankedGaussians, for_tables

RNG = np.random.default_rng(0)
BOTH = RNG.normal(size=(400, 1))
REAL = BOTH + 0.5 * RNG.normal(size=(400, 3))
GENERATED = RNG.normal(size=(400, 3)) * REAL.std(0)


def test_nothing_changes_if_columns_are_stretched():
    plain = RankedGaussians().fit(real=REAL, generated=GENERATED, seed=0)
    stretched = RankedGaussians().fit(
        real=np.exp(3 * REAL), generated=np.exp(3 * GENERATED), seed=0
    )
    np.testing.assert_array_equal(plain.log_ratio(REAL), stretched.log_ratio(np.exp(3 * REAL)))


def test_lost_dependence_is_seen_in_heavy_tails():
    fitted = RankedGaussians().fit(real=np.exp(3 * REAL), generated=np.exp(3 * GENERATED), seed=0)
    right = (fitted.log_ratio(np.exp(3 * REAL)) > 0).mean()
    assert right > 0.75


def test_a_row_has_one_log_ratio_in_any_batch_and_ties_are_one_rank():
    values = np.array([[0.0, 1.0, 1.0], [0.0, 1.0, 1.0], [2.0, 0.0, 1.0], [9.0, -9.0, 1.0]])
    fitted = RankedGaussians().fit(real=REAL.round(), generated=GENERATED.round(), seed=0)
    found = fitted.log_ratio(values)
    assert np.isfinite(found).all()
    assert found[0] == found[1]
    np.testing.assert_allclose(fitted.log_ratio(values[2:3]), found[2:3], rtol=1e-12)


def test_only_the_default_stack_gets_ranks():
    assert for_tables("stack").members == (*Stack().members, RankedGaussians())
    for estimator in ("trees", Stack(Stack().members[:2])):
        assert for_tables(estimator) is estimator


@pytest.mark.slow
def test_tables_are_measured_with_ranks():
    rows, models = table_models()
    options = {"metrics": "curve", "diagnose": False, "progress": False}
    found = evaluate(real=rows, generated=models["all"], **options)
    assert found.provenance["curve"]["estimator"] == repr(for_tables("stack"))
