"""Which draws of a batch are kept: four acceptance rules with one interface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.optimize import brentq

from tradeoff._validation import FloatArray, check_number
from tradeoff.core.budget import AcceptanceRule, drs_acceptance
from tradeoff.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

__all__ = ["RULES", "Rule", "mh_acceptance"]

_WIDEST_SHIFT = 60.0


class Rule(Protocol):
    """Selects among draws, which come in batches."""

    def draws(self, most: int) -> int:
        """Number of draws of the next batch, at most `most`, of which none would be wasted."""

    def keep(self, log_ratios: FloatArray, log_uniform: FloatArray) -> npt.NDArray[np.intp]:
        """Indices of the kept draws, given the logarithm of a uniform number for each draw."""


class _OneByOne:
    """What rules share that judge each draw by itself."""

    def draws(self, most: int) -> int:
        return most


@dataclass(frozen=True, eq=False)
class _ByRatio(_OneByOne):
    """A draw is kept with probability min(c r, 1). Few operations, since every batch runs them."""

    log_constant: float
    fill: float = 0.0

    def keep(self, log_ratios: FloatArray, log_uniform: FloatArray) -> npt.NDArray[np.intp]:
        if self.log_constant == np.inf:
            kept = log_ratios > -np.inf
        else:
            kept = log_uniform < log_ratios + self.log_constant
        if self.fill > 0:
            kept |= (log_ratios == -np.inf) & (log_uniform < np.log(self.fill))
        return kept.nonzero()[0]


@dataclass(frozen=True, eq=False)
class _ByProbability(_OneByOne):
    """A draw is kept with a probability that a function gives."""

    acceptance: Callable[[FloatArray], FloatArray]

    def keep(self, log_ratios: FloatArray, log_uniform: FloatArray) -> npt.NDArray[np.intp]:
        return np.flatnonzero(np.exp(log_uniform) < self.acceptance(log_ratios))


class _Chain:
    """Independence Metropolis-Hastings: the last state of every K draws.

    A draw of an earlier batch cannot be kept in a later one, so a batch has whole chains, and at
    least one.
    """

    def __init__(self, budget: float) -> None:
        self.budget, self.finished = budget, 0

    def draws(self, most: int) -> int:
        done = self._until(self.finished)
        chains = self.finished + int(most / self.budget) + 1
        while self._until(chains) - done > most:
            chains -= 1
        return self._until(chains) - done or most  # too few for a chain: the last draws of all

    def keep(self, log_ratios: FloatArray, log_uniform: FloatArray) -> npt.NDArray[np.intp]:
        uniform = np.exp(log_uniform)
        kept: list[int] = []
        start = 0
        while (end := start + self._length()) <= log_ratios.size:
            current = start
            for i in range(start + 1, end):
                if uniform[i] < mh_acceptance(log_ratios[current], log_ratios[i]):
                    current = i
            kept.append(current)
            self.finished += 1
            start = end
        return np.array(kept, dtype=np.intp)

    def _length(self) -> int:
        """Length of the next chain: whole numbers whose mean is the budget."""
        return self._until(self.finished + 1) - self._until(self.finished)

    def _until(self, chains: int) -> int:
        return int(chains * self.budget)


def mh_acceptance(current: float, proposed: float) -> float:
    r"""Probability with which a chain moves on, :math:`\min(1, r(x') / r(x))`.

    Args:
        current: Log p/q of the chain's state, not of the last proposal.
        proposed: Log p/q of the proposal, a draw of the model.

    Example:
        >>> import math
        >>> from tradeoff.sampling.rules import mh_acceptance
        >>> round(mh_acceptance(current=math.log(2.0), proposed=math.log(0.5)), 12)
        0.25
    """
    if current == -np.inf:
        return 1.0
    return float(np.exp(min(proposed - current, 0.0)))


def _optimal(log_ratios: FloatArray, budget: float) -> Rule:
    rule = AcceptanceRule.from_log_ratios(log_ratios, budget=budget)
    return _ByRatio(rule.log_constant, rule.fill)


def _plain(log_ratios: FloatArray, budget: float) -> Rule:
    return _ByRatio(-float(log_ratios.max()))


def _discriminator(log_ratios: FloatArray, budget: float) -> Rule:
    """The shift is solved for such that the expected rate is 1 / budget."""
    log_max = float(log_ratios.max())
    if not np.isfinite(log_max):
        raise InvalidInputError(
            "The largest ratio must be positive and finite. Got "
            f"{'zero' if log_max < 0 else 'infinite'}."
        )

    def acceptance(x: FloatArray, gamma: float) -> FloatArray:
        return drs_acceptance(np.minimum(x, log_max), log_max_ratio=log_max, gamma=gamma)

    def excess(gamma: float) -> float:
        return float(acceptance(log_ratios, gamma).mean()) - 1.0 / budget

    # Far enough to keep even the smallest ratio, or nearly nothing.
    smallest = float(log_ratios[np.isfinite(log_ratios)].min())
    low, high = smallest - log_max - _WIDEST_SHIFT, _WIDEST_SHIFT
    if excess(high) >= 0:
        gamma = high
    elif excess(low) <= 0:
        gamma = low
    else:
        gamma = float(brentq(excess, low, high))
    return _ByProbability(lambda x: acceptance(x, gamma))


def _metropolis(log_ratios: FloatArray, budget: float) -> Rule:
    return _Chain(check_number("budget", budget, at_least=1.0))


RULES: dict[str, Callable[[FloatArray, float], Rule]] = {
    "obrs": _optimal,
    "rejection": _plain,
    "drs": _discriminator,
    "mh": _metropolis,
}
"""Makers of every rule from the log-ratios of calibration draws and a budget, by name."""
