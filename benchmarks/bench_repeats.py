"""Equal rows, as draws of a few values and as copies, and sides of unequal sizes.

Atoms: values in five dimensions whose probabilities do not follow from their place. With 1,000 of
them and two samples for each, the best rule there is (posterior means of both probabilities, four
fifths of the samples) has an error of 0.146, so that row has a bar of its own; where probabilities
follow from the place, as in rounded data, the other rows' bar applies.
The error of a row is that of the mean raw curve over seeds, relative to min(1, λ), the largest over
five slopes; "below" is how far it lies below the truth, in standard errors. N = 2,000 and 20 seeds
for equal rows, 60 seeds for unequal sizes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import norm

from benchmarks.harness import Row, run
from tests.known.curves import curve_in_one_process, over_seeds
from tests.known.distributions import gaussians
from tests.known.repeats import SLOPES, Samples, atoms, bytes_of, copies, table
from tradeoff._sides import Sides

if TYPE_CHECKING:
    from collections.abc import Callable

SEEDS = 20
_WITHIN = 0.10
_WITHIN_UNSTRUCTURED = 0.17
_BIAS = 0.04
_STANDARD_ERRORS = float(norm.isf(1e-3 / SLOPES.size))


def draws(
    make: Callable[[int], tuple[Samples, np.ndarray]], seeds: int = SEEDS, within: float = _WITHIN
) -> Row:
    """Error of the mean raw curve of samples whose truth is known."""

    def error(seed: int) -> Row:
        samples, truth = make(1000 + seed)
        found = curve_in_one_process(samples, seed=seed)
        errors = (found.raw.precision(SLOPES) - truth) / np.minimum(1.0, SLOPES)
        return {"errors": errors, "assumed": found.provenance["repeats"]["assumed"]}

    found = over_seeds(error, seeds)
    errors = np.array([one["errors"] for one in found])
    mean, noise = errors.mean(0), errors.std(0, ddof=1) / np.sqrt(seeds)
    return {
        "assumed": ", ".join(sorted({one["assumed"] for one in found})),
        "largest error": float(np.abs(mean).max()),
        "below, standard errors": float(np.max(-mean / noise)),
        "ratio": float(max(np.abs(mean).max() / within, np.max(-mean / noise) / _STANDARD_ERRORS)),
        "bar": 1.0,
    }


def alike(make: Callable[[int], Samples], seeds: int = SEEDS) -> Row:
    """The mean raw curve at λ = 1 of two samples of one distribution, which must not be below 1."""

    def lacking(seed: int) -> Row:
        found = curve_in_one_process(make(2000 + seed), seed=seed)
        return {
            "below": 1.0 - found.raw.precision(1.0),
            "assumed": found.provenance["repeats"]["assumed"],
        }

    found = over_seeds(lacking, seeds)
    below = np.array([one["below"] for one in found])
    noise = max(below.std(ddof=1) / np.sqrt(seeds), 1e-12)
    return {
        "assumed": ", ".join(sorted({one["assumed"] for one in found})),
        "largest error": float(abs(below.mean())),
        "below, standard errors": float(below.mean() / noise),
        "ratio": float(below.mean() / noise / norm.isf(1e-3)),
        "bar": 1.0,
    }


def unequal(distance: float, sizes: Sides[int], seeds: int = 60) -> Row:
    """Bias at λ = 1 of the mean raw curve of two Gaussians in 16 columns."""
    pair = gaussians(16, distance)
    truth = float(pair.precision(np.array([1.0]))[0])

    def bias(seed: int) -> Row:
        rng = np.random.default_rng(3000 + seed)
        samples = {
            "real": pair.real(rng, sizes.real),
            "generated": pair.generated(rng, sizes.generated),
        }
        return {"bias": curve_in_one_process(samples, seed=seed).raw.precision(1.0) - truth}

    found = np.array([one["bias"] for one in over_seeds(bias, seeds)])
    noise = found.std(ddof=1) / np.sqrt(seeds)
    return {
        "bias at λ = 1": float(found.mean()),
        "below, standard errors": float(-found.mean() / noise),
        "ratio": float(found.mean()),
        "bar": _BIAS,
    }


CASES: dict[str, Callable[[], Row]] = {
    **{
        f"{count} values in five columns": lambda count=count: draws(
            lambda seed: atoms(count, seed)
        )
        for count in (40, 200)
    },
    "1,000 values in five columns": lambda: draws(
        lambda seed: atoms(1000, seed), within=_WITHIN_UNSTRUCTURED
    ),
    "1,000 values, probabilities by place": lambda: draws(
        lambda seed: atoms(1000, seed, smooth=True)
    ),
    "four categories": lambda: draws(table),
    "two columns of eight bits": lambda: draws(bytes_of),
    "10% of rows twice": lambda: alike(lambda seed: copies(seed, repeated=0.1)),
    "all rows twice": lambda: alike(lambda seed: copies(seed, repeated=1.0)),
    "10% leaked": lambda: alike(lambda seed: copies(seed, leaked=0.1)),
    "10% leaked, all rows twice": lambda: alike(
        lambda seed: copies(seed, repeated=1.0, leaked=0.1)
    ),
    **{
        f"Gaussians {distance} apart, {real:,} real and {generated:,} generated": (
            lambda distance=distance, real=real, generated=generated: unequal(
                distance, Sides(real, generated)
            )
        )
        for distance in (1, 2)
        for real, generated in ((200, 5000), (5000, 200))
    },
}

if __name__ == "__main__":
    run("repeats", "Equal rows and unequal sizes: errors of the mean raw curve", CASES)
