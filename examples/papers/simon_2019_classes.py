"""Part of `simon_2019`: more classes than clusters, dropped classes, and one part of the data."""

from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from benchmarks import datasets
from examples.papers.gallery import Claim, Experiment, Measured
from examples.parts.style import COLORS, INK
from tradeoff import PRCurve, RatioProfile, pr_curve, reproduce
from tradeoff.protocols.sajjadi import Sajjadi2018

BLUE, ORANGE, GREEN, PINK = COLORS
SLOPES = np.geomspace(1 / 20, 20, 201)
EXACT: dict[str, Any] = {"color": INK, "linewidth": 4, "alpha": 0.7}
STYLES: dict[str, dict[str, Any]] = {
    "k-means": {"color": ORANGE, "linewidth": 2, "linestyle": "-"},
    "classifier": {"color": BLUE, "linewidth": 2, "linestyle": "-"},
    "held-out (ours)": {"color": GREEN, "linewidth": 2, "linestyle": "--"},
}


def by_kmeans(
    real: np.ndarray, made: np.ndarray, *, clusters: int = 20, runs: int = 10, seed: int = 0
) -> PRCurve:
    """The curve of Sajjadi et al.; the paper uses 20 clusters and ten runs."""
    recipe = Sajjadi2018(clusters=clusters, runs=runs)
    return recipe.run(real, made, seed=seed, progress=False)[0]


def by_classifier(real: np.ndarray, made: np.ndarray, *, seed: int = 0) -> PRCurve:
    """The curve of the paper: the median of ten linear classifiers."""
    found = reproduce("simon-2019", real=real, generated=made, seed=seed, progress=False)
    assert found.curve is not None
    return found.curve


def add_legend(figure: Figure, styles: dict[str, dict[str, Any]]) -> None:
    """Names of lines below the axes."""
    lines = [Line2D([], [], label=label, **style) for label, style in styles.items()]
    figure.legend(handles=lines, loc="outside lower center", ncols=2, frameon=False)


class Shares(NamedTuple):
    """Precision at λ = 1 of each method, against the share of common classes."""

    shares: np.ndarray
    synthetic: dict[str, np.ndarray]
    images: dict[str, np.ndarray]


SIDE, COLUMNS, NOISE = 80, 512, 0.5
MANY, ENOUGH, FEW = "20 clusters", "160 clusters", "4 clusters"


def draw_classes(share: float, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Samples of 80 classes each, a share of them in common, in clusters far from each other."""
    rng = np.random.default_rng([0, 1])  # a stream that no recipe uses
    means, first = rng.normal(size=(2 * SIDE, COLUMNS)), round((1 - share) * SIDE)
    real, made = (
        means[start + rng.integers(0, SIDE, size)] + NOISE * rng.normal(size=(size, COLUMNS))
        for start in (0, first)
    )
    return real, made


def draw_images(parts: datasets.Parts, share: float, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Real images of the first five classes, and others of five classes, some in common."""
    first, each = round(5 * (1 - share)), size // 5
    rows = [np.flatnonzero(parts.train.labels == first + c)[:each] for c in range(5)]
    return datasets.balanced(parts.test, 5, size, seed=1), parts.train.features[
        np.concatenate(rows)
    ]


def measure_shares(quick: bool) -> Measured:
    """Figure 3 with Gaussian classes, and with five classes of images for four clusters."""
    shares = np.array([0.0, 0.4, 1.0] if quick else [0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    parts = datasets.fashion_mnist(datasets.QUICK if quick else datasets.FULL)
    runs, size, images_size = (2, 600, 200) if quick else (10, 1600, 2500)
    synthetic: dict[str, list[float]] = {}
    images: dict[str, list[float]] = {}
    for share in shares:
        pair = draw_classes(share, size)
        curves = {
            MANY: by_kmeans(*pair, runs=runs),
            ENOUGH: by_kmeans(*pair, clusters=2 * SIDE, runs=1),
            "classifier": by_classifier(*pair),
        }
        if not quick:
            ours = pr_curve(real=pair[0], generated=pair[1], seed=0, progress=False)
            curves["held-out (ours)"] = ours.curve
        _add(synthetic, curves)
        pair = draw_images(parts, share, images_size)
        few = by_kmeans(*pair, clusters=4, runs=runs)
        _add(images, {FEW: few, "classifier": by_classifier(*pair)})
    found, real = ({k: np.array(v) for k, v in values.items()} for values in (synthetic, images))
    values = {
        "20 clusters: largest excess": float((found[MANY] - shares).max()),
        "classifier: largest error": float(np.abs(found["classifier"] - shares).max()),
        "20 minus 160 clusters: largest difference": float((found[MANY] - found[ENOUGH]).max()),
        "images, no common class: 4 clusters minus classifier": float(
            real[FEW][0] - real["classifier"][0]
        ),
    }
    return Measured(values, Shares(shares, found, real))


def _add(values: dict[str, list[float]], curves: dict[str, PRCurve]) -> None:
    for method, curve in curves.items():
        values.setdefault(method, []).append(curve.precision(1.0))


def draw_shares(shown: Shares) -> Figure:
    """Gaussian classes on the left, images on the right."""
    figure = Figure(figsize=(6.8, 3.9), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    colors = {MANY: ORANGE, ENOUGH: PINK, FEW: ORANGE, "classifier": BLUE}
    for ax, values in ((left, shown.synthetic), (right, shown.images)):
        ax.plot([0, 1], [0, 1], **EXACT)
        for method, found in values.items():
            color = colors.get(method, GREEN)
            ax.plot(shown.shares, found, "o-", color=color, linewidth=2, markersize=5)
        ax.set(xlabel="share of common classes", xlim=(-0.03, 1.03), ylim=(0, 1.05))
        ax.spines[["top", "right"]].set_visible(False)
    left.set_ylabel("precision at λ = 1")
    left.set_title("80 Gaussian classes per side", fontsize=10)
    right.set_title("5 Fashion-MNIST classes per side", fontsize=10)
    labels = {"k-means, 20 (left) or 4 (right) clusters": ORANGE, "k-means, 160 clusters": PINK}
    labels |= {"classifier": BLUE}
    if "held-out (ours)" in shown.synthetic:
        labels["held-out (ours)"] = GREEN
    styles = {label: {"color": color, "linewidth": 2} for label, color in labels.items()}
    add_legend(figure, {"exact": EXACT} | styles)
    return figure


class Dropped(NamedTuple):
    """Exact curves and both estimates by the number of classes that the model knows."""

    exact: dict[int, PRCurve]
    estimates: dict[str, dict[int, PRCurve]]

    def error(self, method: str) -> float:
        """Mean over slopes and models, relative to min(1, λ)."""
        errors = [
            np.abs(curve.precision(SLOPES) - self.exact[q].precision(SLOPES))
            for q, curve in self.estimates[method].items()
        ]
        return float(np.mean(errors / np.minimum(1, SLOPES)))


def measure_dropped(quick: bool) -> Measured:
    """Figure 2 with Fashion-MNIST: five real classes, and models of the first 1 to 9."""
    parts = datasets.fashion_mnist(datasets.QUICK if quick else datasets.FULL)
    size = datasets.QUICK if quick else datasets.FULL
    known = (2, 5, 8) if quick else tuple(range(1, 10))
    real = datasets.balanced(parts.test, 5, size, seed=100)
    exact: dict[int, PRCurve] = {}
    estimates: dict[str, dict[int, PRCurve]] = {"k-means": {}, "classifier": {}}
    for q in known:
        made = datasets.balanced(parts.train, q, size, seed=100 + q)
        masses = (np.where(np.arange(10) < count, 1 / count, 0.0) for count in (5, q))
        exact[q] = RatioProfile.from_masses(*masses).curve()
        estimates["k-means"][q] = by_kmeans(real, made)
        estimates["classifier"][q] = by_classifier(real, made)
    shown, values = Dropped(exact, estimates), {}
    for method, curves in estimates.items():
        fewer, same, more = (curves[q] for q in (2, 5, 8))
        recall, precision = same.recall(0.2) - fewer.recall(0.2), same.precision(5.0)
        values[f"{method}: recall loss, 3 classes dropped"] = recall
        values[f"{method}: precision loss, 3 classes invented"] = precision - more.precision(5.0)
    difference = shown.error("k-means") - shown.error("classifier")
    values["k-means minus classifier: mean error"] = difference
    return Measured(values, shown)


def draw_dropped(shown: Dropped) -> Figure:
    """K-means on the left, the classifier on the right, for three of the models."""
    figure = Figure(figsize=(6.8, 4.0), layout="constrained")
    slopes = np.geomspace(1e-3, 1e3, 801)
    for ax, (method, curves) in zip(
        figure.subplots(1, 2, sharey=True), shown.estimates.items(), strict=True
    ):
        for q, color, at in ((2, ORANGE, 0.2), (5, GREEN, 1.0), (8, BLUE, 10.0)):
            curve = curves[q]
            for line, style in ((shown.exact[q], ":"), (curve, "-")):
                ax.plot(line.recall(slopes), line.precision(slopes), style, color=color)
            move = -0.09 if q == 5 else 0.02
            place = (curve.recall(at) + move, curve.precision(at) + move)
            ax.annotate(f"{q}", place, color=color, fontsize=9, weight="bold")
        ax.set(xlim=(0, 1.06), ylim=(0, 1.06), xlabel="recall", aspect="equal")
        ax.set_title(f"{method}: 2, 5 or 8 classes\n(real data: 5; dotted: exact)", fontsize=10)
        ax.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("precision")
    return figure


CLUSTERS = {5: ":", 20: "-.", 50: "--", 100: "-"}
"""Numbers of clusters, and how their lines are drawn."""
FILMS, OTHERS = 0, {"news": 1, "tweets": 2, "product reviews": 3}


def draw_texts(other: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """150 reviews of films and 100 other texts, and 250 other reviews of films."""
    found, rng = datasets.texts(datasets.QUICK), np.random.default_rng([seed, 1])
    films, others = (
        rng.permutation(found.features[found.labels == source]) for source in (FILMS, other)
    )
    return rng.permutation(np.concatenate((films[:150], others[:100]))), films[150:]


def measure_part(quick: bool) -> Measured:
    """Figure 4 with texts: 60% of the real samples are of the kind that the model makes."""
    curves: dict[str, list[PRCurve]] = {}
    draws = [(other, seed) for other in OTHERS.values() for seed in range(2 if quick else 20)]
    for other, seed in draws:
        real, made = draw_texts(other, seed)
        for clusters in CLUSTERS:
            curve = by_kmeans(real, made, clusters=clusters, runs=1, seed=seed)
            curves.setdefault(f"{clusters} clusters", []).append(curve)
        curves.setdefault("classifier", []).append(by_classifier(real, made, seed=seed))
        if not quick:
            ours = pr_curve(real=real, generated=made, seed=seed, progress=False)
            curves.setdefault("held-out (ours)", []).append(ours.curve)
    ends = {
        method: np.array([(c.recall(1 / 20) - 0.6, 1 - c.precision(20.0)) for c in found])
        .reshape(len(OTHERS), -1, 2)
        .mean(1)
        for method, found in curves.items()
    }
    totals = {method: float(np.abs(end).sum(1).mean()) for method, end in ends.items()}
    best = min(total for method, total in totals.items() if method.endswith("clusters"))
    values = {
        "5 clusters: recall minus its exact value": float(ends["5 clusters"][:, 0].mean()),
        "100 clusters: exact precision minus estimate": float(ends["100 clusters"][:, 1].mean()),
        "error of the best k-means minus that of the classifier": best - totals["classifier"],
    }
    return Measured(values, curves)


def draw_part(shown: dict[str, list[PRCurve]]) -> Figure:
    """Mean curves over draws."""
    figure = Figure(figsize=(4.8, 4.9), layout="constrained")
    ax = figure.subplots()
    slopes = np.geomspace(1e-3, 1e3, 801)
    ax.plot([0.6, 0.6, 0.0], [0.0, 1.0, 1.0], **EXACT)
    styles: dict[str, dict[str, Any]] = {"exact": EXACT}
    for method, curves in shown.items():
        style: dict[str, Any] = {
            "color": BLUE if method == "classifier" else GREEN,
            "linewidth": 2.5,
        }
        if method.endswith("clusters"):
            dashes = CLUSTERS[int(method.split()[0])]
            style = {"color": ORANGE, "linestyle": dashes, "linewidth": 2}
        mean = [
            np.mean([f(slopes) for f in found], axis=0)
            for found in ([c.recall for c in curves], [c.precision for c in curves])
        ]
        ax.plot(*mean, **style)
        styles[method] = style
    ax.set(xlim=(0, 1.03), ylim=(0, 1.03), xlabel="recall", ylabel="precision", aspect="equal")
    ax.set_title("Real: 60% film reviews, 40% other texts\nModel: film reviews only", fontsize=10)
    ax.spines[["top", "right"]].set_visible(False)
    add_legend(figure, styles)
    return figure


BOTH = "figure 2: both estimates show dropped and invented classes"
EXPERIMENTS = (
    Experiment(
        "many_classes",
        "simulated",
        "More classes than clusters",
        {
            "20 clusters: largest excess": Claim(
                "figure 3: with more classes than clusters, k-means is far above the exact value",
                low=0.1,
            ),
            "classifier: largest error": Claim(
                "figure 3: the classifier is close to the exact value", high=0.11, quick=(0, 0.18)
            ),
            "20 minus 160 clusters: largest difference": Claim(
                "section 6: more clusters reduce the error", low=0.1
            ),
            "images, no common class: 4 clusters minus classifier": Claim(
                "figure 3, with images: the classifier is closer to the exact value, 0",
                low=0.05,
                quick=(-0.1, 1.0),
            ),
        },
        measure_shares,
        draw_shares,
    ),
    Experiment(
        "dropped_classes",
        "real data",
        "Dropped and invented classes, with clusters and with a classifier",
        {
            "k-means: recall loss, 3 classes dropped": Claim(BOTH, low=0.1),
            "k-means: precision loss, 3 classes invented": Claim(BOTH, low=0.1),
            "classifier: recall loss, 3 classes dropped": Claim(BOTH, low=0.1),
            "classifier: precision loss, 3 classes invented": Claim(BOTH, low=0.1),
            "k-means minus classifier: mean error": Claim(
                "section 6: the classifier is slightly more accurate", low=0.01, quick=(-0.03, 1.0)
            ),
        },
        measure_dropped,
        draw_dropped,
    ),
    Experiment(
        "one_part",
        "real data",
        "A model that generates one of two kinds of text, for several numbers of clusters",
        {
            "5 clusters: recall minus its exact value": Claim(
                "figure 4: few clusters overestimate recall", low=0.05
            ),
            "100 clusters: exact precision minus estimate": Claim(
                "figure 4: many clusters underestimate precision", low=0.05
            ),
            "error of the best k-means minus that of the classifier": Claim(
                "figure 4: the classifier is more accurate than any number of clusters",
                low=0.03,
                quick=(-0.05, 1.0),
            ),
        },
        measure_part,
        draw_part,
    ),
)
