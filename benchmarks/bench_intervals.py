"""Coverage of the 95% intervals of neighbor metrics.

Precision and recall against a million fresh samples with the other side's balls as they are;
density and coverage against their mean over fresh draws of both sides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import joblib
import numpy as np
import torch

from benchmarks.harness import Row, run
from tradeoff import support_metrics
from tradeoff.metrics.neighbors import own_neighbors

if TYPE_CHECKING:
    from collections.abc import Callable

RUNS = 300
FRESH = 1_000_000
N = 300
K = 5
LAWS: dict[str, tuple[int, float, float]] = {
    "same law, 2 columns": (2, 0.0, 1.0),
    "shifted, 2 columns": (2, 1.0, 1.0),
    "narrower, 8 columns": (8, 0.2, 0.8),
}
LOWEST, HIGHEST = 0.92, 0.98
_PART = 20_000


def draw(law: str, side: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """Gaussians: real ones are standard."""
    d, shift, scale = LAWS[law]
    x = rng.normal(size=(n, d))
    return x if side == "real" else shift + scale * x


def share_inside(x: np.ndarray, fresh: torch.Tensor) -> float:
    """Share of fresh samples in the balls of others, in single precision."""
    radii = torch.as_tensor(own_neighbors(x, ranks=K, progress=False).squares[:, -1])
    centers = torch.as_tensor(x)
    norms = ((centers**2).sum(1) - radii).float()[:, None]
    centers = centers.float()
    inside = 0
    for part in fresh.split(_PART):
        gaps = torch.addmm(norms, centers, part.T, alpha=-2.0).amin(0) + (part**2).sum(1)
        inside += int((gaps <= 0).sum())
    return inside / len(fresh)


def one(
    law: str, seed: int, fresh: dict[str, torch.Tensor]
) -> dict[str, tuple[float, float, float, float]]:
    """Value, limits and, for precision and recall, what fresh samples score."""
    torch.set_num_threads(1)
    rng = np.random.default_rng([seed, *law.encode()])
    sides = {side: draw(law, side, N, rng) for side in ("real", "generated")}
    result = support_metrics(**sides, k=K, progress=False)
    found = {
        name: (score.value, *score.interval(), np.nan) for name, score in result.scores.items()
    }
    for name, balls, points in (
        ("precision", "real", "generated"),
        ("recall", "generated", "real"),
    ):
        found[name] = (*found[name][:3], share_inside(sides[balls], fresh[points]))
    return found


def coverage(law: str, *, runs: int = RUNS, fresh: int = FRESH) -> Row:
    """Shares of runs whose interval covers; how far the worst is outside of what is allowed."""
    rng = np.random.default_rng(1)
    points = {
        side: torch.from_numpy(draw(law, side, fresh, rng)).float()
        for side in ("real", "generated")
    }
    each = joblib.Parallel(n_jobs=-1)(joblib.delayed(one)(law, s, points) for s in range(runs))
    row: Row = {}
    for name in each[0]:
        value, low, high, target = np.array([found[name] for found in each]).T
        target = np.where(np.isnan(target), value.mean(), target)
        row[name] = float(((low <= target) & (target <= high)).mean())
        if name in ("density", "coverage"):
            row[f"{name}: width / 3.92 sd"] = float((high - low).mean() / (3.92 * value.std()))
    beyond = [LOWEST - row[name] for name in ("precision", "recall", "density", "coverage")]
    beyond += [row[name] - HIGHEST for name in ("precision", "recall")]
    return row | {"ratio": max(beyond), "bar": 0.0}


CASES: dict[str, Callable[[], Row]] = {law: (lambda law=law: coverage(law)) for law in LAWS}

if __name__ == "__main__":
    run("intervals", f"Coverage of 95% intervals, {RUNS} runs, N = M = {N}, k = {K}", CASES)
