"""Theory of Verine (2024), chapter 4: the PR-divergence, its minimizers and its relatives.

    python -m examples.papers.verine_2024 --output pictures
    python -m examples.papers.verine_2024 --only minimizers --quick --output pictures

The thesis is "Quality and diversity in generative models through the lens of f-divergences"
(Université PSL). P is the distribution of real data, Q the model, and D at λ is the PR-divergence:
the best precision, min(1, λ), minus the precision at λ. All distributions are on a line, and all
integrals are sums over a grid.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from examples.papers.gallery import Claim, Experiment, Measured, main
from examples.parts.line import (
    Mixture,
    counts_in_balls,
    cover_precision,
    draw_plane,
    gaussian,
    outline,
    profile_of,
    two_modes,
)
from examples.parts.style import COLORS, INK, name
from tradeoff import PRCurve, RatioProfile, support_metrics
from tradeoff.core.divergence import (
    GAN,
    KL,
    Amari,
    Divergence,
    Hellinger,
    JensenShannon,
    Pearson,
    PRDivergence,
    ReverseKL,
)
from tradeoff.core.divergence.kullback import Jeffreys
from tradeoff.core.divergence.mixture import FrontierIntegral
from tradeoff.core.divergence.power import Neyman

BLUE, ORANGE, GREEN, PINK = COLORS


class Family(NamedTuple):
    """All Gaussians of a grid of means and widths against a target.

    Args:
        target: Distribution of the real data.
        x: Places on the line.
        models: Mean and width of each Gaussian, shape (n, 2).
        scores: Divergences from each Gaussian by name, each of shape (n,).
    """

    target: Mixture
    x: np.ndarray
    models: np.ndarray
    scores: Mapping[str, np.ndarray]

    def best(self, key: str) -> np.ndarray:
        """Mean and width of the minimizer; of those that tie, the best in total variation."""
        ties = self.zone(key)
        return np.asarray(self.models[ties][self.scores["λ = 1"][ties].argmin()])

    def zone(self, key: str) -> np.ndarray:
        """Which Gaussians are within 1e-5 of the minimum."""
        return np.asarray(self.scores[key] <= self.scores[key].min() + 1e-5)

    def curve(self, key: str) -> PRCurve:
        """The precision-recall curve of the minimizer."""
        return profile_of(self.target, gaussian(*self.best(key)), self.x).curve()

    def smaller_side(self, key: str) -> float:
        """Mass of the minimizer on the side of 0 on which it has less: 0.5 covers both modes."""
        below = float(gaussian(*self.best(key)).cdf(np.zeros(1))[0])
        return min(below, 1 - below)


SLOPES = (0.1, 1.0, 10.0)
PR: Mapping[str, Divergence] = {f"λ = {lam:g}": PRDivergence(lam) for lam in SLOPES}


def fit(target: Mixture, divergences: Mapping[str, Divergence], *, steps: int) -> Family:
    """Every Gaussian of a grid against a target, in each of the divergences."""
    x = np.linspace(-12, 12, 16 * steps + 1)
    means, widths = np.linspace(-3, 3, steps + 1), np.geomspace(0.2, 5, steps)
    models = np.stack(np.meshgrid(means, widths), -1).reshape(-1, 2)
    found = {key: np.empty(len(models)) for key in divergences}
    for i, (mean, width) in enumerate(models):
        profile = profile_of(target, gaussian(mean, width), x)
        for key, divergence in divergences.items():
            found[key][i] = divergence.of(profile)
    return Family(target, x, models, found)


def measure_minimizers(quick: bool) -> Measured:
    """Fit one Gaussian to two modes, for several divergences and two distances."""
    steps = 40 if quick else 160
    far = fit(two_modes(4.0), {**PR, "KL": KL(), "reverse KL": ReverseKL()}, steps=steps)
    near = fit(two_modes(3.5), {"λ = 1": PR["λ = 1"]}, steps=steps)
    curves = {key: far.curve(key) for key in PR}
    gains = [
        curves[own].precision(lam) - curves[other].precision(lam)
        for lam, own in zip(SLOPES, PR, strict=True)
        for other in PR
        if other != own
    ]
    values = {
        "smallest lead of a model at its own λ": min(gains),
        "recall, λ = 0.1": curves["λ = 0.1"].recall(0.1),
        "precision, λ = 10": curves["λ = 10"].precision(10.0),
        **{f"mass on the smaller side, {key}": far.smaller_side(key) for key in far.scores},
        "mass on the smaller side, λ = 1, closer modes": near.smaller_side("λ = 1"),
    }
    return Measured(values, far)


def draw_minimizers(shown: Family) -> Figure:
    """The target with three models, the zones of minimizers, and the curves."""
    figure = Figure(figsize=(5.6, 5.4), layout="constrained")
    grid = figure.add_gridspec(2, 2, height_ratios=(1, 1.25))
    above, left, right = map(figure.add_subplot, (grid[0, :], grid[1, 0], grid[1, 1]))
    x = np.linspace(-6.5, 6.5, 801)
    above.fill_between(x, shown.target.density(x), color=INK, alpha=0.3, linewidth=0)
    name(above, "real data", (-2, 0.43), INK, side="middle")
    places = {"λ = 0.1": (-4.7, 0.15), "λ = 1": (3.3, 0.3), "λ = 10": (2.45, 0.6)}
    for (key, place), color in zip(places.items(), COLORS, strict=False):
        above.plot(x, gaussian(*shown.best(key)).density(x), color=color, linewidth=2)
        name(above, f"model for {key}", place, color, side="right" if place[0] > 0 else "middle")
        right.plot(*outline(shown.curve(key)), color=color, linewidth=2)
    above.set(xlim=(-6.5, 6.5), ylim=(0, 0.82), yticks=[], xticks=(-2, 0, 2))
    above.set_title("One Gaussian that minimizes the PR-divergence at λ", fontsize=10)
    draw_zones(left, shown)
    draw_plane(right)
    right.set_title("Precision-recall curves", fontsize=10)
    name(right, "0.1", (0.9, 0.47), BLUE, side="middle")
    name(right, "1", (0.27, 0.86), ORANGE, side="middle")
    name(right, "λ = 10", (0.53, 0.95), GREEN, side="right")
    above.spines[["top", "right", "left"]].set_visible(False)
    return figure


def draw_zones(ax: Axes, shown: Family) -> None:
    """Means and widths of the minimizers: areas where many tie, points where few do."""
    for key, color in zip(PR, COLORS, strict=False):
        zone, (mean, width) = shown.zone(key), shown.best(key)
        if zone.mean() < 0.01:
            ax.plot((-mean, mean), (width, width), "*", color=color, markersize=12)
            continue
        shape = (len(np.unique(shown.models[:, 1])), -1)
        means, widths = (shown.models[:, i].reshape(shape) for i in range(2))
        filled = zone.reshape(shape).astype(float)
        ax.contourf(means, widths, filled, levels=(0.5, 2), colors=[color], alpha=0.4)
    name(ax, "λ = 0.1", (0, 3.2), INK, side="middle")
    name(ax, "λ = 1", (0, 0.97), INK, side="middle")
    name(ax, "λ = 10", (0, 0.35), INK, side="middle")
    ax.set(yscale="log", xlabel="mean", ylabel="width", xticks=(-2, 0, 2), ylim=(0.2, 5))
    ax.set_yticks([0.2, 0.5, 1, 2, 5], ["0.2", "0.5", "1", "2", "5"])
    ax.set_yticks([], minor=True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_title("Minimizers", fontsize=10)


SHOWN: Mapping[str, Divergence] = {
    "KL": KL(),
    "Jensen-Shannon": JensenShannon(),
    "reverse KL": ReverseKL(),
}
SMOOTH = (
    *SHOWN.values(),
    *(Hellinger(), Pearson(), Neyman(), Jeffreys(), Amari(1.5), FrontierIntegral()),
)


def parts(
    divergence: Divergence, profile: RatioProfile, *, points: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """For λ below and above 1: λ, and what each λ adds to a divergence, per unit of log λ."""
    curve = profile.curve()
    low, high = curve.breakpoints[[0, -1]]
    for start, end in ((low, 1.0), (1.0, high)):
        lam = np.geomspace(start, end, points)
        missing = np.minimum(lam, 1.0) - curve.precision(lam)
        yield lam, lam * divergence.weight(lam) * np.maximum(missing, 0.0)


def integrals(divergence: Divergence, profile: RatioProfile, *, points: int) -> np.ndarray:
    """The integral of weight times PR-divergence over λ below and above 1, numerically."""
    found = parts(divergence, profile, points=points)
    return np.array([np.trapezoid(added, np.log(lam)) for lam, added in found])


def measure_mixtures(quick: bool) -> Measured:
    """Rebuild divergences from PR-divergences, on random pairs and on two Gaussians."""
    points, pairs = (4000, 20) if quick else (100_000, 300)
    x = np.linspace(-9, 9, 1801)
    even = profile_of(gaussian(-0.75, 1.0), gaussian(0.75, 1.0), x)
    rng = np.random.default_rng(0)
    drawn = [RatioProfile.from_masses(*rng.dirichlet(np.ones(30), 2)) for _ in range(pairs)]
    errors = [
        abs(integrals(divergence, profile, points=points).sum() / divergence.of(profile) - 1)
        for profile in [even, *drawn]
        for divergence in SMOOTH
    ]
    halves = {key: integrals(value, even, points=points) for key, value in SHOWN.items()}
    shares = {key: float(below / (below + above)) for key, (below, above) in halves.items()}
    printed = integrals(GAN(), even, points=points).sum() / JensenShannon().of(even)
    values = {
        "largest relative error": max(errors),
        **{f"share below λ = 1, {key}": share for key, share in shares.items()},
        "integral with the printed weight / Jensen-Shannon": float(printed),
    }
    return Measured(values, even)


def draw_mixtures(shown: RatioProfile) -> Figure:
    """What each λ adds to three divergences of two Gaussians."""
    figure = Figure(figsize=(5.4, 5.2), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    lam = np.geomspace(0.01, 100, 401)
    for divergence, color in zip(SHOWN.values(), (BLUE, GREEN, ORANGE), strict=True):
        above.plot(lam, divergence.weight(lam), color=color, linewidth=2)
        for part, added in parts(divergence, shown, points=2000):
            below.plot(part, added / divergence.of(shown), color=color, linewidth=2)
    name(above, "KL: 1/λ²", (0.025, 3e3), BLUE, side="right")
    name(above, "reverse KL: 1/λ", (5, 0.8), ORANGE, side="right")
    name(above, "Jensen-Shannon:\n1/(2λ(1 + λ))", (0.015, 0.15), GREEN, side="right")
    name(below, "KL", (0.22, 0.36), BLUE)
    name(below, "Jensen-\nShannon", (1, 0.12), GREEN, side="middle")
    name(below, "reverse KL", (4.6, 0.36), ORANGE, side="right")
    above.set(xscale="log", yscale="log", ylim=(1e-3, 2e4), xlim=(0.01, 100))
    above.set_xticks([0.01, 0.1, 1, 10, 100], ["0.01", "0.1", "1", "10", "100"])
    above.set_title("Weight of the PR-divergence at λ in other divergences", fontsize=10)
    below.set(xlabel="λ: recall on the left, precision on the right", ylim=(0, 0.7), yticks=[])
    below.set_title("Contribution of each λ to the divergence of two Gaussians", fontsize=10)
    for ax in (above, below):
        ax.spines[["top", "right"]].set_visible(False)
    return figure


REAL = Mixture((-1.5, 1.5), (0.6, 0.6), (0.5, 0.5))
MODEL = Mixture((-1.2, 2.0), (0.9, 0.5), (0.75, 0.25))


class Cover(NamedTuple):
    """Precision at each λ: exact, by the mass of balls, and from samples."""

    lam: np.ndarray
    exact: np.ndarray
    covers: Mapping[float, np.ndarray]
    sampled: np.ndarray

    def error(self, mass: float) -> float:
        """Largest error over λ."""
        return float(np.abs(self.covers[mass] - self.exact).max())


def measure_pr_cover(quick: bool) -> Measured:
    """The curve from balls of known masses, exactly and from samples."""
    points, n, rank = (1001, 2000, 99) if quick else (8001, 10_000, 300)
    lam = np.geomspace(0.05, 20, 41)
    exact = profile_of(REAL, MODEL, np.linspace(-9, 9, 8001)).curve().precision(lam)
    masses = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
    covers = {mass: cover_precision(REAL, MODEL, lam, mass=mass, points=points) for mass in masses}
    rng = np.random.default_rng(0)
    real, generated = REAL.sample(n, rng), MODEL.sample(n, rng)
    real_inside = counts_in_balls(generated, real, rank)
    generated_inside = counts_in_balls(real, generated, rank)
    precision = (lam[:, None] * real_inside >= rank).mean(1)
    recall = (generated_inside >= lam[:, None] * rank).mean(1)
    shown = Cover(lam, exact, covers, precision + lam * recall)
    library = support_metrics(
        real=real[:, None],
        generated=generated[:, None],
        k=rank // 3,
        cover=3,
        metrics=["cover_precision"],
        progress=False,
    )
    same = cover_precision(REAL, REAL, np.ones(1), mass=0.01, points=points)
    values = {
        "largest error, mass 0.001": shown.error(0.001),
        "largest error, mass 0.1 / mass 0.001": shown.error(0.1) / shown.error(0.001),
        "largest error, from samples": float(np.abs(shown.sampled - shown.exact).max()),
        "library against definition, λ = 3": abs(
            library.cover_precision - float((3 * real_inside >= rank).mean())
        ),
        "identical distributions, λ = 1": float(same[0]),
    }
    return Measured(values, shown)


def draw_pr_cover(shown: Cover) -> Figure:
    """Curves for balls of several masses, and their errors."""
    figure = Figure(figsize=(5.6, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(shown.exact / shown.lam, shown.exact, color=INK, linewidth=6, alpha=0.4)
    for mass, color in zip((0.2, 0.001), (ORANGE, BLUE), strict=True):
        found = shown.covers[mass]
        left.plot(found / shown.lam, found, color=color, linewidth=1.5)
    left.plot(shown.sampled / shown.lam, shown.sampled, "o", color=PINK, markersize=3)
    draw_plane(left)
    left.set_title("Curve from PR-cover", fontsize=10)
    name(left, "exact", (0.05, 0.5), INK, side="right")
    name(left, "balls of mass 0.2", (0.05, 0.38), ORANGE, side="right")
    name(left, "balls of mass 0.001", (0.05, 0.26), BLUE, side="right")
    name(left, "samples", (0.05, 0.14), PINK, side="right")
    masses = np.array(list(shown.covers))
    right.plot(masses, [shown.error(mass) for mass in masses], "o-", color=INK)
    right.set(xscale="log", yscale="log", xlabel="mass of a ball")
    right.set_xticks([0.001, 0.01, 0.1], ["0.001", "0.01", "0.1"])
    right.set_yticks([0.01, 0.1], ["0.01", "0.1"])
    right.set_title("Largest error of precision", fontsize=10)
    right.spines[["top", "right"]].set_visible(False)
    return figure


EXPERIMENTS = (
    Experiment(
        "minimizers",
        "exact",
        "Minimizing the PR-divergence covers all modes at small λ and seeks one mode at large λ",
        {
            "smallest lead of a model at its own λ": Claim(
                "figure 4.8: at each λ, the model trained for it is the best of the three", 1e-6
            ),
            "recall, λ = 0.1": Claim("section 4.2.2: recall reaches 1", 1 - 1e-5),
            "precision, λ = 10": Claim("figure 4.6: precision reaches 1", 1 - 1e-5),
            "mass on the smaller side, λ = 0.1": Claim("figure 4.7: covers both modes", 0.25),
            "mass on the smaller side, λ = 1": Claim("figure 4.7: seeks one mode", high=0.05),
            "mass on the smaller side, λ = 10": Claim("figure 4.7: seeks one mode", high=0.05),
            "mass on the smaller side, KL": Claim("figure 4.2: covers both modes", 0.25),
            "mass on the smaller side, reverse KL": Claim("figure 4.2: seeks one mode", high=0.05),
            "mass on the smaller side, λ = 1, closer modes": Claim(
                "section 4.1: total variation covers both modes if they are slightly closer",
                0.25,
            ),
        },
        measure_minimizers,
        draw_minimizers,
    ),
    Experiment(
        "mixtures",
        "exact",
        "Every smooth f-divergence is a weighted sum of PR-divergences",
        {
            "largest relative error": Claim(
                "theorem 4.3.1: equality for every f (up to the error of a numerical integral)",
                high=1e-8,
                quick=(0, 1e-5),
            ),
            "share below λ = 1, KL": Claim("section 4.3.1: favors recall", 0.5),
            "share below λ = 1, Jensen-Shannon": Claim(
                "section 4.3.1: balanced, since it is symmetric", 0.5 - 1e-6, 0.5 + 1e-6
            ),
            "share below λ = 1, reverse KL": Claim(
                "section 4.3.1: favors recall too, but less than KL",
                low=0.5,
                instead=(0.25, 0.4),
                why_not="Swapping the distributions turns KL at λ into reverse KL at 1/λ. For "
                "equal widths, reverse KL favors precision as much as KL favors recall.",
            ),
            "integral with the printed weight / Jensen-Shannon": Claim(
                "equation 4.17: the weight 1/(λ(λ + 1)) gives Jensen-Shannon",
                *(1 - 1e-5, 1 + 1e-5),
                instead=(2 - 1e-4, 2 + 1e-4),
                why_not="Misprint (erratum 13): this weight gives twice Jensen-Shannon.",
            ),
        },
        measure_mixtures,
        draw_mixtures,
    ),
    Experiment(
        "pr_cover",
        "simulated",
        "Small balls of known mass give the precision-recall curve",
        {
            "largest error, mass 0.001": Claim("theorem 4.3.3: the error tends to 0", high=0.005),
            "largest error, mass 0.1 / mass 0.001": Claim(
                "theorem 4.3.3: the error tends to 0", 10
            ),
            "largest error, from samples": Claim(
                "definition 3.3.6: close to the exact curve, up to noise",
                high=0.07,
                quick=(0, 0.14),
            ),
            "library against definition, λ = 3": Claim("definition 3.3.6: equal", high=0),
            "identical distributions, λ = 1": Claim(
                "theorem 4.3.3: the precision of identical distributions is 1",
                *(0.99, 1.01),
                instead=(1.99, 2.01),
                why_not="The theorem requires q ≠ λp almost everywhere (erratum 16). Points where "
                "they are equal count in both terms.",
            ),
        },
        measure_pr_cover,
        draw_pr_cover,
    ),
)

if __name__ == "__main__":
    main(EXPERIMENTS, __doc__)
