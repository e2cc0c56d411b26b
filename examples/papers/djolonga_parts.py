"""What the experiments of Djolonga et al. share, and those on samples."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.special import expit
from sklearn.cluster import MiniBatchKMeans

from examples.papers.exponential_family import GaussianFamily
from examples.papers.gallery import Measured
from examples.parts.style import COLORS, INK, name
from tests.known.distributions import Mixture, line_mixture
from tradeoff import RatioProfile, pr_curve
from tradeoff.core import RenyiFrontier, renyi_frontier
from tradeoff.core.frontier import Kind
from tradeoff.protocols.sajjadi import Sajjadi2018
from tradeoff.report import FrontierDisplay

WEIGHTS = expit(np.linspace(-12, 12, 241))
"""Weights on the model along a whole frontier; the middle one is 1/2."""
MIDDLE = WEIGHTS.size // 2
SLOPES = np.geomspace(1e-3, 1e3, 241)
KINDS: tuple[Kind, Kind] = ("exclusive", "inclusive")
ORDERS = {"order ½": 0.5, "order 1": 1.0, "order 2": 2.0, "order ∞": np.inf}
LINE = (np.arange(2000) + 0.5) * 0.006 - 6
REAL = line_mixture([0.5, 0.5], [-1.5, 1.5], [0.6, 0.6])
MADE = line_mixture([0.6, 0.4], [-0.8, 1.6], [0.8, 0.4])
BUCKETS = (3, 5, 10, 20, 50, 200)
CLUSTERS = (3, 5, 10, 20, 50)

DIM = 4
SIZES = (150, 450, 1350)
FIXED_CLUSTERS = 20
METHODS = ("Gaussian fit", "k-means", "log-ratios, plug-in", "log-ratios, held-out")
BLUE, ORANGE, GREEN, PINK = COLORS


def frontier(profile: RatioProfile, order: float, kind: Kind) -> RenyiFrontier:
    """Points by weight, or by slope at order ∞."""
    if np.isinf(order):
        return renyi_frontier(profile, order=order, kind=kind, lam=SLOPES)
    return renyi_frontier(profile, order=order, kind=kind, weight=WEIGHTS)


def on_grid(real: Mixture, generated: Mixture, line: np.ndarray) -> RatioProfile:
    """The profile of two densities, integrated over an even grid of shape (n,)."""
    p, q = (side.density(line[:, None]) for side in (real, generated))
    return RatioProfile.from_masses(p / p.sum(), q / q.sum())


def balanced(found: RenyiFrontier) -> float:
    """The precision at which a frontier has the same recall."""
    slope = np.log(found.precision) - np.log(found.recall)
    order = np.argsort(slope)
    return float(np.interp(0.0, slope[order], found.precision[order]))


def largest_error(found: RenyiFrontier, exact: RenyiFrontier) -> float:
    """The largest error of precision or recall at the same weights."""
    gaps = (found.precision - exact.precision, found.recall - exact.recall)
    return float(np.abs(gaps).max())


def clustered(*, real: np.ndarray, generated: np.ndarray, clusters: int, seed: int) -> RatioProfile:
    """Shares of both samples in clusters of k-means, fitted on both together."""
    model = MiniBatchKMeans(clusters, n_init=3, random_state=seed)
    cluster = model.fit_predict(np.concatenate((real, generated)))
    p, q = (
        np.bincount(part, minlength=clusters) / part.size for part in np.split(cluster, [len(real)])
    )
    return RatioProfile.from_masses(p, q)


def two_panels() -> tuple[Figure, Axes, Axes]:
    """A figure with a panel on the left and one on the right."""
    figure = Figure(figsize=(6.4, 3.3), layout="constrained")
    left, right = figure.subplots(1, 2)
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    return figure, left, right


def draw_frontiers(
    ax: Axes, frontiers: Mapping[str, RenyiFrontier], colors: Sequence[str], title: str
) -> None:
    """Frontiers, and their names in the free corner in the order of the lines."""
    FrontierDisplay(frontiers).plot(ax, color=colors)
    ax.legend().remove()
    for part in (ax.lines[0], *ax.texts):
        part.remove()
    ax.set_title(title, fontsize=10)
    list_names(ax, list(frontiers), colors)


def list_names(
    ax: Axes,
    labels: Sequence[str],
    colors: Sequence[str],
    at: tuple[float, float] = (0.03, 0.06),
) -> None:
    """Names below each other, the last one at the given place."""
    for i, (label, color) in enumerate(zip(reversed(labels), reversed(colors), strict=True)):
        name(ax, label, (at[0], at[1] + 0.09 * i), color, side="right")


def quantized(buckets: int) -> RatioProfile:
    """Both distributions on equal buckets."""
    p, q = (
        np.array([part.sum() for part in np.array_split(side.density(LINE[:, None]), buckets)])
        for side in (REAL, MADE)
    )
    return RatioProfile.from_masses(p / p.sum(), q / q.sum())


def middles(profile: RatioProfile) -> np.ndarray:
    """Precision where it equals recall, for each order and both kinds."""
    weight = expit(np.linspace(-2, 2, 41))
    points = [
        renyi_frontier(profile, order=order, kind=kind, lam=[1.0])
        if np.isinf(order)
        else renyi_frontier(profile, order=order, kind=kind, weight=weight)
        for order in ORDERS.values()
        for kind in KINDS
    ]
    return np.array([balanced(one) for one in points])


def from_samples(clusters: int, size: int, seed: int) -> float:
    """Precision at slope 1 of clusters of k-means."""
    rng = np.random.default_rng([seed, size])
    real, made = REAL(rng, size), MADE(rng, size)
    curve, _ = Sajjadi2018(clusters=clusters, runs=1).run(real, made, seed=seed, progress=False)
    return float(curve.precision(1.0))


class Quantization(NamedTuple):
    """The exact profile, buckets, and precision at slope 1 by size, clusters and draw."""

    exact: RatioProfile
    buckets: dict[int, RatioProfile]
    clusters: tuple[int, ...]
    samples: dict[int, np.ndarray]


def measure_quantization(quick: bool) -> Measured:
    """Too few buckets, and too few samples."""
    exact = on_grid(REAL, MADE, LINE)
    buckets = {number: quantized(number) for number in BUCKETS}
    gaps = [middles(coarse) - middles(exact) for coarse in buckets.values()]
    sizes, draws = ((100, 2000), 8) if quick else ((100, 10_000), 50)
    clusters = (5, 20, 50) if quick else CLUSTERS
    samples = {
        size: np.array([[from_samples(k, size, s) for s in range(draws)] for k in clusters])
        for size in sizes
    }
    few, many, truth = samples[sizes[0]], samples[sizes[-1]], exact.curve().precision(1.0)
    precision = {number: one.curve().precision(1.0) for number, one in buckets.items()}
    return Measured(
        {
            "bias of 5 buckets": precision[5] - truth,
            "bias of 200 buckets": precision[200] - truth,
            "smallest bias of any order and kind": float(np.min(gaps)),
            "bias of 5 clusters, many samples": float(many[clusters.index(5)].mean() - truth),
            "bias of 50 clusters, few samples": float(few[-1].mean() - truth),
            "spread with few samples / with many": float(few[-1].std() / many[-1].std()),
        },
        Quantization(exact, buckets, clusters, samples),
    )


def draw_quantization(shown: Quantization) -> Figure:
    """Curves of few buckets, and precision against their number."""
    figure, left, right = two_panels()
    profiles = {f"{k} buckets": shown.buckets[k] for k in (3, 5, 20)} | {"exact": shown.exact}
    curves = {label: frontier(one, np.inf, "exclusive") for label, one in profiles.items()}
    draw_frontiers(left, curves, (PINK, GREEN, BLUE, INK), "Order ∞, exact bucket masses")
    values = {k: one.curve().precision(1.0) for k, one in shown.buckets.items() if k <= 50}
    right.plot(list(values), list(values.values()), "o-", color=INK, linewidth=1)
    for number, color in ((3, PINK), (5, GREEN), (20, BLUE)):
        right.plot(number, values[number], "o", color=color)
    truth = shown.exact.curve().precision(1.0)
    right.axhline(truth, color=INK, linewidth=1, linestyle=":")
    name(right, "buckets", (3.6, 0.9), INK, side="right")
    name(right, "exact", (2.6, truth - 0.02), INK, side="right")
    draw_sampled(right, shown)
    return figure


def draw_sampled(ax: Axes, shown: Quantization) -> None:
    """Means over draws, with the middle four fifths of them."""
    for size, found in shown.samples.items():
        low, high = np.quantile(found, (0.1, 0.9), axis=1)
        ax.fill_between(shown.clusters, low, high, color=ORANGE, alpha=0.2, linewidth=0)
        ax.plot(shown.clusters, found.mean(axis=1), ".-", color=ORANGE)
        place = low[-1] - 0.02 if size == min(shown.samples) else 0.82
        name(ax, f"{size:,} samples", (52, place), ORANGE)
    ax.set(xscale="log", xlabel="buckets or k-means clusters", xlim=(2.5, 56))
    ax.set_ylim(bottom=min(found.min() for found in shown.samples.values()) - 0.06)
    ax.set_xticks(CLUSTERS, [str(number) for number in CLUSTERS])
    ax.minorticks_off()
    ax.set_title("Precision at λ = 1", fontsize=10)


class Estimates(NamedTuple):
    """Frontiers from one draw, and the mean error of each method at each size."""

    exact: RenyiFrontier
    found: list[RenyiFrontier]
    errors: list[list[np.floating[Any]]]
    sizes: tuple[int, ...]


def gaussian_pair() -> tuple[GaussianFamily, np.ndarray, np.ndarray, dict[str, Any]]:
    """The family, the mean and the deviations of the model, and both natural parameters."""
    family, mean = GaussianFamily(DIM), np.eye(DIM)[0]
    deviations = np.sqrt(np.linspace(0.6, 1.2, DIM))
    natural = {
        "real": family.natural(np.zeros(DIM), np.eye(DIM)),
        "generated": family.natural(mean, np.diag(deviations**2)),
    }
    return family, mean, deviations, natural


def samples_of_pair(size: int, seed: int) -> dict[str, Any]:
    """Samples of both Gaussians."""
    _, mean, deviations, _ = gaussian_pair()
    rng = np.random.default_rng([seed, size])
    real, noise = rng.normal(size=(2, size, DIM))
    return {"real": real, "generated": mean + deviations * noise}


def fit_both(size: int, seed: int, weight: np.ndarray) -> RenyiFrontier:
    """The exclusive frontier of order 1 of a Gaussian fitted to each side."""
    family = GaussianFamily(DIM)
    fits = {side: family.fit(samples) for side, samples in samples_of_pair(size, seed).items()}
    return family.frontier(**fits, kind="exclusive", weight=weight)


def estimate_others(size: int, seed: int, weight: np.ndarray) -> list[RenyiFrontier]:
    """The same frontier by the other methods."""
    samples = samples_of_pair(size, seed)
    ratios = pr_curve(**samples, estimator="kernel-logistic", seed=seed, progress=False)
    clusters = clustered(**samples, clusters=FIXED_CLUSTERS, seed=seed)
    sources = (clusters, ratios.plug_in_profile(), ratios.held_out)
    return [renyi_frontier(one, order=1, kind="exclusive", weight=weight) for one in sources]


def measure_estimates(quick: bool) -> Measured:
    """Errors against the closed form, averaged over draws; fits are fast, so there are more."""
    sizes, draws = (SIZES, 4) if quick else ((*SIZES, 4050, 12_150), 20)
    family, *_, natural = gaussian_pair()
    weight = np.linspace(0.05, 0.95, 19)
    exact = family.frontier(**natural, kind="exclusive", weight=weight)
    fits = [[fit_both(size, seed, weight) for seed in range(10 * draws)] for size in sizes]
    found = [[estimate_others(size, seed, weight) for seed in range(draws)] for size in sizes]
    errors = [[np.mean([largest_error(one, exact) for one in row]) for row in fits]]
    for i in range(3):
        errors += [[np.mean([largest_error(one[i], exact) for one in row]) for row in found]]
    fit, clusters, plug_in, _ = errors
    bias = np.mean([one[0].precision[9] - exact.precision[9] for one in found[-1]])
    return Measured(
        {
            "Gaussian fits: slope of log error against log n": float(
                np.log(fit[-1] / fit[0]) / np.log(sizes[-1] / sizes[0])
            ),
            "error of k-means minus error of Gaussian fits": float(clusters[-1] - fit[-1]),
            "bias of k-means": float(bias),
            "error of log-ratios, few minus many samples": float(plug_in[0] - plug_in[-1]),
        },
        Estimates(exact, [fits[1][0], *found[1][0]], errors, sizes),
    )


def draw_estimates(shown: Estimates) -> Figure:
    """Frontiers from one draw, and errors against the number of samples."""
    figure, left, right = two_panels()
    lines = {"exact": shown.exact, **dict(zip(METHODS, shown.found, strict=True))}
    draw_frontiers(left, lines, (INK, *COLORS), f"{shown.sizes[1]} samples per side")
    for errors, color in zip(shown.errors, COLORS, strict=True):
        right.plot(shown.sizes, errors, "o-", color=color, linewidth=2)
    right.set(xscale="log", yscale="log", xlabel="samples per side")
    right.set_xticks(shown.sizes, [f"{size:,}" for size in shown.sizes], fontsize=9)
    right.set_yticks((0.01, 0.02, 0.05, 0.1, 0.2), ("0.01", "0.02", "0.05", "0.1", "0.2"))
    right.minorticks_off()
    right.set_title("Largest error along the frontier", fontsize=10)
    return figure
