"""How far mean curves lie below the truth, and dual bounds above it, in standard errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.known.curves import curve_in_one_process, over_seeds
from tests.known.distributions import PAIRS, Pair, gaussians
from tradeoff.core.divergence import KL, JensenShannon, Pearson

if TYPE_CHECKING:
    from collections.abc import Callable

LAM = np.array([0.1, 0.5, 1.0, 2.0, 10.0])
N = 500
BAR = 4.0
KNOWN: dict[str, Callable[[], Pair]] = {
    "identical Gaussians": lambda: gaussians(4, 0),
    "Gaussians, distance 1": lambda: gaussians(4, 1),
    "ring, wide modes": PAIRS["ring, wide modes"],
    "two modes, left only": PAIRS["two modes, left only"],
}
_DIVERGENCES = (KL(), JensenShannon(), Pearson())


def honest(estimator: str, name: str, *, n: int = N, seeds: int | None = None) -> dict[str, Any]:
    """Worst shortfall of the curve and worst excess of the divergences, in standard errors."""
    seeds = seeds or (40 if estimator == "stack" else 200)
    pair = KNOWN[name]()

    def measure(seed: int) -> tuple[np.ndarray, list[float]]:
        estimate = curve_in_one_process(pair.draw(n, 3000 + seed), estimator=estimator, seed=seed)
        return estimate.raw.precision(LAM), [estimate.divergence(d) for d in _DIVERGENCES]

    found = over_seeds(measure, seeds)
    curves, bounds = (np.array(values) for values in zip(*found, strict=True))
    truth = np.array([pair.divergences()[str(d)] for d in _DIVERGENCES])
    short = _in_errors(pair.precision(LAM) - curves)
    over = _in_errors(np.where(np.isinf(truth), -1.0, bounds - truth))
    return {
        "shortfall of the curve": short,
        "excess of KL, JS, χ²": over,
        "ratio": max(short, over),
        "bar": BAR,
    }


def _in_errors(values: np.ndarray) -> float:
    """The largest mean over its standard error; a mean that is zero up to rounding counts as 0."""
    mean, error = values.mean(0), values.std(0) / np.sqrt(len(values))
    mean = np.where(np.abs(mean) < 1e-9, 0.0, mean)
    return float(np.max(mean / np.maximum(error, 1e-12)))
