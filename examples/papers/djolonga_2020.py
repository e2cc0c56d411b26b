"""Djolonga et al., 2020: frontiers of Rényi divergences between a model and the data.

    python -m examples.papers.djolonga_2020 --output pictures

The text of the paper contains no numbers: claims are its statements and exact values from theory.
"""

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import bisect
from scipy.special import xlogy
from scipy.stats import norm

from examples.papers.djolonga_parts import (
    KINDS,
    ORDERS,
    WEIGHTS,
    balanced,
    draw_estimates,
    draw_frontiers,
    draw_quantization,
    frontier,
    largest_error,
    list_names,
    measure_estimates,
    measure_quantization,
    on_grid,
    two_panels,
)
from examples.papers.exponential_family import GaussianFamily
from examples.papers.gallery import Claim, Experiment, Measured, main
from examples.parts.style import COLORS, INK
from tests.known.distributions import Mixture, line_mixture
from tradeoff.core import RenyiFrontier, renyi_frontier
from tradeoff.core.frontier import Kind

FAMILY = GaussianFamily(1)
STANDARD = FAMILY.natural([0.0], [[1.0]])
SHIFT, SCALE = 1.0, 0.6
OUTLIERS = line_mixture([0.95, 0.05], [0.0, 0.0], [1.0, 10.0])
PLAIN = line_mixture([1.0], [0.5], [1.0])
BLUE, ORANGE = COLORS[:2]


def centered(width: float) -> np.ndarray:
    """The natural parameter of a Gaussian around 0."""
    return FAMILY.natural([0.0], [[width**2]])


def integrated(width: float, order: float) -> float:
    """The Rényi divergence from a centered Gaussian to one of width 1, summed over a grid."""
    line, step = np.linspace(-40, 40, 80_001, retstep=True)
    p, q = norm.logpdf(line, 0.0, width), norm.logpdf(line)
    if order == 1:
        return float(np.sum(np.exp(p) * (p - q)) * step)
    return float(np.log(np.sum(np.exp(order * p + (1 - order) * q)) * step) / (order - 1))


class Divergences(NamedTuple):
    """Divergences of four orders at models of several widths, both ways."""

    widths: np.ndarray
    orders: tuple[float, ...]
    to_model: np.ndarray
    to_real: np.ndarray


def measure_divergences(quick: bool) -> Measured:
    """Real data of width 1 and models of other widths."""
    widths, orders = np.linspace(0.5, 2.0, 61 if quick else 601), (0.5, 1.0, 2.0, 4.0)
    models = [centered(width) for width in widths]
    to_model = np.array([[FAMILY.renyi(STANDARD, one, a) for one in models] for a in orders])
    to_real = np.array([[FAMILY.renyi(one, STANDARD, a) for one in models] for a in orders])

    def side(width: float) -> float:
        return 1.0 if np.isinf(FAMILY.renyi(centered(width), STANDARD, 2.0)) else -1.0

    gaps = [
        FAMILY.renyi(centered(width), STANDARD, order) - integrated(width, order)
        for width in (0.6, 0.9, 1.1)
        for order in orders
    ]
    finite = np.isfinite(to_model + to_real).all(axis=0)
    rises = np.diff(np.stack((to_model, to_real))[:, :, finite], axis=1)
    wide = int(np.argmin(np.abs(widths - 1.3)))
    return Measured(
        {
            "width at which order 2 becomes infinite": float(bisect(side, 1.0, 2.0)),
            "closed form against numerical integration": float(np.abs(gaps).max()),
            "smallest increase with the order": float(rises.min()),
            "model too wide: as first minus as second argument": float(
                to_real[2, wide] - to_model[2, wide]
            ),
        },
        Divergences(widths, orders, to_model, to_real),
    )


def draw_divergences(shown: Divergences) -> Figure:
    """Each direction has its own panel."""
    figure, *axes = two_panels()
    titles = ("From data to model", "From model to data")
    for ax, values, title in zip(axes, (shown.to_model, shown.to_real), titles, strict=True):
        for row, color in zip(values, COLORS, strict=True):
            ax.plot(shown.widths, row, color=color, linewidth=2)
        ax.set(xlabel="width of the model (data: 1)", ylim=(0, 1), xlim=(0.5, 2))
        ax.set_title(title, fontsize=10)
    axes[0].set_ylabel("Rényi divergence")
    labels = [f"order {order:g}".replace("0.5", "½") for order in reversed(shown.orders)]
    list_names(axes[0], labels, COLORS[::-1], at=(1.5, 0.66))
    return figure


def exact_precision(lam: np.ndarray) -> np.ndarray:
    """Precision of N(1, 0.6²) against N(0, 1): the set of λp < q lies between two roots."""
    square = 0.5 - 0.5 / SCALE**2
    constants = -0.5 * (SHIFT / SCALE) ** 2 - np.log(SCALE) - np.log(lam)
    middle = SHIFT / SCALE**2
    half = np.sqrt(np.maximum(middle**2 - 4 * square * constants, 0.0))
    low, high = (middle - half) / (-2 * square), (middle + half) / (-2 * square)
    p = norm.cdf(high) - norm.cdf(low)
    q = norm.cdf((high - SHIFT) / SCALE) - norm.cdf((low - SHIFT) / SCALE)
    return np.asarray(lam * p + 1 - q)


def measure_gaussians(quick: bool) -> Measured:
    """Frontiers of two Gaussians by integration over a grid, and what is known in closed form."""
    line = np.linspace(-12, 12, 2001 if quick else 40_001)
    model = line_mixture([1.0], [SHIFT], [SCALE])
    profile = on_grid(line_mixture([1.0], [0.0], [1.0]), model, line)
    pair = {"real": STANDARD, "generated": FAMILY.natural([SHIFT], [[SCALE**2]])}
    found = {
        kind: {label: frontier(profile, order, kind) for label, order in ORDERS.items()}
        for kind in KINDS
    }
    family = {kind: FAMILY.frontier(**pair, kind=kind, weight=WEIGHTS) for kind in KINDS}
    exclusive, inclusive = (list(found[kind].values()) for kind in KINDS)
    slopes = np.geomspace(0.01, 3.6, 60)  # the largest q/p is 3.64
    limit = renyi_frontier(profile, order=np.inf, kind="exclusive", lam=slopes)
    falls = [-np.diff([balanced(one) for one in row]).max() for row in (exclusive, inclusive)]
    return Measured(
        {
            "order ∞ against the precision-recall curve": float(
                np.abs(limit.precision - exact_precision(slopes)).max()
            ),
            "order ½: exclusive against inclusive": float(
                np.abs(exclusive[0].precision - inclusive[0].recall).max()
            ),
            "order 1, exclusive: closed form against integration": largest_error(
                family["exclusive"], exclusive[1]
            ),
            "order 1, inclusive: loss from restricting R to Gaussians": balanced(inclusive[1])
            - balanced(family["inclusive"]),
            "smallest decrease with the order": float(min(falls)),
        },
        found,
    )


def draw_gaussians(shown: dict[str, dict[str, RenyiFrontier]]) -> Figure:
    """Exclusive frontiers on the left, inclusive ones on the right."""
    figure, *axes = two_panels()
    for ax, (kind, found) in zip(axes, shown.items(), strict=True):
        draw_frontiers(ax, found, COLORS, f"{kind.capitalize()} frontiers")
    return figure


class Misfit(NamedTuple):
    """Frontiers of order 1: exact, of Gaussian fits, and with Gaussian references only."""

    exact: dict[Kind, RenyiFrontier]
    fitted: dict[Kind, RenyiFrontier]
    restricted: RenyiFrontier


def measure_misfit(quick: bool) -> Measured:
    """Real data with outliers, of which a Gaussian fit is too wide."""
    line = np.linspace(-90, 90, 9001 if quick else 90_001)
    mean, square = np.array([0.0, 0.5]), np.array([0.95 * 1.0**2 + 0.05 * 10.0**2, 1.0])
    fits = {
        side: FAMILY.natural([m], [[v]])
        for side, m, v in zip(("real", "generated"), mean, square, strict=True)
    }
    profile = on_grid(OUTLIERS, PLAIN, line)
    exact = {kind: frontier(profile, 1.0, kind) for kind in KINDS}
    fitted = {kind: FAMILY.frontier(**fits, kind=kind, weight=WEIGHTS) for kind in KINDS}
    references = [FAMILY.reference(**fits, kind="inclusive", weight=w) for w in WEIGHTS]
    costs = np.array(
        [
            [divergence_to(side, reference, line) for side in (OUTLIERS, PLAIN)]
            for reference in references
        ]
    )
    precision, recall = np.exp(-costs).T
    restricted = RenyiFrontier(order=1.0, kind="inclusive", precision=precision, recall=recall)
    misfit = divergence_to(OUTLIERS, fits["real"], line)
    parts = np.array([FAMILY.kl(fits["real"], reference) for reference in references])
    return Measured(
        {
            "exclusive: fits minus exact": balanced(fitted["exclusive"])
            - balanced(exact["exclusive"]),
            "inclusive: Gaussian R minus exact": balanced(restricted)
            - balanced(exact["inclusive"]),
            "inclusive, Gaussian R: smallest difference, fits minus data": float(
                min(
                    (fitted["inclusive"].precision - precision).min(),
                    (fitted["inclusive"].recall - recall).min(),
                )
            ),
            "largest difference between divergence and sum": float(
                np.abs(costs[:, 0] - parts - misfit).max()
            ),
        },
        Misfit(exact, fitted, restricted),
    )


def divergence_to(side: Mixture, natural: np.ndarray, line: np.ndarray) -> float:
    """The Kullback-Leibler divergence from a mixture to a Gaussian, summed over a grid."""
    mean, covariance = FAMILY.moments(natural)
    p = side.density(line[:, None])
    terms = xlogy(p, p) - p * norm.logpdf(line, mean[0], covariance[0, 0] ** 0.5)
    return float(terms.sum() * (line[1] - line[0]))


def draw_misfit(shown: Misfit) -> Figure:
    """Exclusive frontiers on the left, inclusive ones on the right."""
    figure, *axes = two_panels()
    for ax, kind in zip(axes, KINDS, strict=True):
        lines = {"exact": shown.exact[kind], "Gaussian fits": shown.fitted[kind]}
        if kind == "inclusive":
            lines["Gaussian R"] = shown.restricted
        colors = (INK, BLUE, ORANGE)[: len(lines)]
        draw_frontiers(ax, lines, colors, f"{kind.capitalize()} frontiers")
    return figure


EXPERIMENTS = (
    Experiment(
        "divergences",
        "exact",
        "Rényi divergences of high order penalize a first argument that is wider than the second",
        {
            "width at which order 2 becomes infinite": Claim(
                "section 2.1, figure 2: orders above 1 grow quickly if the model is too wide; by "
                "the closed form, order 2 is infinite from a width of √2",
                2**0.5 - 1e-6,
                2**0.5 + 1e-6,
            ),
            "closed form against numerical integration": Claim(
                "figure 2: divergences of Gaussians have a closed form", high=1e-9
            ),
            "smallest increase with the order": Claim(
                "section 2.1: divergences never decrease with the order", -1e-12
            ),
            "model too wide: as first minus as second argument": Claim(
                "section 2.1, figure 2: a model that is too wide is penalized more as the first "
                "argument than as the second",
                0.1,
            ),
        },
        measure_divergences,
        draw_divergences,
    ),
    Experiment(
        "gaussians",
        "exact",
        "Frontiers of two Gaussians, with the precision-recall curve at order ∞",
        {
            "order ∞ against the precision-recall curve": Claim(
                "proposition 6: the exclusive frontier of order ∞ is the precision-recall curve",
                high=1e-6,
                quick=(0.0, 5e-5),  # the error of the grid falls with the square of its step
            ),
            "order ½: exclusive against inclusive": Claim(
                "proposition 1: at order ½, both frontiers have the same R", high=1e-12
            ),
            "order 1, exclusive: closed form against integration": Claim(
                "proposition 4: on the exclusive frontier of order 1, R is a Gaussian with "
                "interpolated natural parameters",
                high=1e-9,
            ),
            "order 1, inclusive: loss from restricting R to Gaussians": Claim(
                "proposition 4: restricting R to Gaussians does not change the exclusive "
                "frontier; it does change the inclusive one",
                0.01,
            ),
            "smallest decrease with the order": Claim("section 2.1: higher orders are lower", 0.01),
        },
        measure_gaussians,
        draw_gaussians,
    ),
    Experiment(
        "quantization",
        "simulated",
        "Too few buckets make a model look better than it is, too few samples worse",
        {
            "bias of 5 buckets": Claim("figure 6b: few buckets are too optimistic", 0.01),
            "bias of 200 buckets": Claim(
                "section 6: the bias vanishes in the limit of fine buckets", high=1e-3
            ),
            "smallest bias of any order and kind": Claim(
                "proposition 8, with the misprint corrected (erratum 20): buckets never lower a "
                "frontier",
                0.0,
            ),
            "bias of 5 clusters, many samples": Claim(
                "section 6: few clusters of samples are too optimistic", 0.01
            ),
            "bias of 50 clusters, few samples": Claim(
                "figure 6c: with few samples, the curve is too pessimistic", high=-0.05
            ),
            "spread with few samples / with many": Claim(
                "figure 6c: with few samples, the curve fluctuates", 2.0
            ),
        },
        measure_quantization,
        draw_quantization,
    ),
    Experiment(
        "misfit",
        "exact",
        "Gaussian fits of data with outliers can make the frontier too low, not only too high",
        {
            "exclusive: fits minus exact": Claim(
                "figure 7b: the exclusive frontier of Gaussian fits can be too pessimistic",
                high=-0.01,
            ),
            "inclusive: Gaussian R minus exact": Claim(
                "figure 7c: with R restricted to Gaussians, the inclusive frontier is too low",
                high=-0.01,
            ),
            "inclusive, Gaussian R: smallest difference, fits minus data": Claim(
                "proposition 9: with R restricted to Gaussians, fits never lower the frontier",
                -1e-9,
            ),
            "largest difference between divergence and sum": Claim(
                "proof of proposition 9: the divergence from the data to R equals that from the "
                "data to the fit plus that from the fit to R",
                high=1e-9,
            ),
        },
        measure_misfit,
        draw_misfit,
    ),
    Experiment(
        "estimates",
        "simulated",
        "Three estimates of a frontier from samples: Gaussian fits, clusters, and log-ratios",
        {
            "Gaussian fits: slope of log error against log n": Claim(
                "theory, for section 6: the error falls as 1/√n (slope -0.5)",
                -0.65,  # a little steeper, since the error is not yet linear in few samples
                -0.45,
                quick=(-0.8, -0.3),  # 40 draws, a standard deviation of 0.07
            ),
            "error of k-means minus error of Gaussian fits": Claim(
                "section 6: clusters are biased; fits of the right family are not", 0.02
            ),
            "bias of k-means": Claim(
                "section 6: with many samples, clusters are too optimistic", 0.005
            ),
            "error of log-ratios, few minus many samples": Claim(
                "section 6: log-ratios from classifiers may need many samples", 0.02
            ),
        },
        measure_estimates,
        draw_estimates,
    ),
)

if __name__ == "__main__":
    main(EXPERIMENTS, __doc__)
