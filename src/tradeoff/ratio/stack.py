r"""A learned stack: several estimators, and what they are worth together.

Every member is fitted on the same rows; their log-ratios, and how far a sample lies outside the
range of each side, are weighed on rows that they have not seen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from tradeoff._threads import single_threaded
from tradeoff._validation import FloatArray, check_features
from tradeoff.exceptions import InvalidInputError
from tradeoff.ratio.base import MOST_COMPONENTS, Projection, in_padded_blocks
from tradeoff.ratio.combination import Combiner, MemberScores
from tradeoff.ratio.gaussian import Gaussians
from tradeoff.ratio.kernel import KernelDensity
from tradeoff.ratio.kernel_logistic import KernelLogistic
from tradeoff.ratio.logistic import Logistic
from tradeoff.ratio.trees import BoostedTrees
from tradeoff.ratio.values import ValueCounts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tradeoff.ratio.base import Estimator, LogRatio

__all__ = ["Stack", "combines", "counting_values", "fit_members", "projected_columns", "row_caps"]

_PARTS = 4
_SHARE = 1 / 6  # of the rows of slow members, in each part
_OUTERMOST = 10
_SMALLEST_GAP = 1e-6
_FARTHEST = 1e6
_NO_GAP = 1e-300
_COLUMNS = 64


def _default_members() -> tuple[Estimator, ...]:
    return (
        Logistic(),
        BoostedTrees(),
        Gaussians(),
        Gaussians(shrunk=True),
        KernelLogistic(),
        KernelDensity(),
    )


@dataclass(frozen=True)
class Stack:
    """A learned combination of estimators; the default where none is named.

    Args:
        members: estimators to combine.

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

    def __post_init__(self) -> None:
        if not self.members or not all(
            hasattr(member, "fit") and not isinstance(member, type) for member in self.members
        ):
            raise InvalidInputError(
                f"`members` must be configured estimators, at least one. Got {self.members!r}."
            )

    @single_threaded
    def fit(self, *, real: FloatArray, generated: FloatArray, seed: int) -> StackLogRatio:
        """Fit on samples of shape (n, d) and (m, d), leaving out a quarter at a time.

        What is left out teaches the weights, and the log-ratio is the mean of the four fits.
        """
        real, generated = check_features(real=real, generated=generated)
        rng = np.random.default_rng(seed)
        parts = [rng.permutation(len(side)) % min(_PARTS, len(side)) for side in (real, generated)]
        members = [_in_part(member) for member in self.members]
        fits: list[FittedMembers] = []
        scores: tuple[list[MemberScores], list[MemberScores]] = ([], [])
        for part in range(_PARTS):
            rest = [
                side[where != part] if (where != part).any() else side
                for side, where in zip((real, generated), parts, strict=True)
            ]
            fitted = FittedMembers.fit(members, rest[0], rest[1], seed + part)
            fits.append(fitted)
            for found, side, where in zip(scores, (real, generated), parts, strict=True):
                found.append(fitted(side[where == part]))
        return StackLogRatio(fits, Combiner.learn(real=scores[0], generated=scores[1]))

    def fit_members(self, real: FloatArray, generated: FloatArray, seed: int) -> FittedMembers:
        """The members alone, to be combined by the caller."""
        return FittedMembers.fit(self.members, real, generated, seed)


@dataclass(frozen=True, eq=False)
class StackLogRatio:
    """The mean over several fits of their combined scores."""

    fits: Sequence[FittedMembers]
    combine: Combiner

    @single_threaded
    def log_ratio(self, x: FloatArray) -> FloatArray:
        """Log p/q of samples of shape (n, d); bit for bit the same in any batch."""
        return in_padded_blocks(self._mean, np.asarray(x, np.float64))

    def _mean(self, x: FloatArray) -> FloatArray:
        return np.asarray(np.mean([self.combine(fitted(x)) for fitted in self.fits], axis=0))


@dataclass(frozen=True, eq=False)
class FittedMembers:
    """Members fitted on the same rows, and the ranges of both sides."""

    members: Sequence[LogRatio]
    projects: Sequence[bool]
    project: Projection | None
    ranges: tuple[Range, ...]

    @classmethod
    def alone(
        cls, estimator: Estimator, real: FloatArray, generated: FloatArray, seed: int
    ) -> FittedMembers:
        """A single estimator, without ranges."""
        return cls([estimator.fit(real=real, generated=generated, seed=seed)], [False], None, ())

    @classmethod
    def fit(
        cls,
        members: Sequence[Estimator],
        real: FloatArray,
        generated: FloatArray,
        seed: int,
    ) -> FittedMembers:
        """Fit every member; principal components are found once for those that use them."""
        projects = [getattr(member, "projects", False) for member in members]
        wide = {"real": real, "generated": generated}
        project = Projection.fit(real, generated) if any(projects) else None
        narrow = {side: project(x) for side, x in wide.items()} if project else wide
        return cls(
            [
                _fit_member(member, narrow if projected else wide, seed)
                for member, projected in zip(members, projects, strict=True)
            ],
            projects,
            project,
            (Range.fit(real), Range.fit(generated)),
        )

    def __call__(self, x: FloatArray) -> MemberScores:
        """Log-ratios by every member, and range exceedance."""
        if not len(x):  # as many columns as for samples, and no rows
            return MemberScores(*(part[:0] for part in self(np.zeros((1, x.shape[1])))))
        narrow = self.project(x) if self.project else x
        log_ratios = [
            _log_ratios(member, narrow if projected else x)
            for member, projected in zip(self.members, self.projects, strict=True)
        ]
        hints = [np.empty((len(x), 0)), *(outside(x) for outside in self.ranges)]
        return MemberScores(np.concatenate(log_ratios, axis=1), np.concatenate(hints, axis=1))


def _in_part(member: Estimator) -> Estimator:
    """A member of one of the fits whose mean is taken; those that are slow to apply use less."""
    with_share = getattr(member, "with_share", None)
    return with_share(_SHARE) if with_share else member


def _fit_member(member: Estimator, sides: dict[str, FloatArray], seed: int) -> LogRatio:
    fit_projected = getattr(member, "fit_projected", None)
    if fit_projected is None:
        return member.fit(**sides, seed=seed)
    fitted: LogRatio = fit_projected(sides["real"], sides["generated"], seed)
    return fitted


def _log_ratios(member: LogRatio, x: FloatArray) -> FloatArray:
    """One column, or several of a member that has several fits."""
    several = getattr(member, "log_ratio_of_each", None)
    return np.asarray(several(x) if several else member.log_ratio(x)[:, None])


def combines(estimator: Estimator) -> bool:
    """Whether an estimator has members whose scores are combined."""
    return hasattr(estimator, "fit_members")


def counting_values(estimator: Estimator) -> Estimator:
    """A stack with a member that counts equal rows; other estimators as they are."""
    if not isinstance(estimator, Stack) or ValueCounts() in estimator.members:
        return estimator
    return Stack((*estimator.members, ValueCounts()))


def fit_members(
    estimator: Estimator, real: FloatArray, generated: FloatArray, seed: int
) -> FittedMembers:
    """The members of an estimator that has some, or the estimator alone."""
    fit = getattr(estimator, "fit_members", None)
    if fit is None:
        return FittedMembers.alone(estimator, real, generated, seed)
    members: FittedMembers = fit(real, generated, seed)
    return members


def projected_columns(estimator: Estimator, columns: int) -> int | None:
    """Principal components that members see in place of more columns; None if they see all."""
    narrow = any(getattr(member, "projects", False) for member in _members(estimator))
    return MOST_COMPONENTS if narrow and columns > MOST_COMPONENTS else None


def row_caps(estimator: Estimator) -> dict[str, int]:
    """Rows of each side that members use at most, by their names."""
    return {
        type(member).__name__: member.most_rows
        for member in _members(estimator)
        if hasattr(member, "most_rows")
    }


def _members(estimator: Estimator) -> tuple[Estimator, ...]:
    return getattr(estimator, "members", (estimator,))


@dataclass(frozen=True, eq=False)
class Range:
    """The range of each column of one side, and how far a sample exceeds it.

    Distances are counted in gaps between the outermost samples, since a few such gaps beyond the
    range nothing is to be expected, whatever the tails are like.
    """

    low: FloatArray
    high: FloatArray
    gap: FloatArray

    @classmethod
    def fit(cls, x: FloatArray) -> Range:
        """The smallest and the largest value of each column, and the gaps next to them."""
        k = min(_OUTERMOST, len(x) - 1)
        if k < 1:
            return cls(x[0], x[0], np.ones((2, x.shape[1])))
        outermost = np.concatenate(
            [_outermost(x[:, i : i + _COLUMNS], k) for i in range(0, x.shape[1], _COLUMNS)], axis=1
        )
        low, inner_low, inner_high, high = outermost
        gap = np.stack((inner_low - low, high - inner_high)) / k
        return cls(low, high, np.maximum(gap, _SMALLEST_GAP * (high - low)))

    def __call__(self, x: FloatArray) -> FloatArray:
        """Whether, how far and in how many columns a sample lies outside, shape (n, 3)."""
        farthest, columns = np.zeros(len(x)), np.zeros(len(x))
        for sign, bound, gap in ((-1.0, self.low, self.gap[0]), (1.0, self.high, self.gap[1])):
            beyond = sign * x
            beyond -= sign * bound
            columns += (beyond > 0).sum(1)
            with np.errstate(over="ignore"):
                beyond /= np.where(gap > 0, gap, _NO_GAP)
            farthest = np.maximum(farthest, beyond.max(1))
        farthest = np.minimum(farthest, _FARTHEST)
        return np.stack((farthest > 0, np.log1p(farthest), np.log1p(columns)), axis=1)


def _outermost(x: FloatArray, k: int) -> FloatArray:
    """Smallest, k-th smallest after it, k-th largest before the largest, largest; shape (4, d)."""
    columns = np.ascontiguousarray(x.T)  # a few at a time, which stay in the cache
    columns.partition((k, len(x) - 1 - k), axis=1)
    low, high = columns[:, : k + 1].min(1), columns[:, -1 - k :].max(1)
    return np.stack((low, columns[:, k], columns[:, -1 - k], high))
