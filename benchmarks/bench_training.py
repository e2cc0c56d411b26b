"""Training for a trade-off: eight Gaussians with exact densities, and the cost of a step.

A flow too simple for the law begins with maximum likelihood and is trained for each slope, five
times. A mode is covered if it has half of its even share of the samples within modes.
"""

from __future__ import annotations

import time
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np
import torch

from benchmarks.gaussians import network
from benchmarks.harness import Row, Summary, run
from examples.eight_gaussians import SLOPES, begin, judge, tune
from tradeoff.training import BudgetedLoss, Loss, NonSaturatingLoss, PRLoss

if TYPE_CHECKING:
    from collections.abc import Callable

SEEDS = range(5)
STEPS = 1000

_begun = cache(partial(begin, steps=STEPS))


def start_row(seed: int) -> Row:
    """After maximum likelihood."""
    return judge(_begun(seed=seed)[0])[1]


def tuned_row(lam: float, seed: int) -> Row:
    """After training for a slope."""
    return judge(tune(_begun(seed=seed), PRLoss(lam), steps=STEPS, seed=seed))[1]


def mean_row(rows: dict[str, Row], name: str) -> Row:
    """Means over seeds, with standard errors."""
    chosen = [row for case, row in rows.items() if case.startswith(f"{name}, seed")]
    found = {}
    for measure in chosen[0]:
        values = np.array([row[measure] for row in chosen])
        found[measure] = float(values.mean())
        found[f"error of {measure}"] = float(values.std(ddof=1) / np.sqrt(len(values)))
    return found


def step_cost(make: Callable[[], Loss], steps: int = 40, turns: int = 15) -> Row:
    """Seconds of a GAN step with a loss over those with the plain one, in alternating turns."""
    torch.manual_seed(0)
    generator, discriminator = network(2, 256, 512, 1024, 2), network(2, 1024, 512, 256, 1)
    ours, theirs = (torch.optim.Adam(n.parameters(), 1e-5) for n in (generator, discriminator))
    seconds: dict[int, list[float]] = {0: [], 1: []}
    losses = (NonSaturatingLoss(), make())
    for turn in range(turns + 1):
        for which, loss in enumerate(losses):
            begun = time.perf_counter()
            for _ in range(steps):
                made = generator(torch.randn(256, 2))
                outputs = discriminator(torch.randn(256, 2)), discriminator(made.detach())
                theirs.zero_grad()
                loss.discriminator_loss(*outputs).backward()
                theirs.step()
                ours.zero_grad()
                loss.generator_loss(discriminator(made)).backward()
                ours.step()
            if turn:  # the first one warms up
                seconds[which].append(time.perf_counter() - begun)
    ratio = float(np.median(np.array(seconds[1]) / np.array(seconds[0])))
    return {"seconds": float(np.median(seconds[1])) / steps, "ratio": ratio, "bar": 1.05}


NAMES = {"likelihood": None, **{f"λ = {lam:g}": lam for lam in SLOPES}}
CASES: dict[str, Callable[[], Row] | Summary] = {
    **{
        f"{name}, seed {seed}": partial(start_row, seed)
        if lam is None
        else partial(tuned_row, lam, seed)
        for seed in SEEDS
        for name, lam in NAMES.items()
    },
    **{f"{name}, mean": Summary(partial(mean_row, name=name)) for name in NAMES},
    "cost of a step, PR loss": partial(step_cost, lambda: PRLoss(1.0)),
    "cost of a step, budgeted loss": partial(step_cost, lambda: BudgetedLoss(2.0)),
}

if __name__ == "__main__":
    run("training", "Eight Gaussians, and the cost of a step", CASES)
