"""What every registered estimator must do; a new one joins by its line in the registry."""

import dataclasses

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression

from tradeoff import HeldOutLogRatios, InvalidInputError
from tradeoff.ratio import ESTIMATORS, Classifier, Logistic, LogRatio, Stack
from tradeoff.ratio.base import Projection
from tradeoff.ratio.calibration import Isotonic, balance
from tradeoff.ratio.quantized import ValueCounts

MAKERS = {declaration.name: declaration.make for declaration in ESTIMATORS.values()} | {
    "forest": lambda: Classifier(ExtraTreesClassifier(30, min_samples_leaf=3)),
    "decision function": lambda: Classifier(LogisticRegression()),
}
every_estimator = pytest.mark.parametrize("name", MAKERS)


def draw(seed, n=400, m=400, d=3, shift=2.0):
    rng = np.random.default_rng(seed)
    generated = rng.normal(size=(m, d))
    generated[:, 0] += shift
    return {"real": rng.normal(size=(n, d)), "generated": generated}


def fit(name, seed=0, **samples):
    return MAKERS[name]().fit(**samples, seed=seed)


@every_estimator
def test_real_samples_score_higher(name):
    """Roles: a positive log-ratio means real."""
    fitted = fit(name, **draw(0))
    assert isinstance(fitted, LogRatio)
    fresh = draw(1)
    real, generated = fitted.log_ratio(fresh["real"]), fitted.log_ratio(fresh["generated"])
    assert real.shape == (400,)
    assert real.dtype == np.float64
    assert np.isfinite(real).all()
    assert np.mean(real > 0) > 0.7
    assert np.mean(generated < 0) > 0.7
    curve = HeldOutLogRatios(real=real, generated=generated).curve()
    assert curve.precision(1.0) < 0.5  # the truth is 0.317


@pytest.mark.slow
@every_estimator
def test_swapping_roles_flips_the_sign(name):
    samples, fresh = draw(0), draw(1)["real"]
    swapped = {"real": samples["generated"], "generated": samples["real"]}
    ours, theirs = fit(name, **samples), fit(name, **swapped)
    assert np.mean(np.sign(ours.log_ratio(fresh)) == -np.sign(theirs.log_ratio(fresh))) > 0.8


@pytest.mark.slow
@every_estimator
def test_same_seed_same_bits(name):
    fresh = draw(1)["real"]
    first, second = (fit(name, seed=3, **draw(0)).log_ratio(fresh) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@every_estimator
def test_configurations_are_frozen(name):
    estimator = MAKERS[name]()
    with pytest.raises(dataclasses.FrozenInstanceError):
        estimator.anything = 1


@pytest.mark.slow
@every_estimator
def test_a_constant_added_to_all_features_changes_nothing(name):
    samples, fresh = draw(0), draw(1)["real"]
    plain = fit(name, **samples).log_ratio(fresh)
    moved = fit(name, **{side: x + 64.0 for side, x in samples.items()}).log_ratio(fresh + 64.0)
    # Steps of trees and clusters may move a few samples across an edge by rounding.
    assert np.mean(np.abs(plain - moved) < 1e-3 * (1 + np.abs(plain))) > 0.97


@pytest.mark.slow
@every_estimator
def test_imbalance_does_not_shift_the_ratio(name):
    samples = draw(0, n=1500, m=300, shift=1.0)
    fitted = fit(name, **samples)
    fresh = draw(1, n=2000, m=2000, shift=1.0)
    shift = balance(
        real=fitted.log_ratio(fresh["real"]), generated=fitted.log_ratio(fresh["generated"])
    )
    assert abs(shift) < 0.6  # the prior alone would be log 5 = 1.6


@pytest.mark.slow
@every_estimator
@pytest.mark.parametrize(
    "trouble", ["constant columns", "duplicated rows", "separation", "tiny", "wide", "one value"]
)
def test_troublesome_data(name, trouble):
    samples = {
        "constant columns": draw(0) | {},
        "duplicated rows": {side: np.repeat(x[:5], 80, axis=0) for side, x in draw(0).items()},
        "separation": draw(0, shift=100.0),
        "tiny": draw(0, n=3, m=4),
        "wide": draw(0, n=30, m=30, d=200),
        "one value": {"real": np.zeros((20, 2)), "generated": np.zeros((30, 2))},
    }[trouble]
    if trouble == "constant columns":
        samples = {side: np.hstack((x, np.full((len(x), 2), 7.0))) for side, x in samples.items()}
    fitted = fit(name, **samples)
    values = np.concatenate([fitted.log_ratio(x) for x in samples.values()])
    assert np.isfinite(values).all()
    if trouble == "separation":  # a step of a tree may catch one sample of the other side
        real, generated = (fitted.log_ratio(samples[side]) for side in ("real", "generated"))
        assert np.quantile(real, 0.02) > np.quantile(generated, 0.98)


@pytest.mark.slow
@every_estimator
def test_high_dimensional_features_are_projected(name):
    samples = draw(0, n=300, m=300, d=150, shift=6.0)
    fitted, fresh = fit(name, **samples), draw(1, d=150, shift=6.0)
    real, generated = fitted.log_ratio(fresh["real"]), fitted.log_ratio(fresh["generated"])
    assert np.median(real) > np.median(generated)


@every_estimator
def test_mistakes_get_a_sentence(name):
    samples = draw(0)
    with pytest.raises(
        InvalidInputError, match="same number of columns. Got 3 in `real` and 2 in `generated`"
    ):
        fit(name, real=samples["real"], generated=samples["generated"][:, :2])
    broken = samples["real"].copy()
    broken[7, 1] = np.nan
    with pytest.raises(InvalidInputError, match="in 1 of 400 rows, first in row 7"):
        fit(name, real=broken, generated=samples["generated"])
    with pytest.raises(InvalidInputError, match="one row per sample"):
        fit(name, real=samples["real"][0], generated=samples["generated"])


def test_a_classifier_needs_scores():
    with pytest.raises(InvalidInputError, match="`predict_proba` or `decision_function`. Got int"):
        Classifier(3)


@pytest.mark.slow
def test_the_stack_sees_what_no_single_member_sees_everywhere():
    """A ring against a blob defeats a line; a shift in one of many columns defeats a kernel."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, (2, 1500))
    ring = [
        3 * np.stack((np.cos(a), np.sin(a)), 1) + 0.2 * rng.normal(size=(1500, 2)) for a in angle
    ]
    blob = [2.1 * rng.normal(size=(1500, 2)) for _ in range(2)]
    stack = Stack().fit(real=ring[0], generated=blob[0], seed=0)
    calibrate = Isotonic.fit(real=stack.log_ratio(ring[0]), generated=stack.log_ratio(blob[0]))
    held_out = HeldOutLogRatios(
        real=calibrate(stack.log_ratio(ring[1])), generated=calibrate(stack.log_ratio(blob[1]))
    )
    line = fit("logistic", real=ring[0], generated=blob[0])
    straight = HeldOutLogRatios(real=line.log_ratio(ring[1]), generated=line.log_ratio(blob[1]))
    assert held_out.curve().precision(1.0) < 0.4
    assert straight.curve().precision(1.0) > 0.85


def test_constant_columns_take_no_place_among_those_that_differ():
    rng = np.random.default_rng(0)
    real, generated = rng.normal(size=(300, 100)), rng.normal(size=(250, 100))
    real[:, :20] = generated[:, :20] = 0.1
    generated[:, 70] += 3.0
    project = Projection.fit(real, generated)
    assert project.axes.shape == (100, 64)
    assert project.axes[70, 0] == 1.0
    assert not project.axes[:20, :8].any()


def test_a_stack_needs_members():
    for members in ((), ("logistic",), (Logistic,)):
        with pytest.raises(InvalidInputError, match="`members` must be configured estimators"):
            Stack(members=members)


@pytest.mark.slow
def test_range_exceedance_decides_the_shifted_cube():
    """Uniform on a cube, shifted along the diagonal: overlap 0.2 in 64 dimensions."""
    rng = np.random.default_rng(0)
    shift = 1 - 0.2 ** (1 / 64)
    real, generated = rng.random((4, 1000, 64)), rng.random((4, 1000, 64)) + shift
    stack = Stack().fit(real=real[0], generated=generated[0], seed=0)
    calibrate = Isotonic.fit(real=stack.log_ratio(real[1]), generated=stack.log_ratio(generated[1]))
    held_out = HeldOutLogRatios(
        real=calibrate(stack.log_ratio(real[2])), generated=calibrate(stack.log_ratio(generated[2]))
    )
    assert held_out.curve().precision(1.0) < 0.45


def test_values_are_recognized_in_single_precision():
    real, generated = np.array([[1.0], [1.0], [2.0]]), np.array([[1.0], [2.0], [2.0]])
    fitted = ValueCounts().fit(real=real, generated=generated, seed=0)
    np.testing.assert_array_equal(fitted.log_ratio(real.astype(np.float32)), fitted.log_ratio(real))
    assert fitted.log_ratio(real).any()
