"""The headline and the verdict of models whose fault and true curve are known, at reduced size."""

from functools import cache

import numpy as np
import pytest
from scipy.stats import binom

from tests.known.curves import over_seeds
from tests.known.faults import faults
from tests.known.headline import run_of, truth

pytestmark = pytest.mark.slow

RUNS = 10
FAULTS = ("equal", "omission", "invention", "both", "shift")


@cache
def runs(name, n):
    return over_seeds(lambda seed: run_of(2, name, n, 90_000 + seed), RUNS)


def count(key, *, names=FAULTS, n=200):
    return sum(one[key] > 0 for name in names for one in runs(name, n))


@pytest.mark.parametrize("key", ["wrong kind", "limit below truth"])
def test_wrong_statements_are_as_rare_as_their_level_says(key):
    """5% of runs each; more than allowed: once in 1,000."""
    assert count(key) <= binom.ppf(0.999, RUNS * len(FAULTS), 0.05)


def test_equal_sets_are_rarely_said_to_differ():
    assert count("difference", names=("equal",)) <= binom.ppf(0.999, RUNS, 0.05)


def test_no_statement_contradicts_another():
    assert count("contradictions") == 0
    assert count("contradictions", names=("no overlap",), n=60) == 0


def test_sets_without_overlap_are_always_named_and_others_never():
    assert count("named", names=("no overlap",), n=60) == RUNS
    assert count("named", names=("equal", "omission", "invention", "shift")) == 0


def test_the_balanced_point_is_closer_to_the_truth_than_fixed_slopes():
    """Also for a mean over faults of which one is read well at any slope."""
    found = {
        rule: np.mean([one[rule] for name in FAULTS for one in runs(name, 200)])
        for rule in ("ours", "earlier")
    }
    assert found["ours"] < 0.8 * found["earlier"]


@pytest.mark.parametrize(("name", "kind"), [("omission", "recall"), ("invention", "precision")])
def test_a_plain_fault_costs_its_kind_and_little_of_the_other(name, kind):
    right = truth(faults(2)[name].curve)
    assert right[kind] == pytest.approx(0.75, abs=0.03)  # neighboring modes overlap a little
    other = {"recall": "precision", "precision": "recall"}[kind]
    found = {one: np.mean([run[one] for run in runs(name, 200)]) for one in right}
    assert found[kind] == pytest.approx(right[kind], abs=0.1)
    assert found[other] > found[kind] + 0.05
