r"""Counts of balls, which turn support metrics into whole curves (Sykes, Simon and Rabin 2024).

A sample is called real if it lies in more balls of real than of generated samples, by a factor that
depends on the slope. Which balls are counted is what improved precision and recall, coverage and a
kernel density with one radius differ in; `Neighbors` is the fourth variant.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tradeoff._sides import Sides
from tradeoff._validation import FloatArray, check_choice, check_count, check_features
from tradeoff.ratio.base import (
    PREDICTED_AT_ONCE,
    Estimator,
    FittedRatio,
    count_log_ratio,
    in_padded_blocks,
    squared_distances,
    thin,
)

__all__ = ["BallCounts"]

_KINDS = ("improved", "kernel", "coverage")


@dataclass(frozen=True)
class BallCounts(Estimator):
    r"""Balls of each side that hold a sample; distances are those of the features as given.

    Balls of the kind "improved" grow where samples are rare. Like the metrics that they come from,
    they detect regions that a side does not reach, but hardly detect that a side is rarer than the
    other in a region.

    Args:
        balls: "improved": around every training sample, reaching its k-th neighbor in its own set,
            as in improved precision and recall; "kernel": the same with one radius for each side,
            their mean; "coverage": around the sample itself, reaching its k-th neighbor on one side
            and holding samples of the other.
        k: Rank of the neighbor that a ball reaches; by default the square root of the number of
            rows of the smaller side.
        most_rows: Rows of each side that are used at most.

    Example:
        >>> import numpy as np
        >>> from tradeoff.ratio.balls import BallCounts
        >>> rng = np.random.default_rng(0)
        >>> real, generated = rng.normal(0, 1, (1000, 2)), rng.normal(0, 2, (1000, 2))
        >>> fitted = BallCounts("coverage").fit(real=real, generated=generated, seed=0)
        >>> near, far = fitted.log_ratio(np.array([[0.0, 0.0], [4.0, 4.0]]))
        >>> bool(near > 0 > far)
        True
    """

    balls: str = "coverage"
    k: int | None = None
    most_rows: int = 10_000

    def __post_init__(self) -> None:
        check_choice("balls", self.balls, _KINDS)
        if self.k is not None:
            object.__setattr__(self, "k", check_count("k", self.k))

    def fit(self, *, real: FloatArray, generated: FloatArray, seed: int) -> BallLogRatio:
        """Fit on samples of shape (n, d) and (m, d)."""
        real, generated = check_features(real=real, generated=generated)
        rng = np.random.default_rng(seed)
        center = 0.5 * (real.mean(0) + generated.mean(0))  # far from 0, squares would lose digits
        sides = Sides(*(thin(rng, side, self.most_rows) - center for side in (real, generated)))
        fewest = min(map(len, sides))
        k = min(self.k or max(1, round(fewest**0.5)), fewest)
        if self.balls == "coverage":
            return BallLogRatio(center, sides, None, k)
        radii = sides.map(lambda side: _own_radii(side, k))
        return BallLogRatio(center, sides, radii.map(_mean) if self.balls == "kernel" else radii, k)


@dataclass(frozen=True, eq=False)
class BallLogRatio(FittedRatio):
    """Training samples of both sides, and the squared radii of balls around them, if there are."""

    center: FloatArray
    sides: Sides[FloatArray]
    radii: Sides[FloatArray] | None
    k: int

    def log_ratio(self, x: FloatArray) -> FloatArray:
        """Log p/q of samples of shape (n, d); bit for bit the same in any batch."""
        return in_padded_blocks(self._log_ratio, np.asarray(x, np.float64) - self.center)

    def _log_ratio(self, x: FloatArray) -> FloatArray:
        squares = self.sides.map(lambda side: squared_distances(x, side))
        if self.radii is not None:  # a sample lies in about k of them, wherever it is
            return _log_quotient(squares, self.radii)
        # One count grows with p/q, the other falls with it, and both are k where densities and
        # sizes are equal.
        nth = self.k - 1
        reach = squares.map(lambda found: np.partition(found, nth, axis=1)[:, [nth]])
        sizes = np.log(len(self.sides.real) / len(self.sides.generated))
        return np.asarray(0.5 * _log_quotient(squares, Sides(reach.generated, reach.real)) - sizes)


def _log_quotient(squares: Sides[FloatArray], radii: Sides[FloatArray]) -> FloatArray:
    return count_log_ratio((x <= r).sum(1) for x, r in zip(squares, radii, strict=True))


def _own_radii(side: FloatArray, k: int) -> FloatArray:
    """Squared distance of every row to its k-th neighbor, itself not counted."""
    rank = min(k, len(side) - 1)
    starts = range(0, len(side), PREDICTED_AT_ONCE)
    blocks = (squared_distances(side[i : i + PREDICTED_AT_ONCE], side) for i in starts)
    return np.concatenate([np.partition(found, rank, axis=1)[:, rank] for found in blocks])


def _mean(squares: FloatArray) -> FloatArray:
    """The square of the mean radius."""
    return np.asarray(np.sqrt(squares).mean() ** 2)
