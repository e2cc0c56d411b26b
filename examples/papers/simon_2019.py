"""Simon, Webster and Rabin, 2019: precision-recall curves from the errors of classifiers.

    python -m examples.papers.simon_2019 --output pictures

Both published estimates, of Sajjadi et al. (histograms of k-means clusters) and of this paper
(linear classifiers), and ours, on mixtures whose exact curve is known, on images and on texts.
"""

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from examples.meaning import MODEL, REAL, X, density
from examples.papers.gallery import Claim, Experiment, Measured, main
from examples.papers.simon_2019_classes import (
    EXACT,
    SLOPES,
    STYLES,
    add_legend,
    by_classifier,
    by_kmeans,
)
from examples.papers.simon_2019_classes import EXPERIMENTS as CLASSES
from examples.parts.style import COLORS, INK, name
from tradeoff import PRCurve, RatioProfile, pr_curve

BLUE, ORANGE, GREEN = COLORS[:3]
COLUMNS, DISTANCE = 16, 7.0
MIXTURES = {
    "Two of five modes are invented": ((1 / 3,) * 3 + (0.0,) * 2, (0.2,) * 5),
    "Two of five modes are dropped": ((0.2,) * 5, (1 / 3,) * 3 + (0.0,) * 2),
    "One mode is dropped, one invented, two reweighted": (
        (0.3, 0.3, 0.2, 0.2, 0.0),
        (0.4, 0.1, 0.2, 0.0, 0.3),
    ),
}
"""Weights of real and of generated modes; the overlap of two modes is below one in a million."""
INVENTED, DROPPED, _ = MIXTURES

Weights = tuple[float, ...]


class Toy(NamedTuple):
    """The exact curve of a mixture, and curves of each method, one for each seed."""

    exact: PRCurve
    estimates: dict[str, list[PRCurve]]

    def difference(self, method: str) -> np.ndarray:
        """Mean estimate minus truth at `SLOPES`, relative to min(1, λ)."""
        mean = np.mean([curve.precision(SLOPES) for curve in self.estimates[method]], axis=0)
        return np.asarray((mean - self.exact.precision(SLOPES)) / np.minimum(1, SLOPES))

    def mean(self, method: str, slope: float) -> float:
        """Mean over seeds: recall at slopes below 1, precision at others."""
        found = self.estimates[method]
        values = [c.recall(slope) if slope < 1 else c.precision(slope) for c in found]
        return float(np.mean(values))


def draw_modes(weights: Weights, size: int, rng: np.random.Generator) -> np.ndarray:
    """Samples around the corners of a simplex, where linear rules can tell modes apart."""
    modes = rng.choice(len(weights), size, p=weights)
    return DISTANCE * np.eye(len(weights), COLUMNS)[modes] + rng.normal(size=(size, COLUMNS))


def estimate_toy(p: Weights, q: Weights, *, size: int, quick: bool) -> Toy:
    """Estimates of one mixture; in quick mode our curve of the first seed only."""
    estimates: dict[str, list[PRCurve]] = {method: [] for method in STYLES}
    for seed in range(3 if quick else 10):
        rng = np.random.default_rng([seed, 1])  # a stream that no recipe uses
        real, made = draw_modes(p, size, rng), draw_modes(q, size, rng)
        estimates["k-means"].append(by_kmeans(real, made, runs=2 if quick else 10, seed=seed))
        estimates["classifier"].append(by_classifier(real, made, seed=seed))
        if seed == 0 or not quick:
            ours = pr_curve(real=real, generated=made, seed=seed, progress=False)
            estimates["held-out (ours)"].append(ours.curve)
    return Toy(RatioProfile.from_masses(p, q).curve(), estimates)


def measure_toy(quick: bool) -> Measured:
    """The three situations of figure 1."""
    size = 400 if quick else 2000
    found = {
        title: estimate_toy(p, q, size=size, quick=quick) for title, (p, q) in MIXTURES.items()
    }
    shortfall = {
        method: max(float(-toy.difference(method).min()) for toy in found.values())
        for method in STYLES
    }
    dropped = found[DROPPED]
    rocs = [curve.roc() for curve in dropped.estimates["classifier"]]
    values = {
        "modes invented: recall at λ = 1/20": found[INVENTED].mean("classifier", 1 / 20),
        "modes invented: precision at λ = 20": found[INVENTED].mean("classifier", 20.0),
        "modes dropped: recall at λ = 1/20": dropped.mean("classifier", 1 / 20),
        "modes dropped: precision at λ = 20": dropped.mean("classifier", 20.0),
        "real mass that the model misses": float(
            np.mean([roc.collapsed_mass(0.02) for roc in rocs])
        ),
        "k-means: largest shortfall": shortfall["k-means"],
        "classifier: largest shortfall": shortfall["classifier"],
        "held-out (ours): largest shortfall": shortfall["held-out (ours)"],
    }
    return Measured(values, found)


def draw_toy(shown: dict[str, Toy]) -> Figure:
    """Three curves, and the mode-collapse region of the model that drops modes."""
    figure = Figure(figsize=(6.0, 6.6), layout="constrained")
    axes = figure.subplots(2, 2).flat
    slopes = np.geomspace(1 / 50, 50, 801)  # the ends of held-out curves are always 1
    for ax, (title, toy) in zip(axes, shown.items(), strict=False):
        for curve, style in _lines(toy):
            ax.plot(curve.recall(slopes), curve.precision(slopes), **style)
        ax.set(xlabel="recall", ylabel="precision", title="\n".join(_halves(title)))
    _draw_region(axes[3], shown[DROPPED])
    for ax in axes[:4]:
        ax.set(xlim=(0, 1.03), ylim=(0, 1.03), aspect="equal")
        ax.spines[["top", "right"]].set_visible(False)
        ax.title.set_fontsize(10)
    add_legend(figure, {"exact": EXACT} | STYLES)
    return figure


def _lines(toy: Toy) -> list[tuple[PRCurve, dict[str, Any]]]:
    estimates = [(toy.estimates[method][0], style) for method, style in STYLES.items()]
    return [(toy.exact, EXACT), *estimates]


def _halves(title: str) -> tuple[str, str]:
    words = title.split()
    middle = (len(words) + 1) // 2
    return " ".join(words[:middle]), " ".join(words[middle:])


def _draw_region(ax: Axes, toy: Toy) -> None:
    """Sets with much real and little generated mass, by rules that are optimal for a score."""
    share = np.linspace(0, 1, 201)
    for curve, style in _lines(toy)[:3]:
        roc = curve.roc()
        ax.plot(roc.generated, roc.real, **style)
    ax.fill_between(share, share, toy.exact.roc().collapsed_mass(share), color=INK, alpha=0.2)
    ax.set(xlabel="generated mass of a set", ylabel="real mass of a set")
    ax.set_title("Mode-collapse region\nof the model that drops two")


class Errors(NamedTuple):
    """Errors of the best rule and of others, on the densities of `examples.meaning`."""

    curve: PRCurve
    slopes: np.ndarray
    rejected: np.ndarray
    passed: np.ndarray
    others: np.ndarray


def other_rules(p: np.ndarray, q: np.ndarray, rules: int) -> tuple[np.ndarray, np.ndarray]:
    """Real mass rejected and generated mass passed by rules that call random intervals real."""
    rng = np.random.default_rng(0)
    ends = np.sort(rng.uniform(X[0], X[-1], (rules, 4)), axis=1)
    called = (ends[:, :, None] < X).sum(1) % 2 == 1
    return ~called @ p, called @ q


def measure_errors(quick: bool) -> Measured:
    """Theorems 4 and 5, and the equivalence with the mode-collapse region, on a grid of X."""
    p, q = (mass / mass.sum() for mass in (density(REAL), density(MODEL)))
    curve, slopes = RatioProfile.from_masses(p, q).curve(), np.geomspace(0.05, 20, 201)
    is_model = slopes[:, None] * p < q
    rejected, passed = is_model @ p, ~is_model @ q
    worse, let_pass = other_rules(p, q, 100 if quick else 1000)
    others = slopes * worse[:, None] + let_pass[:, None]
    exact, roc = curve.precision(slopes), curve.roc()
    from_region = (slopes[:, None] * (1 - roc.real) + roc.generated).min(1)
    share, lam = np.linspace(0, 1, 101), curve.breakpoints
    back = 1 - np.maximum(0, (curve.precision(lam) - share[:, None]) / lam).max(1)
    values = {
        "precision minus the sum of the two errors": float(
            np.abs(exact - slopes * rejected - passed).max()
        ),
        "errors of other rules minus those of the best": float((others - exact).min()),
        "precision minus its value from the region": float(np.abs(exact - from_region).max()),
        "edge of the region minus its value from the curve": float(
            np.abs(back - roc.collapsed_mass(share)).max()
        ),
    }
    return Measured(values, Errors(curve, slopes, rejected, passed, others))


def draw_errors(shown: Errors) -> Figure:
    """The two parts of precision, and lines that touch the mode-collapse region."""
    figure = Figure(figsize=(5.2, 6.4), layout="constrained")
    top, bottom = figure.subplots(2, 1)
    _draw_parts(top, shown)
    _draw_tangents(bottom, shown.curve)
    for ax in (top, bottom):
        ax.spines[["top", "right"]].set_visible(False)
        ax.title.set_fontsize(10)
    return figure


def _draw_parts(ax: Axes, shown: Errors) -> None:
    slopes, exact = shown.slopes, shown.curve.precision(shown.slopes)
    for other in shown.others[:12]:
        (line,) = ax.plot(slopes, other, color=INK, linewidth=0.7, alpha=0.8)
    line.set_label("errors of other rules")
    real = ax.fill_between(slopes, shown.passed, exact, color=ORANGE, alpha=0.7, linewidth=0)
    real.set_label("λ × real mass called generated")
    made = ax.fill_between(slopes, shown.passed, color=BLUE, alpha=0.7, linewidth=0)
    made.set_label("generated mass called real")
    ax.plot(slopes, exact, color=INK, linewidth=2.5, label="precision")
    ax.legend(loc="upper center", bbox_to_anchor=(0.45, -0.2), ncols=2, frameon=False, fontsize=9)
    ax.set(xscale="log", xlim=(0.05, 20), ylim=(0, 1.2), xlabel="λ", ylabel="precision")
    ax.set_xticks([0.05, 0.4, 1, 5, 20], ["0.05", "0.4", "1", "5", "20"])
    ax.set_title("Precision is the smallest sum of two errors")


def _draw_tangents(ax: Axes, curve: PRCurve) -> None:
    roc, share = curve.roc(), np.array([0.0, 1.0])
    ax.fill_between(roc.generated, roc.generated, roc.real, color=INK, alpha=0.25, linewidth=0)
    for slope, color in ((0.4, ORANGE), (1.0, GREEN), (5.0, BLUE)):
        ax.plot(share, 1 - (curve.precision(slope) - share) / slope, color=color, linewidth=2)
    name(ax, "λ = 0.4", (0.17, 0.65), ORANGE)
    name(ax, "λ = 1", (0.5, 0.87), GREEN)
    name(ax, "λ = 5", (0.02, 0.93), BLUE, side="right")
    ax.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="generated mass of a set")
    ax.set_ylabel("real mass of a set")
    ax.set_title("Each λ gives a line tangent to the mode-collapse region")


EXPERIMENTS = (
    Experiment(
        "toy",
        "simulated",
        "Invented, dropped and reweighted modes: exact curves and three estimates",
        {
            "modes invented: recall at λ = 1/20": Claim(
                "figure 1, left: full recall", low=0.98, quick=(0.93, 1.0)
            ),
            "modes invented: precision at λ = 20": Claim(
                "figure 1, left: partial precision (exact value here: 0.6)",
                0.57,
                0.63,
                quick=(0.5, 0.72),
            ),
            "modes dropped: recall at λ = 1/20": Claim(
                "figure 1, middle: partial recall (exact value here: 0.6)",
                0.57,
                0.63,
                quick=(0.5, 0.72),
            ),
            "modes dropped: precision at λ = 20": Claim(
                "figure 1, middle: full precision", low=0.98, quick=(0.93, 1.0)
            ),
            "real mass that the model misses": Claim(
                "section 5: the mode-collapse region shows dropped modes (mass here: 0.4)",
                *(0.38, 0.45),
                quick=(0.3, 0.52),
            ),
            "k-means: largest shortfall": Claim(
                "section 6: k-means can lie below the exact curve", low=0.02
            ),
            "classifier: largest shortfall": Claim(
                "theorem 5, section 6: never below the exact curve, up to noise",
                high=0.02,
                instead=(0.02, 0.2),
                why_not="The algorithm chooses thresholds on the same samples on which it counts "
                "errors, which lowers the curve. Theorem 5 applies to rules fixed in advance.",
            ),
            "held-out (ours): largest shortfall": Claim(
                "theorem 5: never below the exact curve, up to noise",
                high=0.02,
                quick=(-1.0, 0.12),
            ),
        },
        measure_toy,
        draw_toy,
    ),
    Experiment(
        "two_errors",
        "exact",
        "Precision as the smallest sum of two errors, and the mode-collapse region",
        {
            "precision minus the sum of the two errors": Claim("theorem 4: equal", high=1e-12),
            "errors of other rules minus those of the best": Claim(
                "theorem 5: never negative", low=-1e-12
            ),
            "precision minus its value from the region": Claim("section 5: equal", high=1e-12),
            "edge of the region minus its value from the curve": Claim(
                "section 5: equal", high=1e-12
            ),
        },
        measure_errors,
        draw_errors,
    ),
    *CLASSES,
)

if __name__ == "__main__":
    main(EXPERIMENTS, __doc__)
