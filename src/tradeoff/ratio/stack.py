r"""A learned stack: several estimators, and what they are worth together.

Every member is fitted on the same rows; their log-ratios, and how far a sample lies outside the
range of each side, are weighed on rows that they have not seen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._threads import single_threaded
from tradeoff._validation import FloatArray, check_features
from tradeoff.exceptions import InvalidInputError
from tradeoff.ratio.base import (
    MOST_COMPONENTS,
    Adapted,
    Estimator,
    FittedRatio,
    Projection,
    in_padded_blocks,
)
from tradeoff.ratio.combination import Combiner, MemberScores
from tradeoff.ratio.gaussian import Gaussians
from tradeoff.ratio.kernel import KernelDensity
from tradeoff.ratio.kernel_logistic import KernelLogistic
from tradeoff.ratio.logistic import Logistic
from tradeoff.ratio.quantized import ValueCounts
from tradeoff.ratio.ranges import Range
from tradeoff.ratio.trees import BoostedTrees

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tradeoff.samples import View

__all__ = ["FittedMembers", "Stack", "fit_members", "members_of", "projected_columns", "row_caps"]

_PARTS = 4
_SHARE = 1 / 6  # of the rows of slow members, in each part


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
class Stack(Estimator):
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

    combines = True
    members: tuple[Estimator, ...] = field(default_factory=_default_members)

    def __post_init__(self) -> None:
        if not self.members or not all(
            hasattr(member, "fit") and not isinstance(member, type) for member in self.members
        ):
            raise InvalidInputError(
                f"`members` must be configured estimators, at least one. Got {self.members!r}."
            )
        given: tuple[Any, ...] = self.members
        members = (one if isinstance(one, Estimator) else Adapted(one) for one in given)
        object.__setattr__(self, "members", tuple(members))

    @single_threaded
    def fit(self, *, real: FloatArray, generated: FloatArray, seed: int) -> StackLogRatio:
        """Fit on samples of shape (n, d) and (m, d), leaving out a quarter at a time.

        What is left out teaches the weights, and the log-ratio is the mean of the four fits.
        """
        real, generated = check_features(real=real, generated=generated)
        rng = np.random.default_rng(seed)
        parts = [rng.permutation(len(side)) % min(_PARTS, len(side)) for side in (real, generated)]
        members = [member.with_share(_SHARE) for member in self.members]
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

    def cheaper(self) -> Stack:
        """A stack of members that cost little."""
        return Stack(tuple(member.cheaper() for member in self.members))

    def counting_values(self) -> Stack:
        """With a member that counts equal rows."""
        counts = ValueCounts()
        return self if counts in self.members else Stack((*self.members, counts))


@dataclass(frozen=True, eq=False)
class StackLogRatio(FittedRatio):
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

    members: Sequence[FittedRatio]
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
        projects = [member.projects for member in members]
        wide = {"real": real, "generated": generated}
        project = Projection.fit(real, generated) if any(projects) else None
        narrow = {side: project(x) for side, x in wide.items()} if project else wide
        return cls(
            [
                member.fit_projected(**(narrow if projected else wide), seed=seed)
                for member, projected in zip(members, projects, strict=True)
            ],
            projects,
            project,
            (Range.fit(real), Range.fit(generated)),
        )

    def narrowed(self, x: FloatArray) -> FloatArray:
        """Samples as members see them that do not see all columns."""
        return self.project(x) if self.project else x

    def __call__(self, x: FloatArray) -> MemberScores:
        """Log-ratios by every member, and range exceedance."""
        return self.scores(x, self.narrowed(x))

    def scores(self, x: FloatArray, narrow: FloatArray) -> MemberScores:
        """The same, of samples that were narrowed already."""
        if not len(x):  # as many columns as for samples, and no rows
            one = self.scores(np.zeros((1, x.shape[1])), np.zeros((1, narrow.shape[1])))
            return MemberScores(one.log_ratios[:0], one.hints[:0])
        log_ratios = [
            member.log_ratio_of_each(narrow if projected else x)
            for member, projected in zip(self.members, self.projects, strict=True)
        ]
        hints = [np.empty((len(x), 0)), *(outside(x) for outside in self.ranges)]
        return MemberScores(np.concatenate(log_ratios, axis=1), np.concatenate(hints, axis=1))


@dataclass(frozen=True, eq=False)
class FittedViews:
    """Members fitted on each view, and some on the narrowed columns of all views together.

    Members of a wide view are not drowned by it, and one strong view is not drowned by the others.
    """

    views: Sequence[tuple[View, FittedMembers]]
    together: FittedMembers

    @classmethod
    def fit(
        cls,
        members: Sequence[Estimator],
        views: Sequence[View],
        real: FloatArray,
        generated: FloatArray,
        seed: int,
    ) -> FittedViews:
        """Fit all members on each view, and those that cost little on what all views show."""
        fitted, narrow = [], []
        for view in views:
            both = [np.ascontiguousarray(x[:, view.columns]) for x in (real, generated)]
            one = FittedMembers.fit(members, both[0], both[1], seed)
            fitted.append((view, one))
            narrow.append([one.narrowed(x) for x in both])
        joined = [np.concatenate(parts, axis=1) for parts in zip(*narrow, strict=True)]
        cheap = [member for member in members if member.sees_views_together]
        return cls(fitted, FittedMembers.fit(cheap or members, joined[0], joined[1], seed))

    def __call__(self, x: FloatArray) -> MemberScores:
        """Scores by the members of each view, and by those that see all."""
        found: list[tuple[str, MemberScores]] = []
        narrow = []
        for view, members in self.views:
            block = np.ascontiguousarray(x[:, view.columns])
            narrow.append(members.narrowed(block))
            found.append((view.name, members.scores(block, narrow[-1])))
        together = self.together(np.concatenate(narrow, axis=1))
        # Each view has its own hints about ranges.
        found.append(("", together._replace(hints=np.empty((len(x), 0)))))
        return MemberScores(
            np.concatenate([scores.log_ratios for _, scores in found], axis=1),
            np.concatenate([scores.hints for _, scores in found], axis=1),
            (
                tuple(name for name, scores in found for _ in range(scores.log_ratios.shape[1])),
                tuple(name for name, scores in found for _ in range(scores.hints.shape[1])),
            ),
        )


def fit_members(
    estimator: Estimator,
    real: FloatArray,
    generated: FloatArray,
    seed: int,
    views: Sequence[View] = (),
) -> FittedMembers | FittedViews:
    """The members of an estimator that has some, on each of several views, or it alone."""
    if not estimator.combines:
        return FittedMembers.alone(estimator, real, generated, seed)
    members = members_of(estimator)
    if len(views) > 1:
        return FittedViews.fit(members, views, real, generated, seed)
    return FittedMembers.fit(members, real, generated, seed)


def members_of(estimator: Estimator) -> tuple[Estimator, ...]:
    """The members of a stack, or the estimator itself."""
    return estimator.members if isinstance(estimator, Stack) else (estimator,)


def projected_columns(estimator: Estimator, columns: int) -> int | None:
    """Principal components that members see in place of more columns; None if they see all."""
    narrow = any(member.projects for member in members_of(estimator))
    return MOST_COMPONENTS if narrow and columns > MOST_COMPONENTS else None


def row_caps(estimator: Estimator) -> dict[str, int]:
    """Rows of each side that members use at most, by their names."""
    return {member.name: member.most_rows for member in members_of(estimator) if member.most_rows}
