"""Which samples a rule calls generated at given slopes: shares, their sizes and their spread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._sides import Sides
from tradeoff.core.counts import HeldOutCounts, called_of, held_by, places_of
from tradeoff.core.law import scale_weights
from tradeoff.exceptions import InvalidInputError
from tradeoff.inference import policy

if TYPE_CHECKING:
    import numpy.typing as npt

    from tradeoff._validation import FloatArray
    from tradeoff.core.held_out import HeldOutLogRatios

__all__ = ["Rejections", "rejections"]


@dataclass(frozen=True, eq=False)
class Rejections:
    """Samples of one side that are called generated.

    Args:
        share: Share of the side at each slope, shape (slopes,).
        size: Number of independent samples with the same standard error, shape (slopes,).
        covariance: Covariance of the shares between slopes, shape (slopes, slopes).
    """

    share: FloatArray
    size: FloatArray
    covariance: FloatArray

    @classmethod
    def of_samples(
        cls, log_ratio: FloatArray, weights: FloatArray, slopes: FloatArray
    ) -> Rejections:
        """Of independent samples with weights."""
        order = np.argsort(log_ratio)
        called = np.searchsorted(log_ratio[order], -np.log(slopes))
        weights = scale_weights(weights)[order]
        weights = weights / weights.sum()
        if weights[0] == weights[-1] and (weights == weights[0]).all():
            return cls.of_independent(called, log_ratio.size)
        share, squares = (np.append(0.0, np.cumsum(w))[called] for w in (weights, weights**2))
        return cls._nested(share, squares, float((weights**2).sum()))

    @classmethod
    def of_independent(cls, called: npt.NDArray[np.integer[Any]], size: int) -> Rejections:
        """Of independent samples that count the same, by their numbers."""
        share = called / size
        return cls._nested(share, share / size, 1.0 / size)

    @classmethod
    def _nested(cls, share: FloatArray, squares: FloatArray, total: float) -> Rejections:
        """Who is called generated at a slope is so at all smaller ones: the covariance is known.

        `squares` are sums of squared weights of those who are, and `total` is that of all.
        """
        both = np.minimum.outer(squares, squares)
        cross = np.outer(share, squares)
        covariance = both - cross - cross.T + total * np.outer(share, share)
        return cls(share, np.full(share.size, 1.0 / total), covariance)

    @classmethod
    def of_groups(
        cls,
        called: npt.NDArray[Any],
        members: npt.NDArray[Any],
        *,
        largest: float,
        unknown: float,
    ) -> Rejections:
        """Of groups whose samples are not independent, by the spread between groups.

        Args:
            called: Weight of the samples of each group that are called generated, shape (groups,
                slopes); all groups together weigh one.
            members: Weight of each group, shape (groups, 1).
            largest: Number of independent samples at most.
            unknown: The same while few groups disagree, and their spread is unknown.
        """
        share = called.sum(0)
        deviations = called - members * share
        groups = len(members)
        some = called > 0
        not_all = called < members * (1 - 1e-12)
        disagree = np.minimum(some.sum(0), not_all.sum(0))
        spread = (deviations**2).sum(0) * groups / max(groups - 1, 1)
        known = (disagree >= policy.FEWEST_GROUPS) & (spread > 0)
        size = share * (1.0 - share) / np.where(known, spread, 1.0)
        return cls(
            share,
            np.minimum(np.where(known, size, unknown), largest),
            deviations.T @ deviations,
        )


def rejections(
    held_out: HeldOutLogRatios | HeldOutCounts,
    slopes: FloatArray,
    groups: Sides[npt.NDArray[Any] | None],
) -> Sides[Rejections]:
    """Of both sides of held-out log-ratios, or of counts."""
    if isinstance(held_out, HeldOutCounts):
        places = places_of(slopes)
        called = held_out.called.map(lambda called: called[:, places])
        counts = (held_out.real, held_out.generated)
        return Sides(*map(_of_counts, called, counts, held_out.groups))
    return Sides(
        *(
            Rejections.of_samples(log_ratio, weights, slopes)
            if group is None
            else _of_named_groups(log_ratio, weights, slopes, group)
            for log_ratio, weights, group in zip(
                held_out.log_ratios, held_out.weights, groups, strict=True
            )
        )
    )


def _of_counts(
    called: npt.NDArray[np.int64], counts: npt.NDArray[np.int64], groups: float | None
) -> Rejections:
    """Of buckets, of which each holds whole groups."""
    size = int(counts.sum())
    if groups is None:
        return Rejections.of_independent(called.sum(0), size)
    members = counts.sum(1)
    filled = members > 0
    return Rejections.of_groups(
        called[filled] / size, members[filled, None] / size, largest=size, unknown=groups
    )


def _of_named_groups(
    log_ratio: FloatArray, weights: FloatArray, slopes: FloatArray, groups: npt.ArrayLike
) -> Rejections:
    _, number = np.unique(np.asarray(groups), return_inverse=True)
    if number.shape != log_ratio.shape:
        raise InvalidInputError(
            f"Groups must be named per sample, {log_ratio.size}. Got {number.size}."
        )
    if number.max() + 1 == number.size:
        return Rejections.of_samples(log_ratio, weights, slopes)
    weights = scale_weights(weights)
    weights = weights / weights.sum()
    ascending = np.sort(slopes)
    held = held_by(number, int(number.max()) + 1, log_ratio, ascending, weights)
    called = called_of(held)[:, np.searchsorted(ascending, slopes)]
    members = held.sum(1, keepdims=True)
    return Rejections.of_groups(
        called,
        members,
        largest=1.0 / float((weights**2).sum()),
        unknown=1.0 / float((members**2).sum()),
    )
