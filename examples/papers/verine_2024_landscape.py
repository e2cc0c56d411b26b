"""Training for rejection in Verine (2024), section 6.3: what the loss looks like with a budget.

    python -m examples.papers.verine_2024_landscape --quick --output pictures

A model whose samples will be rejected with K draws per kept sample is judged by what is left after
rejection. Losses are exact, on a line.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from examples.papers.gallery import Claim, Experiment, Measured, main
from examples.parts.line import Mixture, gaussian, profile_of, two_modes
from examples.parts.style import COLORS, INK, name
from tradeoff import AcceptanceRule, RatioProfile
from tradeoff.core.divergence import JensenShannon

BLUE = COLORS[0]


class Landscape(NamedTuple):
    """Losses by distance of modes and budget, and the best Gaussian for each budget."""

    distances: np.ndarray
    losses: Mapping[float, np.ndarray]
    best: Mapping[float, tuple[float, float]]


def loss_after(profile: RatioProfile, budget: float) -> float:
    """Twice the Jensen-Shannon divergence that is left after OBRS."""
    rule = AcceptanceRule.from_profile(profile, budget=budget)
    return (2 * JensenShannon()).of(rule.refine(profile))


def comb(distance: float) -> Mixture:
    """Ten Gaussians in a row."""
    return Mixture(tuple(distance * (np.arange(10) - 4.5)), (0.4,) * 10, (0.1,) * 10)


def dips(values: np.ndarray) -> int:
    """Number of local minima that are not the lowest value."""
    inner = values[1:-1]
    lower = (inner < values[:-2] - 1e-6) & (inner < values[2:] - 1e-6)
    return int((lower & (inner > values.min() + 1e-6)).sum())


def measure_landscape(quick: bool) -> Measured:
    """Losses of ten modes by their distance, and of one Gaussian on two modes, by budget."""
    points, steps = (53, 14) if quick else (261, 60)
    distances, x = np.linspace(0.6, 3.2, points), np.linspace(-20, 20, 1201)
    profiles = [profile_of(comb(2.0), comb(distance), x) for distance in distances]
    losses = {
        budget: np.array([loss_after(profile, budget) for profile in profiles])
        for budget in (1.0, 2.0, 5.0, 10.0)
    }
    real, x = two_modes(5.0), np.linspace(-12, 12, 641)
    models = [
        (mean, width)
        for mean in np.linspace(0, 3, steps)
        for width in np.geomspace(0.3, 4, 2 * steps)
    ]
    grid = [profile_of(real, gaussian(*model), x) for model in models]
    left = {budget: [loss_after(profile, budget) for profile in grid] for budget in (1.0, 2.0)}
    chosen = {budget: int(np.argmin(values)) for budget, values in left.items()}
    values = {
        "local minima, K = 1": dips(losses[1.0]),
        "local minima, K = 10": dips(losses[10.0]),
        "mean of the best Gaussian, K = 1": models[chosen[1.0]][0],
        "mean of the best Gaussian, K = 2": models[chosen[2.0]][0],
        "width of the best Gaussian, K = 1": models[chosen[1.0]][1],
        "width of the best Gaussian, K = 2": models[chosen[2.0]][1],
        "gain from training for K = 2": left[2.0][chosen[1.0]] - left[2.0][chosen[2.0]],
    }
    best = {budget: models[i] for budget, i in chosen.items()}
    return Measured(values, Landscape(distances, losses, best))


def draw_landscape(shown: Landscape) -> Figure:
    """Losses of ten modes for four budgets, and the best Gaussian for two."""
    figure = Figure(figsize=(5.6, 5.0), layout="constrained")
    above, below = figure.subplots(2, 1)
    for (budget, losses), color in zip(shown.losses.items(), (INK, *COLORS), strict=False):
        above.plot(shown.distances, losses, color=color, linewidth=2)
        name(above, f"K = {budget:g}", (3.24, losses[-1]), color, side="right")
    above.set(xlabel="distance between the model's modes", xlim=(0.6, 3.65), ylim=(0, 0.75))
    above.set(xticks=(1, 2, 3), yticks=(0, 0.3, 0.6))
    above.set_title("Divergence after rejection, real modes at distance 2", fontsize=10)
    x = np.linspace(-6, 6, 641)
    real = two_modes(5.0)
    below.fill_between(x, real.density(x), color=INK, alpha=0.3, linewidth=0)
    for model, color in zip(shown.best.values(), (INK, BLUE), strict=True):
        density = gaussian(*model).density(x)
        rule = AcceptanceRule.from_profile(profile_of(real, gaussian(*model), x), budget=2.0)
        accepted = rule.acceptance(np.log(real.density(x)) - np.log(density))
        below.plot(x, density, color=color, linewidth=2)
        below.plot(x, density * accepted / rule.rate, ":", color=color, linewidth=2)
    name(below, "real data", (-2.5, 0.45), INK, side="middle")
    name(below, "trained for K = 1", (1.7, 0.7), INK)
    name(below, "trained for K = 2", (0, 0.3), BLUE, side="middle")
    below.set(xlim=(-6, 6), yticks=[], ylim=(0, 0.9), xticks=(-2.5, 0, 2.5))
    below.set_title("One Gaussian; dotted: after rejection with K = 2", fontsize=10)
    for ax in (above, below):
        ax.spines[["top", "right"]].set_visible(False)
    return figure


EXPERIMENTS = (
    Experiment(
        "landscape",
        "exact",
        "A budget for rejection removes local minima and favors models that cover all modes",
        {
            "local minima, K = 1": Claim("figure 6.13: several", 2),
            "local minima, K = 10": Claim("figure 6.13: none (for distances up to 3.2)", high=0),
            "mean of the best Gaussian, K = 1": Claim(
                "figure 6.15: on one mode (here at 2.5)", 2.2, 2.8
            ),
            "width of the best Gaussian, K = 1": Claim(
                "figure 6.15: as narrow as a mode (here 0.5)", 0.4, 0.6
            ),
            "mean of the best Gaussian, K = 2": Claim(
                "figure 6.15: between the modes (here 0)", -0.3, 0.3
            ),
            "width of the best Gaussian, K = 2": Claim(
                "figure 6.15: wide enough to cover both modes", 2.0, 4.0
            ),
            "gain from training for K = 2": Claim(
                "section 6.3.1: after rejection, closer to the real data than the model for K = 1",
                0.01,
            ),
        },
        measure_landscape,
        draw_landscape,
    ),
)

if __name__ == "__main__":
    main(EXPERIMENTS, __doc__)
