r"""How much samples of one prompt differ from each other, and how much prompts do.

Within a prompt, variety is the mean squared distance between two samples, without bias for any
number of them. Between prompts it is the spread of their means minus what single samples add to it.
Limits come from leaving out one prompt at a time, and for a single prompt one sample at a time,
as if one more sample of each side had the mean distance of both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import t

from tradeoff.inference import policy
from tradeoff.prompts.result import PromptVariety, Share, Variety
from tradeoff.ratio.base import squared_distances

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from tradeoff._sides import Sides
    from tradeoff._validation import FloatArray

__all__ = ["variety_of"]

_MOST = 500  # samples of one prompt, whose distances are held at once


def variety_of(
    samples: Sides[FloatArray],
    prompts: Sides[npt.NDArray[np.intp]],
    names: Sequence[str],
    *,
    level: float,
) -> Variety | None:
    """Variety of generated samples in shares of that of real ones; None if prompts are too few.

    Args:
        samples: Features of both sides.
        prompts: Number of the prompt of each sample.
        names: Prompts by number.
        level: Confidence level.
    """
    counts = prompts.map(lambda side: np.bincount(side, minlength=len(names)))
    chosen = np.flatnonzero(np.minimum(*counts) >= policy.FEWEST_ANSWERS)
    if chosen.size < policy.FEWEST_GROUPS:
        return None
    rows = [
        [x[np.flatnonzero(side == one)[:_MOST]] for one in chosen]
        for x, side in zip(samples, prompts, strict=True)
    ]
    distances = [[squared_distances(x, x) for x in side] for side in rows]
    within = np.array([[_mean(one) for one in side] for side in distances])
    if not within[0].any():
        return None  # real samples of each prompt are all the same
    single = [
        _of_prompt(names[number], *both, share=(1.0 - level) / chosen.size)
        for number, *both in zip(chosen, *distances, strict=True)
    ]
    left_out = (within.sum(1, keepdims=True) - within)[::-1]
    between = [_spreads(side, own) for side, own in zip(rows, within, strict=True)]
    real, made = between
    is_spread = min(real[0], real[1].min()) > 0.0
    return Variety(
        within=_share(within[1].sum() / within[0].sum(), left_out[0] / left_out[1], level),
        between=_share(made[0] / real[0], made[1] / real[1], level) if is_spread else None,
        prompts=tuple(sorted(single, key=lambda one: (one.high, one.variety))),
    )


def _mean(distances: FloatArray) -> float:
    """Mean squared distance between two samples."""
    n = len(distances)
    return float((distances.sum() - np.trace(distances)) / (n * (n - 1)))


def _share(value: float, left_out: FloatArray, level: float) -> Share:
    """A ratio with its jackknife limits, which are symmetric for its logarithm."""
    n = left_out.size
    if min(value, left_out.min()) <= 0.0:
        return Share(value=max(float(value), 0.0), low=0.0, high=max(float(left_out.max()), 0.0))
    logs = np.log(left_out)
    error = np.sqrt((n - 1) / n * ((logs - logs.mean()) ** 2).sum())
    reach = float(t.ppf(0.5 + 0.5 * level, n - 1) * error)
    low, high = float(value) * np.exp([-reach, reach])
    return Share(value=float(value), low=float(low), high=float(high))


def _spreads(rows: Sequence[FloatArray], within: FloatArray) -> tuple[float, FloatArray]:
    """Variance of the prompts' true means, of all prompts and without each of them."""
    means = np.stack([x.mean(0) for x in rows])
    means -= means.mean(0)
    added = 0.5 * within / np.array([len(x) for x in rows])
    squares, total, n = (means**2).sum(1), means.sum(0), len(means)

    def variance(squares: FloatArray, sums: FloatArray, added: FloatArray, n: int) -> FloatArray:
        return np.asarray((squares - (sums**2).sum(-1) / n) / (n - 1) - added / n)

    whole = variance(squares.sum(), total, added.sum(), n)
    rest = variance(squares.sum() - squares, total - means, added.sum() - added, n - 1)
    return float(whole), rest


def _of_prompt(name: str, real: FloatArray, made: FloatArray, *, share: float) -> PromptVariety:
    """Variety of one prompt, with limits that exclude the truth in a share of the cases."""
    value = _mean(made) / _mean(real) if _mean(real) > 0.0 else 1.0
    usual = 0.5 * (_mean(real) + _mean(made))
    if usual == 0.0:
        return PromptVariety(prompt=name, variety=1.0, low=0.0, high=np.inf)
    (of_real, real_error), (of_made, made_error) = (_logarithm(d, usual) for d in (real, made))
    freedom = len(real) + len(made) - 2
    reach = float(t.ppf(1.0 - 0.5 * share, freedom) * np.hypot(real_error, made_error))
    apart = of_made - of_real
    low, high = np.exp([apart - reach, apart + reach]).tolist()
    return PromptVariety(prompt=name, variety=value, low=min(low, value), high=max(high, value))


def _logarithm(distances: FloatArray, usual: float) -> tuple[float, float]:
    """Logarithm of the mean with one more sample at the usual distance, and its standard error."""
    n = len(distances)
    d = np.full((n + 1, n + 1), usual)
    d[:n, :n] = distances
    np.fill_diagonal(d, 0.0)
    total, own = d.sum(), d.sum(1)
    left_out = np.log((total - 2.0 * own[:n]) / (n * (n - 1)))
    error = np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum())
    return float(np.log(total / (n * (n + 1)))), float(error)
