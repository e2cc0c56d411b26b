"""Comparing two models: false alarms where they have one law, and power where they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.bench_truth import curve_in_one_process, over_seeds
from benchmarks.harness import Row, run
from benchmarks.laws import gaussians, line_mixture
from tradeoff.comparison.curves import compare_curves

if TYPE_CHECKING:
    from collections.abc import Callable

LEVEL = 0.05
RUNS = 300
TESTS = ("recall at λ = 0.4", "area", "whole curve")


def p_values(
    real: np.ndarray, first: np.ndarray, second: np.ndarray, estimator: str, seed: int
) -> list[float]:
    """Of the three tests."""
    estimates = [
        curve_in_one_process({"real": real, "generated": x}, estimator=estimator, seed=seed)
        for x in (first, second)
    ]
    found = compare_curves(*estimates)
    return [found.recall[0.4].p_value, found.area.p_value, found.curve_p_value]


def false_alarms(estimator: str, distance: float, *, n: int, runs: int = RUNS) -> Row:
    """Share of runs in which two models of one law are declared different."""
    pair = gaussians(2, distance)

    def measure(seed: int) -> list[float]:
        rng = np.random.default_rng(7000 + seed)
        models = [pair.generated(rng, n) for _ in range(2)]
        return p_values(pair.real(rng, n), *models, estimator, seed)

    rates = (np.array(over_seeds(measure, runs)) < LEVEL).mean(0)
    found = dict(zip(TESTS, rates.tolist(), strict=True))
    return found | {"ratio": float(rates.max()), "bar": 0.07}


def misses(*, n: int = 5000, runs: int = 40) -> Row:
    """Share of runs in which a recall of 0.8 is not told from one of 0.9."""
    modes = np.arange(10.0) * 4
    real, *models = (line_mixture([1 / k] * k, list(modes[:k]), [0.5] * k) for k in (10, 8, 9))

    def measure(seed: int) -> list[float]:
        rng = np.random.default_rng(8000 + seed)
        return p_values(real(rng, n), *(model(rng, n) for model in models), "stack", seed)

    rates = (np.array(over_seeds(measure, runs)) >= LEVEL).mean(0)
    found = dict(zip(TESTS, rates.tolist(), strict=True))
    return found | {"ratio": float(rates.max()), "bar": 0.1}


CASES: dict[str, Callable[[], Row]] = {
    **{
        f"false alarms, logistic, N = 500, distance {distance}": (
            lambda x=distance: false_alarms("logistic", x, n=500)
        )
        for distance in (0, 1, 2)
    },
    **{
        f"false alarms, default, N = 500, distance {distance}": (
            lambda x=distance: false_alarms("stack", x, n=500)
        )
        for distance in (0, 1)
    },
    "missed: recall 0.8 against 0.9, default, N = 5,000": misses,
}

if __name__ == "__main__":
    run("compare", "Tests at 5%, shares of 300 runs (40 for the last row)", CASES)
