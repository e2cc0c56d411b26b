"""Pictures of evaluations and comparisons show what was measured."""

import numpy as np
import pytest

from tradeoff import InvalidInputError, compare, evaluate
from tradeoff.report import ComparisonDisplay, EvaluationDisplay

QUICK = {"estimator": "logistic", "diagnose": False, "progress": False}
RNG = np.random.default_rng(0)
REAL = RNG.normal(size=(300, 2))
FAR = RNG.normal(1, 1, (300, 2))


def test_a_model_is_one_curve_with_its_band():
    result = evaluate(real=REAL, generated=FAR, metrics="curve", **QUICK)
    ax = EvaluationDisplay(result).plot(color="#123456").ax_
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels[0] == "generated"
    assert [line for line in ax.get_lines() if line.get_color() == "#123456"]
    assert ax.patches  # the band


@pytest.mark.slow
def test_models_are_points_with_upper_limits():
    models = {"near": RNG.normal(size=(300, 2)), "far": FAR, "few": np.repeat(REAL[:10], 30, 0)}
    result = compare(real=REAL, generated=models, metrics="curve", **QUICK)
    display = ComparisonDisplay(result).plot()
    curves, points = display.axes_
    labels = [text.get_text() for text in curves.get_legend().get_texts()]
    assert labels[:2] == ["near", "far"]  # a few repeated samples have no curve
    assert "few" not in labels
    places = [container[0].get_xydata()[0] for container in points.containers]
    expected = [
        (result[name]["curve.recall"].value, result[name]["curve.precision"].value)
        for name in ("near", "far")
    ]
    np.testing.assert_allclose(places, expected)
    (bars, *_) = points.containers[1][2]
    low, high = bars.get_segments()[0][:, 0]
    recall = result["far"].recall
    assert recall.value < recall.high
    assert (low, high) == pytest.approx((recall.value, recall.high))


def test_without_a_curve_there_is_no_picture():
    result = evaluate(real=REAL, generated=FAR, metrics="copies", **QUICK)
    with pytest.raises(InvalidInputError, match="no curve to draw: add curve to the metrics"):
        EvaluationDisplay(result)
    both = compare(real=REAL, generated={"a": FAR, "b": REAL + 1}, metrics="copies", **QUICK)
    with pytest.raises(InvalidInputError, match="no curves to draw"):
        ComparisonDisplay(both)
    assert both.differences == ()
