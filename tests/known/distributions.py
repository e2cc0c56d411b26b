"""Pairs of distributions whose precision-recall curve is known, to be sampled from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import norm

from tradeoff import RatioProfile
from tradeoff.core.divergence import KL, JensenShannon, Pearson

if TYPE_CHECKING:
    from collections.abc import Callable

_DRAWS = 20_000


@dataclass(frozen=True)
class Pair:
    """Two distributions: samples of shape (n, d) of each, and the true precision at any slope."""

    real: Callable[[np.random.Generator, int], np.ndarray]
    generated: Callable[[np.random.Generator, int], np.ndarray]
    precision: Callable[[np.ndarray], np.ndarray]
    divergences: Callable[[], dict[str, float]]

    def draw(self, n: int, seed: int) -> dict[str, np.ndarray]:
        """Samples of both sides."""
        rng = np.random.default_rng(seed)
        return {"real": self.real(rng, n), "generated": self.generated(rng, n)}


def gaussians(d: int, distance: float) -> Pair:
    """N(0, I) against N(m, I), a Mahalanobis distance apart along the first axis."""
    shift = distance * (np.arange(d) == 0)

    def precision(lam: np.ndarray) -> np.ndarray:
        if distance == 0:
            return np.minimum(1.0, lam)
        t = np.log(lam) / distance
        return lam * norm.cdf(-t - distance / 2) + norm.cdf(t - distance / 2)

    line = np.linspace(-12, 12 + distance, 200_001)
    return Pair(
        lambda rng, n: rng.normal(size=(n, d)),
        lambda rng, n: rng.normal(size=(n, d)) + shift,
        precision,
        lambda: _divergences(_profile(norm.pdf(line), norm.pdf(line, distance))),
    )


def mixtures(real: Mixture, generated: Mixture) -> Pair:
    """Mixtures of Gaussians on a line."""
    line = np.linspace(-16, 16, 400_001)
    return _on_grid(real, generated, line[:, None])


def ring(generated: Mixture) -> Pair:
    """Eight modes of standard deviation 0.2 on a circle of radius 3."""
    axis = np.arange(-12, 12, 0.02) + 0.01
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    return _on_grid(ring_mixture(8, 0.2), generated, grid)


def scattered(d: int, points: int, sd: float) -> Pair:
    """N(0, I) against Gaussians around so many draws of it, with the same variance in the mean.

    Samples of a model that remembers points of its training, or of few latent values, are like
    this. The truth is integrated over draws of both.
    """
    centers = np.random.default_rng(0).normal(size=(points, d)) * (1 - sd**2) ** 0.5
    real = Mixture((1.0,), np.zeros((1, d)), (1.0,))
    generated = Mixture((1 / points,) * points, centers, (sd,) * points)
    rng = np.random.default_rng(1)
    grid = np.concatenate((real(rng, _DRAWS), generated(rng, _DRAWS)))
    return _on_grid(real, generated, grid, drawn=True)


@dataclass(frozen=True)
class Mixture:
    """Isotropic Gaussians with weights, means of shape (k, d) and standard deviations."""

    weights: tuple[float, ...]
    means: np.ndarray
    sds: tuple[float, ...]

    def __call__(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Samples of shape (n, d)."""
        mode = rng.choice(len(self.weights), n, p=np.array(self.weights))
        noise = rng.normal(size=(n, self.means.shape[1]))
        return self.means[mode] + np.array(self.sds)[mode, None] * noise

    def density(self, x: np.ndarray) -> np.ndarray:
        """Of points of shape (n, d)."""
        total = np.zeros(len(x))
        for weight, mean, sd in zip(self.weights, self.means, self.sds, strict=True):
            total += weight * np.exp(norm.logpdf(x, mean, sd).sum(1))
        return total


def ring_mixture(modes: int, sd: float) -> Mixture:
    """The first modes of eight on a circle of radius 3."""
    angle = 2 * np.pi * np.arange(modes) / 8
    means = 3 * np.stack((np.cos(angle), np.sin(angle)), axis=1)
    return Mixture((1 / modes,) * modes, means, (sd,) * modes)


def line_mixture(weights: list[float], means: list[float], sds: list[float]) -> Mixture:
    """On a line."""
    return Mixture(tuple(weights), np.array(means)[:, None], tuple(sds))


def _on_grid(real: Mixture, generated: Mixture, grid: np.ndarray, *, drawn: bool = False) -> Pair:
    densities = _Densities(real, generated, grid, drawn)
    return Pair(
        real,
        generated,
        lambda lam: densities.profile.curve().precision(lam),
        lambda: _divergences(densities.profile),
    )


@dataclass(frozen=True)
class _Densities:
    """Two densities on an even grid, or on draws of both, computed when they are asked for."""

    real: Mixture
    generated: Mixture
    grid: np.ndarray
    drawn: bool

    @cached_property
    def profile(self) -> RatioProfile:
        p, q = self.real.density(self.grid), self.generated.density(self.grid)
        return _profile(p / (p + q), q / (p + q)) if self.drawn else _profile(p, q)


def _profile(p: np.ndarray, q: np.ndarray) -> RatioProfile:
    return RatioProfile.from_masses(p / p.sum(), q / q.sum())


def _divergences(profile: RatioProfile) -> dict[str, float]:
    return {str(d): d.of(profile) for d in (KL(), JensenShannon(), Pearson())}


_TWO_MODES = line_mixture([0.5, 0.5], [-2.0, 2.0], [0.5, 0.5])

PAIRS: dict[str, Callable[[], Pair]] = {
    **{
        f"Gaussians, d = {d}, distance {distance}": lambda d=d, distance=distance: gaussians(
            d, distance
        )
        for d in (16, 256)
        for distance in (0, 1, 2)
    },
    "ring, four modes dropped": lambda: ring(ring_mixture(4, 0.2)),
    "ring, wide modes": lambda: ring(ring_mixture(8, 0.4)),
    "ring, one Gaussian": lambda: ring(Mixture((1.0,), np.zeros((1, 2)), (4.52**0.5,))),
    "two modes, left only": lambda: mixtures(_TWO_MODES, line_mixture([1.0], [-2.0], [0.5])),
    "two modes, one wide": lambda: mixtures(_TWO_MODES, line_mixture([1.0], [0.0], [2.1])),
    "two modes, reweighted": lambda: mixtures(
        _TWO_MODES, line_mixture([0.8, 0.2], [-2.1, 1.9], [0.6, 0.4])
    ),
}
"""The pairs of the benchmark of known truths."""

SCATTERED: dict[str, Callable[[], Pair]] = {
    "scattered around 100 points, d = 8": lambda: scattered(8, 100, 0.3),
    "scattered around 100 points, d = 16": lambda: scattered(16, 100, 0.5),
}
"""Pairs that differ only in how close samples lie together."""
