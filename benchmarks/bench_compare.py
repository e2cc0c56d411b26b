"""Comparing two models: false alarms where they have one law, and power where they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.harness import Row, run
from tests.known.comparisons import LEVEL, TESTS, false_alarms, p_values
from tests.known.curves import over_seeds
from tests.known.distributions import line_mixture

if TYPE_CHECKING:
    from collections.abc import Callable


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
