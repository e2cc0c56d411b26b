r"""Tests that may be looked at after every sample: bets against a mean, and the capital they win.

A rule is fixed, so :math:`\alpha(\lambda) = \lambda\,E_P[w] + E_Q[v]` with values w and v in a few
numbers: 0 and 1 for one model, -1, 0 and 1 for the difference of two. With bets :math:`\beta_j`
that were fixed beforehand, the capital against a mean m after counts :math:`c_v` of each value is

.. math:: K(m) = \frac1J \sum_j \exp \sum_v c_v \log(1 + \beta_j (v - m)).

At the true mean it is a martingale of mean 1, so it ever exceeds :math:`1/\delta` with probability
:math:`\delta` at most (Ville). To reject :math:`\alpha \le \alpha_0`, the product of the capital of
the real side at m and of the generated side at :math:`\alpha_0 - \lambda m`, with positive bets,
must be large for every m: at the true m it is a martingale, and under the hypothesis the generated
capital at :math:`\alpha_0 - \lambda m` is below that at its own mean. Negative bets reject
:math:`\alpha \ge \alpha_0`.

The minimum over m is bounded from below, not read off a grid: each bet's capital is monotone in m,
and in each cell of the grid every term is taken at its smaller end. Where no mean of the generated
side can make the hypothesis true, there is nothing to reject.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from tradeoff._validation import FloatArray

__all__ = ["ONE_MODEL", "TWO_MODELS", "BettingTest", "log_factors"]

ONE_MODEL = (0.0, 1.0)
TWO_MODELS = (-1.0, 0.0, 1.0)

_REAL_BETS = np.array([1.0, 2.0, 3.0])
_SMALLEST, _LARGEST, _COUNT = 0.7, 2.5, 10  # generated bets, in standard errors at both ends
_SMALLEST_FACTOR = 0.1
_CELLS, _REACH = 384, 8.0  # fine cells, and the standard errors of the real side they cover
_TAIL = 64  # cells of growing width on either side, to the ends of the range
_PARTS, _ROUNDS = 8, 8  # of a cell in doubt, and how often it is split
_BISECTIONS = 16


def log_factors(values: FloatArray, bets: FloatArray, mean: FloatArray) -> FloatArray:
    """Logarithms of what each bet against each mean wins by each value, shape (j, m, k).

    Times counts of the values, they are the logarithms of capitals.

    Args:
        values: The values, shape (k,).
        bets: Shape (j,).
        mean: Shape (m,).
    """
    return np.asarray(np.log1p(bets[:, None, None] * (values - mean[:, None])))


class BettingTest:
    r"""Whether :math:`\alpha(\lambda)` lies above or below a bar, at any time.

    The real side is counted whole before the first look.

    Args:
        lam: Slope.
        values: Values that a sample of either side can take, in ascending order.
        real: Numbers of real samples of each value.
        spread: Standard deviations of the values of both sides as they were expected before
            counting. They scale the bets: a wrong one costs samples, not validity.
        looks: Numbers of generated samples at the first look and at the last.

    Example:
        >>> import numpy as np
        >>> from tradeoff.inference.betting import ONE_MODEL, BettingTest
        >>> test = BettingTest(
        ...     1.0, ONE_MODEL, real=[13_000, 7_000], spread=(0.5, 0.5), looks=(250, 20_000)
        ... )
        >>> above, below = test.log_capitals([650, 350], 0.5)  # 0.35 + 0.35 against a bar of 0.5
        >>> bool(above > np.log(2 / 0.05)), bool(below > np.log(2 / 0.05))
        (True, False)
        >>> low, high = test.limits([650, 350], error=0.05)
        >>> bool(0.5 < low < 0.7 < high < 0.9)
        True
    """

    def __init__(
        self,
        lam: float,
        values: Sequence[float],
        *,
        real: npt.ArrayLike,
        spread: tuple[float, float],
        looks: tuple[int, int],
    ) -> None:
        self.lam, self.values = lam, np.array(values, float)
        self.real = np.array(real, float)
        size = float(self.real.sum())
        spread_real, spread_generated = (max(one, 1.0 / np.sqrt(size)) for one in spread)
        most = (1.0 - _SMALLEST_FACTOR) / (self.values[-1] - self.values[0])
        self.real_bets = np.minimum(_REAL_BETS / (spread_real * np.sqrt(size)), most)
        ends = np.array([_SMALLEST, _LARGEST]) / (spread_generated * np.sqrt(looks[::-1]))
        bets = np.geomspace(min(ends[0], most), min(ends[1], most), _COUNT)
        self.bets = np.append(0.0, bets)  # what is not bet is never lost, however many samples
        self.mean = float(self.real @ self.values) / size
        edges = self._edges(spread_real / np.sqrt(size))
        self.cells = self._cells(edges[:-1], edges[1:])

    def _edges(self, deviation: float) -> FloatArray:
        """Ends of cells that cover the range: fine ones near the mean, wider ones far away."""
        low, high = self.values[0], self.values[-1]
        reach = _REACH * deviation
        tail = np.geomspace(reach, max(high - low, 2.0 * reach), _TAIL + 1)
        offsets = np.concatenate((-tail[::-1], np.linspace(-reach, reach, _CELLS + 1), tail))
        return np.clip(self.mean + offsets, low, high)

    def log_capitals(
        self, generated: npt.ArrayLike, bar: float, *, wanted: float = np.inf
    ) -> tuple[float, float]:
        """Lower bounds of the logarithms of the capitals for "above" and "below" the bar.

        A capital of 2/δ or more answers with an error of δ, whenever it is looked at.

        Args:
            generated: Numbers of generated samples of each value so far.
            bar: Bar of α(λ).
            wanted: Bounds below this are made sharper until it is clear whether they reach it.
        """
        counts = np.asarray(generated, float)
        above, below = (self._bound(self.cells, counts, bar, sign, wanted) for sign in (1.0, -1.0))
        return above, below

    def _bound(
        self,
        cells: tuple[FloatArray, FloatArray, FloatArray],
        counts: FloatArray,
        bar: float,
        sign: float,
        wanted: float,
        rounds: int = _ROUNDS,
    ) -> float:
        """A lower bound of the capital in all cells; those in doubt are split again."""
        low, high = self.values[0], self.values[-1]
        left, right, of_real = cells
        ends = left if sign > 0 else right  # where the generated side has less
        mean = bar - self.lam * ends
        # Beyond its smallest or largest value, the generated side cannot have a mean.
        possible = mean >= low if sign > 0 else mean <= high
        left, right, ends = left[possible], right[possible], ends[possible]
        mean = np.clip(mean[possible], low, high)
        made = _mean_of(log_factors(self.values, sign * self.bets, mean) @ counts)
        bounds = of_real[possible] + made
        smallest = float(bounds.min(initial=np.inf))
        in_doubt = bounds < wanted
        if not rounds or smallest >= wanted or not np.isfinite(wanted):
            return smallest
        if (self._of_real(ends[in_doubt], ends[in_doubt]) + made[in_doubt]).min() < wanted:
            return smallest  # of a capital that is too small itself
        parts = np.linspace(left[in_doubt], right[in_doubt], _PARTS + 1)
        finer = self._cells(parts[:-1].ravel(), parts[1:].ravel())
        return self._bound(finer, counts, bar, sign, wanted, rounds - 1)

    def _cells(
        self, left: FloatArray, right: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Cells with what the capital of the real side is at least in each."""
        return left, right, self._of_real(left, right)

    def _of_real(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """A lower bound of the logarithm of the real side's capital in each cell."""
        rising, falling = (
            log_factors(self.values, sign * self.real_bets, ends) @ self.real
            for sign, ends in ((-1.0, left), (1.0, right))
        )
        return _mean_of(np.concatenate((rising, falling)))

    def limits(self, generated: npt.ArrayLike, *, error: float) -> tuple[float, float]:
        """Limits of α(λ) that hold at all times together, but for an error.

        All bars between them are neither exceeded nor missed.
        """
        counts, wanted = np.asarray(generated, float), np.log(2.0 / error)
        lowest, highest = ((1.0 + self.lam) * self.values[[0, -1]]).tolist()
        found = []
        for sign, rejected, kept in ((1.0, lowest, highest), (-1.0, highest, lowest)):
            for _ in range(_BISECTIONS):
                middle = 0.5 * (rejected + kept)
                is_rejected = self._bound(self.cells, counts, middle, sign, np.inf) >= wanted
                rejected, kept = (middle, kept) if is_rejected else (rejected, middle)
            found.append(rejected)
        return found[0], found[1]

    def resolvable(self, *, error: float) -> tuple[float, float]:
        """Gaps above and below a bar that no number of generated samples would establish.

        With ever more of them the mean of the generated side is known, and the means of the real
        side that its own capital, times what is not bet on the other, does not exclude remain.
        """
        wanted = np.log(2.0 / error) + np.log(len(self.bets))
        left, right, of_real = self.cells
        kept = np.flatnonzero(of_real < wanted)
        low, high = left[kept[0]], right[kept[-1]]
        return float(self.lam * (self.mean - low)), float(self.lam * (high - self.mean))


def _mean_of(log_capitals: FloatArray) -> FloatArray:
    """Logarithm of the mean capital over bets."""
    largest = log_capitals.max(0)
    return np.asarray(largest + np.log(np.exp(log_capitals - largest).mean(0)))
