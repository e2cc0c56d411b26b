r"""A learned stack: logistic regression on what several estimators say.

Its inputs are the members' log-ratios, squeezed by :math:`\pm\log(1 + |\cdot|)`, and how far a
sample lies outside the range of each side, column by column. The members are fitted on one part
of the training data, their combination on the other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from tradeoff._validation import FloatArray, check_features
from tradeoff.ratio.base import Standardizer
from tradeoff.ratio.gaussian import Gaussians
from tradeoff.ratio.kernel import KernelDensity
from tradeoff.ratio.logistic import LinearLogRatio, Logistic
from tradeoff.ratio.quantized import Quantized
from tradeoff.ratio.trees import BoostedTrees

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tradeoff.ratio.base import Estimator, LogRatio

__all__ = ["Stack"]

_CLIP = 50.0


def _default_members() -> tuple[Estimator, ...]:
    return (
        Logistic(),
        BoostedTrees(),
        Gaussians(),
        Gaussians(shrunk=True),
        Quantized(),
        KernelDensity(),
    )


@dataclass(frozen=True)
class Stack:
    """A learned combination of estimators; the default where none is named.

    Args:
        members: estimators to combine.
        combination: share of the training rows on which the combination is learned.

    Example:
        >>> import numpy as np
        >>> from tradeoff.ratio import Gaussians, Logistic, Stack
        >>> rng = np.random.default_rng(0)
        >>> real, generated = rng.normal(0, 1, (1000, 2)), rng.normal(0, 2, (1000, 2))
        >>> stack = Stack(members=(Logistic(), Gaussians()))
        >>> fitted = stack.fit(real=real, generated=generated, seed=0)
        >>> near, far = fitted.log_ratio(np.array([[0.0, 0.0], [4.0, 4.0]]))
        >>> bool(near > 0 > far)
        True
    """

    members: tuple[Estimator, ...] = field(default_factory=_default_members)
    combination: float = 0.25

    def fit(self, *, real: FloatArray, generated: FloatArray, seed: int) -> StackLogRatio:
        """Fit on samples of shape (n, d) and (m, d)."""
        real, generated = check_features(real=real, generated=generated)
        rng = np.random.default_rng(seed)
        (real_fit, real_rest), (generated_fit, generated_rest) = (
            _split(rng, side, self.combination) for side in (real, generated)
        )
        opinions = Opinions.fit(self.members, real_fit, generated_fit, seed)
        # Members fitted anew on all rows would speak differently from those that were combined:
        # on a ring of eight modes that costs more than the rows are worth.
        combine = Logistic(penalties=(0.1,)).fit(
            real=opinions(real_rest), generated=opinions(generated_rest), seed=seed
        )
        return StackLogRatio(opinions, combine)


@dataclass(frozen=True, eq=False)
class StackLogRatio:
    """The learned combination of fitted members."""

    opinions: Opinions
    combine: LinearLogRatio

    def log_ratio(self, x: FloatArray) -> FloatArray:
        """Log p/q of samples of shape (n, d)."""
        return self.combine.log_ratio(self.opinions(x))


@dataclass(frozen=True, eq=False)
class Opinions:
    """What the members and the ranges of both sides say about a sample."""

    members: Sequence[LogRatio]
    ranges: tuple[Range, Range]

    @classmethod
    def fit(
        cls,
        members: Sequence[Estimator],
        real: FloatArray,
        generated: FloatArray,
        seed: int,
    ) -> Opinions:
        """Fit every member on the same rows."""
        scale = Standardizer.fit(real, generated).scale
        return cls(
            [member.fit(real=real, generated=generated, seed=seed) for member in members],
            (Range.fit(real, scale), Range.fit(generated, scale)),
        )

    def __call__(self, x: FloatArray) -> FloatArray:
        log_ratios = np.stack([member.log_ratio(x) for member in self.members], axis=1)
        log_ratios = np.clip(log_ratios, -_CLIP, _CLIP)
        squeezed = np.sign(log_ratios) * np.log1p(np.abs(log_ratios))
        return np.concatenate((squeezed, *(outside(x) for outside in self.ranges)), axis=1)


@dataclass(frozen=True, eq=False)
class Range:
    """The range of each column of one side, and how far a sample exceeds it."""

    low: FloatArray
    high: FloatArray
    scale: FloatArray

    @classmethod
    def fit(cls, x: FloatArray, scale: FloatArray) -> Range:
        """The smallest and the largest value of each column."""
        return cls(x.min(0), x.max(0), scale)

    def __call__(self, x: FloatArray) -> FloatArray:
        """Whether, how far and in how many columns a sample lies outside, shape (n, 3)."""
        excess = np.maximum(np.maximum(self.low - x, x - self.high), 0.0)
        farthest = np.where(np.isinf(self.scale), excess > 0, excess / self.scale).max(1)
        columns = (excess > 0).sum(1)
        return np.stack((farthest > 0, np.log1p(farthest), np.log1p(columns)), axis=1)


def _split(rng: np.random.Generator, x: FloatArray, share: float) -> tuple[FloatArray, FloatArray]:
    """Two parts of the rows, neither of them empty if there are two rows."""
    order = rng.permutation(len(x))
    first = min(max(1, round((1 - share) * len(x))), max(1, len(x) - 1))
    return x[np.sort(order[:first])], x[np.sort(order[first:])] if len(x) > 1 else x
