"""Expected numbers of the mathematics, one test per group of `golden.json`."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from examples.papers.exponential_family import GaussianFamily
from examples.papers.lipschitz_bounds import (
    _gaussian_ball,
    forward_lipschitz_bound,
    inverse_lipschitz_bound,
)
from tradeoff import AcceptanceRule, RatioProfile, frechet_distance, support_metrics
from tradeoff.core import mauve, renyi_frontier
from tradeoff.core.budget import drs_acceptance
from tradeoff.core.divergence import (
    GAN,
    KL,
    Amari,
    Hellinger,
    JensenShannon,
    Pearson,
    PRDivergence,
    ReverseKL,
    TotalVariation,
)
from tradeoff.core.divergence.kullback import Jeffreys
from tradeoff.core.divergence.mixture import FrontierIntegral
from tradeoff.core.divergence.power import Neyman
from tradeoff.metrics.moments import inception_score
from tradeoff.metrics.moments.frechet import Moments
from tradeoff.metrics.neighbors.expectations import expected_coverage
from tradeoff.sampling.rules import mh_acceptance

DIVERGENCES = {
    "KL": KL(),
    "rKL": ReverseKL(),
    "TV": TotalVariation(),
    "JS": JensenShannon(),
    "2JS": 2 * JensenShannon(),
    "GAN": GAN(),
    "chi2": Pearson(),
    "halfchi2": 0.5 * Pearson(),
    "Neyman": Neyman(),
    "Hellinger": Hellinger(),
    "Jeffrey": Jeffreys(),
    "FI": FrontierIntegral(),
    "Amari_0.5": Amari(0.5),
    "Amari_2.0": Amari(2.0),
    "Amari_3.0": Amari(3.0),
}


def _numbers(value):
    if isinstance(value, dict):
        return {key: _numbers(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_numbers(entry) for entry in value]
    return float(value) if value in ("inf", "-inf") else value


ITEMS = {
    item["id"]: _numbers(item)
    for item in json.loads((Path(__file__).parents[1] / "golden.json").read_text())["items"]
}


def _group(prefix):
    return [item for key, item in ITEMS.items() if prefix in (key, key.split("/")[0])]


def golden(*prefixes):
    """Run a test once per group of numbers, and put the group on the list of covered ones."""
    items = [item for prefix in prefixes for item in _group(prefix)]
    assert items, prefixes
    COVERED.update(item["id"] for item in items)
    return pytest.mark.parametrize("item", items, ids=[item["id"] for item in items])


COVERED: set[str] = set()


def close(actual, expected, item):
    np.testing.assert_allclose(actual, expected, rtol=item["tol"], atol=item["tol"])


def profile_of(item):
    return RatioProfile.from_masses(item["inputs"]["p"], item["inputs"]["q"])


@golden("prd")
def test_curve(item):
    profile, expected = profile_of(item), item["expected"]
    curve, lam = profile.curve(), item["inputs"]["lambdas"]
    close(curve.precision(lam), expected["alpha"], item)
    close(curve.recall(lam), expected["beta"], item)
    close(curve.max_precision, expected["max_precision"], item)
    close(curve.max_recall, expected["max_recall"], item)
    close(curve.total_variation, expected["tv"], item)
    close(curve.area, expected["auc"], item)
    for weight, key in ((8, "F_8"), (1 / 8, "F_1_8"), (1, "F_1")):
        close(curve.f_score(weight), expected[key], item)
    close([PRDivergence(x).of(profile) for x in lam], expected["D_pr_PQ"], item)
    close([PRDivergence(x).of(profile.swap()) for x in lam], expected["D_pr_QP"], item)


@golden("fdiv")
def test_divergences(item):
    profile = profile_of(item)
    assert item["expected"].keys() == DIVERGENCES.keys()
    for key, expected in item["expected"].items():
        close(DIVERGENCES[key].of(profile), expected, item)


@golden("recon")
def test_rebuilt_divergences(item):
    curve = profile_of(item).curve()
    for key, expected in item["expected"].items():
        close(DIVERGENCES[key].of_curve(curve), expected, item)


def mixture_cdf(x, mixture):
    return sum(w * norm.cdf(x, m, s) for w, m, s in zip(*mixture, strict=True))


def mixture_pdf(x, mixture):
    return sum(w * norm.pdf(x, m, s) for w, m, s in zip(*mixture, strict=True))


def profile_1d(real, generated, lams, cells=200_000):
    """Masses of fine cells; each λp = q is an edge, so that α is exact at the given slopes."""
    edges = np.linspace(-40, 40, cells + 1)
    for lam in lams:

        def gap(x, lam=lam):
            return lam * mixture_pdf(x, real) - mixture_pdf(x, generated)

        coarse = np.linspace(-12, 12, 4001)
        for i in np.flatnonzero(np.diff(np.sign(gap(coarse)))):
            edges = np.append(edges, brentq(gap, coarse[i], coarse[i + 1], xtol=1e-14))
    edges = np.sort(edges)

    def cells_of(mixture):  # from both tails, where differences of the CDF are exact
        left = np.diff(mixture_cdf(edges, mixture))
        mirrored = (mixture[0], [-m for m in mixture[1]], mixture[2])
        right = -np.diff(mixture_cdf(-edges, mirrored))
        return np.where(edges[1:] < 0, left, right)

    return RatioProfile.from_masses(cells_of(real), cells_of(generated))


@golden("gauss1d")
def test_gaussians_1d(item):
    inputs, expected = item["inputs"], item["expected"]
    real = ([1.0], [inputs["mp"]], [inputs["sp"]])
    generated = ([1.0], [inputs["mq"]], [inputs["sq"]])
    curve = profile_1d(real, generated, inputs["lambdas"]).curve()
    close(curve.precision(inputs["lambdas"]), expected["alpha"], item)
    close(curve.recall(inputs["lambdas"]), expected["beta"], item)
    close(curve.total_variation, expected["tv"], item)
    close(curve.area, expected["auc"], item)
    family = GaussianFamily(1)
    p = family.natural([inputs["mp"]], [[inputs["sp"] ** 2]])
    q = family.natural([inputs["mq"]], [[inputs["sq"] ** 2]])
    close(family.kl(p, q), expected["KL"], item)
    close(family.kl(q, p), expected["rKL"], item)
    close(family.renyi(p, q, 0.5), expected["renyi_half"], item)
    close(family.renyi(p, q, 2.0), expected["renyi_2"], item)


@golden("mix1d")
def test_mixtures_1d(item):
    inputs, expected = item["inputs"], item["expected"]
    curve = profile_1d(inputs["P"], inputs["Q"], inputs["lambdas"]).curve()
    close(curve.precision(inputs["lambdas"]), expected["alpha"], item)
    close(curve.recall(inputs["lambdas"]), expected["beta"], item)


@golden("gauss_equalcov")
def test_gaussians_of_equal_covariance(item):
    inputs, expected = item["inputs"], item["expected"]
    shift = np.subtract(inputs["mQ"], inputs["mP"])
    distance = math.sqrt(shift @ np.linalg.solve(inputs["Sigma"], shift))
    close(distance, expected["mahalanobis"], item)
    real, generated = ([1.0], [0.0], [1.0]), ([1.0], [distance], [1.0])
    curve = profile_1d(real, generated, inputs["lambdas"], cells=1000).curve()
    close(curve.precision(inputs["lambdas"]), expected["alpha"], item)
    close(curve.recall(inputs["lambdas"]), expected["beta"], item)


@golden("gauss2d_concentric")
def test_concentric_gaussians(item):
    lam, (s_real, s_model) = item["inputs"]["lambdas"], (item["inputs"]["sP"], item["inputs"]["sQ"])
    # The ratio depends on the radius alone; cells in the squared radius t with edges at λp = q.
    kinks = (np.log(lam) + 2 * math.log(s_model / s_real)) / (0.5 / s_real**2 - 0.5 / s_model**2)
    edges = np.sort(np.append(np.linspace(0, 3000, 100_001), kinks[kinks > 0]))
    cells = [np.append(-np.diff(np.exp(-edges / (2 * s * s))), 0) for s in (s_real, s_model)]
    curve = RatioProfile.from_masses(*cells).curve()
    close(curve.precision(lam), item["expected"]["alpha"], item)
    close(curve.recall(lam), item["expected"]["beta"], item)


def grid_profile(real, generated, half_width, step):
    axis = np.arange(-half_width, half_width, step) + step / 2
    points = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    p, q = real(points), generated(points)
    return RatioProfile.from_masses(p / p.sum(), q / q.sum())


def gaussian_density(mean, covariance):
    inverse = np.linalg.inv(covariance)
    scale = 1 / (2 * math.pi * math.sqrt(np.linalg.det(covariance)))

    def density(points):
        d = points - np.asarray(mean)
        return scale * np.exp(-0.5 * ((d @ inverse) * d).sum(-1))

    return density


@golden("gauss2d_general")
def test_gaussians_2d(item):
    mean, cov_real, cov_model = [0.8, -0.4], [[1, 0.5], [0.5, 1]], [[2, -0.3], [-0.3, 0.7]]
    profile = grid_profile(
        gaussian_density([0, 0], cov_real), gaussian_density(mean, cov_model), 12, 0.02
    )
    close(profile.curve().precision(item["inputs"]["lambdas"]), item["expected"]["alpha"], item)
    family = GaussianFamily(2)
    kl = family.kl(family.natural([0, 0], cov_real), family.natural(mean, cov_model))
    close(kl, item["expected"]["KL"], item)


@golden("classifier")
def test_hull_of_classifier_scores(item):
    """The smallest error over thresholds is the concave hull; the threshold +∞ is among them."""
    real, generated = item["inputs"]["real_scores"], item["inputs"]["fake_scores"]
    curve = RatioProfile.from_scores(real=real, generated=generated).curve()
    for lam, precision in item["expected"].items():
        close(curve.precision(float(lam)), precision, item)


@pytest.mark.slow
@golden("mix2d_ring8")
def test_ring_of_gaussians(item):
    angles = 2 * np.pi * np.arange(8) / 8
    means = 3 * np.stack((np.cos(angles), np.sin(angles)), axis=1)

    def ring(means, variance):
        parts = [gaussian_density(mean, variance * np.eye(2)) for mean in means]
        return lambda points: sum(part(points) for part in parts) / len(parts)

    generated = {
        "drop_4_modes": ring(means[:4], 0.04),
        "wide_modes": ring(means, 0.16),
        "single_gaussian": gaussian_density([0, 0], 4.52 * np.eye(2)),
    }[item["id"].split("/")[1]]
    curve = grid_profile(ring(means, 0.04), generated, 12, 0.025).curve()
    close(curve.precision(item["inputs"]["lambdas"]), item["expected"]["alpha"], item)
    close(curve.recall(item["inputs"]["lambdas"]), item["expected"]["beta"], item)


KINDS = {"excl": "exclusive", "incl": "inclusive"}


def frontier_point(source, key):
    """The point that a key such as `excl_a0.5_w0.25` or `incl_ainf_lam2.0` names."""
    kind, order, place = key.split("_")
    where = {"lam": [float(place[3:])]} if place[:3] == "lam" else {"weight": [float(place[1:])]}
    frontier = renyi_frontier(source, order=float(order[1:]), kind=KINDS[kind], **where)
    return float(frontier.precision[0]), float(frontier.recall[0])


@golden("renyi")
def test_frontiers(item):
    profile = profile_of(item)
    for key, expected in item["expected"].items():
        precision, recall = frontier_point(profile, key)
        close((precision, recall), (expected["precision"], expected["recall"]), item)
        for name, share in (("D_R_Q", precision), ("D_P_R", precision)):
            if name in expected:
                close(share, math.exp(-expected[name]), item)
        for name, share in (("D_R_P", recall), ("D_Q_R", recall)):
            if name in expected:
                close(share, math.exp(-expected[name]), item)


@pytest.mark.slow
@golden("renyi_gauss1d")
def test_gaussian_frontiers_1d(item):
    i = item["inputs"]
    family = GaussianFamily(1)
    p = family.natural([i["mp"]], [[i["sp"] ** 2]])
    q = family.natural([i["mq"]], [[i["sq"] ** 2]])
    real, generated = ([1.0], [i["mp"]], [i["sp"]]), ([1.0], [i["mq"]], [i["sq"]])
    profile = profile_1d(real, generated, [1.0, 2.0])
    for key, expected in item["expected"].items():
        if "mean" in expected:
            check_family_point(family, p, q, key, expected, item)
        elif key.startswith("incl_a1_"):
            close(
                frontier_point(profile, key),
                (math.exp(-expected["KL_P_R"]), math.exp(-expected["KL_Q_R"])),
                item,
            )
        elif "precision" in expected:
            close(frontier_point(profile, key), (expected["precision"], expected["recall"]), item)
        else:
            order = ("D_R_Q", "D_R_P") if key.startswith("excl") else ("D_P_R", "D_Q_R")
            close(frontier_point(profile, key), [math.exp(-expected[k]) for k in order], item)


@golden("renyi_gauss2d")
def test_gaussian_frontiers_2d(item):
    i = item["inputs"]
    family = GaussianFamily(2)
    p, q = family.natural(i["mP"], i["SP"]), family.natural(i["mQ"], i["SQ"])
    for key, expected in item["expected"].items():
        if key.startswith("renyi"):
            _, roles, order = key.split("_")
            first, second = (p, q) if roles == "PQ" else (q, p)
            close(family.renyi(first, second, float(order)), expected, item)
        else:
            check_family_point(family, p, q, key, expected, item)


def check_family_point(family, p, q, key, expected, item):
    """A point of order 1 within the family: moments of the reference, and both divergences."""
    kind, weight = KINDS[key[:4]], float(key.split("_w")[1])
    mean, covariance = family.moments(
        family.reference(real=p, generated=q, kind=kind, weight=weight)
    )
    close(np.squeeze(mean), expected["mean"], item)
    close(np.squeeze(covariance), expected.get("cov", expected.get("var")), item)
    frontier = family.frontier(real=p, generated=q, kind=kind, weight=[weight])
    costs = ("KL_R_Q", "KL_R_P") if kind == "exclusive" else ("KL_P_R", "KL_Q_R")
    close(-np.log(frontier.precision[0]), expected[costs[0]], item)
    close(-np.log(frontier.recall[0]), expected[costs[1]], item)


@golden("mauve")
def test_mauve(item):
    profile, expected = profile_of(item), item["expected"]
    recipe = np.linspace(1e-6, 1 - 1e-6, 25)
    for c in (1.0, 5.0):
        close(mauve(profile, scaling=c), expected[f"mauve_exact_c{c}"], item)
        close(mauve(profile, scaling=c, weight=recipe), expected[f"mauve_lib25_c{c}"], item)
    close(FrontierIntegral().of(profile), expected["frontier_integral"], item)


@pytest.mark.parametrize(
    "item",
    [item for item in _group("obrs") if item["id"] != "obrs/samples"],
    ids=lambda item: item["id"],
)
def test_budget(item):
    inputs, expected = item["inputs"], item["expected"]
    p, q = np.array(inputs["p"]), np.array(inputs["q"])
    profile = RatioProfile.from_masses(p, q)
    with np.errstate(divide="ignore"):
        log_ratio = np.log(p) - np.log(q)
    for budget in inputs["K"]:
        rule, wanted = (
            AcceptanceRule.from_profile(profile, budget=budget),
            expected[f"K{budget:.1f}"],
        )
        close(math.exp(rule.log_max_ratio), expected["M"], item)
        close(rule.constant, wanted["c"], item)
        close(rule.scaled_constant, wanted["c_K"], item)
        close(rule.fill, wanted["fill_on_r0"], item)
        close(rule.rate, wanted["accept_rate"], item)
        close(rule.lam_star, wanted["lam_star"], item)
        generated = q > 0
        accepted = rule.acceptance(log_ratio)
        close(accepted[generated], np.array(wanted["accept"])[generated], item)
        close(q * accepted / (q @ accepted), wanted["refined"], item)
        refined = rule.refine(profile)
        close(refined.curve().precision(inputs["lambdas"]), wanted["alpha"], item)
        close(refined.curve().recall(inputs["lambdas"]), wanted["beta"], item)
        for key in ("KL", "rKL", "TV", "JS"):
            close(DIVERGENCES[key].of(refined), wanted[key], item)


def test_budget_of_samples():
    item = ITEMS["obrs/samples"]
    log_ratios = np.log(item["inputs"]["r"])
    for key, expected in item["expected"].items():
        rule = AcceptanceRule.from_log_ratios(log_ratios, budget=float(key[1:]))
        close(rule.constant, expected["c"], item)
        close(rule.scaled_constant, expected["c_K"], item)
        close(rule.acceptance(log_ratios), expected["accept"], item)


COVERED.update(item["id"] for item in _group("obrs"))


@golden("mh")
def test_mh(item):
    p, q = (np.array(item["inputs"][side]) for side in ("p", "q"))
    log_ratio = np.log(p / q)
    transition = np.array(
        [[q[j] * mh_acceptance(log_ratio[i], log_ratio[j]) for j in range(3)] for i in range(3)]
    )
    np.fill_diagonal(transition, 0.0)
    np.fill_diagonal(transition, 1.0 - transition.sum(1))
    np.testing.assert_allclose(transition, item["expected"]["T"], atol=item["tol"])
    for steps, law in item["expected"]["law"].items():
        found = q @ np.linalg.matrix_power(transition, int(steps))
        np.testing.assert_allclose(found, law, atol=item["tol"])


@golden("drs")
def test_drs(item):
    inputs = item["inputs"]
    for gamma, expected in item["expected"].items():
        accepted = drs_acceptance(
            np.log(inputs["r"]), log_max_ratio=math.log(inputs["M"]), gamma=float(gamma)
        )
        close(accepted, expected, item)


@pytest.mark.slow
@golden("lipschitz")
def test_lipschitz_bounds(item):
    radii = np.linspace(0, 12, 200_001)
    far = ([0.5, 0.5], [-3.0, 3.0], [0.5, 0.5])
    narrow = ([1.0], [0.0], [0.2])
    for key, expected in item["expected"].items():
        if key == "ball_mass":
            for name, value in expected.items():
                dim, radius = (float(part[1:]) for part in name.split("_"))
                close(_gaussian_ball(int(dim), np.array(radius)), value, item)
            continue
        side, constant, lam = key.split("_")
        bound, real = (
            (forward_lipschitz_bound, far) if side == "L1" else (inverse_lipschitz_bound, narrow)
        )
        mass = np.maximum(mixture_cdf(radii, real) - mixture_cdf(-radii, real), 0.0)
        value = bound(
            float(lam[3:]), lipschitz=float(constant), latent_dim=1, radii=radii, mass=mass
        )
        close(value, expected["tight"], item)


@golden("dual_gap")
def test_dual_gap(item):
    i = item["inputs"]
    p, q, r = (np.array(i[key]) for key in "pqr")
    for key, expected in item["expected"].items():
        divergence = DIVERGENCES[key]
        t = divergence.derivative(r)
        close(t, expected["T"], item)
        dual = p @ t - q @ divergence.conjugate(t)
        close(dual, expected["dual"], item)
        close(divergence.of(profile_of(item)) - dual, expected["gap"], item)
        u = p / q
        bregman = divergence.generator(u) - divergence.generator(r) - t * (u - r)
        close(q @ bregman, expected["bregman_u_r"], item)
        close(divergence.ratio(t), r, item)


@golden("fid")
def test_frechet_distance(item):
    i = item["inputs"]
    real, generated = (
        Moments.given(count=100, mean=i[f"mu{side}"], covariance=i[f"S{side}"]) for side in (1, 2)
    )
    close(frechet_distance(real=real, generated=generated), item["expected"]["fid"], item)


@golden("is")
def test_inception_score(item):
    close(inception_score(item["inputs"]["pyx"], splits=1).mean, item["expected"]["IS"], item)


@golden("knn/expectations")
def test_expected_coverage(item):
    for (real, generated, k), value in zip(
        item["inputs"]["cases"], item["expected"]["coverage"], strict=True
    ):
        close(expected_coverage(own=real, other=generated, k=k), value, item)


@pytest.mark.torch
@golden("knn/tiny")
def test_neighbor_metrics(item):
    sides = {"real": item["inputs"]["real"], "generated": item["inputs"]["fake"]}
    columns = {side: np.array(values)[:, None] for side, values in sides.items()}
    for key, expected in item["expected"].items():
        if key.startswith("cover"):
            k, far = (int(part.lstrip("kp")) for part in key.split("_")[1:])
            found = support_metrics(
                **columns, k=k, cover=far // k, metrics=("cover_precision", "cover_recall")
            )
            close(found.cover_precision, expected["PC"], item)
            close(found.cover_recall, expected["RC"], item)
        else:
            found = support_metrics(**columns, k=int(key[1:]))
            for name, value in expected.items():
                close(found[name].value, value, item)


@pytest.mark.torch
@golden("generator_gradient")
def test_generator_gradient(item):
    from tests.known.gradients import line_family, pr_value, printed, published

    family = line_family(place=item["inputs"]["theta"])
    for key, expected in item["expected"].items():
        lam = float(key.removeprefix("lam"))
        close(family.true_gradient(lambda x, lam=lam: pr_value(x, lam))[0], expected["true"], item)
        close(family.frozen_gradient(printed(lam))[0], expected["printed"], item)
        close(family.frozen_gradient(published(lam))[0], expected["use"], item)


def test_every_group_is_covered():
    assert ITEMS.keys() == COVERED
