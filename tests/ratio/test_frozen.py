"""A frozen rule says what its members say, bit for bit the same everywhere, and runs no code."""

import contextlib
import io
import json

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from tests.known.distributions import gaussians
from tradeoff import HeldOutLogRatios
from tradeoff.exceptions import InvalidInputError
from tradeoff.ratio import FrozenRule, Gaussians, Logistic, Stack
from tradeoff.ratio.frozen import _Scorer
from tradeoff.ratio.ranges import Ranges
from tradeoff.ratio.stack import fit_members


def two_sides(columns, n=3000, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(5, 3, (n, columns)), rng.normal(5.2, 3.3, (n, columns))


@pytest.mark.slow
@pytest.mark.parametrize("columns", [2, 64, 100])
def test_compiled_members_agree_with_fitted_ones(columns):
    real, generated = two_sides(columns)
    stack = Stack().cheaper()
    fitted = fit_members(stack, real, generated, 0)
    parts = [
        estimator.part.from_arrays(member.to_arrays(fitted.project))
        for estimator, member in zip(stack.members, fitted.members, strict=True)
    ]
    parts.append(Ranges.of(fitted.ranges, fitted.project.standardize))
    x = np.random.default_rng(1).normal(5, 4, (1500, columns))
    x[:30] *= 3  # far outside
    wanted, found = fitted(x), _Scorer.of(fitted.project, parts)(x.astype(np.float32))
    differs = np.abs(wanted.log_ratios - found.log_ratios) > 1e-3 * (1 + np.abs(wanted.log_ratios))
    assert differs[:, 1].mean() < 0.005  # trees: samples within rounding of a threshold
    assert not np.delete(differs, 1, axis=1).any()
    np.testing.assert_allclose(wanted.hints, found.hints, rtol=1e-4, atol=1e-4)


@pytest.mark.slow
def test_a_constant_column_changes_nothing():
    real, generated = (
        np.column_stack((side, np.full(len(side), 7.0))) for side in two_sides(3, n=1000)
    )
    rule = FrozenRule.fit(real=real, generated=generated)
    x = real[:50].copy()
    before = rule.log_ratio(x)
    x[:, 3] = 8.0
    np.testing.assert_array_equal(rule.log_ratio(x), before)


@pytest.fixture(scope="module")
def rule():
    real, generated = two_sides(5)
    return FrozenRule.fit(real=real, generated=generated)


@pytest.mark.slow
def test_bits_depend_on_nothing_but_the_row(rule):
    x = np.random.default_rng(2).normal(5, 3, (20_000, 5)).astype(np.float32)
    whole = rule.log_ratio(x)
    parts = [rule.log_ratio(part) for part in np.split(x, [1, 700, 8193])]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    order = np.random.default_rng(3).permutation(len(x))
    np.testing.assert_array_equal(rule.log_ratio(x[order]), whole[order])
    with threadpool_limits(2):
        np.testing.assert_array_equal(rule.log_ratio(x), whole)
    np.testing.assert_array_equal(rule.log_ratio(x.astype(np.float64)), whole)


def test_a_saved_rule_is_the_same_rule(rule, tmp_path):
    rule.save(tmp_path / "rule.npz")
    again = FrozenRule.load(tmp_path / "rule.npz")
    x = np.random.default_rng(4).normal(5, 3, (100, 5))
    assert again.digest == rule.digest
    np.testing.assert_array_equal(again.log_ratio(x), rule.log_ratio(x))


def test_damaged_and_hostile_files_are_refused(rule, tmp_path):
    path = tmp_path / "rule.npz"
    rule.save(path)
    content = bytearray(path.read_bytes())
    for place in range(200, len(content), len(content) // 23):
        damaged = bytearray(content)
        damaged[place] ^= 1
        (tmp_path / "damaged.npz").write_bytes(damaged)
        with contextlib.suppress(InvalidInputError):
            found = FrozenRule.load(tmp_path / "damaged.npz")
            assert found.digest == rule.digest  # a byte that means nothing
    about = json.dumps({"schema": "tradeoff.FrozenRule", "digest": rule.digest, "about": {}})
    file = io.BytesIO()
    np.savez(file, evil=np.array([object()]), about=np.frombuffer(about.encode(), np.uint8))
    (tmp_path / "evil.npz").write_bytes(file.getvalue())
    for name in ("evil.npz", "missing.npz"):
        with pytest.raises(InvalidInputError):
            FrozenRule.load(tmp_path / name)


def test_the_digest_is_that_of_everything(rule):
    for name, array in rule.arrays.items():
        other = dict(rule.arrays)
        other[name] = np.nextafter(array, np.inf) if array.dtype.kind == "f" else array + 1
        assert FrozenRule(arrays=other, about=rule.about).digest != rule.digest, name
    assert FrozenRule(arrays=rule.arrays, about={**rule.about, "seed": 1}).digest != rule.digest


@pytest.mark.slow
@pytest.mark.parametrize("distance", [0, 1, 2])
def test_its_errors_are_close_to_the_truth_and_not_below_it(distance):
    pair = gaussians(4, distance)
    fitted = FrozenRule.fit(**pair.draw(4000, 10))
    fresh = {side: fitted.log_ratio(x) for side, x in pair.draw(40_000, 11).items()}
    lam = np.array([0.2, 0.5, 1.0, 2.0, 5.0])
    found = HeldOutLogRatios(**fresh).curve().precision(lam)
    truth = pair.precision(lam)
    error = np.sqrt(lam**2 * 0.25 + 0.25) / np.sqrt(40_000)  # at most
    assert (found > truth - 3.5 * error).all()
    assert (found / truth < 1.05).all()


@pytest.mark.slow
def test_what_carries_no_weight_is_left_out_and_what_that_costs_is_said():
    rng = np.random.default_rng(0)
    real, generated = rng.normal(0, 1, (4000, 3)), rng.normal(1, 1, (4000, 3))
    full = FrozenRule.fit(real=real, generated=generated)
    assert full.about["left_out"]
    assert full.about["cost_of_leaving_out"] < 0.01
    single = FrozenRule.fit(real=real, generated=generated, estimator="logistic")
    assert single.about["parts"] == ["linear"]


def test_mistakes_get_a_sentence(rule):
    real, generated = two_sides(2, n=400)
    with pytest.raises(
        InvalidInputError, match="must be one of logistic, trees, gaussians, .*, or a stack"
    ):
        FrozenRule.fit(real=real, generated=generated, estimator="neighbors")
    with pytest.raises(InvalidInputError, match="must be one of logistic"):
        FrozenRule.fit(
            real=real, generated=generated, estimator=HistGradientBoostingClassifier(max_iter=5)
        )
    with pytest.raises(InvalidInputError, match="`real` must hold more distinct samples"):
        FrozenRule.fit(real=real[:10], generated=generated)
    with pytest.raises(InvalidInputError, match="`x` must have 5 columns"):
        rule.log_ratio(real)
    members = Stack((Logistic(), Gaussians()))
    assert FrozenRule.fit(real=real, generated=generated, estimator=members).about["columns"] == 2
