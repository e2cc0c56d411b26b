"""Which step is kept, and how rarely a run is stopped without a reason."""

import numpy as np
import pytest

from tradeoff import Above, Best, pr_curve
from tradeoff.tracking.measuring import MeasuredStep
from tradeoff.tracking.selection import Selection
from tradeoff.tracking.steps import TrackedStep

F_SCORE = Best("f_score")
SIZE = 400


def measured(step, x, real, *, goal=F_SCORE, reason=""):
    estimate = pr_curve(real=real, generated=x, estimator="gaussians", progress=False)
    score = estimate.curve.f_score(1.0) if goal.is_summary else estimate.curve.precision(1.5)
    return MeasuredStep(TrackedStep(step=step, score=score, reason=reason), None, estimate)


def normal(seed, shift=0.0, scale=1.0):
    return np.random.default_rng(seed).normal(shift, scale, (SIZE, 2))


REAL = normal(1000)


def follow(found, goal=F_SCORE, patience=3):
    selection = Selection(goal, level=0.95, patience=patience)
    for one in found:
        selection.add(one)
    return selection


def test_the_highest_score_is_kept_and_worse_steps_stop():
    shifts = [2.0, 0.0, 1.0, 1.0, 1.0]
    found = [measured(i, normal(i, shift), REAL) for i, shift in enumerate(shifts)]
    assert follow(found[:4]).stop_reason == ""
    selection = follow(found)
    assert selection.kept.row.step == 1
    assert "last 3 evaluated steps are worse than step 1" in selection.stop_reason


def test_a_step_that_is_not_resolved_is_never_kept_and_is_no_evidence():
    found = [measured(0, normal(0, 1.0), REAL), measured(1, normal(1), REAL, reason="Why.")]
    assert follow(found).kept.row.step == 0
    worse = [measured(i, normal(i, 2.0), REAL) for i in (2, 3)]
    selection = follow([found[0], worse[0], found[1], worse[1]], patience=2)
    assert selection.stop_reason == ""
    assert follow([found[0], *worse], patience=2).stop_reason
    assert follow([found[1]]).kept is None


def test_broken_samples_after_better_ones_are_worse():
    broken = MeasuredStep(TrackedStep(step=9, reason="NaN.", is_broken=True))
    good = measured(0, normal(0), REAL)
    assert follow([broken] * 5).stop_reason == ""  # nothing better was seen
    assert follow([good, broken, broken, broken]).stop_reason


def test_a_condition_excludes_steps_that_surely_violate_it():
    goal = Best("precision", given=Above("recall", 0.8))
    # One half of the plane, and all of it with many samples that are not realistic.
    narrow, wide = np.abs(normal(0)) * [1, 0] + normal(0) * [0, 1], normal(1, scale=1.6)
    found = [measured(0, wide, REAL, goal=goal), measured(1, narrow, REAL, goal=goal)]
    assert found[1].row.score > found[0].row.score
    selection = follow(found, goal)
    assert (selection.kept.row.step, selection.worse) == (0, 1)
    assert follow(found[1:], goal).kept is None


@pytest.mark.slow
def test_runs_that_do_not_change_are_hardly_ever_stopped():
    """A step is called worse in at most 5% of runs, whatever the number of looks.

    Of 20 runs, six or more would be called so with probability 0.0003.
    """
    called = 0
    for run in range(20):
        real = normal(10_000 + run)
        found = [measured(i, normal(100 * run + i, 0.3), real) for i in range(12)]
        selection = Selection(F_SCORE, level=0.95, patience=1)
        for one in found:
            selection.add(one)
            if selection.worse:
                called += 1
                break
    assert called <= 5
