r"""Counts in a ball: of the nearest training samples, how many are real?

In the ball that reaches the k-th nearest of N real and M generated samples,
:math:`\log p/q \approx \log(k_P / N) - \log(k_Q / M)`; this is the local form of PR-cover.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.neighbors import NearestNeighbors

from tradeoff._validation import FloatArray, check_count, check_features
from tradeoff.exceptions import InvalidInputError
from tradeoff.ratio.base import Estimator, FittedRatio, Projection, count_log_ratio, thin

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Neighbors"]

_JUDGED = 0.2
_JUDGES = 500


@dataclass(frozen=True)
class Neighbors(Estimator):
    """The share of real samples among the nearest; above 64 columns on principal components.

    Args:
        ranks: numbers of neighbors to choose from, by held-out likelihood.
        most_rows: rows of each side used at most.

    Example:
        >>> import numpy as np
        >>> from tradeoff.ratio import Neighbors
        >>> rng = np.random.default_rng(0)
        >>> modes = rng.choice([-3.0, 3.0], (1000, 1)) + rng.normal(0, 0.5, (1000, 1))
        >>> fitted = Neighbors().fit(real=modes, generated=rng.normal(0, 3, (1000, 1)), seed=0)
        >>> between, at_mode = fitted.log_ratio(np.array([[0.0], [3.0]]))
        >>> bool(between < 0 < at_mode)
        True
    """

    projects = True
    ranks: tuple[int, ...] = (10, 30, 100, 300)
    most_rows: int = 4000

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "ranks", tuple(sorted(check_count("ranks", r) for r in self.ranks))
        )
        if not self.ranks:
            raise InvalidInputError("`ranks` must hold at least one number of neighbors.")

    def fit(self, *, real: FloatArray, generated: FloatArray, seed: int) -> NeighborLogRatio:
        """Fit on samples of shape (n, d) and (m, d)."""
        real, generated = check_features(real=real, generated=generated)
        rng = np.random.default_rng(seed)
        project = Projection.fit(real, generated)
        sides = [project(thin(rng, side, self.most_rows)) for side in (real, generated)]
        judged = [rng.random(len(side)) < _JUDGED for side in sides]
        rank = min(self.ranks[0], sum(map(len, sides)))
        if all(part.any() and not part.all() for part in judged):
            rest = [side[~part] for side, part in zip(sides, judged, strict=True)]
            judges = [
                thin(rng, side[part], _JUDGES) for side, part in zip(sides, judged, strict=True)
            ]
            rank = self._choose(rest, judges)
        return NeighborLogRatio(project, _searched(sides), (len(sides[0]), len(sides[1])), rank)

    def _choose(self, sides: list[FloatArray], judges: list[FloatArray]) -> int:
        """The number of neighbors that makes other samples most likely."""
        ranks = [rank for rank in self.ranks if rank <= sum(map(len, sides))]
        if not ranks:
            return sum(map(len, sides))
        likelihoods, searched = np.zeros(len(ranks)), _searched(sides)
        sizes = (len(sides[0]), len(sides[1]))
        for judge, sign in zip(judges, (1.0, -1.0), strict=True):
            index = searched.kneighbors(judge, ranks[-1], return_distance=False)
            for i, rank in enumerate(ranks):
                found = _log_ratios(index[:, :rank], sizes)
                likelihoods[i] -= np.logaddexp(0.0, -sign * found).mean()
        return ranks[int(likelihoods.argmax())]


@dataclass(frozen=True, eq=False)
class NeighborLogRatio(FittedRatio):
    """Training samples of both sides, and how many neighbors are counted."""

    project: Projection
    searched: NearestNeighbors
    sizes: tuple[int, int]
    rank: int

    def log_ratio(self, x: FloatArray) -> FloatArray:
        """Log p/q of samples of shape (n, d)."""
        index = self.searched.kneighbors(self.project(x), self.rank, return_distance=False)
        return _log_ratios(index, self.sizes)


def _searched(sides: list[FloatArray]) -> NearestNeighbors:
    return NearestNeighbors().fit(np.concatenate(sides))


def _log_ratios(index: npt.NDArray[np.intp], sizes: tuple[int, int]) -> FloatArray:
    real = (index < sizes[0]).sum(1)
    return count_log_ratio((real, index.shape[1] - real), sizes)
