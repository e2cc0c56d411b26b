"""What rejection under a budget must satisfy."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize
from scipy.stats import norm

from examples.papers.lipschitz_bounds import forward_lipschitz_bound, inverse_lipschitz_bound
from tests.laws.divergences import ALL
from tests.laws.strategies import pairs, profiles
from tradeoff import AcceptanceRule, InvalidInputError, RatioProfile
from tradeoff.core.budget import drs_acceptance
from tradeoff.core.divergence import KL, JensenShannon, Pearson, PRDivergence, ReverseKL

BUDGETS = st.one_of(st.sampled_from([1.0, 1.5, 2.0, 4.0, 1e6]), st.floats(1.0, 50.0))
GRID = np.geomspace(1e-3, 1e3, 61)


def overlapping(pair):
    p, q = pair
    assume(((p > 0) & (q > 0)).any())
    return RatioProfile.from_masses(p, q)


RULE = AcceptanceRule.from_log_ratios([0.0, -1.0], budget=2.0)
DISJOINT = RatioProfile.from_masses([1.0, 0.0], [0.0, 1.0])


@given(pairs(tiny=False), BUDGETS)
def test_refined_curve_is_the_scaled_curve(pair, budget):
    profile = overlapping(pair)
    rule = AcceptanceRule.from_profile(profile, budget=budget)
    refined, curve = rule.refine(profile).curve(), profile.curve()
    k = 1 / rule.rate
    expected = np.where(rule.lam_star >= GRID, k * curve.precision(GRID / k), 1.0)
    np.testing.assert_allclose(refined.precision(GRID), expected, atol=1e-9)


@given(pairs(tiny=False), BUDGETS)
def test_refined_masses(pair, budget):
    profile = overlapping(pair)
    rule = AcceptanceRule.from_profile(profile, budget=budget)
    with np.errstate(divide="ignore", invalid="ignore"):
        accepted = rule.acceptance(np.log(profile.p) - np.log(profile.q))
        water = np.minimum(profile.q, np.where(profile.p > 0, rule.constant * profile.p, 0.0))
    fill = np.where(profile.p == 0, rule.fill * profile.q, 0.0)
    np.testing.assert_allclose(profile.q * accepted, water + fill, rtol=1e-9, atol=1e-15)
    assert (profile.q * accepted).sum() == pytest.approx(rule.rate, rel=1e-9)
    assert rule.rate >= 1 / budget - 1e-12
    assert rule.scaled_constant >= 1 - 1e-12


@given(pairs(max_size=60, tiny=False), BUDGETS, BUDGETS)
def test_more_budget_is_never_worse(pair, budget, other):
    profile = overlapping(pair)
    low, high = sorted((budget, other))
    curves = [
        AcceptanceRule.from_profile(profile, budget=k).refine(profile).curve() for k in (low, high)
    ]
    assert (curves[1].precision(GRID) >= curves[0].precision(GRID) - 1e-9).all()


@given(pairs(max_size=6), st.sampled_from([1.3, 2.0, 5.0]), st.sampled_from([0.3, 1.0, 3.0]))
def test_linear_programming_finds_nothing_better(pair, budget, lam):
    """Acceptance that maximizes precision at λ is a linear program for a given rate."""
    profile = overlapping(pair)
    p, q = profile.p, profile.q
    rule = AcceptanceRule.from_profile(profile, budget=budget)
    # Variables a_i and s_i ≤ min(λ p_i, q_i a_i / rate); maximize Σ s.
    n = p.size
    best = linprog(
        np.append(np.zeros(n), -np.ones(n)),
        A_ub=np.hstack((-np.diag(q) / rule.rate, np.eye(n))),
        b_ub=np.zeros(n),
        A_eq=np.append(q, np.zeros(n))[None],
        b_eq=[rule.rate],
        bounds=[(0, 1)] * n + [(0, lam * x) for x in p],
    )
    assert rule.refine(profile).curve().precision(lam) >= -best.fun - 1e-8


@pytest.mark.parametrize("divergence", [KL(), ReverseKL(), JensenShannon(), Pearson()], ids=repr)
def test_convex_optimisation_finds_nothing_better(divergence):
    rng = np.random.default_rng(0)
    for budget in (1.3, 2.0, 3.0):
        p, q = rng.dirichlet(np.ones(5), size=2)
        profile = RatioProfile.from_masses(p, q)
        rule = AcceptanceRule.from_profile(profile, budget=budget)

        def loss(a, p=p, q=q):
            refined = q * np.maximum(a, 1e-12)
            refined = refined / refined.sum()
            return float(refined @ divergence.generator(p / refined))

        found = minimize(
            loss,
            np.full(5, 1 / budget),
            bounds=[(1e-9, 1)] * 5,
            constraints={"type": "ineq", "fun": lambda a, q=q, k=budget: q @ a - 1 / k},
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
        assert divergence.of(rule.refine(profile)) <= found.fun + 1e-7


@pytest.mark.slow
@given(pair=pairs(max_size=40, tiny=False), budget=BUDGETS)
def test_rejection_never_raises_a_divergence(pair, budget):
    profile = overlapping(pair)
    refined = AcceptanceRule.from_profile(profile, budget=budget).refine(profile)
    for name, divergence in ALL.items():
        before, after = divergence.of(profile), divergence.of(refined)
        assert after <= before + 1e-9 * max(1.0, abs(before)), name


@given(profiles(max_size=30, tiny=False), BUDGETS)
def test_samples_and_profiles_agree(profile, budget):
    law = profile.laws.generated
    assume(np.isfinite(law.log_ratio).any())
    ours = AcceptanceRule.from_profile(profile, budget=budget)
    sampled = AcceptanceRule.from_log_ratios(law.log_ratio, weights=7 * law.weight, budget=budget)
    assert sampled.rate == pytest.approx(ours.rate)
    np.testing.assert_allclose(
        sampled.acceptance(law.log_ratio), ours.acceptance(law.log_ratio), atol=1e-9
    )


@pytest.mark.parametrize("spread", [50.0, 800.0, 5000.0])
@pytest.mark.parametrize("budget", [1.01, 1.9, 2.0, 10.0])
def test_budget_is_met_however_far_ratios_spread(spread, budget):
    rng = np.random.default_rng(0)
    log_ratio = spread * rng.normal(size=1000)
    rule = AcceptanceRule.from_log_ratios(log_ratio, budget=budget)
    assert rule.acceptance(log_ratio).mean() == pytest.approx(rule.rate, rel=1e-9)
    assert rule.rate >= 1 / budget - 1e-12


@given(pairs(), BUDGETS)
def test_budget_is_met_with_denormals(pair, budget):
    profile = overlapping(pair)
    law = profile.laws.generated
    rule = AcceptanceRule.from_profile(profile, budget=budget)
    met = law.weight @ rule.acceptance(law.log_ratio)
    assert met == pytest.approx(rule.rate, rel=1e-9)
    assert rule.rate >= 1 / budget - 1e-12


@given(st.floats(-600, 600))
def test_scale_of_the_ratio_does_not_matter(shift):
    """A ratio that is off by a factor gives the same rule: nothing overflows on the way."""
    log_ratio = np.array([0.3, -1.0, 2.0, 0.0, -np.inf])
    plain = AcceptanceRule.from_log_ratios(log_ratio, budget=2.0)
    shifted = AcceptanceRule.from_log_ratios(log_ratio + shift, budget=2.0)
    np.testing.assert_allclose(
        shifted.acceptance(log_ratio + shift), plain.acceptance(log_ratio), rtol=1e-9
    )


def test_corner_cases():
    log_ratio = np.array([math.log(2.0), -np.inf])
    everything = AcceptanceRule.from_log_ratios(log_ratio, budget=1.0)
    assert (everything.constant, everything.fill, everything.rate) == (math.inf, 1.0, 1.0)
    partly = AcceptanceRule.from_log_ratios(log_ratio, budget=1.5)
    assert partly.constant == math.inf
    assert partly.fill == pytest.approx(1 / 3)
    inactive = AcceptanceRule.from_log_ratios(log_ratio, budget=100.0)
    assert (inactive.scaled_constant, inactive.rate) == (1.0, 0.5)
    constant = AcceptanceRule.from_log_ratios([0.7, 0.7], budget=3.0)
    assert (constant.rate, *constant.acceptance([0.7, 0.7])) == (1.0, 1.0, 1.0)


def test_a_million_ratios_meet_the_budget():
    rng = np.random.default_rng(0)
    log_ratio = rng.normal(0, 2, 1_000_000)
    rule = AcceptanceRule.from_log_ratios(log_ratio, budget=3.0)
    assert rule.acceptance(log_ratio).mean() == pytest.approx(1 / 3, rel=1e-12)


@given(st.floats(-5, 5), st.floats(0.01, 1))
def test_drs_is_plain_rejection_at_zero_and_rises_as_gamma_falls(gamma, share):
    log_ratio = math.log(share)
    assert drs_acceptance(log_ratio, log_max_ratio=0.0, gamma=0.0) == pytest.approx(share)
    more = drs_acceptance(log_ratio, log_max_ratio=0.0, gamma=gamma - 0.1)
    assert more >= drs_acceptance(log_ratio, log_max_ratio=0.0, gamma=gamma)
    printed = share / (share * (1 - math.exp(gamma)) + math.exp(gamma))
    assert drs_acceptance(log_ratio, log_max_ratio=0.0, gamma=gamma) == pytest.approx(printed)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: AcceptanceRule.from_log_ratios([0.0], budget=0.5),
            "`budget` must be at least 1. Got 0.5.",
        ),
        (lambda: AcceptanceRule.from_log_ratios([0.0], budget=math.nan), "`budget` must be at"),
        (lambda: AcceptanceRule.from_log_ratios([], budget=2), "must hold at least one value"),
        (lambda: AcceptanceRule.from_log_ratios([math.nan], budget=2), "must not contain NaN"),
        (lambda: AcceptanceRule.from_log_ratios([-math.inf], budget=2), "Got zero"),
        (lambda: AcceptanceRule.from_log_ratios([math.inf, 0], budget=2), "Got infinite"),
        (lambda: RULE.acceptance([math.nan]), "`log_ratio` must not contain NaN"),
        (lambda: RULE.refine(DISJOINT), "must keep some of the profile"),
        (lambda: drs_acceptance([1.0], log_max_ratio=0.0, gamma=0.0), "must not exceed"),
    ],
)
def test_mistakes_get_a_sentence(call, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        call()


@given(st.floats(0.1, 10), st.floats(0.3, 3), st.integers(0, 10_000))
def test_lipschitz_bounds_hold_for_affine_generators(lam, scale, seed):
    """G(z) = s z is s-Lipschitz with inverse 1/s: neither bound may exceed the true divergence."""
    rng = np.random.default_rng(seed)
    edges = np.linspace(-12, 12, 4001)

    q = np.diff(norm.cdf(edges, 0, scale))
    centers = rng.uniform(-4, 4, 3)
    p = np.mean([np.diff(norm.cdf(edges, c, 0.4)) for c in centers], axis=0)
    true = PRDivergence(lam).of(RatioProfile.from_masses(p / p.sum(), q / q.sum()))
    radii = np.linspace(0.01, 11, 400)

    def mass(center):
        return np.mean(
            [norm.cdf(center + radii, c, 0.4) - norm.cdf(center - radii, c, 0.4) for c in centers],
            axis=0,
        )

    forward = forward_lipschitz_bound(
        lam, lipschitz=scale, latent_dim=1, radii=radii, mass=mass(0.0)
    )
    inverse = inverse_lipschitz_bound(
        lam, lipschitz=1 / scale, latent_dim=1, radii=radii, mass=mass(centers[0])
    )
    assert max(forward, inverse) <= true + 1e-4
