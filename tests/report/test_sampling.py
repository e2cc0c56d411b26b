"""Pictures of plans and reliabilities show what was computed."""

import numpy as np
import pytest

from tradeoff import HeldOutLogRatios, InvalidInputError
from tradeoff.ratio import reliability
from tradeoff.report import PlanDisplay, ReliabilityDisplay
from tradeoff.sampling import plan_budget

RNG = np.random.default_rng(0)
REAL, MADE = RNG.normal(0.5, 1, 800), RNG.normal(-0.5, 1, 800)


def test_a_plan():
    plan = plan_budget(HeldOutLogRatios(real=REAL, generated=MADE), budgets=[1.0, 2.0, 4.0])
    ax = PlanDisplay(plan).plot().ax_
    precision, recall, line = ax.get_lines()
    np.testing.assert_array_equal(precision.get_ydata(), plan.headline["curve.precision"])
    np.testing.assert_array_equal(recall.get_ydata(), plan.headline["curve.recall"])
    assert line.get_xdata()[0] == plan.enough
    assert [text.get_text() for text in ax.get_xticklabels()] == ["1", "2", "4"]


def test_a_reliability():
    found = reliability(real=REAL, generated=MADE)
    ax = ReliabilityDisplay(found).plot().ax_
    points = ax.containers[0][0].get_xydata()
    np.testing.assert_allclose(points, np.stack((found.predicted, found.observed), axis=1))


def test_other_things_are_refused():
    with pytest.raises(InvalidInputError, match="`plan` must be a Plan"):
        PlanDisplay(3)
    with pytest.raises(InvalidInputError, match="`reliability` must be a Reliability"):
        ReliabilityDisplay(3)
