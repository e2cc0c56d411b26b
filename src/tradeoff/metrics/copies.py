"""Shares of generated samples with the same features as a real one, or as an earlier one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tradeoff._sides import Sides
from tradeoff.inference.shares import normal_quantile, wilson_interval
from tradeoff.metrics.family import Measured, Request
from tradeoff.metrics.score import Score

if TYPE_CHECKING:
    import numpy.typing as npt

    from tradeoff.samples import Pair

__all__ = ["measure"]


def measure(pair: Pair, request: Request) -> Measured:
    """Shares of copies, and what they are among real samples.

    A real sample looks for its copy among the other real ones; repeats are counted among as many
    samples of each side, since their share grows with the number of samples.
    """
    real, made = (side.keys for side in pair)
    of_real = np.isin(made, real)
    size = min(real.size, made.size)
    rng = np.random.default_rng(request.seed)
    alike, perfect = (side[rng.permutation(side.size)[:size]] for side in (made, real))
    scores = {
        "copies.of_real": _of_real(of_real, real, request.level),
        "copies.within": _within(alike, perfect, normal_quantile(request.level)),
    }
    values = {"copies.of_real": of_real, "copies.within": _is_repeated(made)}
    return Measured(
        scores={key: scores[key] for key in request.keys},
        values=Sides({}, {key: values[key] for key in request.keys}),
    )


def _of_real(of_real: npt.NDArray[np.bool_], real: npt.NDArray[np.uint64], level: float) -> Score:
    share, z = float(of_real.mean()), normal_quantile(level)
    low, high = wilson_interval(share, of_real.size, level)
    _, place, counts = np.unique(real, return_inverse=True, return_counts=True)
    known = float((counts[place] > 1).mean())
    return Score(
        value=share,
        low=float(low),
        high=float(high),
        expected=known,
        # A pair of copies counts twice, hence the root of 2.
        expected_high=known + z * float(np.sqrt(2 * known * (1 - known) / real.size)),
    )


def _within(made: npt.NDArray[np.uint64], real: npt.NDArray[np.uint64], z: float) -> Score:
    repeated, usual = _is_repeated(made).mean(), float(_is_repeated(real).mean())
    error = z * _error_of_repeats(made)
    return Score(
        value=float(repeated),
        low=float(max(repeated - error, 0.0)),
        high=float(min(repeated + error, 1.0)),
        expected=usual,
        expected_high=usual + z * _error_of_repeats(real),
    )


def _is_repeated(keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
    """Whether each key has come before."""
    repeated = np.ones(keys.size, bool)
    repeated[np.unique(keys, return_index=True)[1]] = False
    return repeated


def _error_of_repeats(keys: npt.NDArray[np.uint64]) -> float:
    """Standard error of the share of repeats, at most, by Efron and Stein.

    Leaving out a sample changes the number of distinct ones by 1 if it is single, and the number
    of repeats by 1 if it is not: the variance of both, which is one, is at most either number.
    """
    _, counts = np.unique(keys, return_counts=True)
    single = int((counts == 1).sum())
    return float(np.sqrt(min(single, keys.size - single) + 1.0) / keys.size)
