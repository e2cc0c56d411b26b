"""Certificates of curves whose truth is known: how often they fail, and what they refute."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.known.curves import curve_in_one_process, over_seeds
from tests.known.distributions import PAIRS, Pair

LAM = np.geomspace(1 / 100, 100, 400)
RUNS = 1000
MISS = 0.05


def violated(pair: Pair, *, runs: int = RUNS, n: int = 1000) -> dict[str, Any]:
    """Share of runs in which the truth exceeds the line at any slope; width at λ = 1 over DKW."""
    truth = pair.precision(LAM)

    def measure(seed: int) -> tuple[float, float]:
        estimate = curve_in_one_process(
            pair.draw(n, 5000 + seed), estimator="logistic", folds=1, seed=seed
        )
        line = estimate.certificate(level=1 - MISS)
        held_out = estimate.held_out
        # Dvoretzky-Kiefer-Wolfowitz, half of the risk for each side.
        widths = [np.sqrt(np.log(2 / MISS) / (2 * x.size)) for x in held_out.log_ratios]
        uncapped = estimate.raw.precision(1.0) + sum(widths) < 1
        width = (line.precision(1.0) - estimate.raw.precision(1.0)) / sum(widths)
        return float((line.precision(LAM) < truth - 1e-12).any()), width if uncapped else np.nan

    broken, width = np.array(over_seeds(measure, runs)).T
    return {
        "violated": float(broken.mean()),
        "width over DKW": float(np.nanmax(width)) if np.isfinite(width).any() else None,
        "ratio": float(broken.mean()),
        "bar": MISS + 2 * np.sqrt(MISS * (1 - MISS) / runs),
    }


def refutes(*, runs: int = 20, n: int = 5000) -> dict[str, Any]:
    """The largest line at λ = 20 for a ring against one Gaussian, whose truth is 0.2."""
    pair = PAIRS["ring, one Gaussian"]()

    def measure(seed: int) -> float:
        samples = pair.draw(n, 6000 + seed)
        estimate = curve_in_one_process(samples, folds=1, seed=seed)
        return estimate.certificate(level=1 - MISS).precision(20.0)

    found = over_seeds(measure, runs)
    return {
        "truth at λ = 20": float(pair.precision(np.array([20.0]))[0]),
        "mean line at λ = 20": float(np.mean(found)),
        "ratio": float(np.max(found)),
        "bar": 0.999,
    }
