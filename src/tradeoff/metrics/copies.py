"""Shares of generated samples with the same features as a real one, or as an earlier one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tradeoff._sides import Sides
from tradeoff.inference.shares import normal_quantile, wilson_interval
from tradeoff.metrics.baseline import score_of
from tradeoff.metrics.family import Measured, Request
from tradeoff.metrics.repeats import error_of_repeats, is_repeated

if TYPE_CHECKING:
    import numpy.typing as npt

    from tradeoff.samples import Pair

__all__ = ["measure"]


def measure(pair: Pair, request: Request) -> Measured:
    """Shares of copies, and what they are among real samples.

    Repeats are counted among as many samples of each side, since their share grows with the number
    of samples.
    """
    real, made = (side.keys for side in pair)
    of_real = np.isin(made, real)
    size = min(real.size, made.size)
    chosen = np.random.default_rng(request.seed).permutation(made.size)[:size]
    alike = np.sort(made)[chosen]  # sorted, so that the order of the samples does not matter
    found = {
        "copies.of_real": _of_real(of_real, request.level),
        "copies.within": _within(alike, normal_quantile(request.level)),
    }
    values = {"copies.of_real": of_real, "copies.within": is_repeated(made)}
    return Measured(
        scores={key: score_of(key, *found[key], pair, request) for key in request.keys},
        values=Sides({}, {key: values[key] for key in request.keys}),
    )


def _of_real(of_real: npt.NDArray[np.bool_], level: float) -> tuple[float, tuple[float, float]]:
    share = float(of_real.mean())
    return share, wilson_interval(share, of_real.size, level)


def _within(made: npt.NDArray[np.uint64], z: float) -> tuple[float, tuple[float, float]]:
    repeated, error = float(is_repeated(made).mean()), z * error_of_repeats(made)
    return repeated, (max(repeated - error, 0.0), min(repeated + error, 1.0))
