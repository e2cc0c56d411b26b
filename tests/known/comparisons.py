"""Two models of one distribution: how often they are declared different."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.known.curves import curve_in_one_process, over_seeds
from tests.known.distributions import gaussians
from tradeoff.comparison.curves import compare_curves

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


def false_alarms(estimator: str, distance: float, *, n: int, runs: int = RUNS) -> dict[str, Any]:
    """Share of runs in which two models of one distribution are declared different."""
    pair = gaussians(2, distance)

    def measure(seed: int) -> list[float]:
        rng = np.random.default_rng(7000 + seed)
        models = [pair.generated(rng, n) for _ in range(2)]
        return p_values(pair.real(rng, n), *models, estimator, seed)

    rates = (np.array(over_seeds(measure, runs)) < LEVEL).mean(0)
    found = dict(zip(TESTS, rates.tolist(), strict=True))
    return found | {"ratio": float(rates.max()), "bar": 0.07}
