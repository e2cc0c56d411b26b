"""Samples that repeat, or nearly repeat, another one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from sklearn.neighbors import NearestNeighbors

from tradeoff._sides import Sides
from tradeoff.inference import policy
from tradeoff.inference.shares import normal_quantile, wilson_interval
from tradeoff.metrics import memorization
from tradeoff.metrics.family import Measured, Request
from tradeoff.metrics.score import Baseline, Score

if TYPE_CHECKING:
    import numpy.typing as npt

    from tradeoff._validation import FloatArray
    from tradeoff.samples import Pair, Side

__all__ = ["measure", "near_copies"]

_NEAR = ("copies.owed_to_training", "copies.near_training")
_MOST = 5000  # samples of a side that are looked at


def measure(pair: Pair, request: Request) -> Measured:
    """Shares of copies, and what they are among real samples.

    Repeats are counted among as many samples of each side, since their share grows with the number
    of samples.
    """
    near = [key for key in request.keys if key in _NEAR]
    if near:
        rest = [key for key in request.keys if key not in _NEAR]
        of_near = memorization.measure(pair, replace(request, keys=tuple(near)))
        return of_near | measure(pair, replace(request, keys=tuple(rest))) if rest else of_near
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
    if pair.train is not None:
        values["copies.of_training"] = np.isin(made, pair.train.keys)
        expected = min(float(of_real.mean()) * len(pair.train) / real.size, 1.0)
        score = _of_real(values["copies.of_training"], request.level)
        found["copies.of_training"] = replace(score, expected=expected)
    return Measured(
        scores={key: found[key] for key in request.keys},
        values=Sides({}, {key: values[key] for key in request.keys}),
    )


def _of_real(of_real: npt.NDArray[np.bool_], level: float) -> Score:
    share = float(of_real.mean())
    low, high = wilson_interval(share, of_real.size, level)
    return Score(value=share, low=low, high=high)


def _within(made: npt.NDArray[np.uint64], z: float) -> Score:
    repeated, error = float(is_repeated(made).mean()), z * error_of_repeats(made)
    return Score(value=repeated, low=max(repeated - error, 0.0), high=min(repeated + error, 1.0))


def expected_copies_of_real(real: Side, size: int, request: Request) -> Baseline:
    """A real sample looks for its copy among the others; a pair of copies counts twice."""
    _, place, counts = np.unique(real.keys, return_inverse=True, return_counts=True)
    known = float((counts[place] > 1).mean())
    return Baseline(known, float(np.sqrt(2 * known * (1 - known) / len(real))))


def expected_copies_within(real: Side, size: int, request: Request) -> Baseline:
    """Among as many samples as are counted on the generated side."""
    keys = real.keys[real.order_for(request.seed)[:size]]
    return Baseline(float(is_repeated(keys).mean()), error_of_repeats(keys))


def is_repeated(keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
    """Whether each key has come before, shape (n,)."""
    repeated = np.ones(keys.size, bool)
    repeated[np.unique(keys, return_index=True)[1]] = False
    return repeated


def error_of_repeats(keys: npt.NDArray[np.uint64]) -> float:
    """Upper bound of the standard error of the share of repeats, by Efron and Stein.

    Leaving out a sample changes the number of distinct ones by 1 if it is single, and the number
    of repeats by 1 if it is not: the variance of both, which is one, is at most either number.
    """
    _, counts = np.unique(keys, return_counts=True)
    single = int((counts == 1).sum())
    return float(np.sqrt(min(single, keys.size - single) + 1.0) / keys.size)


def near_copies(pair: Pair, *, level: float, seed: int) -> dict[str, float]:
    """Share of near-copies on each side on which there are surely more than usual.

    A near-copy is closer to another sample of its side than a third of the distance to the nearest
    that 95% of the other side's samples keep; exact copies are left out. Distances shrink with the
    number of samples, so as many of both sides are looked at.

    Args:
        pair: Samples.
        level: Probability with which a share is rightly called larger than usual.
        seed: Seed of which samples are looked at, where a side has more.
    """
    size = min(pair.real.distinct, pair.generated.distinct, _MOST)
    if size < policy.FEWEST_NEAR_COPIES:
        return {}
    real, made = (_distances(side, size, seed) for side in pair)
    found = {}
    for side, own, other in (("real", real, made), ("generated", made, real)):
        share = float((own < policy.CLOSER * np.quantile(other, policy.USUAL_NEAR_COPIES)).mean())
        if (
            wilson_interval(share, size / 2, level)[0] > policy.USUAL_NEAR_COPIES
        ):  # two are each other's nearest
            found[side] = share
    return found


def _distances(side: Side, size: int, seed: int) -> FloatArray:
    """Distance to the nearest other one, of so many samples that differ; shape (size,)."""
    _, distinct = np.unique(side.keys_for(seed), return_index=True)  # in an order by content
    x = side.x[distinct[:size]]
    nearest = NearestNeighbors(n_neighbors=1, algorithm="brute").fit(x - x.mean(0))
    return np.asarray(nearest.kneighbors()[0][:, 0])
