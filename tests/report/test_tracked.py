"""The picture of a training run: what is resolved, what is not, and what is kept."""

import matplotlib as mpl
import numpy as np
import pytest

from tradeoff import InvalidInputError
from tradeoff.report import TrainingDisplay
from tradeoff.tracking import TrackedStep

mpl.use("agg")


def step(number, precision, recall, reason="", f_score=None):
    limits = {
        "precision_limits": (precision - 0.1, precision + 0.1),
        "recall_limits": (recall - 0.1, recall + 0.1),
    }
    return TrackedStep(
        step=number, precision=precision, recall=recall, reason=reason, f_score=f_score, **limits
    )


BROKEN = TrackedStep(step=4, reason="All generated samples are equal.", is_broken=True)
STEPS = [step(1, 0.9, 0.9, "Not seen."), step(2, 0.4, 0.6), step(3, 0.5, 0.7), BROKEN]


def test_steps_that_are_not_resolved_are_hollow_and_on_no_line():
    ax = TrainingDisplay(STEPS, best=STEPS[2]).plot().ax_
    for label, values in (("precision", [0.4, 0.5]), ("recall", [0.6, 0.7])):
        (line,) = [one for one in ax.get_lines() if one.get_label() == label]
        y = np.asarray(line.get_ydata())
        np.testing.assert_allclose(y[np.isfinite(y)], values)
    hollow = [one for one in ax.get_lines() if one.get_markerfacecolor() == "none"]
    assert [list(one.get_xdata()) for one in hollow[:2]] == [[1], [1]]
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["precision", "recall", "not resolved", "no curve"]
    assert [text.get_text() for text in ax.texts] == ["kept"]


def test_the_score_that_steps_are_chosen_by_is_a_line_with_gaps():
    steps = [step(1, 0.9, 0.9, "Not seen.", f_score=0.95), step(2, 0.4, 0.6, f_score=0.5)]
    ax = TrainingDisplay(steps).plot().ax_
    (line,) = [one for one in ax.get_lines() if one.get_label() == "F-score"]
    np.testing.assert_equal(line.get_ydata(), [np.nan, 0.5])


def test_a_run_without_a_curve_has_no_picture():
    with pytest.raises(InvalidInputError, match="must hold a step with a curve"):
        TrainingDisplay([BROKEN]).plot()
    with pytest.raises(InvalidInputError, match="`steps` must be"):
        TrainingDisplay([0.5])
