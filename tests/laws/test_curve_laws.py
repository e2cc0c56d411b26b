"""What every precision-recall curve of a pair of laws must satisfy."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import linprog

from tests.laws.strategies import lams, pairs, profiles
from tradeoff import PRCurve, RatioProfile
from tradeoff.core.divergence import TotalVariation

TIGHT = {"rtol": 1e-12, "atol": 1e-12}
GRID = np.geomspace(1e-6, 1e6, 121)


def curve_of(pair):
    return RatioProfile.from_masses(*pair).curve()


@given(pairs(), lams)
def test_definition(pair, lam):
    p, q = pair
    curve = curve_of(pair)
    if lam == 0:
        expected = (0.0, p[q > 0].sum())
    elif np.isinf(lam):
        expected = (q[p > 0].sum(), 0.0)
    else:
        with np.errstate(over="ignore"):
            expected = np.minimum(lam * p, q).sum(), np.minimum(p, q / lam).sum()
    np.testing.assert_allclose((curve.precision(lam), curve.recall(lam)), expected, **TIGHT)


@given(pairs())
def test_full_precision_and_recall_mean_equality(pair):
    p, q = pair
    assert curve_of((p, p)).precision(1.0) == pytest.approx(1.0, abs=1e-14)
    assert curve_of((p, p)).is_attainable(precision=1.0, recall=1.0)
    if np.abs(p - q).sum() > 1e-9:
        assert not curve_of(pair).is_attainable(precision=1.0, recall=1.0)


@given(pairs())
def test_disjoint_supports_mean_nothing(pair):
    p, q = pair
    disjoint = np.append(p, 0 * q), np.append(0 * p, q)
    curve = curve_of(disjoint)
    assert not curve.precision(GRID).any()
    assert curve.area == curve.f_score(1.0) == 0
    common = (p > 0) & (q > 0)
    assert (curve_of(pair).max_precision > 0) == common.any()


@given(pairs())
def test_ends_are_masses_of_supports(pair):
    p, q = pair
    curve = curve_of(pair)
    np.testing.assert_allclose(curve.max_precision, q[p > 0].sum(), **TIGHT)
    np.testing.assert_allclose(curve.max_recall, p[q > 0].sum(), **TIGHT)
    assert curve.precision(0.0) == curve.recall(np.inf) == 0
    # No point of the curve exceeds its ends, and it approaches them.
    assert (curve.precision(GRID) <= curve.max_precision + 1e-12).all()
    assert (curve.recall(GRID) <= curve.max_recall + 1e-12).all()


@given(pairs(), st.floats(0, 1), st.floats(0, 1), lams)
def test_smaller_pairs_are_attainable(pair, share, other, lam):
    curve = curve_of(pair)
    precision, recall = min(curve.precision(lam), 1.0), min(curve.recall(lam), 1.0)
    assert curve.is_attainable(precision=share * precision, recall=other * recall)


@given(pairs(), lams)
def test_swapping_roles_swaps_precision_and_recall(pair, lam):
    profile = RatioProfile.from_masses(*pair)
    with np.errstate(divide="ignore", over="ignore"):
        inverse = np.float64(1.0) / np.float64(lam)
    for swapped in (profile.swap().curve(), profile.curve().swap(), curve_of(pair[::-1])):
        np.testing.assert_allclose(
            (profile.curve().precision(lam), profile.curve().recall(lam)),
            (swapped.recall(inverse), swapped.precision(inverse)),
            **TIGHT,
        )


@given(profiles())
def test_precision_rises_and_recall_falls(profile):
    curve = profile.curve()
    normal = np.abs(np.log(curve.breakpoints)) < 690  # a denormal slope has few digits
    lam = np.concatenate(([0.0], np.union1d(GRID, curve.breakpoints[normal]), [np.inf]))
    assert (np.diff(curve.precision(lam)) >= -1e-13).all()
    assert (np.diff(curve.recall(lam)) <= 1e-13).all()


@given(profiles())
def test_concave_and_continuous_in_lambda(profile):
    curve = profile.curve()
    assert (np.diff(curve.slopes) <= 1e-13).all()
    assert (np.diff(curve.intercepts) >= -1e-13).all()
    from_left = curve.intercepts[:-1] + curve.slopes[:-1] * curve.breakpoints
    np.testing.assert_allclose(from_left, curve.precision(curve.breakpoints), **TIGHT)


@given(pairs(), st.randoms(use_true_random=False))
def test_merging_atoms_never_lowers_the_curve(pair, random):
    p, q = pair
    block = np.array([random.randrange(max(1, p.size // 2)) for _ in range(p.size)])
    merged = np.bincount(block, p), np.bincount(block, q)
    assert (curve_of(merged).precision(GRID) >= curve_of(pair).precision(GRID) - 1e-12).all()


@given(profiles())
def test_lambda_one_is_total_variation(profile):
    curve = profile.curve()
    tv = 0.5 * np.abs(profile.p - profile.q).sum()
    assert curve.precision(1.0) == pytest.approx(1 - tv, abs=1e-12)
    assert curve.total_variation == pytest.approx(tv, abs=1e-12)
    assert TotalVariation().of(profile) == pytest.approx(tv, abs=1e-12)


@given(pairs(max_size=8), st.floats(1e-3, 1e3))
def test_no_classifier_does_better(pair, lam):
    p, q = pair
    errors = [
        lam * p[list(called)].sum() + q.sum() - q[list(called)].sum()
        for size in range(p.size + 1)
        for called in itertools.combinations(range(p.size), size)
    ]
    assert curve_of(pair).precision(lam) == pytest.approx(min(errors), abs=1e-12)


@given(pairs(max_size=6), st.floats(1e-2, 1e2))
def test_linear_programming_agrees(pair, lam):
    p, q = (np.where(mass < 1e-9, 0, mass) for mass in pair)
    p, q = p / p.sum(), q / q.sum()
    # The largest α with αμ ≤ Q and (α/λ)μ ≤ P, in ν = αμ.
    identity = np.eye(p.size)
    best = linprog(
        -np.ones(p.size), A_ub=np.vstack((identity / lam, identity)), b_ub=np.append(p, q)
    )
    curve = curve_of((p, q))
    assert curve.precision(lam) == pytest.approx(-best.fun, abs=1e-9)
    alpha = -best.fun
    assert curve.is_attainable(precision=min(alpha * (1 - 1e-9), 1), recall=min(alpha / lam, 1))
    if alpha > 1e-6 and max(1, 1 / lam) * alpha < 0.999:
        assert not curve.is_attainable(precision=alpha * 1.001, recall=1.001 * alpha / lam)


@given(profiles(), st.floats(1e-3, 1e3))
def test_f_score_is_the_maximum(profile, weight):
    curve = profile.curve()
    lam = np.union1d(np.geomspace(1e-9, 1e9, 400), curve.breakpoints)
    with np.errstate(over="ignore"):
        scores = (1 + weight**2) * curve.precision(lam) / (1 + weight**2 * lam)
    assert curve.f_score(weight) >= scores.max() - 1e-12
    attained = max(scores.max(), (1 + weight**2) / weight**2 * curve.slopes[-1])
    assert curve.f_score(weight) <= attained + 1e-12


@given(profiles(max_size=6, tiny=False))
def test_area_is_the_integral(profile):
    curve = profile.curve()
    knots = np.log(curve.breakpoints)

    def strip(log_lam):
        return 0.5 * curve.precision(np.exp(log_lam)) * curve.recall(np.exp(log_lam))

    area = sum(quad(strip, a, b, epsabs=1e-12)[0] for a, b in itertools.pairwise(knots))
    if knots.size:
        area += 0.5 * curve.max_recall**2 * curve.breakpoints[0]
        area += 0.5 * curve.max_precision**2 / curve.breakpoints[-1]
    assert curve.area == pytest.approx(area, abs=1e-9)


@given(profiles(), st.floats(0, 1))
def test_precision_at_recall_is_the_edge_of_what_is_attainable(profile, recall):
    curve = profile.curve()
    precision = curve.precision_at_recall(recall)
    if recall > curve.max_recall:
        assert precision == 0
        return
    assert curve.is_attainable(precision=min(precision, 1.0), recall=recall)
    if recall > 1e-9 and precision * 1.001 + 1e-9 < 1:
        assert not curve.is_attainable(precision=precision * 1.001 + 1e-9, recall=recall)


@given(
    st.lists(st.integers(0, 30), min_size=2, max_size=9),
    st.lists(st.integers(0, 30), min_size=9, max_size=9),
)
@example([1, 4, 0, 1, 3, 0, 0, 0, 0], [1, 1, 0, 1, 0, 0, 0, 0, 0])
def test_largest_recall_is_attained_despite_rounding(real, generated):
    p, q = np.array(real, float), np.array(generated[: len(real)], float)
    p[0], q[0] = p[0] + 1, q[0] + 1
    p, q = p / p.sum(), q / q.sum()
    curve = curve_of((p, q))
    assert curve.precision_at_recall(min(p[q > 0].sum(), 1.0)) > 0
    assert curve.recall_at_precision(min(q[p > 0].sum(), 1.0)) > 0


@given(profiles(), st.floats(0, 1))
def test_recall_at_precision_is_the_swapped_question(profile, share):
    ours = profile.curve().recall_at_precision(share)
    assert ours == profile.curve().swap().precision_at_recall(share)
    np.testing.assert_allclose(ours, profile.swap().curve().precision_at_recall(share), atol=1e-9)


@given(profiles())
def test_json_is_lossless(profile):
    curve = profile.curve()
    banded = PRCurve(
        **{name: getattr(curve, name) for name in ("breakpoints", "intercepts", "slopes")},
        max_precision=curve.max_precision,
        max_recall=curve.max_recall,
        lower=curve,
        upper=curve.swap(),
    )
    swapped = banded.swap()
    np.testing.assert_array_equal(swapped.lower.slopes, curve.swap().slopes)
    np.testing.assert_array_equal(swapped.upper.breakpoints, curve.swap().swap().breakpoints)
    again = PRCurve.from_json(banded.to_json())
    for left, right in ((again, banded), (again.lower, curve), (again.upper, curve.swap())):
        for name in ("breakpoints", "intercepts", "slopes", "max_precision", "max_recall"):
            np.testing.assert_array_equal(getattr(left, name), getattr(right, name))


@given(pairs(max_size=8), st.floats(0, 1))
@example((np.array([1e-320, 1 / 3, 0.0, 2 / 3]), np.array([1e-200, 0.0510, 0.949, 0.0])), 0.0)
def test_roc_bounds_every_set(pair, epsilon):
    p, q = pair
    roc = curve_of(pair).roc()
    assert (np.diff(roc.generated) >= 0).all()
    assert (np.diff(roc.real) >= -1e-15).all()
    largest = roc.collapsed_mass(epsilon)
    for size in range(p.size + 1):
        for called in itertools.combinations(range(p.size), size):
            if q[list(called)].sum() <= epsilon:
                assert p[list(called)].sum() <= largest + 1e-12


@given(profiles())
def test_area_under_roc_is_a_ranking_probability(profile):
    assume(profile.p.size <= 60)
    log_ratio = np.log(np.maximum(profile.p, 1e-320)) - np.log(np.maximum(profile.q, 1e-320))
    log_ratio = np.where(profile.q == 0, np.inf, np.where(profile.p == 0, -np.inf, log_ratio))
    same = np.isclose(
        profile.p[:, None] * profile.q, profile.q[:, None] * profile.p, rtol=1e-12, atol=0
    )
    wins = np.where(same, 0.5, log_ratio[:, None] > log_ratio)
    expected = profile.p @ wins @ profile.q
    assert profile.curve().roc().area == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
@given(st.lists(profiles(max_size=20), min_size=1, max_size=5))
def test_concatenation_averages_curves(parts):
    whole = RatioProfile.concatenate(parts).curve()
    mean = np.mean([part.curve().precision(GRID) for part in parts], axis=0)
    np.testing.assert_allclose(whole.precision(GRID), mean, **TIGHT)
    assert whole.max_recall == pytest.approx(np.mean([part.curve().max_recall for part in parts]))
