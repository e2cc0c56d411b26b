"""Curves from scores and from held-out log-ratios."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.laws.divergences import SMOOTH
from tests.laws.strategies import profiles
from tradeoff import HeldOutLogRatios, RatioProfile
from tradeoff.core.divergence import KL

GRID = np.concatenate((np.geomspace(1e-3, 1e3, 61), [1.0]))

scores = st.lists(
    st.one_of(st.integers(-3, 3).map(float), st.floats(-20, 20)), min_size=1, max_size=60
).map(np.array)
weights = st.integers(0, 4)


def minimum_over_thresholds(real, generated, lam):
    """The published estimate, over every threshold including +∞."""
    thresholds = np.append(np.union1d(real, generated), np.inf)
    missed = (real[:, None] < thresholds).mean(0)
    passed = (generated[:, None] >= thresholds).mean(0)
    return (lam[:, None] * missed + passed).min(1)


@given(scores, scores)
def test_hull_is_the_minimum_over_thresholds(real, generated):
    curve = RatioProfile.from_scores(real=real, generated=generated).curve()
    expected = minimum_over_thresholds(real, generated, GRID)
    np.testing.assert_allclose(curve.precision(GRID), expected, atol=1e-12)


@pytest.mark.slow
@given(scores, scores, st.data())
def test_weights_are_repetitions(real, generated, data):
    counts = []
    for side in (real, generated):
        drawn = np.array(data.draw(st.lists(weights, min_size=side.size, max_size=side.size)))
        drawn[data.draw(st.integers(0, side.size - 1))] = 1
        counts.append(drawn)
    scale = data.draw(st.sampled_from([0.5, 1e-200, 1e200, 1e307]))
    weighted = RatioProfile.from_scores(
        real=real,
        generated=generated,
        real_weights=scale * counts[0],
        generated_weights=3.0 * counts[1],
    )
    repeated = RatioProfile.from_scores(
        real=np.repeat(real, counts[0]), generated=np.repeat(generated, counts[1])
    )
    np.testing.assert_allclose(
        weighted.curve().precision(GRID), repeated.curve().precision(GRID), atol=1e-12
    )
    np.testing.assert_allclose(
        HeldOutLogRatios(
            real=real,
            generated=generated,
            real_weights=scale * counts[0],
            generated_weights=counts[1],
        )
        .curve()
        .precision(GRID),
        HeldOutLogRatios(real=np.repeat(real, counts[0]), generated=np.repeat(generated, counts[1]))
        .curve()
        .precision(GRID),
        atol=1e-12,
    )


@given(scores, scores)
def test_only_the_order_of_scores_matters(real, generated):
    ranks = np.unique(np.concatenate((real, generated)), return_inverse=True)[1].astype(float)
    plain = RatioProfile.from_scores(real=real, generated=generated)
    ranked = RatioProfile.from_scores(real=ranks[: real.size], generated=ranks[real.size :])
    np.testing.assert_array_equal(plain.p, ranked.p)
    np.testing.assert_array_equal(plain.q, ranked.q)


@given(scores, scores)
def test_hull_swaps_with_roles(real, generated):
    curve = RatioProfile.from_scores(real=real, generated=generated).curve()
    swapped = RatioProfile.from_scores(real=-generated, generated=-real).curve()
    np.testing.assert_allclose(curve.precision(GRID), swapped.recall(1 / GRID), atol=1e-12)


@given(scores, scores)
def test_held_out_errors_are_counts(real, generated):
    # Slopes halfway between the thresholds of the rule, where rounding decides nothing.
    thresholds = np.unique(np.exp(-np.concatenate((real, generated))))
    lam = np.sqrt(
        np.append(thresholds[0] / 2, thresholds) * np.append(thresholds, thresholds[-1] * 2)
    )
    lam = lam[~np.isclose(lam[:, None], thresholds, rtol=1e-12, atol=0).any(1)]
    cut = -np.log(lam)
    expected = lam * (real[:, None] < cut).mean(0) + (generated[:, None] >= cut).mean(0)
    curve = HeldOutLogRatios(real=real, generated=generated).curve()
    np.testing.assert_allclose(curve.precision(lam), expected, rtol=1e-12)
    np.testing.assert_allclose(curve.recall(lam), expected / lam, rtol=1e-12)


@given(scores, scores)
def test_held_out_counts_are_never_below_the_hull(real, generated):
    fixed = HeldOutLogRatios(real=real, generated=generated).curve()
    chosen = RatioProfile.from_scores(real=real, generated=generated).curve()
    assert (fixed.precision(GRID) >= chosen.precision(GRID) - 1e-12).all()


@pytest.mark.slow
@given(st.lists(st.tuples(scores, scores), min_size=1, max_size=4))
def test_merging_folds_pools_their_samples(folds):
    parts = [HeldOutLogRatios(real=real, generated=generated) for real, generated in folds]
    whole = HeldOutLogRatios(
        real=np.concatenate([real for real, _ in folds]),
        generated=np.concatenate([generated for _, generated in folds]),
    )
    merged = parts[0].merge(*parts[1:])
    np.testing.assert_array_equal(merged.curve().precision(GRID), whole.curve().precision(GRID))


def test_merging_and_swapping_keep_weights():
    light = HeldOutLogRatios(real=[1.0, -1.0], generated=[-1.0], real_weights=[1.0, 0.0])
    heavy = HeldOutLogRatios(
        real=[-1.0], generated=[1.0], real_weights=[3.0], generated_weights=[3.0]
    )
    merged = light.merge(heavy)
    assert merged.curve().precision(1.0) == pytest.approx(0.75 + 0.75)
    for lam in (0.5, 2.0):
        assert merged.swap().curve().precision(lam) == pytest.approx(merged.curve().recall(1 / lam))


def test_large_finite_log_ratios_stay_finite():
    """A flow's ratios may be e^800: the dual bound must not claim an infinite divergence."""
    sure = HeldOutLogRatios(real=[800.0, 1.0], generated=[-1.0, -800.0]).curve()
    bound = 1 + (700 + 1) / 2 - np.exp(-1) / 2
    assert KL().of_curve(sure) == pytest.approx(bound, rel=1e-9)
    assert (sure.max_precision, sure.max_recall) == (1.0, 1.0)
    infinite = HeldOutLogRatios(real=[-np.inf, 1.0], generated=[0.0, -1.0]).curve()
    assert KL().of_curve(infinite) == -np.inf


@given(scores, scores)
def test_held_out_summaries_are_limits_of_fine_grids(real, generated):
    curve = HeldOutLogRatios(real=real, generated=generated).curve()
    edges = np.concatenate((curve.breakpoints * (1 - 1e-13), curve.breakpoints))
    for weight in (1 / 8, 1, 8):
        values = (1 + weight**2) * curve.precision(edges) / (1 + weight**2 * edges)
        assert curve.f_score(weight) == pytest.approx(values.max(), rel=1e-9)
    for recall in (0.1, 0.5, 0.9):
        lam = np.union1d(edges, np.geomspace(1e-10, 1e10, 4001))
        reached = lam[curve.recall(lam) >= recall]
        largest = curve.precision_at_recall(recall)
        assert largest >= recall * reached.max() * (1 - 1e-9)
        beyond = largest / recall * (1 + 1e-9)
        assert curve.recall(beyond) < recall * (1 + 1e-8)


@pytest.mark.slow
@given(scores, scores)
def test_rebuilt_divergence_of_held_out_errors_is_the_dual_bound(real, generated):
    real, generated = real / 3, generated / 3  # further out, a discriminator has no digits left
    curve = HeldOutLogRatios(real=real, generated=generated).curve()
    for name, divergence in SMOOTH.items():
        if divergence.discriminator_range == (-np.inf, 0.5):
            continue  # the frontier integral has no conjugate in closed form
        t_real = divergence.derivative(np.exp(real))
        t_generated = divergence.derivative(np.exp(generated))
        dual = t_real.mean() - divergence.conjugate(t_generated).mean()
        scale = max(1.0, np.abs(t_real).max(), np.abs(divergence.conjugate(t_generated)).max())
        assert divergence.of_curve(curve) == pytest.approx(dual, abs=1e-9 * scale), name


@given(scores, scores)
def test_errors_swap_with_roles(real, generated):
    held_out = HeldOutLogRatios(real=real, generated=generated)
    lam = GRID * 1.0000123
    np.testing.assert_allclose(
        held_out.curve().precision(lam), held_out.swap().curve().recall(1 / lam), atol=1e-12
    )


@given(scores, scores)
def test_clipped_curve_is_monotone_and_within_bounds(real, generated):
    raw = HeldOutLogRatios(real=real, generated=generated).curve()
    shown = raw.clipped()
    knots = np.union1d(shown.breakpoints, raw.breakpoints)
    around = [knots * (1 + side) for side in (-1e-9, 0.0, 1e-9)]
    lam = np.unique(np.concatenate((*around, np.geomspace(1e-10, 1e10, 401))))
    cap = np.minimum(1, lam)
    alpha = shown.precision(lam)
    assert (alpha <= cap * (1 + 1e-12)).all()
    assert (np.diff(alpha) >= -1e-12).all()
    assert (np.diff(shown.recall(lam)) <= 1e-12).all()


def test_far_log_ratios_are_shown_without_a_warning():
    """Breakpoints of e^690 are within what floats hold, if only just."""
    curve = HeldOutLogRatios(real=[-690.0, 1.0], generated=[0.3, 2.0]).curve()
    assert np.isfinite(curve.clipped().precision([0.1, 1.0, 10.0])).all()


def test_the_shown_curve_lies_where_the_counted_one_does_in_the_mean():
    """A running maximum, in its place, would lie up to 0.1 above."""
    rng, lam = np.random.default_rng(0), np.geomspace(1 / 20, 20, 41)
    counted, shown = [], []
    for _ in range(150):
        real, generated = (sign * 2.0 + 2.0 * rng.normal(size=200) for sign in (1, -1))
        raw = HeldOutLogRatios(real=real, generated=generated).curve()
        counted.append(raw.precision(lam))
        shown.append(raw.clipped().precision(lam))
    scale = np.minimum(1.0, lam)
    mean = np.minimum(np.mean(counted, 0), scale)
    bias = (np.mean(shown, 0) - mean) / scale
    assert np.abs(bias).max() < 0.01


@given(profiles())
def test_clipping_leaves_the_curve_of_a_profile_alone(profile):
    curve = profile.curve()
    np.testing.assert_allclose(curve.clipped().precision(GRID), curve.precision(GRID), atol=1e-9)


def test_ends_tell_of_infinite_log_ratios():
    inf = np.inf
    finite = HeldOutLogRatios(real=[1.0, 2.0], generated=[-1.0, 0.0]).curve()
    assert (finite.max_precision, finite.max_recall) == (1.0, 1.0)
    certain = HeldOutLogRatios(real=[1.0, inf], generated=[-inf, 0.0]).curve()
    assert (certain.max_precision, certain.max_recall) == (0.5, 0.5)
    wrong = HeldOutLogRatios(real=[1.0, -inf], generated=[inf, 0.0]).curve()
    assert (wrong.max_precision, wrong.max_recall, wrong.area) == (inf, inf, inf)


def test_held_out_expectation_is_never_below_the_truth():
    """A fixed, wrong ratio on Gaussians at distance 1: counts exceed the true curve."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(0, 1, 200_000), rng.normal(1, 1, 200_000)
    lam = np.array([0.1, 0.5, 1, 2, 10])
    truth = np.array([0.098962, 0.404695, 0.617075, 0.809390, 0.989621])
    for scale, shift in ((1, 0), (2, 0.3), (0.5, -0.5)):
        held_out = HeldOutLogRatios(
            real=scale * (0.5 - x) + shift, generated=scale * (0.5 - y) + shift
        )
        raised = held_out.curve().precision(lam) - truth
        assert (raised > -4 * (1 + lam) / np.sqrt(x.size)).all()
        if scale != 1:
            assert raised.max() > 0.005
