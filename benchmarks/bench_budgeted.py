"""Training with rejection in mind: what is left of the divergence after two draws per sample.

One Gaussian as the model of two uneven modes, whose masses are exact; and a GAN of 25 Gaussians
that is trained on, whose masses are counted on a grid. Five seeds each; Jensen-Shannon divergence.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.gaussians import trained
from benchmarks.harness import Row, Summary, run
from examples.budget_training import (
    LOSSES,
    grid_masses,
    line_masses,
    train_grid,
    train_one_gaussian,
)

if TYPE_CHECKING:
    from collections.abc import Callable

SEEDS = range(5)
LAWS = ("two modes", "25 Gaussians")

_start = cache(trained)


def one(law: str, seed: int) -> Row:
    """Both ways of training, before and after rejection."""
    row = {}
    for name, make in LOSSES.items():
        if law == "two modes":
            masses = line_masses(train_one_gaussian(make(), steps=2000, seed=seed))
        else:
            masses = grid_masses(train_grid(_start(), make(), steps=600, seed=seed), 1_000_000)
        for word, value in masses.row().items():
            row[f"{name}, {word}"] = value
    return row


def mean(rows: dict[str, Row], law: str) -> Row:
    """Means over seeds, and how much less is left with rejection in mind, in standard errors."""
    chosen = [row for case, row in rows.items() if case.startswith(f"{law}, seed")]
    found = {name: float(np.mean([row[name] for row in chosen])) for name in chosen[0]}
    less = np.array([row["without, after"] - row["with, after"] for row in chosen])
    error = less.std(ddof=1) / np.sqrt(less.size)
    return found | {
        "less left": float(less.mean()),
        "in standard errors": float(less.mean() / error),
    }


CASES: dict[str, Callable[[], Row] | Summary] = {
    **{f"{law}, seed {seed}": partial(one, law, seed) for law in LAWS for seed in SEEDS},
    **{f"{law}, mean": Summary(partial(mean, law=law)) for law in LAWS},
}

if __name__ == "__main__":
    run("budgeted", "Training with rejection in mind, two draws per sample", CASES)
