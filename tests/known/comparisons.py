"""Two models of one distribution: how often they are declared different."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.stats import binom

from tests.known.curves import curve_in_one_process, over_seeds
from tests.known.distributions import Mixture, gaussians
from tradeoff.comparison.curves import compare_curves

if TYPE_CHECKING:
    from collections.abc import Callable

LEVEL = 0.05
RUNS = 300
TESTS = ("overlap", "area", "F-score", "whole curve")
RANKED = TESTS[:3]
"""What `compare` ranks models by."""
_REJECTED = 0.001
_MEANS = 2.5 * np.eye(4, 8)


class Equal(NamedTuple):
    """Real data, and the one distribution of two models."""

    real: Callable[[np.random.Generator, int], np.ndarray]
    model: Callable[[np.random.Generator, int], np.ndarray]


def _apart(distance: float) -> Equal:
    pair = gaussians(2, distance)
    return Equal(pair.real, pair.generated)


WEIGHTED = {
    name: Mixture(weights, _MEANS, (1.0,) * 4)
    for name, weights in {
        "real": (0.4, 0.3, 0.2, 0.1),
        "b": (0.1, 0.25, 0.25, 0.4),
        "c": (0.18, 0.25, 0.22, 0.35),
    }.items()
}
"""Mixtures of four components in eight columns: real data, and two models of it."""

EQUAL = {
    **{f"Gaussians, distance {distance}": _apart(distance) for distance in (0, 1, 2)},
    "mixture, 8 columns": Equal(WEIGHTED["real"], WEIGHTED["b"]),
}


def p_values(
    real: np.ndarray, first: np.ndarray, second: np.ndarray, estimator: str, seed: int
) -> list[float]:
    """Of the tests, in their order."""
    estimates = [
        curve_in_one_process({"real": real, "generated": x}, estimator=estimator, seed=seed)
        for x in (first, second)
    ]
    found = compare_curves(*estimates)
    tested = (found.precision[1.0], found.area, found.f_score)
    return [*(one.p_value for one in tested), found.curve_p_value]


def allowed(runs: int) -> int:
    """The most false alarms that a test at 5% exceeds less than once in 1,000."""
    return int(binom.ppf(1.0 - _REJECTED, runs, LEVEL))


def false_alarms(estimator: str, name: str, *, n: int, runs: int = RUNS) -> dict[str, Any]:
    """Runs in which two models of one distribution are declared different."""
    real, model = EQUAL[name]

    def measure(seed: int) -> list[float]:
        rng = np.random.default_rng(7000 + seed)
        models = [model(rng, n) for _ in range(2)]
        return p_values(real(rng, n), *models, estimator, seed)

    alarms = (np.array(over_seeds(measure, runs)) < LEVEL).sum(0)
    found = dict(zip(TESTS, alarms.tolist(), strict=True))
    worst = max(found[test] for test in RANKED)
    return {"runs": runs} | found | {"ratio": worst / allowed(runs), "bar": 1.0}
