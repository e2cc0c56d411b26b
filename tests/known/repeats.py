"""Samples with equal rows: draws of a few values, and copies."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

SLOPES = np.array([0.05, 0.4, 1.0, 2.5, 20.0])
N = 2000
Samples = dict[str, np.ndarray]


def atoms(count: int, seed: int, n: int = N, *, smooth: bool = False) -> tuple[Samples, np.ndarray]:
    """Samples of two distributions over the same values, and the true precision."""
    rng = np.random.default_rng(seed)
    places = rng.normal(size=(count, 5))
    masses = rng.dirichlet(np.ones(count), 2)
    if smooth:
        masses = np.exp(0.8 * rng.normal(size=(2, 5)) @ places.T)
    return _drawn(rng, places, masses / masses.sum(1, keepdims=True), n)


def table(seed: int, n: int = N) -> tuple[Samples, np.ndarray]:
    """A table of four categories with 3, 4, 5 and 6 levels, one column per level."""
    rng = np.random.default_rng(seed)
    levels = (3, 4, 5, 6)
    codes = np.stack(np.meshgrid(*map(np.arange, levels), indexing="ij"), axis=-1).reshape(-1, 4)
    rows = np.concatenate(
        [np.eye(size)[column] for size, column in zip(levels, codes.T, strict=True)], axis=1
    )
    masses = np.exp(rng.normal(size=(2, len(rows))))
    return _drawn(rng, rows, masses / masses.sum(1, keepdims=True), n)


def bytes_of(seed: int, n: int = N) -> tuple[Samples, np.ndarray]:
    """Two columns of eight bits: rounded Gaussians of standard deviation 4, half of one apart."""
    rng = np.random.default_rng(seed)
    grid = np.arange(256.0)
    edges = np.append(grid - 0.5, 255.5)
    marginals = [np.diff(norm.cdf(edges, center, 4.0)) for center in (128.0, 132.0)]
    places = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    masses = np.stack([np.outer(one, one).ravel() for one in marginals])
    return _drawn(rng, places, masses / masses.sum(1, keepdims=True), n)


def _drawn(
    rng: np.random.Generator, places: np.ndarray, masses: np.ndarray, n: int
) -> tuple[Samples, np.ndarray]:
    real, generated = (places[rng.choice(len(places), n, p=mass)] for mass in masses)
    truth = np.minimum(SLOPES[:, None] * masses[0], masses[1]).sum(1)
    return {"real": real, "generated": generated}, truth


def copies(seed: int, *, repeated: float = 0.0, leaked: float = 0.0, n: int = N) -> Samples:
    """Two samples of one distribution, some rows of both repeated, some leaked between sides."""
    rng = np.random.default_rng(seed)
    real, generated = rng.normal(size=(2, n, 5))
    generated[: round(leaked * n)] = real[: round(leaked * n)]
    extra = round(repeated * n)
    real, generated = (np.concatenate((x, x[:extra])) for x in (real, generated))
    return {"real": real, "generated": generated}
