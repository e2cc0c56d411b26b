"""Profiles and curves against one `np.argsort` of the same numbers.

The bar: scores of 10⁶ real and 10⁶ generated samples, with the curve and all its summaries, take
at most three times the sort that any such method must do.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.harness import Row, run
from tradeoff import AcceptanceRule, HeldOutLogRatios, PRCurve, RatioProfile

if TYPE_CHECKING:
    from collections.abc import Callable

BAR = 3.0
REPEATS = 7


def summaries(curve: PRCurve) -> tuple[object, ...]:
    """Everything a curve is asked for."""
    lam = np.array([0.0, 0.1, 0.4, 1.0, 10.0, 20.0, np.inf])
    return (
        curve.precision(lam),
        curve.recall(lam),
        curve.f_score(8),
        curve.f_score(1 / 8),
        curve.area,
        curve.total_variation,
        curve.max_precision,
        curve.max_recall,
        curve.precision_at_recall(0.9),
        curve.recall_at_precision(0.9),
        curve.roc().area,
    )


def ratio_to_argsort(task: Callable[[], object], numbers: np.ndarray) -> float:
    """Best time of the task over best time of the sort, taken in turns so that noise is shared."""
    task_seconds, sort_seconds = [], []
    for _ in range(REPEATS):
        sort_seconds.append(_seconds(lambda: np.argsort(numbers)))
        task_seconds.append(_seconds(task))
    return min(task_seconds) / min(sort_seconds)


def scores(n: int, *, decimals: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Scores of two overlapping classes; rounded ones have ties."""
    rng = np.random.default_rng(0)
    real, generated = rng.normal(1, 1, n), rng.normal(0, 1, n)
    return (
        (real, generated) if decimals is None else (real.round(decimals), generated.round(decimals))
    )


def from_scores(n: int, *, decimals: int | None = None, weighted: bool = False) -> Row:
    """`RatioProfile.from_scores` with the curve and its summaries."""
    real, generated = scores(n, decimals=decimals)
    weights = {"real_weights": np.ones(n), "generated_weights": np.ones(n)} if weighted else {}

    def task() -> object:
        profile = RatioProfile.from_scores(real=real, generated=generated, **weights)
        return summaries(profile.curve())

    return {"ratio": ratio_to_argsort(task, np.concatenate((real, generated))), "bar": BAR}


def held_out(n: int) -> Row:
    """`HeldOutLogRatios`, its curve (every sample is a breakpoint) and the summaries."""
    real, generated = scores(n)

    def task() -> object:
        return summaries(HeldOutLogRatios(real=real, generated=generated).curve())

    return {"ratio": ratio_to_argsort(task, np.concatenate((real, generated)))}


def from_masses(n: int) -> Row:
    """`RatioProfile.from_masses` with the curve and its summaries."""
    rng = np.random.default_rng(0)
    p, q = rng.random(n), rng.random(n)
    p, q = p / p.sum(), q / q.sum()
    return {
        "ratio": ratio_to_argsort(lambda: summaries(RatioProfile.from_masses(p, q).curve()), q / p)
    }


def acceptance(n: int) -> Row:
    """The acceptance rule for a budget, and the acceptance of every sample."""
    log_ratio = np.random.default_rng(0).normal(0, 1, n)

    def task() -> object:
        return AcceptanceRule.from_log_ratios(log_ratio, budget=2.0).acceptance(log_ratio)

    return {"ratio": ratio_to_argsort(task, log_ratio)}


def _seconds(task: Callable[[], object]) -> float:
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


CASES: dict[str, Callable[[], Row]] = {
    "scores, 10⁶ + 10⁶": lambda: from_scores(1_000_000),
    "scores with ties, 10⁶ + 10⁶": lambda: from_scores(1_000_000, decimals=3),
    "weighted scores, 10⁶ + 10⁶": lambda: from_scores(1_000_000, weighted=True),
    "held-out errors, 10⁶ + 10⁶": lambda: held_out(1_000_000),
    "masses, 10⁷ atoms": lambda: from_masses(10_000_000),
    "acceptance rule, 10⁶": lambda: acceptance(1_000_000),
}

if __name__ == "__main__":
    run("profile", "Time over one np.argsort of the same numbers, best of seven in turns", CASES)
