"""Each printed formula that `docs/errata.md` corrects: the corrected one holds, the other fails."""

import itertools
import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq, minimize
from scipy.special import ndtr, ndtri, softmax

from examples.papers.lipschitz_bounds import forward_lipschitz_bound, inverse_lipschitz_bound
from tradeoff import AcceptanceRule, RatioProfile
from tradeoff.core import renyi_frontier
from tradeoff.core.divergence import (
    GAN,
    KL,
    Amari,
    JensenShannon,
    Pearson,
    PRDivergence,
    ReverseKL,
    TotalVariation,
)

PAGE = Path(__file__).parents[2] / "docs" / "errata.md"

P = np.array([0.45, 0.30, 0.15, 0.10])
Q = np.array([0.10, 0.25, 0.25, 0.40])
R = P / Q
PROFILE = RatioProfile.from_masses(P, Q)
SUBSETS = np.array(list(itertools.product([False, True], repeat=P.size)))
SLOPES = [0.3, 1.0, 2.0]
LINE = np.linspace(-12.0, 14.0, 26001)


def f_pr(lam, u):
    """The generator of the PR-divergence, equation (4.1)."""
    return np.maximum(lam * u, 1.0) - max(lam, 1.0)


def brute_conjugate(f, t):
    """sup over u of tu - f(u), on a fine grid."""
    u = np.concatenate(([1e-12], np.geomspace(1e-6, 1e4, 400_001)))
    return float(np.max(t * u - f(u)))


def slope_at(function, at, step=1e-3):
    return (function(at + step) - function(at - step)) / (2 * step)


def normal(x, mean, scale=1.0):
    return np.exp(-0.5 * ((x - mean) / scale) ** 2) / (scale * math.sqrt(2 * math.pi))


def renyi(a, first, second):
    return math.log(np.sum(first**a * second ** (1 - a))) / (a - 1)


def best_law(objective):
    """The law on four atoms that minimizes an objective, numerically."""
    found = minimize(lambda z: objective(softmax(z)), np.zeros(4), method="BFGS", tol=1e-12)
    return softmax(found.x)


def power_mean(weight, b):
    """The law proportional to (w q^b + (1-w) p^b)^(1/b)."""
    law = (weight * Q**b + (1 - weight) * P**b) ** (1 / b)
    return law / law.sum()


@pytest.mark.parametrize("lam", [0.2, 1.0, 5.0])
def test_01_generator_loss_sign(lam):
    ratio = np.exp(2.0 - 2.0 * LINE)  # N(0, 1) over N(2, 1), frozen

    def divergence(theta, slope):
        x = math.log(slope) / theta
        alpha = slope * ndtr(-x - theta / 2) + ndtr(x - theta / 2)
        return min(1.0, slope) - alpha

    def beyond(theta):  # PR-divergences beyond λ with the weights of a truncated KL
        def weighted(s):
            return math.exp(-s) * divergence(theta, lam * math.exp(s))

        return quad(weighted, 0, 40, epsabs=1e-12, points=[max(0.0, -math.log(lam))], limit=200)[0]

    def frozen(values):
        return slope_at(lambda m: np.trapezoid(normal(LINE, m) * values, LINE), 2.0)

    true = slope_at(lambda theta: divergence(theta, lam), 2.0)
    corrected, printed = frozen(-np.minimum(lam * ratio, 1.0)), frozen(f_pr(lam, ratio))
    assert corrected == pytest.approx(slope_at(beyond, 2.0), rel=1e-4)
    assert true > 0.05
    assert corrected > 0.15
    assert printed < -0.2


@pytest.mark.parametrize("lam", [0.3, 2.0])
def test_02_classifier_weights(lam):
    rule = lam * P < Q  # h = 1: called generated
    alpha = PROFILE.curve().precision(lam)
    assert lam * P[rule].sum() + Q[~rule].sum() == pytest.approx(alpha, abs=1e-12)
    best = min(lam * P[h].sum() + Q[~h].sum() for h in SUBSETS)
    best_as_printed = min(P[h].sum() + lam * Q[~h].sum() for h in SUBSETS)
    assert best == pytest.approx(alpha, abs=1e-12)
    assert best_as_printed == pytest.approx(PROFILE.curve().recall(1 / lam), abs=1e-12)
    assert abs(best_as_printed - alpha) > 0.01
    assert abs(P[rule].sum() + lam * Q[~rule].sum() - alpha) > 0.05


def test_03_summary_scores():
    curve = RatioProfile.from_masses(p=[0.5, 0.5], q=[1.0, 0.0]).curve()  # drops one of two modes
    lam = np.geomspace(1e-4, 1e4, 200_001)
    alpha, beta = curve.precision(lam), curve.recall(lam)

    def best(s):
        return np.max((1 + s**2) * alpha * beta / (s**2 * alpha + beta))

    assert curve.f_score(8) == pytest.approx(best(8), abs=1e-4)
    assert curve.f_score(1 / 8) == pytest.approx(best(1 / 8), abs=1e-4)
    assert (best(1 / 8), best(8)) == pytest.approx((1.0, 0.5), abs=0.02)
    assert (best(8), best(1 / 8)) != pytest.approx((1.0, 0.5), abs=0.4)


def test_04_frontier_exponent():
    a, w = 3.0, 0.3

    def d_hat(first, second):
        return math.exp((a - 1) * renyi(a, first, second)) / (a - 1)

    exclusive = best_law(lambda law: w * d_hat(law, Q) + (1 - w) * d_hat(law, P))
    inclusive = best_law(lambda law: w * d_hat(Q, law) + (1 - w) * d_hat(P, law))
    assert exclusive == pytest.approx(power_mean(w, 1 - a), abs=1e-5)
    assert inclusive == pytest.approx(power_mean(w, a), abs=1e-5)
    assert np.abs(exclusive - power_mean(w, a)).max() > 0.05
    assert np.abs(inclusive - power_mean(w, 1 - a)).max() > 0.05
    frontier = renyi_frontier(PROFILE, order=a, kind="exclusive", weight=[w])
    assert frontier.precision[0] == pytest.approx(math.exp(-renyi(a, exclusive, Q)), abs=1e-8)


def test_05_budget_constant():
    ratios = np.array([0.1, 0.2, 0.5, 0.5, 1.0, 1.5, 2.0, 2.2])

    def rate(c):
        return np.minimum(ratios * c / ratios.max(), 1.0).mean()

    def rule(budget, values=ratios):
        return AcceptanceRule.from_log_ratios(np.log(values), budget=budget)

    corrected = brentq(lambda c: rate(c) - 1 / 2, 1e-10, 1e10)
    printed = brentq(lambda c: ratios.size * rate(c) - 1 / 2, 1e-10, 1e10)
    assert rule(2).scaled_constant == pytest.approx(corrected)
    assert rate(corrected) == pytest.approx(1 / 2)
    assert rate(printed) == pytest.approx(1 / 16)
    assert brentq(lambda c: rate(c) - 1 / 100, 1e-10, 1e10) < 0.1  # wastes draws: 1 is enough
    assert rule(100).scaled_constant == 1.0
    assert rule(1.25, np.append(ratios, 1e13)).scaled_constant > 1e10  # outside the bracket


@pytest.mark.parametrize("lam", [0.3, 2.0])
def test_06_recall_from_divergence(lam):
    beta = np.minimum(P, Q / lam).sum()
    reverse = PROFILE.swap()
    corrected = min(1, 1 / lam) - PRDivergence(1 / lam).of(reverse)
    printed = min(1, lam) - PRDivergence(lam).of(reverse)
    assert corrected == pytest.approx(beta, abs=1e-12)
    assert PROFILE.curve().recall(lam) == pytest.approx(beta, abs=1e-12)
    assert abs(printed - beta) > 0.05


def test_07_total_variation():
    largest_gap = max(abs(P[a].sum() - Q[a].sum()) for a in SUBSETS)
    assert TotalVariation().of(PROFILE) == pytest.approx(largest_gap, abs=1e-12)
    assert PRDivergence(1.0).of(PROFILE) == pytest.approx(largest_gap, abs=1e-12)
    assert PRDivergence(1.0).of(PROFILE) - largest_gap / 2 > 0.1


@pytest.mark.parametrize("lam", SLOPES)
def test_08_optimal_discriminator(lam):
    divergence = PRDivergence(lam)
    true = divergence.of(PROFILE)

    def dual(t):
        return np.sum(P * t) - np.sum(Q * divergence.conjugate(t))

    corrected, printed = lam * (lam * R > 1), lam * np.sign(lam * R - 1)
    assert dual(corrected) == pytest.approx(true, abs=1e-12)
    assert dual(divergence.derivative(R)) == pytest.approx(true, abs=1e-12)
    assert true - dual(printed) > 0.04
    # Outside the domain, the formula of the conjugate breaks the bound instead.
    as_if_inside = np.sum(P * printed) - np.sum(Q * (printed / lam + max(lam - 1, 0)))
    assert as_if_inside - true > 0.04


@pytest.mark.parametrize("divergence", [KL(), ReverseKL(), Pearson(), PRDivergence(2.0)], ids=repr)
def test_09_primal_estimate(divergence):
    truth = divergence.of(PROFILE)
    assert np.sum(Q * divergence.generator(R)) == pytest.approx(truth, abs=1e-12)
    assert abs(np.sum(P * divergence.generator(R)) - truth) > 0.1


@pytest.mark.parametrize("t", [-1.5, 0.5, 3.0])
def test_10_pearson_conjugate(t):
    def f(u):
        return (u - 1) ** 2

    def printed(s):
        return s**2 / 2 + s

    assert Pearson().conjugate(t) == pytest.approx(brute_conjugate(f, t), abs=1e-4)
    assert printed(t) - brute_conjugate(f, t) > 0.05
    if t >= -1:
        half = brute_conjugate(lambda u: f(u) / 2, t)
        assert printed(t) == pytest.approx(half, abs=1e-4)
        assert (0.5 * Pearson()).conjugate(t) == pytest.approx(half, abs=1e-4)
    u = 1 + t / 2  # the ratio at which the best discriminator says t
    assert Pearson().ratio(t) == pytest.approx(u)
    assert abs(slope_at(printed, t) - u) > 0.2


@pytest.mark.parametrize("t", [-2.0, -0.5])
def test_11_gan_conjugate(t):
    def f(u):
        return u * np.log(u) - (1 + u) * np.log1p(u)

    truth = brute_conjugate(f, t)
    assert -math.log(1 - math.exp(t)) == pytest.approx(truth, abs=1e-6)
    assert GAN().conjugate(t) == pytest.approx(truth, abs=1e-6)
    assert 1 - math.exp(-t) < 0  # printed: the logarithm of a negative number


def test_12_jensen_shannon_generator():
    middle = (P + Q) / 2
    truth = 0.5 * np.sum(P * np.log(P / middle)) + 0.5 * np.sum(Q * np.log(Q / middle))

    def f(u):
        return 0.5 * (u * np.log(u) - (1 + u) * np.log((1 + u) / 2))

    printed = R * np.log(R) + (1 + R) * np.log1p(R)
    assert np.sum(Q * f(R)) == pytest.approx(truth, abs=1e-12)
    assert JensenShannon().of(PROFILE) == pytest.approx(truth, abs=1e-12)
    assert np.sum(Q * printed) - truth > 1.0
    # The row of table 2.2 belongs to twice this divergence.
    row = -math.log(2 - math.exp(0.3))
    assert row == pytest.approx(brute_conjugate(lambda u: 2 * f(u), 0.3), abs=1e-6)
    assert row - brute_conjugate(f, 0.3) < -0.05


def test_13_jensen_shannon_weight():
    curve = PROFILE.curve()

    def integral(weight):
        def integrand(lam):
            return weight(lam) * (min(1.0, lam) - curve.precision(lam))

        ends = (curve.breakpoints[0], curve.breakpoints[-1])  # D_λ vanishes outside
        return quad(integrand, *ends, points=[1.0, *curve.breakpoints[1:-1]], limit=200)[0]

    truth = JensenShannon().of(PROFILE)
    assert integral(lambda lam: 1 / (2 * lam * (lam + 1))) == pytest.approx(truth, abs=1e-8)
    assert integral(JensenShannon().weight) == pytest.approx(truth, abs=1e-8)
    assert integral(lambda lam: 1 / (lam * (lam + 1))) == pytest.approx(2 * truth, abs=1e-8)
    assert truth > 0.1


@pytest.mark.parametrize("q", [Q, P])
def test_14_area(q):
    curve = RatioProfile.from_masses(P, q).curve()
    recall = (np.arange(100_000) + 0.5) / 100_000
    truth = curve.precision_at_recall(recall).mean()
    angles = (1e-9, *np.arctan(curve.breakpoints), math.pi / 2)  # λ is the tangent of the angle
    printed = sum(
        quad(lambda t: (curve.precision(math.tan(t)) / math.sin(t)) ** 2, *piece)[0]
        for piece in itertools.pairwise(angles)
    )
    assert printed / 2 == pytest.approx(truth, abs=1e-4)
    assert curve.area == pytest.approx(truth, abs=1e-4)
    assert printed - truth > 0.4


def test_15_small_and_large_budgets():
    profile = RatioProfile.from_masses(p=[0.6, 0.4, 0.0], q=[0.3, 0.2, 0.5])
    assert profile.curve().precision([1.0, 1e6, np.inf]).max() <= 0.5  # no c reaches 1/K = 2/3
    rule = AcceptanceRule.from_profile(profile, budget=1.5)
    assert (rule.constant, rule.fill) == (np.inf, pytest.approx(1 / 3))
    steps = np.arange(1, 61) / 60
    a = np.array(list(itertools.product(steps, steps, steps)))
    rates = a @ profile.q
    refined = (a * profile.q)[rates >= 2 / 3 - 1e-9] / rates[rates >= 2 / 3 - 1e-9, None]
    best = np.min(profile.p[:2] @ np.log(profile.p[:2, None] / refined.T[:2]))
    assert KL().of(rule.refine(profile)) == pytest.approx(best, abs=1e-9)
    # K above M is not yet unlimited where Q misses some of P: plain rejection is too slow.
    missing = RatioProfile.from_masses(p=[0.5, 0.5, 0.0], q=[0.0, 0.5, 0.5])
    assert np.sum(missing.q * np.array([0, 1, 0])) < 1 / 1.5  # r / M with M = 1
    assert AcceptanceRule.from_profile(missing, budget=1.5).rate == pytest.approx(1 / 1.5)
    assert AcceptanceRule.from_profile(missing, budget=3.0).scaled_constant == 1.0


def test_16_precision_recall_cover():
    lam, b, n = 2.0, 1e-3, 2000
    quantiles = ndtri((np.arange(n) + 0.5) / n)

    def cover(own, other, a):  # share of N(own, 1) whose balls of own mass b weigh a for the other
        centers, low, high = own + quantiles, np.zeros(n), np.full(n, 20.0)
        for _ in range(60):
            radius = (low + high) / 2
            heavy = ndtr(centers + radius - own) - ndtr(centers - radius - own) > b
            low, high = np.where(heavy, low, radius), np.where(heavy, radius, high)
        return np.mean(ndtr(centers + radius - other) - ndtr(centers - radius - other) >= a)

    precision_cover, recall_cover = cover(1.0, 0.0, b / lam), cover(0.0, 1.0, b * lam)
    alpha = lam * ndtr(-math.log(lam) - 0.5) + ndtr(math.log(lam) - 0.5)
    assert precision_cover + lam * recall_cover == pytest.approx(alpha, abs=0.005)
    assert lam * precision_cover + recall_cover - alpha > 0.4


def test_17_slope_and_weight():
    curve, lam = PROFILE.curve(), 2.0
    by_slope = renyi_frontier(PROFILE, order=2000.0, kind="exclusive", lam=[lam])
    by_weight = renyi_frontier(PROFILE, order=2000.0, kind="exclusive", weight=[lam / (1 + lam)])
    assert by_slope.precision[0] == pytest.approx(curve.precision(lam), abs=2e-3)
    assert by_slope.recall[0] == pytest.approx(curve.recall(lam), abs=2e-3)
    assert by_weight.precision[0] == pytest.approx(curve.precision(1.0), abs=2e-3)  # for any weight
    assert curve.precision(lam) - by_weight.precision[0] > 0.1
    # Beyond max q/p = 4 the curve is flat, and dominated by one point of the frontier.
    assert curve.precision(10.0) == curve.precision(4.0) == pytest.approx(1.0)
    assert curve.recall(4.0) - curve.recall(10.0) > 0.1


def test_18_scalarised_renyi():
    a, w = 3.0, 0.3

    def objective(factor):
        return best_law(
            lambda law: (
                w * math.exp(factor * renyi(a, law, Q)) / (a - 1)
                + (1 - w) * math.exp(factor * renyi(a, law, P)) / (a - 1)
            )
        )

    assert objective(a - 1) == pytest.approx(power_mean(w, 1 - a), abs=1e-5)
    assert np.abs(objective(1 / (a - 1)) - power_mean(w, 1 - a)).max() > 0.02


def test_19_frontier_as_expectations():
    a, w = 3.0, 0.3
    b = 1 - a

    def cost(mass, gamma, t):
        inner = gamma + (1 - gamma) * t**b
        u, v = np.sum(mass * inner ** ((1 - b) / b)), np.sum(mass * inner ** (1 / b))
        return (math.log(u) - a * math.log(v)) / (a - 1)

    law = power_mean(w, b)
    truth = renyi(a, law, Q), renyi(a, law, P)
    assert (cost(Q, w, R), cost(P, 1 - w, 1 / R)) == pytest.approx(truth, abs=1e-12)
    assert abs(cost(P, w, R) - truth[0]) > 0.1
    assert abs(cost(Q, 1 - w, 1 / R) - truth[1]) > 0.1


def merge(law):
    """The law of pairs of neighboring atoms."""
    return law.reshape(2, 2).sum(axis=1)


@pytest.mark.parametrize("kind", ["exclusive", "inclusive"])
def test_20_quantisation_raises(kind):
    def pair(law, p, q):
        order = 1 if kind == "exclusive" else -1
        return np.array([renyi(2.0, *(law, side)[::order]) for side in (q, p)])

    for law in np.random.default_rng(0).dirichlet(np.ones(4), size=100):
        assert (pair(merge(law), merge(P), merge(Q)) <= pair(law, P, Q) + 1e-12).all()

    def least(p, q):  # the least of w exp(D from Q) + (1 - w) exp(D from P)
        best = minimize(lambda z: np.exp(pair(softmax(z), p, q)).mean(), np.zeros(p.size))
        return best.fun

    # The coarse region holds a point below everything attainable against P and Q.
    assert least(P, Q) - least(merge(P), merge(Q)) > 0.01


def test_21_coordinates_of_the_frontier():
    lam, curve = 2.0, PROFILE.curve()
    inside, outside = np.minimum(P, Q / lam), np.maximum(P, Q / lam)
    inside, outside = inside / inside.sum(), outside / outside.sum()
    from_q, from_p = np.min(Q / inside), np.min(P / inside)  # exp of minus order-∞ divergences
    assert (from_q, from_p) == pytest.approx((curve.precision(lam), curve.recall(lam)))
    # Proposition 6 read with the coordinates of definition 2 swaps the two.
    assert (from_p, from_q) != pytest.approx((curve.precision(lam), curve.recall(lam)), abs=0.1)
    frontier = renyi_frontier(PROFILE, order=np.inf, kind="inclusive", lam=[lam])
    assert frontier.precision[0] == pytest.approx(np.min(outside / P))
    assert frontier.recall[0] == pytest.approx(np.min(outside / Q))


@pytest.mark.parametrize(("lam", "t"), [(0.5, 0.2), (3.0, 0.6), (3.0, 2.0)])
def test_24_conjugate(lam, t):
    truth = brute_conjugate(lambda u: f_pr(lam, u), t)
    assert t / lam + max(lam - 1, 0) == pytest.approx(truth, abs=1e-4)
    assert PRDivergence(lam).conjugate(t) == pytest.approx(truth, abs=1e-4)
    assert abs(lam * t + max(lam - 1, 0) - truth) > 0.1
    assert brute_conjugate(lambda u: f_pr(lam, u), 1.1 * lam) > 100  # infinite beyond λ


@pytest.mark.parametrize("divergence", [KL(), ReverseKL(), JensenShannon()], ids=repr)
def test_25_dual_gap(divergence):
    guess = R ** np.array([0.5, 1.4, 0.6, 0.8]) * np.array([0.6, 1.3, 0.8, 1.5])
    t = divergence.derivative(guess)
    gap = divergence.of(PROFILE) - np.sum(P * t) + np.sum(Q * divergence.conjugate(t))

    def bregman(a, b):
        f, slope = divergence.generator, divergence.derivative
        return np.sum(Q * (f(a) - f(b) - slope(b) * (a - b)))

    assert divergence.ratio(t) == pytest.approx(guess)
    assert bregman(R, guess) == pytest.approx(gap, abs=1e-12)
    assert abs(bregman(guess, R) / gap - 1) > 0.1


def test_26_direction_of_the_weighted_mean():
    models = [Q, (P + Q) / 2]

    def weighted(q):  # α minus its largest value, with the weights 1/λ² of KL
        curve = RatioProfile.from_masses(P, q).curve()

        def integrand(lam):
            return (curve.precision(lam) - min(1.0, lam)) / lam**2

        points = [1.0, *curve.breakpoints[1:-1]]
        return quad(integrand, *curve.breakpoints[[0, -1]], points=points, limit=200)[0]

    divergences = [KL().of(RatioProfile.from_masses(P, q)) for q in models]
    means = [weighted(q) for q in models]
    assert means == pytest.approx([-d for d in divergences], abs=1e-8)
    assert np.argmax(means) == np.argmin(divergences) != np.argmin(means)


@pytest.mark.parametrize("a", [-0.5, 0.5, 2.0, 3.0])
def test_27_amari(a):
    truth = (np.sum(P**a * Q ** (1 - a)) - 1) / (a * (a - 1))
    corrected = np.sum(Q * (R**a - 1)) / (a * (a - 1))
    printed = np.sum(P * (R**a - 1)) / (a * (a - 1))
    assert corrected == pytest.approx(truth, abs=1e-12)
    assert Amari(a).of(PROFILE) == pytest.approx(truth, abs=1e-12)
    assert abs(printed - truth) > 0.1
    # The row of table 2.2 belongs to the generator with f'(1) = 0.
    t = 0.3
    row = ((1 + (a - 1) * t) ** (a / (a - 1)) - 1) / a
    shifted = brute_conjugate(lambda u: (u**a - 1 - a * (u - 1)) / (a * (a - 1)), t)
    assert row == pytest.approx(shifted, abs=1e-4)


def test_30_likelihood_and_entropy():
    entropy = -np.sum(P * np.log(P))
    likelihood = np.sum(P * np.log(Q))
    assert -entropy - KL().of(PROFILE) == pytest.approx(likelihood, abs=1e-12)
    assert entropy - KL().of(PROFILE) - likelihood > 2.0


def test_34_density_and_coverage_at_equality():
    n, m, k = 5, 3, 2
    points = np.random.default_rng(0).normal(size=n + m)

    def counts(chosen):  # generated points in the ball of each real one
        real, generated = points[list(chosen)], np.delete(points, list(chosen))
        radius = np.sort(abs(real[:, None] - real), axis=1)[:, k]
        return np.sum(abs(real[:, None] - generated) < radius[:, None], axis=1)

    # One law made all points, so every choice of the real ones is equally likely.
    found = np.array([counts(c) for c in itertools.combinations(range(n + m), n)])
    coverage = np.mean(found > 0)
    assert coverage == pytest.approx(1 - math.comb(n - 1, k) / math.comb(n + m - 1, k))
    assert abs(coverage - (1 - 2**-k)) > 0.02
    density = np.mean(found.sum(axis=1)) / (k * m)
    assert density == pytest.approx(1.0)
    assert abs(density * m / n - 1.0) > 0.3  # over kN, as printed
    copies = np.mean(np.abs(points[:, None] - points).min(axis=1) < 1e-9)
    assert copies == 1.0 > 1 - 2**-k  # the alleged maximum


def test_35_lipschitz_bounds():
    radii = np.linspace(0.0, 6.0, 6001)

    def true(p, q, lam):
        return np.trapezoid(np.maximum(lam * p, q), LINE) - max(lam, 1.0)

    q = normal(LINE, 0.0)  # both generators are the identity: the constants are 1
    modes = 0.5 * normal(LINE, -3.0, 0.5) + 0.5 * normal(LINE, 3.0, 0.5)
    mass = ndtr((radii - 3) / 0.5) - ndtr((-radii - 3) / 0.5)
    settings = {"lipschitz": 1.0, "latent_dim": 1, "radii": radii}
    bound = forward_lipschitz_bound(2.0, mass=mass, **settings)
    printed = np.max(2 * ndtr(radii) - 1 - 2.0 * mass) - abs(2.0 - 1)
    assert true(modes, q, 2.0) == pytest.approx(bound, abs=1e-3)
    assert printed < 0  # says nothing
    narrow = 2 * ndtr(radii / 0.2) - 1
    bound = inverse_lipschitz_bound(0.5, mass=narrow, **settings)
    printed = np.max(0.5 * narrow - (2 * ndtr(radii) - 1)) - abs(0.5 - 1)
    assert true(normal(LINE, 0.0, 0.2), q, 0.5) == pytest.approx(bound, abs=1e-3)
    assert bound > 0.1
    assert printed < 0


def test_41_calibration():
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.0, 0.6, 0.4])  # half of P is dropped
    on_q = q > 0
    ratio = p[on_q] / q[on_q]
    assert q[on_q] @ ratio == pytest.approx(p[on_q].sum()) == 0.5
    mean = P @ R
    assert mean == pytest.approx(1 + Pearson().of(PROFILE))
    assert mean - 1 > 1.0

    def calibration(scale):  # at r = ∞, off the support of Q, r / (1 + r) is 1
        share = scale * ratio / (1 + scale * ratio)
        return p[on_q] @ share + p[~on_q].sum() + q[on_q] @ share

    assert calibration(1.0) == pytest.approx(1.0, abs=1e-12)
    assert calibration(2.0) - 1 > 0.1  # the scale at which the mean under Q is 1


def test_47_largest_threshold():
    real, generated, lam = np.array([0.2, 0.6, 0.7]), np.array([0.3, 0.8, 0.9]), 0.1
    scores = np.concatenate((real, generated))

    def least(thresholds):
        return min(lam * np.mean(real < t) + np.mean(generated >= t) for t in thresholds)

    exact = RatioProfile.from_scores(real=real, generated=generated).curve().precision(lam)
    assert least([*scores, np.inf]) == pytest.approx(exact) == pytest.approx(lam)
    assert least(scores) - lam > 0.3


def two_modes_and_one(mean=0.7, scale=1.3):
    """Masses on a grid: a mixture of two Gaussians, and a model that is one Gaussian."""
    p, q = normal(LINE, -2, 0.7) + normal(LINE, 2, 0.7), normal(LINE, mean, scale)
    return p / p.sum(), q / q.sum()


@pytest.mark.parametrize("divergence", [KL(), ReverseKL(), GAN(), Pearson()], ids=repr)
@pytest.mark.parametrize(("name", "at"), [("mean", 0.7), ("scale", 1.3)])
def test_49_training_with_rejection(divergence, name, at):
    budget = 2.0

    def refined(value):  # the divergence after rejection by the best rule
        profile = RatioProfile.from_masses(*two_modes_and_one(**{name: value}))
        rule = AcceptanceRule.from_profile(profile, budget=budget)
        return divergence.of(rule.refine(profile))

    def frozen(values):
        return slope_at(lambda value: two_modes_and_one(**{name: value})[1] @ values, at)

    def phi(u):
        return divergence.generator(u) - u * divergence.derivative(u)

    p, q = two_modes_and_one()
    rule = AcceptanceRule.from_profile(RatioProfile.from_masses(p, q), budget=budget)
    kept = budget * rule.acceptance(np.log(p / q))
    pull = budget * (phi(p / q / budget) - phi(1 / rule.lam_star))
    true = slope_at(refined, at)
    assert frozen(np.where(kept == budget, pull, 0.0)) == pytest.approx(true, rel=1e-3)
    assert abs(frozen(kept * divergence.generator(p / q / kept)) - true) > 0.1


def test_every_entry_that_matters_has_a_test_of_its_number():
    page = PAGE.read_text(encoding="utf-8")
    entry = re.compile(r"^(?:\| |\*\*)(\d+)\b", flags=re.MULTILINE)
    assert sorted(map(int, entry.findall(page))) == list(range(1, 50))
    severe = page[page.index("\n## A:") : page.index("\n## C:")]
    tested = sorted(
        int(found[1]) for name in globals() if (found := re.match(r"test_(\d\d)_", name))
    )
    assert tested == sorted([*map(int, entry.findall(severe)), 47])
