"""Near-copies within a side: found, not found where there are none, and what they do to a curve."""

import numpy as np
import pytest

from tradeoff import evaluate
from tradeoff.curves import pr_curve
from tradeoff.metrics.copies import near_copies
from tradeoff.samples import Pair

FAST = {"estimator": "kernel", "progress": False}
ASKED = {"level": 0.95, "seed": 0}


def doubled(rng, x, scale=0.05):
    """With a near-copy of each row."""
    return np.concatenate((x, x + scale * rng.normal(size=x.shape)))


def found_in(real, generated):
    return near_copies(Pair.of(real=real, generated=generated), **ASKED)


@pytest.mark.slow
@pytest.mark.parametrize("columns", [1, 2, 5, 40])
def test_there_are_none_in_one_distribution_nor_in_one_that_is_narrower(columns):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        real, generated = rng.normal(size=(2, 400, columns))
        assert found_in(real, generated) == {}
        assert found_in(real, 0.7 * generated) == {}
        assert found_in(real, generated[:200]) == {}


@pytest.mark.parametrize("side", ["real", "generated"])
def test_they_are_found_on_either_side_at_other_sizes_and_exact_copies_are_not_counted(side):
    rng = np.random.default_rng(0)
    plain, once = rng.normal(size=(900, 5)), rng.normal(size=(200, 5))
    other = "generated" if side == "real" else "real"
    found = found_in(**{side: doubled(rng, once), other: plain})
    assert list(found) == [side]
    assert found[side] > 0.9
    assert found_in(**{side: np.concatenate((once, once)), other: plain}) == {}


def test_a_loss_that_they_feign_comes_with_a_warning_and_goes_away_with_groups():
    rng = np.random.default_rng(0)
    real, once = rng.normal(size=(600, 5)), rng.normal(size=(300, 5))
    generated = doubled(rng, once)
    result = evaluate(real=real, generated=generated, metrics="curve", diagnose=False, **FAST)
    assert "precision lost" in [finding.name for finding in result.findings]
    (warning,) = [text for text in result.warnings if "near-copies" in text]
    assert "of the generated samples are near-copies" in warning
    assert "pass generated_groups to pr_curve" in warning
    groups = [*range(300)] * 2
    curve = pr_curve(real=real, generated=generated, generated_groups=groups, **FAST)
    assert not curve.losses().precision


def test_a_loss_without_them_has_no_such_warning():
    rng = np.random.default_rng(0)
    real, generated = rng.normal(size=(600, 5)), rng.normal(1.5, 1, size=(600, 5))
    result = evaluate(real=real, generated=generated, metrics="curve", diagnose=False, **FAST)
    assert result.findings
    assert not any("near-copies" in text for text in result.warnings)
