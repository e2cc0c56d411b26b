"""The quality score of SDMetrics, kept by `benchmarks.parity_quality`, is that of these tables."""

import json

import numpy as np
import pytest

from benchmarks.parity_quality import FIXTURE
from benchmarks.quality_cases import CASES, digest_of, tables

QUALITY = json.loads(FIXTURE.read_text())["quality"]


@pytest.mark.parametrize("case", CASES)
def test_the_score_was_measured_on_these_tables(case):
    assert QUALITY[case]["tables"] == digest_of(case)


@pytest.mark.parametrize("case", ["square dependence shuffled", "rule of three columns shuffled"])
def test_the_score_is_about_that_of_a_perfect_model(case):
    """As the documentation says; the faults are large, by what was planted."""
    assert QUALITY[case]["score"] == pytest.approx(QUALITY["perfect"]["score"], abs=0.005)
    given = tables(case, 0)
    kept = {
        side: (np.square(columns["u"]), columns["v"])
        if "square" in case
        else (np.sign(columns["u"]) * np.sign(columns["v"]), columns["w"])
        for side, columns in given.items()
    }
    assert np.corrcoef(*kept["real"])[0, 1] > 0.7
    assert abs(np.corrcoef(*kept["generated"])[0, 1]) < 0.15


def test_copies_are_the_training_rows():
    given = tables("copies of training rows", 0)
    assert given["generated"] == given["train"] != given["real"]
