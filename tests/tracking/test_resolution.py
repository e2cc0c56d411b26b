"""Neighbors bound the F-score, and what is missed is subtracted as a share of the data."""

import numpy as np
import pytest

from tradeoff import pr_curve, support_metrics
from tradeoff.curves import diagnose
from tradeoff.metrics.neighbors.baselines import inside_others, neighbors_of
from tradeoff.samples import Side
from tradeoff.tracking.resolution import (
    fault_of,
    missed_by_control,
    missed_by_estimator,
    neighbors_f_score,
)

pytestmark = pytest.mark.torch  # which finds neighbors


def bound_of(real, generated):
    sides = {"real": real, "generated": generated}
    found = support_metrics(**sides, progress=False)
    own = {
        name: inside_others(neighbors_of(Side.of(name, x), 5, progress=False), 5).mean()
        for name, x in sides.items()
    }
    return neighbors_f_score(
        precision=found.precision, expected=own["real"], recall=found.recall, own=own["generated"]
    )


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 1.0])
@pytest.mark.parametrize("kind", ["omitted", "invented"])
@pytest.mark.parametrize("columns", [2, 10])
def test_neighbors_never_bound_the_f_score_below_the_truth(share, kind, columns):
    """Omission and invention of a share s have the F-score 2(1 - s) / (2 - s)."""
    rng = np.random.default_rng(0)
    far = rng.normal(0, 1, (600, columns)) + 40 * (rng.random((600, 1)) < share)
    near = rng.normal(0, 1, (600, columns))
    real, generated = (far, near) if kind == "omitted" else (near, far)
    truth = 2 * (1 - share) / (2 - share)
    bound = bound_of(real, generated)
    assert bound > truth - 0.05  # the standard error of a share is 0.02
    if columns == 2:
        assert bound < truth + 0.1
    assert fault_of(truth) == pytest.approx(share)


def test_a_difference_counts_only_if_it_is_larger_than_the_planted_fault():
    assert missed_by_estimator(1.0, 0.9) == ""  # a fault of 18%
    assert "at most 0.88" in missed_by_estimator(1.0, 0.88)
    assert missed_by_estimator(0.5, 0.6) == ""


@pytest.mark.slow
def test_a_control_that_is_not_found_is_told_with_a_number_of_samples():
    angles = np.random.default_rng(0).integers(0, 8, 1000) * np.pi / 4
    ring = 3 * np.stack((np.cos(angles), np.sin(angles)), 1)
    ring += np.random.default_rng(1).normal(0, 0.2, ring.shape)
    sides = {"real": ring, "generated": ring, "progress": False}
    assert missed_by_control(diagnose(**sides, estimator="trees")) == ""
    told = missed_by_control(diagnose(**sides, estimator="gaussians"))
    assert "would not find a planted loss of 22% with this many samples: use about" in told
    assert missed_by_control(None).startswith("There are too few samples")


def test_a_curve_of_identical_sets_is_not_contradicted():
    real, generated = np.random.default_rng(2).normal(size=(2, 600, 5))
    curve = pr_curve(real=real, generated=generated, estimator="gaussians", progress=False).curve
    assert missed_by_estimator(curve.f_score(1.0), bound_of(real, generated)) == ""
