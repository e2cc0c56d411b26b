"""On which divergence should the discriminator learn the ratio? Eight Gaussians, three seeds.

The precision that counts is that at the slope a flow was trained for.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.harness import Row, Summary, run
from examples.eight_gaussians import SLOPES, begin, judge, tune
from tradeoff.core.divergence import GAN, KL, Pearson
from tradeoff.training import PRLoss

if TYPE_CHECKING:
    from collections.abc import Callable

    from tradeoff.core.divergence import Divergence

AUXILIARY: tuple[Divergence, ...] = (GAN(), Pearson(), KL())
SEEDS = range(3)
STEPS = 600

_begun = cache(lambda auxiliary, seed: begin(steps=STEPS, seed=seed, auxiliary=auxiliary))


def own(auxiliary: Divergence, lam: float) -> Row:
    """α at the slope a flow was trained for, its mean and standard error."""
    loss = PRLoss(lam, auxiliary=auxiliary)
    found = [
        judge(tune(_begun(auxiliary, seed), loss, steps=STEPS, seed=seed))[1][f"α at {lam:g}"]
        for seed in SEEDS
    ]
    error = float(np.std(found, ddof=1) / np.sqrt(len(found)))
    return {"α": float(np.mean(found)), "error": error, "of the best": np.mean(found) / min(1, lam)}


def total(rows: dict[str, Row], auxiliary: Divergence) -> Row:
    """Shares of what is attainable, on average over slopes."""
    shares = [rows[f"{auxiliary!r}, λ = {lam:g}"]["of the best"] for lam in SLOPES]
    return {"of the best": float(np.mean(shares))}


CASES: dict[str, Callable[[], Row] | Summary] = {
    **{f"{a!r}, λ = {lam:g}": partial(own, a, lam) for a in AUXILIARY for lam in SLOPES},
    **{f"{a!r}, mean": Summary(partial(total, auxiliary=a)) for a in AUXILIARY},
}

if __name__ == "__main__":
    run("auxiliary", "The discriminator's divergence, eight Gaussians", CASES)
