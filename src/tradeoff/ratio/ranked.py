"""Gaussians on ranks, which see the dependence of columns whatever their own distributions are.

Each column is mapped to the normal quantiles of its ranks among all samples of a fit. After this
map a column that is skewed or has heavy tails does not hide how it depends on the others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from tradeoff._validation import check_features
from tradeoff.ratio.base import Estimator, FittedRatio
from tradeoff.ratio.gaussian import Gaussians
from tradeoff.ratio.registry import find_estimator
from tradeoff.ratio.stack import Stack

if TYPE_CHECKING:
    from tradeoff._validation import FloatArray

__all__ = ["RankedGaussians", "for_tables"]


@dataclass(frozen=True)
class RankedGaussians(Estimator):
    """A Gaussian for each side, on normal scores of columns; covariances are shrunk.

    Example:
        Two columns with heavy tails that depend on each other in the real data only:

        >>> import numpy as np
        >>> from tradeoff.ratio.ranked import RankedGaussians
        >>> rng = np.random.default_rng(0)
        >>> generated = np.exp(2 * rng.normal(size=(2000, 2)))
        >>> both = rng.normal(size=(2000, 1))
        >>> real = np.exp(2 * both + 0.2 * rng.normal(size=(2000, 2)))
        >>> fitted = RankedGaussians().fit(real=real, generated=generated, seed=0)
        >>> alike, apart = fitted.log_ratio(np.array([[5.0, 5.0], [5.0, 0.2]]))
        >>> bool(alike > 0 > apart)
        True
    """

    def fit(self, *, real: FloatArray, generated: FloatArray, seed: int) -> RankedRatio:
        """Fit on samples of shape (n, d) and (m, d)."""
        real, generated = check_features(real=real, generated=generated)
        scores = NormalScores.fit(real, generated)
        sides = {"real": scores(real), "generated": scores(generated)}
        return RankedRatio(scores, Gaussians(shrunk=True).fit(**sides, seed=seed))


@dataclass(frozen=True, eq=False)
class NormalScores:
    """Normal quantiles of the ranks of each column; equal values have one rank."""

    ordered: FloatArray

    @classmethod
    def fit(cls, real: FloatArray, generated: FloatArray) -> NormalScores:
        """Ranks among the samples of both sides."""
        return cls(np.sort(np.concatenate((real, generated)), axis=0))

    def __call__(self, x: FloatArray) -> FloatArray:
        """Scores of samples, shape (n, d)."""
        ranks = np.empty(x.shape)
        for column, values in enumerate(self.ordered.T):
            both = (np.searchsorted(values, x[:, column], side) for side in ("left", "right"))
            ranks[:, column] = 0.5 * sum(both)
        return np.asarray(ndtri((ranks + 0.5) / (len(self.ordered) + 1.0)))


@dataclass(frozen=True, eq=False)
class RankedRatio(FittedRatio):
    """A log-ratio of normal scores."""

    scores: NormalScores
    ratio: FittedRatio

    def log_ratio(self, x: FloatArray) -> FloatArray:
        """Log p/q of samples of shape (n, d)."""
        return self.ratio.log_ratio(self.scores(np.asarray(x, np.float64)))


def for_tables(estimator: Any) -> Any:
    """The default stack with a member that sees ranks; any other estimator as it is.

    Args:
        estimator: Estimator by name, or configured.
    """
    model = find_estimator(estimator)
    if model != Stack():
        return estimator
    stack = Stack()
    return replace(stack, members=(*stack.members, RankedGaussians()))
