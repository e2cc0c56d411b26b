"""Mixtures of Gaussians on a line: densities, balls of a known mass, samples, and their curves."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from scipy.spatial import cKDTree
from scipy.special import ndtr
from scipy.stats import norm

from tradeoff import PRCurve, RatioProfile


class Mixture(NamedTuple):
    """A mixture of Gaussians on a line.

    Args:
        means: Mean of each Gaussian.
        widths: Standard deviation of each Gaussian.
        weights: Weight of each Gaussian; they sum to 1.
    """

    means: Sequence[float]
    widths: Sequence[float]
    weights: Sequence[float]

    def density(self, x: np.ndarray) -> np.ndarray:
        """Density at places of any shape."""
        return np.asarray(norm.pdf(x[..., None], self.means, self.widths) @ self.weights)

    def cdf(self, x: np.ndarray) -> np.ndarray:
        """Mass below places of any shape."""
        return np.asarray(ndtr((x[..., None] - self.means) / self.widths) @ self.weights)

    def masses(self, x: np.ndarray) -> np.ndarray:
        """Masses of the cells of an even grid, which sum to 1."""
        density = self.density(x)
        return np.asarray(density / density.sum())

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Independent samples, shape (n,)."""
        which = rng.choice(len(self.means), n, p=self.weights)
        return rng.normal(np.take(self.means, which), np.take(self.widths, which))


def two_modes(distance: float, width: float = 0.5) -> Mixture:
    """Two equal modes, that far apart."""
    return Mixture((-distance / 2, distance / 2), (width, width), (0.5, 0.5))


def gaussian(mean: float, width: float) -> Mixture:
    """One Gaussian."""
    return Mixture((mean,), (width,), (1.0,))


def profile_of(real: Mixture, model: Mixture, x: np.ndarray) -> RatioProfile:
    """The distribution of p/q for two mixtures on an even grid."""
    return RatioProfile.from_masses(real.masses(x), model.masses(x))


def outline(curve: PRCurve) -> tuple[np.ndarray, np.ndarray]:
    """Recall and precision along a curve."""
    lam = np.concatenate(([0.0], np.geomspace(1e-8, 1e8, 2001), [np.inf]))
    return curve.recall(lam), curve.precision(lam)


def draw_plane(ax: Axes) -> None:
    """The plane of recall and precision."""
    ax.set(xlim=(0, 1.02), ylim=(0, 1.02), xlabel="recall", ylabel="precision")
    ax.set(xticks=(0, 0.5, 1), yticks=(0, 0.5, 1), aspect="equal")
    ax.spines[["top", "right"]].set_visible(False)


def ball_masses(own: Mixture, other: Mixture, x: np.ndarray, mass: float) -> np.ndarray:
    """Mass of another distribution in balls around places that hold a mass of the own one."""
    low, high = np.zeros_like(x), np.full_like(x, 40.0)
    for _ in range(60):
        radius = (low + high) / 2
        small = own.cdf(x + radius) - own.cdf(x - radius) < mass
        low, high = np.where(small, radius, low), np.where(small, high, radius)
    return np.asarray(other.cdf(x + radius) - other.cdf(x - radius))


def mass_where(margin: np.ndarray, cumulated: np.ndarray) -> float:
    """Mass of the cells of a grid in which a margin is not negative, with part of a cell."""
    left, right = margin[:-1], margin[1:]
    top, change = np.maximum(left, right), np.maximum(np.abs(left - right), 1e-300)
    part = np.where(np.minimum(left, right) >= 0, 1.0, np.clip(top / change, 0.0, 1.0))
    return float(part @ np.diff(cumulated))


def cover_precision(
    real: Mixture, model: Mixture, lam: np.ndarray, *, mass: float, points: int
) -> np.ndarray:
    """Precision at each λ from balls of a mass: precision cover plus λ times recall cover."""
    x = np.linspace(-7, 7, points)
    real_mass, model_mass = (
        ball_masses(own, other, x, mass) / ball_masses(own, own, x, mass)
        for own, other in ((model, real), (real, model))
    )
    return np.array(
        [
            mass_where(slope * real_mass - 1, model.cdf(x))
            + slope * mass_where(model_mass - slope, real.cdf(x))
            for slope in lam
        ]
    )


def counts_in_balls(own: np.ndarray, other: np.ndarray, rank: int) -> np.ndarray:
    """Number of other samples in the ball of each own one up to its neighbor of a rank."""
    radius = cKDTree(own[:, None]).query(own[:, None], k=[rank + 1])[0][:, 0]
    inside = cKDTree(other[:, None]).query_ball_point(own[:, None], radius, return_length=True)
    return np.asarray(inside)
