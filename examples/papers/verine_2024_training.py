"""Training in Verine (2024), chapter 5: why the PR-divergence needs an auxiliary divergence.

    python -m examples.papers.verine_2024_training --output pictures
    python -m examples.papers.verine_2024_training --only naive --quick --output pictures

Networks are small and data have one or two dimensions, so that densities, and with them all
divergences, are known.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from matplotlib.figure import Figure
from torch import nn

from examples.papers.gallery import Claim, Experiment, Measured, main
from examples.parts.line import gaussian, profile_of, two_modes
from examples.parts.loop import descend
from examples.parts.plane import PlaneMixture, make_grid, masses
from examples.parts.style import COLORS, INK, name
from tradeoff import HeldOutLogRatios, RatioProfile
from tradeoff.core.divergence import GAN, KL, Divergence, Pearson, PRDivergence
from tradeoff.training import DivergenceLoss, Loss, PRLoss

BLUE, ORANGE, GREEN = COLORS[:3]


class NaiveLoss(Loss):
    """Both networks on the dual of the PR-divergence itself, which `Loss` does not accept.

    Args:
        lam: Slope λ.
    """

    def __init__(self, lam: float) -> None:
        super().__init__(GAN())
        self.divergence = PRDivergence(lam)

    def discriminator_loss(self, real: torch.Tensor, generated: torch.Tensor) -> torch.Tensor:
        """The negative dual."""
        critic: torch.Tensor = self.divergence.activation(real)
        return -self.generator_loss(generated) - critic.mean()

    def generator_loss(self, generated: torch.Tensor) -> torch.Tensor:
        """The generated side of the dual."""
        dual: torch.Tensor = self.divergence.conjugate(self.divergence.activation(generated))
        return -dual.mean()

    def gain(self, log_ratio: torch.Tensor) -> torch.Tensor:
        """Not defined: the discriminator does not know the ratio."""
        raise NotImplementedError


def push(divergence: Divergence, outputs: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """Gradients by which outputs are raised for real samples and lowered for generated ones."""
    w = torch.tensor(outputs, dtype=torch.float64, requires_grad=True)
    (up,) = torch.autograd.grad(divergence.activation(w).sum(), w)
    (down,) = torch.autograd.grad(divergence.conjugate(divergence.activation(w)).sum(), w)
    return up.numpy(), down.numpy()


TARGET = two_modes(4.0)
LINE = np.linspace(-14, 14, 1401)


class Run(NamedTuple):
    """A training of a Gaussian: the true divergence, and the discriminator's at the beginning."""

    divergence: np.ndarray
    seen: float


def train(loss: Loss, lam: float, *, steps: int, seed: int) -> Run:
    """Train mean and width of a Gaussian on two modes; the discriminator begins 100 steps earlier.

    Samples are quantiles, always the same, so that only the initial weights are random.
    """
    torch.manual_seed(seed)
    z = torch.special.ndtri((torch.arange(128) + 0.5) / 128)
    real = torch.cat([mean + TARGET.widths[0] * z[i::2] for i, mean in enumerate(TARGET.means)])
    network = nn.Sequential(
        *(nn.Linear(1, 48), nn.LeakyReLU(0.2), nn.Linear(48, 48), nn.LeakyReLU(0.2)),
        nn.Linear(48, 1),
    )
    model = torch.tensor([1.0, math.log(1.5)], requires_grad=True)
    theirs = torch.optim.Adam(network.parameters(), 1e-3, betas=(0.5, 0.99), fused=True)
    ours = torch.optim.Adam([model], 1e-2, betas=(0.5, 0.99))
    found, seen, target = [], 0.0, PRDivergence(lam)
    for step in range(-100, steps):
        made = (model[0] + model[1].exp() * z)[:, None]
        descend(theirs, loss.discriminator_loss(network(real[:, None]), network(made.detach())))
        if step >= 0 and step % 10 == 0:
            mean, width = model[0].item(), model[1].exp().item()
            found.append(target.of(profile_of(TARGET, gaussian(mean, width), LINE)))
        if step == 0:
            with torch.no_grad():
                seen = dual(loss, lam, network(real[:, None]), network(made)) / found[0]
        if step >= 0:
            descend(ours, loss.generator_loss(network(made)))
    return Run(np.array(found), seen)


def dual(loss: Loss, lam: float, real: torch.Tensor, generated: torch.Tensor) -> float:
    """The PR-divergence that a discriminator finds between samples."""
    if isinstance(loss, NaiveLoss):
        return -loss.discriminator_loss(real, generated).item()
    ratios = [loss.log_ratio(side).flatten().numpy() for side in (real, generated)]
    curve = HeldOutLogRatios(real=ratios[0], generated=ratios[1]).curve()
    return PRDivergence(lam).of_curve(curve)


def measure_naive(quick: bool) -> Measured:
    """Train a Gaussian for λ = 1 and λ = 5, on the dual of D and with an auxiliary divergence."""
    steps, seeds = (300, 1) if quick else (2000, 5)
    runs = {
        (lam, way): [train(loss(lam), lam, steps=steps, seed=seed) for seed in range(seeds)]
        for lam in (1.0, 5.0)
        for way, loss in (("naive", NaiveLoss), ("auxiliary", PRLoss))
    }
    values = {}
    for lam in (1.0, 5.0):
        naive, auxiliary = (
            [run.divergence[len(run.divergence) // 2 :].mean() for run in runs[lam, way]]
            for way in ("naive", "auxiliary")
        )
        start = runs[lam, "naive"][0].divergence[0]
        values[f"naive training: change, λ = {lam:g}"] = float(min(naive) - start)
        values[f"auxiliary divergence: change, λ = {lam:g}"] = float(max(auxiliary) - start)
        values[f"naive discriminator: share found, λ = {lam:g}"] = max(
            run.seen for run in runs[lam, "naive"]
        )
    for key, divergence in (("PR", PRDivergence(1.0)), ("GAN", GAN()), ("χ²", Pearson())):
        values[f"gradient, misclassified real, {key}"] = push(divergence, [-10.0])[0].item()
        values[f"gradient, misclassified generated, {key}"] = push(divergence, [10.0])[1].item()
    return Measured(values, runs)


def draw_naive(shown: Mapping[tuple[float, str], list[Run]]) -> Figure:
    """Gradients of two discriminators, and the divergence during two trainings."""
    figure = Figure(figsize=(5.6, 5.0), layout="constrained")
    above, below = figure.subplots(2, 1)
    outputs = np.linspace(-10, 10, 401)
    for divergence, color in ((PRDivergence(1.0), ORANGE), (GAN(), BLUE)):
        real, generated = push(divergence, list(outputs))
        above.plot(outputs, real, color=color, linewidth=2)
        above.plot(outputs, generated, color=color, linewidth=2, linestyle=":")
    name(above, "auxiliary (GAN),\nreal samples", (-9.5, 0.82), BLUE, side="right")
    name(above, "generated\nsamples", (9.5, 0.82), BLUE)
    name(above, "PR-divergence,\nboth", (-2.2, 0.3), ORANGE)
    above.set(xlabel="output of the discriminator", ylim=(0, 1.1), xlim=(-10, 10), yticks=(0, 1))
    above.set_xticks([-10, -5, 0, 5, 10], ["−10", "−5", "0", "5", "10"])
    above.set_title("Gradient of the discriminator's loss", fontsize=10)
    for way, color in (("naive", ORANGE), ("auxiliary", BLUE)):
        for run in shown[5.0, way]:
            below.plot(10 * np.arange(len(run.divergence)), run.divergence, color=color)
    last = 10 * len(shown[5.0, "naive"][0].divergence)
    name(below, "naive", (0.6 * last, 0.72), ORANGE, side="middle")
    name(below, "with an auxiliary divergence", (0.6 * last, 0.08), BLUE, side="middle")
    below.set(xlabel="training steps", ylim=(-0.02, 0.9), xlim=(0, last), yticks=(0, 0.4, 0.8))
    below.set_title("PR-divergence of the model at λ = 5", fontsize=10)
    for ax in (above, below):
        ax.spines[["top", "right"]].set_visible(False)
    return figure


class Guess(NamedTuple):
    """An imperfect discriminator on a discrete pair: gaps of the duals, and errors at some λ."""

    gap: float
    printed: float
    bregman: float
    errors: Mapping[float, float]


BOUNDED = (0.2, 1.0, 5.0)


def guess(g: Divergence, p: np.ndarray, q: np.ndarray, ratio: np.ndarray) -> Guess:
    """What a discriminator that believes in a ratio finds of D_g and of the PR-divergences."""
    profile, true = RatioProfile.from_masses(p, q), p / q
    output = g.derivative(ratio)
    gap = g.of(profile) - (p @ output - q @ g.conjugate(output))
    errors = {
        lam: abs(PRDivergence(lam).of(profile) - q @ PRDivergence(lam).generator(ratio))
        for lam in BOUNDED
    }
    return Guess(
        float(gap), float(q @ bregman(g, ratio, true)), float(q @ bregman(g, true, ratio)), errors
    )


def bregman(g: Divergence, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The Bregman divergence of g from b, at a."""
    return np.asarray(g.generator(a) - g.generator(b) - g.derivative(b) * (a - b))


def guesses(g: Divergence, *, n: int) -> list[Guess]:
    """Random pairs on 50 values, each with a discriminator that is wrong by a random amount."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(n):
        p, q = rng.dirichlet(np.full(50, 2.0), 2)
        noise = 10 ** rng.uniform(-2, 0) * (rng.normal(size=50) + rng.normal())
        found.append(guess(g, p, q, p / q * np.exp(noise)))
    return found


class Networks(nn.Module):
    """Many small networks of equal shape, trained at once."""

    def __init__(self, n: int, widths: Sequence[int] = (2, 64, 64, 1)) -> None:
        super().__init__()
        self.weights = nn.ParameterList(
            (2 * torch.rand(n, above, below) - 1) / math.sqrt(above)
            for above, below in pairwise(widths)
        )
        self.biases = nn.ParameterList(torch.zeros(n, 1, below) for below in widths[1:])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """From places of shape (n, m, 2), or (m, 2) for all networks, to shape (n, m)."""
        for i, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            x = (nn.functional.leaky_relu(x, 0.2) if i else x) @ weight + bias
        return x[..., 0]


def train_discriminators(n: int, *, steps: int) -> np.ndarray:
    """PR-divergences at λ = 1 of random pairs in the plane: true, and by three discriminators.

    The first two give E[f(r)] with χ² and KL as auxiliary divergence, as in the thesis. The third
    gives the bound of the library: the dual at the side of the kink on which r is, with GAN.
    """
    torch.manual_seed(0)
    sides = [
        [PlaneMixture(1.7 * torch.randn(3, 2), 0.5 + torch.rand(3)) for _ in range(n)]
        for _ in range(2)
    ]
    places = make_grid(9.0, 121)
    p, q = (np.stack([masses(one.log_density(places)) for one in side]) for side in sides)
    target = PRDivergence(1.0)
    found = [
        np.array([target.of(RatioProfile.from_masses(*pair)) for pair in zip(p, q, strict=True)])
    ]
    for auxiliary in (Pearson(), KL(), GAN()):
        network, loss = Networks(n), DivergenceLoss(auxiliary)
        optimizer = torch.optim.Adam(network.parameters(), 2e-3, fused=True)
        for _ in range(steps):
            real, made = (network(torch.stack([one.sample(256) for one in side])) for side in sides)
            descend(optimizer, loss.discriminator_loss(real, made))
        with torch.no_grad():
            log_ratio = loss.log_ratio(network(places)).double().numpy()
        if isinstance(auxiliary, GAN):
            found.append(((p - q) * (log_ratio > 0)).sum(1))
        else:
            found.append((q * target.generator(np.exp(log_ratio))).sum(1))
    return np.stack(found, 1)


def measure_bregman(quick: bool) -> Measured:
    """Random discriminators on discrete pairs, and trained ones on random mixtures."""
    drawn, pairs, steps = (300, 12, 250) if quick else (5000, 40, 400)
    found = {g.name: guesses(g, n=drawn) for g in (Pearson(), KL(), GAN())}
    trained = train_discriminators(pairs, steps=steps)
    errors = np.abs(trained[:, 1:] - trained[:, :1]).mean(0)
    pearson, kl = (found[g.name] for g in (Pearson(), KL()))
    values = {
        "dual gap, corrected order": max(
            abs(one.gap / one.bregman - 1) for ones in found.values() for one in ones
        ),
        "dual gap, printed order, χ²": max(abs(one.printed / one.gap - 1) for one in pearson),
        "dual gap, printed order, KL": max(abs(one.printed / one.gap - 1) for one in kl),
        "largest error / its bound, χ²": max(
            one.errors[lam] / (lam * math.sqrt(one.gap)) for one in pearson for lam in BOUNDED
        ),
        "mean error, KL / χ²": float(errors[1] / errors[0]),
        "mean error, χ² / library": float(errors[0] / errors[2]),
    }
    return Measured(values, (pearson, trained))


def draw_bregman(shown: tuple[list[Guess], np.ndarray]) -> Figure:
    """Errors below their bound, and estimates of trained discriminators."""
    figure = Figure(figsize=(5.8, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    gap = np.array([one.gap for one in shown[0]])
    left.plot(gap, [one.errors[1.0] for one in shown[0]], ".", color=BLUE, markersize=3)
    line = np.array([gap.min(), gap.max()])
    left.plot(line, np.sqrt(line), color=INK, linewidth=2)
    left.set(xscale="log", yscale="log", ylim=(3e-4, 30), xlabel="gap of the dual estimate, χ²")
    left.set_xticks([0.001, 0.1, 10], ["0.001", "0.1", "10"])
    left.set_yticks([0.001, 0.1, 10], ["0.001", "0.1", "10"])
    left.set_title("Error of the PR-divergence", fontsize=10)
    name(left, "bound", (0.05, 1.2), INK, side="middle")
    name(left, "random dis-\ncriminators", (0.4, 0.002), BLUE, side="right")
    right.plot((0, 1), (0, 1), color=INK, linewidth=1)
    for i, color in ((2, ORANGE), (1, BLUE), (3, GREEN)):
        right.plot(shown[1][:, 0], shown[1][:, i], "o", color=color, markersize=4)
    name(right, "χ²", (0.05, 1.12), BLUE, side="right")
    name(right, "KL", (0.05, 1.0), ORANGE, side="right")
    name(right, "library", (0.05, 0.88), GREEN, side="right")
    right.set(xlim=(0, 1), ylim=(0, 1.2), xlabel="true PR-divergence", xticks=(0, 0.5, 1))
    right.set(yticks=(0, 0.5, 1))
    right.set_title("Estimated PR-divergence", fontsize=10)
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    return figure


LEARNS = (
    "At λ = 1, the discriminator finds more than half of the divergence after 100 steps. The model "
    "moves away from the data all the same."
)
NAIVE = {
    **{
        claim: value
        for lam in (1, 5)
        for claim, value in (
            (
                f"naive training: change, λ = {lam}",
                Claim("figure 5.3: naive training does not converge", 0.05),
            ),
            (
                f"auxiliary divergence: change, λ = {lam}",
                Claim("figure 5.3: training with an auxiliary divergence converges", high=-0.01),
            ),
            (
                f"naive discriminator: share found, λ = {lam}",
                Claim(
                    "section 5.2: does not learn to separate real from generated samples",
                    high=0.5,
                    **({"instead": (0.5, 0.9), "why_not": LEARNS} if lam == 1 else {}),
                ),
            ),
        )
    },
    "gradient, misclassified real, PR": Claim("figure 5.2: close to 0", high=1e-4),
    "gradient, misclassified generated, PR": Claim("figure 5.2: close to 0", high=1e-4),
    "gradient, misclassified real, GAN": Claim("figure 5.1: balanced", 0.5, 5),
    "gradient, misclassified generated, GAN": Claim("figure 5.1: balanced", 0.5, 5),
    "gradient, misclassified generated, χ²": Claim("figure 5.1: balanced", 0.5, 5),
    "gradient, misclassified real, χ²": Claim(
        "figure 5.1: balanced",
        *(0.5, 5),
        instead=(0, 1e-4),
        why_not="With the activation of table 5.1, the gradient of χ² vanishes for real samples "
        "with a low output.",
    ),
}

EXPERIMENTS = (
    Experiment(
        "naive",
        "simulated",
        "A discriminator trained on the PR-divergence itself has no gradient where it is wrong",
        NAIVE,
        measure_naive,
        draw_naive,
    ),
    Experiment(
        "bregman",
        "simulated",
        "The error of a discriminator bounds the error of the estimated PR-divergence",
        {
            "dual gap, corrected order": Claim(
                "theorem 5.2.3, misprint corrected (erratum 25): equal to Breg(p/q, r)", high=1e-8
            ),
            "dual gap, printed order, χ²": Claim(
                "equation 5.15, as printed: equal to Breg(r, p/q)", high=1e-8
            ),
            "dual gap, printed order, KL": Claim(
                "equation 5.15, as printed: equal to Breg(r, p/q)",
                high=1e-8,
                instead=(0.1, 10),
                why_not="Misprint (erratum 25): the arguments are swapped, which matters unless g "
                "is quadratic.",
            ),
            "largest error / its bound, χ²": Claim("theorem 5.2.4: never above 1", high=1),
            "mean error, KL / χ²": Claim("figure 5.6: χ² is the better auxiliary divergence", 1.2),
            "mean error, χ² / library": Claim(
                "not in the thesis: the library's estimate has a smaller error", 2
            ),
        },
        measure_bregman,
        draw_bregman,
    ),
)

if __name__ == "__main__":
    main(EXPERIMENTS, __doc__)
