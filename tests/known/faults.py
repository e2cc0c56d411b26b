"""Models whose fault is known, with their true curve and balanced point: samples in any columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp

from tradeoff import RatioProfile

if TYPE_CHECKING:
    from collections.abc import Callable

    from tradeoff import PRCurve

MODES = 12
_DRAWS = 40_000


@dataclass(frozen=True, eq=False)
class Blend:
    """A mixture of Gaussians: weights, means of shape (k, d), and factors of their covariance.

    Args:
        weights: Weight of each mode.
        means: Means, shape (k, d).
        factor: Matrix A of x = mean + A z, shape (d, d).
    """

    weights: np.ndarray
    means: np.ndarray
    factor: np.ndarray

    def draw(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Samples of shape (n, d)."""
        mode = rng.choice(len(self.weights), n, p=self.weights)
        return self.means[mode] + rng.normal(size=(n, self.means.shape[1])) @ self.factor.T

    def log_density(self, x: np.ndarray) -> np.ndarray:
        """Of points of shape (n, d), up to a constant of d."""
        scaled = np.linalg.inv(self.factor)
        y, centers = x @ scaled.T, self.means @ scaled.T
        squares = (y**2).sum(1)[:, None] - 2 * y @ centers.T + (centers**2).sum(1)
        size = np.linalg.slogdet(self.factor)[1]
        with np.errstate(divide="ignore"):
            return logsumexp(np.log(self.weights) - 0.5 * squares, axis=1) - size


@dataclass(frozen=True, eq=False)
class Fault:
    """Real data and a model with a known fault.

    Args:
        name: What is wrong.
        real: Distribution of the real data.
        generated: Distribution of the model; None if it lies on a set of measure 0.
        sampler: Draws samples of such a model.
    """

    name: str
    real: Blend
    generated: Blend | None
    sampler: Callable[[np.random.Generator, int], np.ndarray] | None = None

    def draw(self, n: int, seed: int) -> dict[str, np.ndarray]:
        """Samples of both sides."""
        rng = np.random.default_rng(seed)
        made = self.sampler if self.generated is None else self.generated.draw
        assert made is not None
        return {"real": self.real.draw(rng, n), "generated": made(rng, n)}

    @cached_property
    def curve(self) -> PRCurve:
        """The true curve, integrated over draws of both sides."""
        if self.generated is None:
            return RatioProfile.from_masses(p=[1.0, 0.0], q=[0.0, 1.0]).curve()
        rng = np.random.default_rng(0)
        x = np.concatenate([side.draw(rng, _DRAWS) for side in (self.real, self.generated)])
        log_ratio = np.clip(self.real.log_density(x) - self.generated.log_density(x), -300, 300)
        p, q = 1.0 / (1.0 + np.exp(-log_ratio)), 1.0 / (1.0 + np.exp(log_ratio))
        return RatioProfile.from_masses(p / p.sum(), q / q.sum()).curve()


@cache
def faults(d: int) -> dict[str, Fault]:
    """Faults by name, in a number of columns."""
    rng = np.random.default_rng(5)
    angle = 2 * np.pi * np.arange(MODES) / MODES
    means = rng.normal(size=(MODES, d)) * (1.3 if d > 2 else 1.0)
    if d == 2:
        means = 5.0 * np.stack((np.cos(angle), np.sin(angle)), 1)
    far = 9.0 * np.ones((1, d)) / np.sqrt(d / 2)
    unit, first = np.eye(d), np.eye(d)[:1]
    even = np.full(MODES, 1 / MODES)
    real = Blend(even, means, unit)
    some = np.where(np.arange(MODES) < 3, 0.0, 1 / 9)
    line = Blend(np.array([0.6, 0.4]), np.concatenate((-3 * first, 3 * first)), unit)
    plain = Blend(np.ones(1), np.zeros((1, d)), unit)
    pairs = np.kron(np.eye(d // 2), np.linalg.cholesky([[1.0, 0.95], [0.95, 1.0]]))
    centers = np.random.default_rng(6).normal(size=(100, d)) * 0.91**0.5

    def invented(weights: np.ndarray, share: float) -> Blend:
        return Blend(np.append(weights * (1 - share), share), np.concatenate((means, far)), unit)

    def flat(rng: np.random.Generator, n: int) -> np.ndarray:
        made = plain.draw(rng, n)
        made[:, d // 2 :] = 0.0
        return made

    def moved(distance: float) -> Blend:
        return Blend(np.ones(1), distance * first, unit)

    away = 20.0 * np.ones((1, d)) / np.sqrt(d / 2)
    mixed = Blend(
        np.append(some * 0.85, 0.15), np.concatenate((means, far)) + 0.5 * first, 0.9 * unit
    )
    found = (
        Fault("equal", real, real),
        Fault("omission", real, Blend(some, means, unit)),
        Fault("one of 12 modes kept", real, Blend(np.eye(MODES)[0], means, unit)),
        Fault("invention", real, invented(even, 0.25)),
        Fault("both", real, invented(some, 0.2)),
        Fault("shift", plain, moved(0.7)),
        Fault("far shift", plain, moved(2.5)),
        Fault("proportions", line, Blend(line.weights[::-1], line.means, unit)),
        Fault("no overlap", plain, Blend(np.ones(1), away, unit)),
        Fault("shuffled columns", Blend(np.ones(1), np.zeros((1, d)), pairs), plain),
        Fault("lower dimension", plain, None, flat),
        Fault("memorizer", plain, Blend(np.full(100, 0.01), centers, 0.3 * unit)),
        Fault("mixed", real, mixed),
    )
    return {one.name: one for one in found}
