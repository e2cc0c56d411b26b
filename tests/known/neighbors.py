"""Neighbors by brute force in float64, on data sets made to be hard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from tradeoff.metrics.neighbors import own_neighbors, support_metrics
from tradeoff.metrics.neighbors.counters import Balls, sweep
from tradeoff.metrics.neighbors.points import points_of
from tradeoff.metrics.neighbors.screen import tiles_of

if TYPE_CHECKING:
    from collections.abc import Callable

    Draw = Callable[[np.random.Generator, int, int], np.ndarray]

MOST_SAMPLES, MOST_COLUMNS = 3000, 300
K = 3


def _duplicates(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    few = rng.normal(size=(max(1, n // 4), d))
    return few[rng.integers(0, len(few), n)]


def _close(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return 10.0 * rng.integers(0, 3, (n, 1)) + 1e-6 * rng.normal(size=(n, d))


DRAWS: dict[str, Draw] = {
    "Gaussian": lambda rng, n, d: rng.normal(size=(n, d)).astype(np.float32),
    "integer grid": lambda rng, n, d: rng.integers(-3, 4, (n, d)),
    "grid of tenths": lambda rng, n, d: 0.1 * rng.integers(-3, 4, (n, d)),
    "8 binary features": lambda rng, n, _: rng.integers(0, 2, (n, 8)).astype(np.float32),
    "12 binary features": lambda rng, n, _: rng.integers(0, 2, (n, 12)),
    "duplicates": _duplicates,
    "a millionth apart": _close,
    "offset of 1e4": lambda rng, n, d: 1e4 + rng.normal(size=(n, d)),
}


def draw(kind: str, number: int, most: int = MOST_SAMPLES) -> dict[str, np.ndarray]:
    """Two samples of random sizes; some generated ones are copies of real ones."""
    rng = np.random.default_rng([number, *kind.encode()])
    n, m, d = (_size(rng, limit, small=number % 2 == 0) for limit in (most, most, MOST_COLUMNS))
    real, generated = (DRAWS[kind](rng, size, d) for size in (n, m))
    copied = rng.random(m) < 0.2
    generated[copied] = real[rng.integers(0, n, int(copied.sum()))]
    return {"real": real, "generated": generated}


def _size(rng: np.random.Generator, most: int, *, small: bool) -> int:
    """From 1 to the most, every other time evenly over orders of magnitude."""
    return (
        int(np.exp(rng.uniform(0, np.log(most + 1)))) if small else int(rng.integers(1, most + 1))
    )


def brute_force(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Squared distances in float64: the upper half of the columns is folded onto the lower."""
    squares = np.empty((len(x), len(y)))
    y = y.astype(np.float64)
    for i, row in enumerate(x.astype(np.float64)):
        terms = np.square(row - y)
        while terms.shape[1] > 1:
            half = (terms.shape[1] + 1) // 2
            terms[:, : terms.shape[1] - half] += terms[:, half:]
            terms = terms[:, :half]
        squares[i] = terms[:, 0]
    return squares


def differences(samples: dict[str, np.ndarray], tile: int | None = None) -> tuple[int, int]:
    """Numbers that differ from brute force, and numbers compared."""
    real, generated = samples["real"], samples["generated"]
    found = 0
    compared = 0

    def compare(ours: np.ndarray, theirs: np.ndarray) -> None:
        nonlocal found, compared
        found += int((ours != theirs).sum())
        compared += np.size(theirs)

    for side in (real, generated):
        if len(side) <= K + 1:
            continue
        own = brute_force(side, side)
        np.fill_diagonal(own, np.inf)
        order = np.argsort(own, 1, kind="stable")[:, : K + 1]
        neighbors = own_neighbors(side, ranks=K + 1, tile=tile, progress=False)
        compare(neighbors.index, order)
        compare(neighbors.squares, np.take_along_axis(own, order, 1))
    pairs = brute_force(real, generated)
    # Radii that are distances of the very pairs: many points lie on a surface, and one is enough.
    for strict in (False, True):
        within = np.less if strict else np.less_equal
        tiles = tiles_of(*points_of(**samples), size=tile)
        surface = torch.as_tensor(pairs[:, :1].T.copy())
        balls = Balls(surface, len(generated), strict=strict, around=0)
        sweep(*tiles, [balls], label="", progress=False)
        held = within(pairs, pairs[:, :1])
        compare(balls.inside[0].numpy(), held.sum(1))
        compare(balls.holding[0].numpy(), held.sum(0))
    if min(len(real), len(generated)) <= K + 1:
        return found, compared
    radii = [own_neighbors(s, ranks=K, progress=False).squares[:, -1] for s in (real, generated)]
    for strict in (False, True):
        within = np.less if strict else np.less_equal
        result = support_metrics(**samples, k=K, strict=strict, tile=tile, progress=False)
        around_real = within(pairs, radii[0][:, None])
        compare(result["precision"].samples, around_real.any(0))
        compare(result["density"].samples, around_real.sum(0) / K)
        compare(result["coverage"].samples, around_real.any(1))
        compare(result["recall"].samples, within(pairs, radii[1]).any(1))
    return found, compared
