"""Lower bounds of Verine (2024), section 4.4 and appendix A: what Lipschitz flows cannot reach.

    python -m examples.papers.verine_2024_lipschitz --quick --output pictures

A generator that stretches noise only so much must put samples between separate modes, and one that
compresses it only so much cannot make narrow modes. Both hold for residual flows, whose constants
are known, trained on three modes in the plane.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from matplotlib.figure import Figure

from examples.papers.gallery import Claim, Experiment, Measured, main
from examples.papers.lipschitz_bounds import forward_lipschitz_bound, inverse_lipschitz_bound
from examples.parts.plane import make_grid, masses, ring, train_residual
from examples.parts.style import COLORS, INK, name
from tradeoff import RatioProfile
from tradeoff.core.divergence import PRDivergence

BLUE, ORANGE = COLORS[:2]

MODES = ring(3, radius=2.5, width=0.25)
RADII = np.geomspace(0.02, 5, 300)
LAMBDAS = np.geomspace(0.1, 10, 41)


class Bounds(NamedTuple):
    """A trained flow: its constants, its PR-divergences at each λ and the bounds below them."""

    forward: float
    inverse: float
    divergence: np.ndarray
    forward_bound: np.ndarray
    inverse_bound: np.ndarray

    @property
    def margin(self) -> float:
        """Smallest distance of a divergence from the larger bound, where one is positive."""
        bound = np.maximum(self.forward_bound, self.inverse_bound)
        return float((self.divergence - bound)[bound > 0].min())


def bound(lipschitz: float, *, steps: int, side: int) -> tuple[Bounds, Bounds]:
    """A flow of blocks of a Lipschitz constant: bounds by theory, and by measured constants."""
    flow = train_residual(MODES, lipschitz, steps=steps)
    places = make_grid(6.0, side)
    with torch.no_grad():
        profile = RatioProfile.from_masses(
            masses(MODES.log_density(places)), masses(flow.log_prob(places))
        )
        stretch = torch.linalg.svdvals(flow(places)[1])
    blocks = len(flow.inner)
    by_theory = ((1 - lipschitz) ** -blocks, (1 + lipschitz) ** blocks)
    measured = (1 / stretch[:, 1].min().item(), stretch[:, 0].max().item())
    divergence = np.array([PRDivergence(lam).of(profile) for lam in LAMBDAS])
    center = flow.generate(torch.zeros(1, 2)).numpy()[0]
    empty, full = MODES.ball(center, RADII), MODES.ball(MODES.centers[0].numpy(), RADII)
    return (
        compare(*by_theory, divergence, (empty, full)),
        compare(*measured, divergence, (empty, full)),
    )


def compare(
    forward: float, inverse: float, divergence: np.ndarray, balls: tuple[np.ndarray, np.ndarray]
) -> Bounds:
    """Both bounds at each λ, from masses of balls around G(0) and around a mode."""
    found = (
        [
            rule(lam, lipschitz=constant, latent_dim=2, radii=RADII, mass=mass)
            for lam in map(float, LAMBDAS)
        ]
        for rule, constant, mass in (
            (forward_lipschitz_bound, forward, balls[0]),
            (inverse_lipschitz_bound, inverse, balls[1]),
        )
    )
    return Bounds(forward, inverse, divergence, *map(np.array, found))


def measure_lipschitz(quick: bool) -> Measured:
    """Flows whose blocks have several Lipschitz constants, trained on three modes."""
    constants = (0.1, 0.3, 0.6) if quick else (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    steps, side = (200, 161) if quick else (3000, 321)
    found = [bound(constant, steps=steps, side=side) for constant in constants]
    by_theory, measured = zip(*found, strict=True)
    one = int(np.abs(np.log(LAMBDAS)).argmin())
    first = by_theory[0]
    values = {
        "smallest margin, theoretical constants": min(flow.margin for flow in by_theory),
        "smallest margin, measured constants": min(flow.margin for flow in measured),
        "largest bound from the generator": max(flow.forward_bound.max() for flow in by_theory),
        "largest bound from the inverse": max(flow.inverse_bound.max() for flow in by_theory),
        "decrease of the divergence with a larger constant": first.divergence[one]
        - by_theory[-1].divergence[one],
        "bound at λ = 1 minus the larger one at λ = 0.1 and 10": first.forward_bound[one]
        - first.forward_bound[[0, -1]].max(),
    }
    return Measured(values, by_theory)


def draw_lipschitz(shown: Sequence[Bounds]) -> Figure:
    """Divergence and bounds by the constant, and by λ for the first flow."""
    figure = Figure(figsize=(5.8, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    one = int(np.abs(np.log(LAMBDAS)).argmin())
    constants = [flow.forward for flow in shown]
    for part, color in zip(list(zip(*shown, strict=True))[2:], (INK, BLUE, ORANGE), strict=True):
        left.plot(constants, np.array(part)[:, one], "o-", color=color)
        right.plot(LAMBDAS, part[0], color=color, linewidth=2)
    printed = shown[0].forward_bound - np.maximum(LAMBDAS - 1, 0)
    right.plot(LAMBDAS, printed, color=BLUE, linewidth=2, linestyle=":")
    name(left, "trained flows", (constants[-1], 0.95), INK)
    name(left, "bound from the\ngenerator", (constants[0] * 1.3, 0.66), BLUE, side="right")
    name(right, "as printed", (1.9, 0.25), BLUE, side="right")
    name(right, "inverse", (2.0, 0.08), ORANGE, side="right")
    left.set(xscale="log", xlabel="Lipschitz constant", ylim=(0, 1.05), yticks=(0, 0.5, 1))
    ticks = [tick for tick in (1, 2, 5, 10, 100, 1000) if tick <= 1.5 * constants[-1]]
    left.set_xticks(ticks, list(map(str, ticks)))
    left.set_xticks([], minor=True)
    right.set(xscale="log", xlabel="λ", xlim=(0.1, 10))
    right.set_xticks([0.1, 1, 10], ["0.1", "1", "10"])
    left.set_title("PR-divergence at λ = 1", fontsize=10)
    right.set_title("Smallest constant, all λ", fontsize=10)
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    return figure


EXPERIMENTS = (
    Experiment(
        "lipschitz",
        "simulated",
        "A flow with small Lipschitz constants cannot fit separate, narrow modes",
        {
            "smallest margin, theoretical constants": Claim(
                "theorems 4.4.3 and A.2.1: the divergence is never below the bounds", 0
            ),
            "smallest margin, measured constants": Claim(
                "theorems 4.4.3 and A.2.1: the same, with constants measured on a grid", 0
            ),
            "largest bound from the generator": Claim(
                "section 4.4.3: positive for separate modes", 0.1
            ),
            "largest bound from the inverse": Claim(
                "appendix A.2: positive for narrow modes", 0.02
            ),
            "decrease of the divergence with a larger constant": Claim(
                "section 4.4.3: a larger constant makes the flow more expressive", 0.05
            ),
            "bound at λ = 1 minus the larger one at λ = 0.1 and 10": Claim(
                "section 4.4.3: the bound is weaker at extreme λ", 0.05
            ),
        },
        measure_lipschitz,
        draw_lipschitz,
    ),
)

if __name__ == "__main__":
    main(EXPERIMENTS, __doc__)
