"""Rejection under a budget: optimal, predicted, and hardly more expensive than drawing.

Optimality against convex optimization over all acceptance functions of the same rate, for nine
divergences; masses of kept samples from 10⁶ draws; predicted curves against those of accepted
samples for 20 pairs of Gaussian mixtures, three budgets and three slopes; and the time of sampling
over that of the bare calls of a generator and a discriminator at batch 256.
"""

from __future__ import annotations

import time
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.harness import Row, run
from tests.known.sampling import DIVERGENCES, excess, masses, missed_predictions
from tradeoff.sampling import BudgetedSampler

if TYPE_CHECKING:
    from collections.abc import Callable


def optimality(pairs: int = 20) -> Row:
    """The largest excess over nine divergences."""
    worst = max(excess(divergence, pairs) for divergence in DIVERGENCES)
    return {"worst excess": worst, "ratio": max(worst, 0.0) / 1e-8, "bar": 1.0}


def prediction() -> Row:
    """Share of 180 comparisons whose interval does not contain 0."""
    missed, count = missed_predictions(20)
    return {"comparisons": count, "missed": missed, "ratio": missed / count, "bar": 0.1}


def cost(batches: int = 200, repeats: int = 24) -> Row:
    """Seconds of sampling over those of the same calls alone: the median over pairs of turns.

    Each is first in every other pair, so that drifts of the machine cancel.
    """
    import torch

    torch.manual_seed(0)

    def network(*sizes: int) -> torch.nn.Module:
        layers: list[torch.nn.Module] = []
        for a, b in pairwise(sizes):
            layers += [torch.nn.Linear(a, b), torch.nn.LeakyReLU(0.2)]
        return torch.nn.Sequential(*layers[:-1]).eval()

    maker, judge = network(2, 256, 512, 1024, 2), network(2, 1024, 512, 256, 1)

    @torch.inference_mode()
    def generate(n: int) -> torch.Tensor:
        return maker(torch.randn(n, 2))

    @torch.inference_mode()
    def log_ratio(x: torch.Tensor) -> torch.Tensor:
        return judge(x)[:, 0]

    sampler = BudgetedSampler(generate, log_ratio, budget=2.0, calibration=256)

    def bare() -> None:
        for _ in range(batches + 1):
            log_ratio(generate(256))

    def whole() -> None:
        for _ in sampler.stream(max_draws=256 * batches):
            pass

    ratios = []
    for turn in range(repeats):
        seconds = {}
        for run_it in (bare, whole) if turn % 2 else (whole, bare):
            start = time.perf_counter()
            run_it()
            seconds[run_it] = time.perf_counter() - start
        ratios.append(seconds[whole] / seconds[bare])
    return {"pairs of turns": repeats, "ratio": float(np.median(ratios)), "bar": 1.05}


CASES: dict[str, Callable[[], Row]] = {
    "optimality, nine divergences": optimality,
    "masses of 10⁶ draws": masses,
    "prediction, 20 pairs": prediction,
    "cost at batch 256": cost,
}

if __name__ == "__main__":
    run("sampling", "Rejection under a budget", CASES)
