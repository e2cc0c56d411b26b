"""A knob with a known best value, at reduced size."""

import numpy as np
import pytest

from benchmarks import bench_knobs as knobs


def test_the_best_value_lies_between_the_others():
    for truth in knobs.true_scores().values():
        assert 0 < int(truth.argmax()) < len(knobs.VALUES) - 1


@pytest.mark.slow
def test_a_recommendation_loses_little_and_the_set_holds_the_best():
    """With the full size, regret is below 0.01; half the samples and one member may lose more."""
    found = [knobs.one_run(90_000 + i, n=1000, estimator="kernel-logistic") for i in range(8)]
    for name in knobs.GOALS:
        assert np.mean([run[name][0] for run in found]) < 0.03
        assert sum(run[name][1] for run in found) >= 5  # 95%: 4 or fewer once in 2,500


def test_parts_add_up_to_the_bars():
    part = {"regret": 0.004, "best in the set": 0.94, "size of the set": 2.0}
    rows = {f"runs, part {i}": {f"area, {k}": v for k, v in part.items()} for i in range(4)}
    row = knobs.all_runs("area", rows)
    assert (row["missed"], row["allowed"]) == (12, 21)
    assert row["ratio"] == pytest.approx(12 / 21)


@pytest.mark.slow
@pytest.mark.torch
def test_a_transformer_is_measured_by_temperature(capsys):
    row = knobs.transformer(1, N=60, EPOCHS=1)
    temperatures = [key.rpartition(" ")[2] for key in row if key.startswith("knn.recall")]
    assert temperatures == ["0.3", "0.6", "1.0", "1.4"]
    assert row["recommended"] in temperatures
    assert "60 to measure against" in capsys.readouterr().out


def test_a_parameter_that_the_tutorial_does_not_have():
    with pytest.raises(AssertionError, match="has no parameter STEPS"):
        knobs.transformer(0, STEPS=1)


@pytest.mark.parametrize(("direction", "meets"), [(1, True), (-1, False)])
def test_a_trend_needs_its_direction(direction, meets):
    row = {
        f"{score} at {temperature}": sign * direction * temperature
        for score, sign in (("knn.precision", -1), ("knn.recall", 1), ("curve.recall", 1))
        for temperature in (0.3, 0.6, 1.0, 1.4)
    }
    found = knobs.trend({f"transformer, seed {i}": row for i in range(5)})
    assert (found["ratio"] < found["bar"]) == meets
