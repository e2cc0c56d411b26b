"""Which way does a loss push? Frozen gradients against finite differences of what they stand for.

The ratio is exact and frozen, gradients flow through the samples alone, expectations are sums over
grids. Families: a Gaussian against a Gaussian and against two modes, by location and scale, and
random mixtures in the plane, moved and widened. A sign is wrong if the inner product with the
true gradient of the PR-divergence is not positive though its norm exceeds 1e-4.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tradeoff import AcceptanceRule, RatioProfile
from tradeoff.core.divergence import GAN, KL, Hellinger, Pearson, PRDivergence, ReverseKL
from tradeoff.training import BudgetedLoss, PRLoss, TruncatedPRLoss

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tradeoff.core.divergence import Divergence

    Generator = Callable[[torch.Tensor], torch.Tensor]

SLOPES = (0.1, 1.0, 10.0)
DIVERGENCES: tuple[Divergence, ...] = (KL(), ReverseKL(), GAN(), Pearson(), Hellinger())
STEP = 1e-4


@dataclass(frozen=True, eq=False)
class Family:
    """A mixture of round Gaussians, and a model that is moved by θ and widened by the last θ.

    Args:
        real: weights, centers of shape (k, d) and scales of the distribution.
        model: the same of the model at θ = (0, …, 0, 1).
        latents: points of a grid around 0, shape (n, d).
        grid: points on which masses are summed, shape (m, d).
    """

    real: tuple[np.ndarray, np.ndarray, np.ndarray]
    model: tuple[np.ndarray, np.ndarray, np.ndarray]
    latents: torch.Tensor
    grid: torch.Tensor

    @property
    def theta(self) -> np.ndarray:
        """Where gradients are taken."""
        d = self.grid.shape[1]
        return np.append(np.zeros(d), 1.0)

    def samples(self, theta: torch.Tensor) -> torch.Tensor:
        """Where each component of the model puts the latents, shape (k n, d)."""
        _, centers, scales = (torch.as_tensor(part) for part in self.model)
        made = centers[:, None] + theta[-1] * scales[:, None, None] * self.latents
        return (theta[:-1] + made).reshape(-1, centers.shape[1])

    def weights(self) -> torch.Tensor:
        """Of these samples."""
        density = torch.exp(-0.5 * self.latents.square().sum(1))
        return torch.outer(torch.as_tensor(self.model[0]), density / density.sum()).flatten()

    def log_ratio(self, x: torch.Tensor) -> torch.Tensor:
        """Log p/q at the θ where gradients are taken."""
        return _log_density(self.real, x) - _log_density(self.model, x)

    def profile(self, theta: np.ndarray) -> RatioProfile:
        """Masses of both distributions on the grid."""
        weights, centers, scales = self.model
        moved = (weights, theta[:-1] + centers, theta[-1] * scales)
        masses = [
            torch.exp(_log_density(mixture, self.grid)).numpy() for mixture in (self.real, moved)
        ]
        return RatioProfile.from_masses(*(mass / mass.sum() for mass in masses))

    def true_gradient(self, value: Callable[[RatioProfile], float]) -> np.ndarray:
        """Finite differences of a function of the profile."""
        found = []
        for axis in np.eye(self.theta.size):
            ends = [value(self.profile(self.theta + sign * STEP * axis)) for sign in (1, -1)]
            found.append((ends[0] - ends[1]) / (2 * STEP))
        return np.array(found)

    def frozen_gradient(self, loss: Generator) -> np.ndarray:
        """Of a loss per sample, through the samples alone."""
        theta = torch.tensor(self.theta, requires_grad=True)
        (self.weights() @ loss(self.log_ratio(self.samples(theta)))).backward()
        assert theta.grad is not None
        return theta.grad.numpy()


def _log_density(
    mixture: tuple[np.ndarray, np.ndarray, np.ndarray], x: torch.Tensor
) -> torch.Tensor:
    """Up to a constant."""
    weights, centers, scales = (torch.as_tensor(part, dtype=x.dtype) for part in mixture)
    squares = (x[:, None] - centers).square().sum(2) / (2 * scales**2)
    return torch.logsumexp(torch.log(weights) - squares - x.shape[1] * torch.log(scales), 1)


ONE = (np.ones(1), np.zeros((1, 1)), np.ones(1))
TWO = (np.full(2, 0.5), np.array([[-2.0], [2.0]]), np.full(2, 0.7))


def line_family(
    real: tuple[np.ndarray, np.ndarray, np.ndarray] = ONE,
    *,
    place: float,
    scale: float = 1.0,
    latents: int = 20_001,
) -> Family:
    """One Gaussian on a line as the model of a mixture."""
    return Family(
        real,
        (np.ones(1), np.array([[place]]), np.array([scale])),
        torch.linspace(-8, 8, latents, dtype=torch.float64)[:, None],
        torch.linspace(-25, 25, 33_001, dtype=torch.float64)[:, None],
    )


def on_the_line(quick: bool = False) -> list[Family]:
    """One Gaussian as the model of one or of two, at many locations and scales."""
    places = np.linspace(-3, 3, 3 if quick else 13)
    scales = (0.5, 1.3) if quick else (0.3, 0.5, 0.8, 1.0, 1.3, 2.0, 3.0)
    return [
        line_family(real, place=place, scale=scale)
        for real, place, scale in product((ONE, TWO), places, scales)
    ]


def in_the_plane(count: int = 20, seed: int = 0) -> list[Family]:
    """Random mixtures of three."""
    rng = np.random.default_rng(seed)
    axis = torch.linspace(-9, 9, 301, dtype=torch.float64)
    around = torch.linspace(-6, 6, 151, dtype=torch.float64)

    def mixture() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return np.full(3, 1 / 3), rng.uniform(-3, 3, (3, 2)), rng.uniform(0.5, 1.0, 3)

    grid = torch.cartesian_prod(axis, axis)
    return [
        Family(mixture(), mixture(), torch.cartesian_prod(around, around), grid)
        for _ in range(count)
    ]


def pr_value(profile: RatioProfile, lam: float) -> float:
    """The PR-divergence."""
    return PRDivergence(lam).of(profile)


def smoothed_value(profile: RatioProfile, lam: float, temperature: float) -> float:
    """PR-divergences averaged over log λ with a logistic kernel, by the trapezoidal rule."""
    u = np.linspace(-40, 40, 8001)
    kernel = np.exp(-np.abs(u)) / (1 + np.exp(-np.abs(u))) ** 2
    slopes = lam * np.exp(temperature * u)
    values = np.minimum(1.0, slopes) - profile.curve().precision(slopes)
    return float(kernel @ values / kernel.sum())


def refined_value(profile: RatioProfile, divergence: Divergence, budget: float) -> float:
    """A divergence after optimal rejection."""
    return divergence.of(AcceptanceRule.from_profile(profile, budget=budget).refine(profile))


def smoothed(lam: float, temperature: float) -> Generator:
    """The loss of the package."""
    return lambda v: -PRLoss(lam, temperature=temperature).gain(v)


def published(lam: float) -> Generator:
    """The form of the published code."""
    return lambda v: -TruncatedPRLoss(lam).gain(v)


def printed(lam: float) -> Generator:
    """The printed loss of the generator, E_Q[f_λ(r)]."""
    return lambda v: PRDivergence(lam).generator(torch.exp(v))


def printed_budgeted(divergence: Divergence, budget: float, log_constant: float) -> Generator:
    """The printed loss for training with rejection, E_Q[K a f(r/(K a))]."""

    def loss(v: torch.Tensor) -> torch.Tensor:
        a = budget * torch.exp(torch.clamp(v + log_constant, max=0.0))
        return a * divergence.generator(torch.exp(v) / a)

    return loss


def wrong_signs(make: Callable[[float], Generator], families: Sequence[Family]) -> dict[str, Any]:
    """How often a loss pushes against the PR-divergence it is meant for."""
    count = wrong = 0
    for family, lam in product(families, SLOPES):
        true = family.true_gradient(partial(pr_value, lam=lam))
        if np.linalg.norm(true) > STEP:
            count += 1
            wrong += bool(family.frozen_gradient(make(lam)) @ true <= 0)
    return {"comparisons": count, "wrong signs": wrong, "share": wrong / count}


def worst_error(
    pairs: Sequence[tuple[Generator, Callable[[RatioProfile], float]]], families: Sequence[Family]
) -> float:
    """The largest difference of frozen and true gradients, relative to norms above 1."""
    worst = 0.0
    for family, (loss, value) in product(families, pairs):
        true = family.true_gradient(value)
        error = np.abs(family.frozen_gradient(loss) - true).max()
        worst = max(worst, float(error / max(1.0, np.linalg.norm(true))))
    return worst


def smoothed_error(temperature: float, families: Sequence[Family]) -> float:
    """Against the smoothed divergence."""
    pairs = [
        (
            smoothed(lam, temperature),
            partial(smoothed_value, lam=lam, temperature=temperature),
        )
        for lam in SLOPES
    ]
    return worst_error(pairs, families)


def budgeted_row(divergence: Divergence, budget: float) -> dict[str, Any]:
    """Derivatives by mean and scale: the truth, the exact loss and the printed one."""
    # Many latents: the gain has a kink.
    family = line_family(TWO, place=0.7, scale=1.3, latents=400_001)
    true = family.true_gradient(partial(refined_value, divergence=divergence, budget=budget))
    loss = BudgetedLoss(budget, divergence)
    rule = AcceptanceRule.from_profile(family.profile(family.theta), budget=budget)
    loss.log_constant = rule.log_constant
    exact = family.frozen_gradient(lambda v: -loss.gain(v))
    other = family.frozen_gradient(printed_budgeted(divergence, budget, rule.log_constant))
    names = ("by place", "by width")
    row = {f"true {n}": round(float(v), 4) for n, v in zip(names, true, strict=True)}
    row |= {f"ours {n}": round(float(v), 4) for n, v in zip(names, exact, strict=True)}
    row |= {f"printed {n}": round(float(v), 4) for n, v in zip(names, other, strict=True)}
    return row | {
        "ratio": float(np.abs(exact - true).max()),
        "bar": 1e-4,
    }
