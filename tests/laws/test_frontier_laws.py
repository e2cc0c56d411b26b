"""What Rényi frontiers, MAUVE and exponential families must satisfy."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from examples.papers.exponential_family import ExponentialFamily, GaussianFamily
from tests.laws.strategies import pairs, profiles
from tradeoff import HeldOutLogRatios, InvalidInputError, RatioProfile
from tradeoff.core import mauve, renyi_frontier

KINDS = ("exclusive", "inclusive")
ORDERS = st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0, 1.3, 2.0, 7.0, 40.0])
WEIGHTS = st.floats(0.01, 0.99)


def renyi(first, second, order):
    """D_a of two discrete laws, by its definition."""
    if order == 0:
        return -np.log(second[first > 0].sum())
    if order == 1:
        kept = first > 0
        if (second[kept] == 0).any():
            return np.inf
        return np.sum(first[kept] * np.log(first[kept] / second[kept]))
    if order > 1 and ((first > 0) & (second == 0)).any():
        return np.inf
    both = (first > 0) & (second > 0)
    total = np.sum(first[both] ** order * second[both] ** (1 - order))
    return np.log(total) / (order - 1) if total > 0 else np.inf


def reference(p, q, order, kind, w):
    """The power mean that the theory names, by its definition."""
    b = 1 - order if kind == "exclusive" else order
    if b == 0:
        mean = q**w * p ** (1 - w)
    elif b < 0:
        both = (p > 0) & (q > 0)
        mean = np.zeros_like(p)
        mean[both] = (w * q[both] ** b + (1 - w) * p[both] ** b) ** (1 / b)
    else:
        mean = (w * q**b + (1 - w) * p**b) ** (1 / b)
    return mean / mean.sum() if mean.sum() > 0 else mean


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@given(pair=pairs(max_size=30, tiny=False), order=ORDERS, w=WEIGHTS)
def test_points_are_divergences_to_the_power_mean(kind, pair, order, w):
    p, q = (np.where(mass < 1e-6, 0.0, mass) for mass in pair)
    p, q = p / p.sum(), q / q.sum()
    assume(not (kind == "inclusive" and order < 0.2))
    frontier = renyi_frontier(RatioProfile.from_masses(p, q), order=order, kind=kind, weight=[w])
    r = reference(p, q, order, kind, w)
    with np.errstate(divide="ignore", over="ignore"):
        if not r.any():
            expected = (0.0, 0.0)
        elif kind == "exclusive":
            expected = np.exp(-renyi(r, q, order)), np.exp(-renyi(r, p, order))
        else:
            expected = np.exp(-renyi(p, r, order)), np.exp(-renyi(q, r, order))
    np.testing.assert_allclose((frontier.precision[0], frontier.recall[0]), expected, atol=1e-9)


@given(pairs(max_size=30), WEIGHTS)
def test_order_zero_is_the_limit_of_small_orders(pair, w):
    profile = RatioProfile.from_masses(*pair)
    for kind in KINDS:
        limit = renyi_frontier(profile, order=0, kind=kind, weight=[w])
        if profile.curve().max_precision > 1e-3 and kind == "exclusive":
            near = renyi_frontier(profile, order=1e-7, kind=kind, weight=[w])
            assert near.precision[0] == pytest.approx(limit.precision[0], abs=1e-3)
        if profile.curve().max_precision > 0 or kind == "exclusive":
            assert (limit.precision[0], limit.recall[0]) == pytest.approx((1, 1))
        else:
            assert limit.precision[0] + limit.recall[0] == pytest.approx(1)


def test_inclusive_order_zero_of_overlapping_and_disjoint_laws():
    overlap = RatioProfile.from_masses([0.5, 0.3, 0.2, 0.0], [0.0, 0.2, 0.3, 0.5])
    near = renyi_frontier(overlap, order=0.004, kind="inclusive", weight=[0.3])
    assert min(near.precision[0], near.recall[0]) > 0.98
    disjoint = RatioProfile.from_masses([1.0, 0.0], [0.0, 1.0])
    for w, expected in ((0.3, (1, 0)), (0.5, (0.5, 0.5)), (0.7, (0, 1))):
        for order in (0.0, 0.004):
            point = renyi_frontier(disjoint, order=order, kind="inclusive", weight=[w])
            assert (point.precision[0], point.recall[0]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
@given(profiles())
def test_order_infinity_is_the_curve(profile):
    curve = profile.curve()
    both = (profile.p > 0) & (profile.q > 0)
    assume(both.any())
    slopes = curve.breakpoints[(curve.breakpoints > 1e-200) & (curve.breakpoints < 1e200)]
    assume(slopes.size)
    lam = np.union1d(slopes, np.sqrt(slopes[1:]) * np.sqrt(slopes[:-1]))
    exclusive = renyi_frontier(profile, order=np.inf, kind="exclusive", lam=lam)
    np.testing.assert_allclose(exclusive.precision, curve.precision(lam), atol=1e-11)
    np.testing.assert_allclose(exclusive.recall, curve.recall(lam), atol=1e-11)
    inclusive = renyi_frontier(profile, order=np.inf, kind="inclusive", lam=lam)
    union = lam + 1 - curve.precision(lam)
    if profile.p.size == both.sum():
        np.testing.assert_allclose(inclusive.precision, lam / union, atol=1e-11)
        np.testing.assert_allclose(inclusive.recall, 1 / union, atol=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@given(profile=profiles(max_size=30, tiny=False))
def test_large_orders_approach_order_infinity(kind, profile):
    curve = profile.curve()
    slopes = curve.breakpoints[(curve.breakpoints > 1e-3) & (curve.breakpoints < 1e3)]
    assume(slopes.size > 1)
    lam = np.sqrt(slopes[1:] * slopes[:-1])
    errors = []
    for order in (1e3, 1e5):
        near = renyi_frontier(profile, order=order, kind=kind, lam=lam)
        far = renyi_frontier(profile, order=np.inf, kind=kind, lam=lam)
        errors.append(np.abs(near.precision - far.precision).max())
    assert errors[1] < 1e-3
    assert errors[1] <= errors[0] + 1e-9


@pytest.mark.parametrize("kind", KINDS)
@given(profile=profiles(), order=ORDERS, w=WEIGHTS)
def test_swapping_roles_swaps_the_frontier(kind, profile, order, w):
    ours = renyi_frontier(profile, order=order, kind=kind, weight=[w])
    theirs = renyi_frontier(profile.swap(), order=order, kind=kind, weight=[1 - w])
    assert ours.precision[0] == pytest.approx(theirs.recall[0], abs=1e-9)
    assert ours.recall[0] == pytest.approx(theirs.precision[0], abs=1e-9)


@given(profiles(), WEIGHTS)
def test_both_kinds_mirror_each_other_at_order_one_half(profile, w):
    exclusive = renyi_frontier(profile, order=0.5, kind="exclusive", weight=[w])
    inclusive = renyi_frontier(profile, order=0.5, kind="inclusive", weight=[w])
    assert exclusive.precision[0] == pytest.approx(inclusive.recall[0], abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("order", [0.5, 1.0, 2.0])
def test_no_reference_does_better(kind, order):
    """The weighted objective, minimized numerically over all laws, ends at our reference."""
    p, q, w = np.array([0.2, 0.3, 0.5]), np.array([0.5, 0.25, 0.25]), 0.3

    def power(divergence):
        return divergence if order == 1 else np.exp((order - 1) * divergence) / (order - 1)

    def objective(logits):
        r = np.exp(logits - logits.max())
        r /= r.sum()
        to_q, to_p = (
            (renyi(r, q, order), renyi(r, p, order))
            if kind == "exclusive"
            else (renyi(q, r, order), renyi(p, r, order))
        )
        return w * power(to_q) + (1 - w) * power(to_p)

    best = minimize(objective, np.zeros(3), tol=1e-14, method="Nelder-Mead").fun
    profile = RatioProfile.from_masses(p, q)
    point = renyi_frontier(profile, order=order, kind=kind, weight=[w])
    to_q, to_p = -np.log(point.precision[0]), -np.log(point.recall[0])
    if kind == "inclusive":
        to_q, to_p = to_p, to_q
    assert w * power(to_q) + (1 - w) * power(to_p) == pytest.approx(best, abs=1e-9)


@given(pairs(max_size=10, tiny=False), ORDERS, WEIGHTS)
def test_monte_carlo_of_the_exact_law_is_exact(pair, order, w):
    profile = RatioProfile.from_masses(*pair)
    held_out = HeldOutLogRatios(
        real=profile.laws.real.log_ratio,
        generated=profile.laws.generated.log_ratio,
        real_weights=profile.laws.real.weight,
        generated_weights=profile.laws.generated.weight,
    )
    for kind in KINDS:
        exact = renyi_frontier(profile, order=order, kind=kind, weight=[w])
        sampled = renyi_frontier(held_out, order=order, kind=kind, weight=[w])
        np.testing.assert_allclose(sampled.precision, exact.precision, atol=1e-12)
        np.testing.assert_allclose(sampled.recall, exact.recall, atol=1e-12)


def test_weightless_and_misplaced_samples():
    plain = HeldOutLogRatios(real=[0.0, 1.0], generated=[0.0, -1.0])
    padded = HeldOutLogRatios(
        real=[0.0, 1.0, -9.0],
        generated=[0.0, -1.0, 9.0],
        real_weights=[1, 1, 0],
        generated_weights=[1, 1, 0],
    )
    for kind in KINDS:
        ours = renyi_frontier(padded, order=np.inf, kind=kind, lam=[2.0])
        assert ours.recall == renyi_frontier(plain, order=np.inf, kind=kind, lam=[2.0]).recall
    misplaced = HeldOutLogRatios(real=[-np.inf, 1.0], generated=[0.5])
    with pytest.raises(InvalidInputError, match="Real samples must not have a log-ratio of -inf"):
        renyi_frontier(misplaced, order=2, kind="exclusive", weight=[0.5])


def test_monte_carlo_converges_to_gaussian_closed_forms():
    """N(0, 1) against N(1, 1), whose exclusive frontier of order 1 is known."""
    rng = np.random.default_rng(0)
    n = 400_000
    held_out = HeldOutLogRatios(real=0.5 - rng.normal(0, 1, n), generated=0.5 - rng.normal(1, 1, n))
    family = GaussianFamily(1)
    laws = {"real": family.natural([0], [[1]]), "generated": family.natural([1], [[1]])}
    weight = [0.25, 0.5, 0.75]
    exact = family.frontier(**laws, kind="exclusive", weight=weight)
    sampled = renyi_frontier(held_out, order=1, kind="exclusive", weight=weight)
    np.testing.assert_allclose(sampled.precision, exact.precision, atol=0.01)
    np.testing.assert_allclose(sampled.recall, exact.recall, atol=0.01)


@pytest.mark.slow
@given(profiles(max_size=20))
def test_mauve_is_symmetric_and_between_its_ends(profile):
    value = mauve(profile)
    disjoint = math.gamma(6) ** 2 / math.gamma(11)
    assert disjoint - 1e-9 <= value <= 1 + 1e-9
    assert mauve(profile.swap()) == pytest.approx(value, abs=1e-8)


@pytest.mark.slow
@settings(max_examples=15)
@given(profiles(max_size=20, tiny=False), st.sampled_from([1.0, 5.0]))
def test_mauve_is_the_area_of_its_frontier(profile, scaling):
    odds = np.linspace(-40, 40, 1601)
    weight = 1 / (1 + np.exp(odds[np.abs(odds) < 36]))
    points = renyi_frontier(profile, order=1, kind="inclusive", weight=weight)
    x = np.concatenate(([1.0], points.recall**scaling, [0.0]))
    y = np.concatenate(([0.0], points.precision**scaling, [1.0]))
    assert mauve(profile, scaling=scaling) == pytest.approx(np.trapezoid(x, y), abs=2e-4)


def bernoulli():
    return ExponentialFamily(
        log_partition=lambda t: np.log1p(np.exp(t)).sum(),
        to_mean=lambda t: 1 / (1 + np.exp(-t)),
        to_natural=lambda m: np.log(m) - np.log1p(-m),
    )


@given(st.floats(0.05, 0.95), st.floats(0.05, 0.95), st.floats(0.1, 3.0), WEIGHTS)
def test_families_agree_with_discrete_laws(a, b, order, w):
    family = bernoulli()
    p, q = np.array([a, 1 - a]), np.array([b, 1 - b])
    real, generated = family.to_natural(np.array([a])), family.to_natural(np.array([b]))
    assert family.renyi(real, generated, order) == pytest.approx(renyi(p, q, order), abs=1e-6)
    profile = RatioProfile.from_masses(p, q)
    for kind in KINDS:  # on two points every law is in the family
        ours = family.frontier(real=real, generated=generated, kind=kind, weight=[w])
        exact = renyi_frontier(profile, order=1, kind=kind, weight=[w])
        np.testing.assert_allclose(ours.precision, exact.precision, atol=1e-9)
        np.testing.assert_allclose(ours.recall, exact.recall, atol=1e-9)


def test_gaussian_family_round_trip():
    family = GaussianFamily(3)
    rng = np.random.default_rng(0)
    root = rng.normal(size=(3, 3))
    mean, covariance = rng.normal(size=3), root @ root.T + np.eye(3)
    natural = family.natural(mean, covariance)
    np.testing.assert_allclose(family.moments(natural)[0], mean)
    np.testing.assert_allclose(family.moments(natural)[1], covariance)
    np.testing.assert_allclose(family.to_natural(family.to_mean(natural)), natural)


@pytest.mark.parametrize("dim", [1, 3])
def test_a_fitted_gaussian_has_the_moments_of_the_samples(dim):
    rng = np.random.default_rng(0)
    samples = rng.normal(size=(50, dim)) @ rng.normal(size=(dim, dim)) + rng.normal(size=dim)
    family = GaussianFamily(dim)
    mean, covariance = family.moments(family.fit(samples))
    centered = samples - samples.mean(axis=0)
    np.testing.assert_allclose(mean, samples.mean(axis=0))
    np.testing.assert_allclose(covariance, centered.T @ centered / 50)


def test_no_gaussian_is_more_likely_than_the_fitted_one():
    """Moments of the sufficient statistics, at which the mean log-likelihood has no slope."""
    rng = np.random.default_rng(1)
    samples, family = rng.normal(size=(40, 2)) + 1.0, GaussianFamily(2)
    statistics = np.concatenate((samples.mean(axis=0), (samples.T @ samples / 40).ravel()))
    best = family.fit(samples)
    np.testing.assert_allclose(family.to_mean(best), statistics)

    def likelihood(natural):
        return natural @ statistics - family.log_partition(natural)

    for _ in range(20):
        other = family.natural(rng.normal(1, 0.1, 2), np.diag(rng.uniform(0.8, 1.2, 2)))
        assert likelihood(other) < likelihood(best)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"order": 1, "kind": "exclusive", "lam": [1.0]}, "every slope gives weight 1/2"),
        ({"order": 0, "kind": "inclusive", "lam": [1.0]}, "every slope gives weight 1/2"),
        ({"order": np.inf, "kind": "exclusive", "weight": [0.5]}, "is chosen by `lam`"),
        ({"order": 2, "kind": "exclusive"}, "Exactly one of `weight` and `lam`"),
        ({"order": 2, "kind": "exclusive", "weight": [0.0]}, "strictly between 0 and 1"),
        ({"order": 2, "kind": "exclusive", "lam": [0.0]}, "positive and finite"),
        ({"order": -1, "kind": "exclusive", "weight": [0.5]}, "`order` must lie in"),
        ({"order": 1, "kind": "both", "weight": [0.5]}, "`kind` must be one of exclusive"),
    ],
)
def test_mistakes_get_a_sentence(arguments, sentence):
    profile = RatioProfile.from_masses([0.5, 0.5], [0.6, 0.4])
    with pytest.raises(InvalidInputError, match=sentence):
        renyi_frontier(profile, **arguments)


def test_gaussian_mistakes_get_a_sentence():
    with pytest.raises(InvalidInputError, match=r"needs a mean of shape \(2,\)"):
        GaussianFamily(2).natural([0.0], [[1.0]])
    with pytest.raises(InvalidInputError, match="positive definite"):
        GaussianFamily(1).natural([0.0], [[-1.0]])
    with pytest.raises(InvalidInputError, match=r"needs samples of shape \(n, 2\)"):
        GaussianFamily(2).fit([[0.0], [1.0]])
    with pytest.raises(InvalidInputError, match="must vary in all 2 directions"):
        GaussianFamily(2).fit([[0.0, 0.0], [1.0, 2.0]])
    with pytest.raises(InvalidInputError, match="must vary in all 2 directions"):
        GaussianFamily(2).fit([[0.1, 0.2], [1.0, 2.0], [3.0, 6.0], [5.0, 10.0]])
    with pytest.raises(InvalidInputError, match="`samples` must be finite"):
        GaussianFamily(1).fit([[0.0], [np.nan]])
