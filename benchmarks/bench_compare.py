"""Comparing two models: false alarms where they have one distribution, and power where not.

Equal models may be declared different in 28 of 300 runs by overlap, area and F-score each, which a
test at 5% exceeds less than once in 1,000. The test of the whole curve is listed without a bar.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.harness import Row, run
from tests.known.comparisons import LEVEL, RUNS, TESTS, false_alarms, p_values
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
            lambda x=distance: false_alarms("logistic", f"Gaussians, distance {x}", n=500)
        )
        for distance in (0, 1, 2)
    },
    **{
        f"false alarms, default, N = 500, distance {distance}": (
            lambda x=distance: false_alarms("stack", f"Gaussians, distance {x}", n=500)
        )
        for distance in (0, 1)
    },
    "missed: recall 0.8 against 0.9, default, N = 5,000": misses,
}

if __name__ == "__main__":
    title = f"Tests at 5%: alarms of {RUNS} runs, and shares of 40 missed"
    run("compare", title, CASES)
