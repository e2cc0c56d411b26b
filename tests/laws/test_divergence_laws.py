"""What every f-divergence must satisfy, over random pairs of laws."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.integrate import quad

from tests.laws.divergences import ALL, KINKED, SMOOTH
from tests.laws.strategies import pairs, profiles
from tradeoff import RatioProfile, UndefinedError
from tradeoff.core.divergence import GAN, KL, Amari, PRDivergence, TotalVariation
from tradeoff.core.divergence.mixture import FrontierIntegral
from tradeoff.core.divergence.special import lambert_w

LOWEST = {"GAN()": -math.log(4)}


def representable(profile, low, high):
    """Whether a curve can hold the profile: no lost slope, and no unmatched mass below rounding."""
    with np.errstate(over="ignore", divide="ignore"):
        slopes = profile.q / profile.p
    inner = slopes[(profile.p > 0) & (profile.q > 0)]
    unmatched = np.append(profile.p[profile.q == 0], profile.q[profile.p == 0])
    return ((inner > low) & (inner < high)).all() and (unmatched > 1e-12).all()


@given(profile=profiles())
def test_never_below_its_value_at_equality(profile):
    for name, divergence in ALL.items():
        assert divergence.of(profile) >= LOWEST.get(name, 0.0), name


@pytest.mark.slow
@given(profile=profiles(max_size=60, tiny=False))
def test_equals_the_integral_of_its_pr_divergences(profile):
    for name, divergence in ALL.items():
        value, rebuilt = divergence.of(profile), divergence.of_curve(profile.curve())
        assert rebuilt == pytest.approx(value, rel=1e-9, abs=1e-11), name


@pytest.mark.parametrize("name", ["KL()", "ReverseKL()", "JensenShannon()", "Hellinger()"])
@given(profile=profiles(max_size=5))
def test_rebuilding_survives_denormals(name, profile):
    assume(representable(profile, 1e-305, 1e305))
    value, rebuilt = ALL[name].of(profile), ALL[name].of_curve(profile.curve())
    assert rebuilt == pytest.approx(value, rel=1e-9, abs=1e-11)


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("seed", range(3))
def test_weight_integrates_to_the_divergence(name, seed):
    rng = np.random.default_rng(seed)
    profile = RatioProfile.from_masses(*rng.dirichlet(np.ones(5), size=2))
    curve, divergence = profile.curve(), SMOOTH[name]
    knots = np.log(np.union1d(curve.breakpoints, [1.0]))

    def strip(log_lam):
        lam = math.exp(log_lam)
        return float(divergence.weight(lam)) * PRDivergence(lam).of_curve(curve) * lam

    total = sum(quad(strip, a, b)[0] for a, b in itertools.pairwise(knots))
    assert total == pytest.approx(
        divergence.of(profile) - float(divergence.generator(1.0)), rel=1e-7
    )


@pytest.mark.slow
@given(profile=profiles())
def test_reverse_swaps_roles(profile):
    for name, divergence in ALL.items():
        ours, theirs = divergence.reverse().of(profile), divergence.of(profile.swap())
        assert ours == pytest.approx(theirs, rel=1e-12, abs=1e-12), name


@pytest.mark.parametrize("name", SMOOTH)
@given(u=st.floats(1e-6, 1e6))
def test_reversed_generator(name, u):
    divergence = SMOOTH[name]
    expected = u * float(divergence.generator(1 / u))
    assert float(divergence.reverse().generator(u)) == pytest.approx(expected, rel=1e-8, abs=1e-10)


@pytest.mark.slow
@given(pair=pairs(max_size=40), random=st.randoms(use_true_random=False))
def test_merging_atoms_never_raises_a_divergence(pair, random):
    p, q = pair
    block = np.array([random.randrange(max(1, p.size // 2)) for _ in range(p.size)])
    merged = RatioProfile.from_masses(np.bincount(block, p), np.bincount(block, q))
    for name, divergence in ALL.items():
        before, after = divergence.of(RatioProfile.from_masses(p, q)), divergence.of(merged)
        assert after <= before + 1e-12 * max(1.0, abs(before)), name


@pytest.mark.parametrize("name", SMOOTH)
@given(u=st.floats(1e-3, 1e3), v=st.floats(1e-3, 1e3))
def test_fenchel_young(name, u, v):
    divergence = SMOOTH[name]
    t = divergence.derivative(v)
    try:
        conjugate = float(divergence.conjugate(t))
    except UndefinedError:
        assert isinstance(divergence, FrontierIntegral)
        return
    value = float(divergence.generator(u))
    scale = 1e-9 * max(1.0, abs(value), abs(float(t)) * u, abs(conjugate))
    assert value + conjugate >= u * float(t) - scale
    at_v = v * float(t) - float(divergence.generator(v))
    assert conjugate == pytest.approx(at_v, rel=1e-8, abs=1e-8)
    assert float(divergence.ratio(t)) == pytest.approx(v, rel=1e-7)


@pytest.mark.parametrize("name", ALL)
@given(w=st.floats(-15, 15))
def test_activation_lands_in_the_range(name, w):
    divergence = ALL[name]
    try:
        t = float(divergence.activation(w))
    except UndefinedError:
        assert isinstance(divergence, FrontierIntegral)
        return
    low, high = divergence.discriminator_range
    assert low <= t <= high
    assert float(divergence.activation(w + 1e-3)) >= t


@pytest.mark.parametrize("name", SMOOTH)
@given(w=st.floats(-8, 8))
def test_functions_of_a_networks_output(name, w):
    """The stable forms agree with the conjugate and the ratio at the activation."""
    divergence = SMOOTH[name]
    if isinstance(divergence, FrontierIntegral):
        return
    t = float(divergence.activation(w))
    log_ratio = float(divergence.log_ratio(w))
    assert log_ratio == pytest.approx(math.log(float(divergence.ratio(t))), rel=1e-6, abs=1e-6)
    conjugate = float(divergence.conjugate(t))
    assert float(divergence.dual(log_ratio)) == pytest.approx(conjugate, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("name", ALL)
def test_conjugate_outside_the_range(name):
    divergence = ALL[name]
    low, high = divergence.discriminator_range
    if isinstance(divergence, FrontierIntegral):
        return
    if math.isfinite(high):
        assert float(divergence.conjugate(high + 0.1)) == math.inf
    if math.isfinite(low):
        assert float(divergence.conjugate(low - 0.1)) == -divergence.at_zero


@pytest.mark.parametrize("name", ALL)
def test_boundary_values_are_limits(name):
    divergence = ALL[name]
    assert float(divergence.generator(0.0)) == divergence.at_zero
    tiny, huge = 1e-30, 1e30
    if math.isfinite(divergence.at_zero):
        assert float(divergence.generator(tiny)) == pytest.approx(divergence.at_zero, abs=5e-4)
    else:
        assert float(divergence.generator(tiny)) > 10
    if math.isfinite(divergence.slope_at_infinity):
        slope = float(divergence.generator(huge)) / huge
        assert slope == pytest.approx(divergence.slope_at_infinity, abs=1e-3)
    else:
        assert float(divergence.generator(huge)) / huge > 10


@pytest.mark.parametrize("name", SMOOTH)
@given(u=st.floats(0.01, 100))
def test_derivatives_are_differences(name, u):
    divergence, h = SMOOTH[name], 1e-5 * u
    slope = (divergence.generator(u + h) - divergence.generator(u - h)) / (2 * h)
    scale = 1e-5 * max(1.0, abs(float(divergence.generator(u))) / u)
    assert float(divergence.derivative(u)) == pytest.approx(float(slope), rel=1e-5, abs=scale)
    bend = (divergence.derivative(u + h) - divergence.derivative(u - h)) / (2 * h)
    assert float(divergence.second_derivative(u)) == pytest.approx(float(bend), rel=1e-5, abs=1e-7)


@given(pairs(max_size=30))
def test_frontier_integral_is_an_integral_over_mixtures(pair):
    p, q = pair

    def kl(a, b):
        kept = a > 1e-200
        return np.sum(a[kept] * np.log(a[kept] / b[kept]))

    def strip(t):
        mixture = t * p + (1 - t) * q
        return 2 * (t * kl(p, mixture) + (1 - t) * kl(q, mixture))

    expected = quad(strip, 0, 1, epsabs=1e-9)[0]
    assert FrontierIntegral().of(RatioProfile.from_masses(p, q)) == pytest.approx(
        expected, abs=1e-6
    )


@given(st.floats(-700, 700))
def test_lambert_w(y):
    w = float(lambert_w(np.exp(y)))
    assert w + math.log(w) == pytest.approx(y, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", ALL)
def test_nan_is_not_swallowed(name):
    values = ALL[name].generator(np.array([1.0, np.nan]))
    assert np.isnan(values[1])
    assert not np.isnan(values[0])


def test_ratio_outside_the_range_is_nan():
    assert math.isnan(ALL["ReverseKL()"].ratio(1.0))
    assert math.isnan(ALL["Pearson()"].ratio(-2.5))
    assert ALL["Pearson()"].ratio(-2.0) == 0.0


@pytest.mark.parametrize("name", ALL)
def test_numbers_give_numbers_and_lists_give_arrays(name):
    assert type(ALL[name].generator(2)) is float
    assert type(ALL[name].derivative(2.0)) is float
    assert isinstance(ALL[name].generator([0.0, 1.0]), np.ndarray)


def test_amari_is_continuous_in_its_order():
    profile = RatioProfile.from_masses([0.2, 0.3, 0.5], [0.5, 0.25, 0.25])
    for order in (0.0, 0.5, 1.0):
        near = [Amari(order + step).of(profile) for step in (-1e-9, 0.0, 1e-9)]
        np.testing.assert_allclose(near, near[1], rtol=1e-8)


def test_pr_divergence_can_vanish_where_laws_differ():
    profile = RatioProfile.from_masses([0.5, 0.5], [0.6, 0.4])
    assert PRDivergence(2.0).of(profile) == PRDivergence(0.5).of(profile) == 0
    assert TotalVariation().of(profile) > 0.09


def test_pr_divergence_at_its_ends():
    profile = RatioProfile.from_masses([1.0, 0.0], [0.5, 0.5])
    assert PRDivergence(np.inf).of(profile) == 0.5
    assert PRDivergence(0.0).of(profile) == 0.0
    assert float(PRDivergence(np.inf).generator(0.0)) == 1.0


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: PRDivergence(2.0).ratio(0.5), "The PR-divergence has no ratio"),
        (lambda: TotalVariation().ratio(0.1), "The total variation has no ratio"),
        (lambda: TotalVariation().weight(2.0), "has no second derivative: all its weight"),
        (lambda: FrontierIntegral().conjugate(0.1), "The frontier integral has no conjugate"),
        (lambda: FrontierIntegral().activation(0.1), "has no activation"),
        (lambda: FrontierIntegral().ratio(0.1), "has no ratio"),
        (lambda: PRDivergence(np.inf).conjugate(0.1), "no conjugate at λ = inf"),
        (lambda: PRDivergence(np.inf).derivative(0.1), "no derivative at λ = inf"),
        (lambda: PRDivergence(0.0).reverse(), "no reverse at λ = 0"),
    ],
)
def test_what_does_not_exist_says_so(call, sentence):
    with pytest.raises(UndefinedError, match=sentence):
        call()


@pytest.mark.parametrize("name", KINKED)
@given(u=st.floats(1e-3, 1e3), v=st.floats(1e-3, 1e3))
def test_fenchel_young_with_a_kink(name, u, v):
    divergence = KINKED[name]
    t = float(divergence.derivative(v))
    bound = u * t - float(divergence.conjugate(t))
    assert float(divergence.generator(u)) >= bound - 1e-9 * max(1.0, abs(bound))


def test_gan_is_shifted_jensen_shannon():
    profile = RatioProfile.from_masses([0.2, 0.3, 0.5], [0.5, 0.25, 0.25])
    shifted = (2 * SMOOTH["JensenShannon()"]).of(profile) - math.log(4)
    assert GAN().of(profile) == pytest.approx(shifted, abs=1e-14)


@pytest.mark.slow
def test_kl_of_ten_million_atoms():
    """Sums stay exact enough at the largest size that is promised."""
    rng = np.random.default_rng(0)
    n = 10_000_000
    p, q = rng.random(n), rng.random(n)
    profile = RatioProfile.from_masses(p / p.sum(), q / q.sum())
    curve = profile.curve()
    assert KL().of_curve(curve) == pytest.approx(KL().of(profile), rel=1e-8)
    assert curve.precision(1.0) == pytest.approx(np.minimum(profile.p, profile.q).sum(), abs=1e-11)
