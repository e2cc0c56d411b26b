r"""The distribution of the likelihood ratio :math:`r = p/q`.

A profile is a list of atoms with real mass :math:`p_i` and generated mass :math:`q_i`, sorted by
:math:`p_i/q_i`. Curves, divergences, frontiers and acceptance rules are functionals of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import isotonic_regression

from tradeoff._result import Result
from tradeoff._sides import Sides
from tradeoff._validation import (
    FloatArray,
    check_masses,
    check_type,
    check_vector,
    check_weights,
    freeze,
)
from tradeoff.core.curve import curve_of_atoms
from tradeoff.core.law import LogRatioLaw, scale_weights
from tradeoff.exceptions import InvalidInputError

if TYPE_CHECKING:
    import numpy.typing as npt

    from tradeoff.core.curve import PRCurve

__all__ = ["RatioProfile"]

_SMALLEST = np.finfo(np.float64).smallest_subnormal


@dataclass(frozen=True, eq=False)
class RatioProfile(Result):
    """The distribution of p/q as atoms with p/q descending; build it with one of the class methods.

    Args:
        p: Real masses, shape (n,).
        q: Generated masses, shape (n,), with p/q descending.

    Example:
        The model invents a third mode:

        >>> from tradeoff import RatioProfile
        >>> profile = RatioProfile.from_masses(p=[0.5, 0.5, 0.0], q=[0.3, 0.3, 0.4])
        >>> profile.curve().max_precision
        0.6
        >>> profile.swap().curve().max_recall
        0.6
    """

    p: FloatArray
    q: FloatArray

    def __post_init__(self) -> None:
        for name in ("p", "q"):
            object.__setattr__(self, name, freeze(name, getattr(self, name)))

    @classmethod
    def from_masses(cls, p: npt.ArrayLike, q: npt.ArrayLike) -> RatioProfile:
        """The profile of two discrete distributions.

        Args:
            p: Real masses, shape (n,), summing to 1.
            q: Generated masses of the same atoms, shape (n,), summing to 1.

        Example:
            >>> RatioProfile.from_masses(p=[0.2, 0.3, 0.5], q=[0.5, 0.25, 0.25]).p
            array([0.5, 0.3, 0.2])
        """
        p, q = check_masses("p", p), check_masses("q", q)
        if p.size != q.size:
            raise InvalidInputError(
                f"`p` and `q` must be masses of the same atoms. Got {p.size} and {q.size} of them."
            )
        return cls._sorted(p, q)

    @classmethod
    def from_scores(
        cls,
        *,
        real: npt.ArrayLike,
        generated: npt.ArrayLike,
        real_weights: npt.ArrayLike | None = None,
        generated_weights: npt.ArrayLike | None = None,
    ) -> RatioProfile:
        """The profile of the concave ROC hull of scores, by pool-adjacent-violators.

        Its curve is the minimum over thresholds of λ·(real below) + (generated at or above),
        for every λ at once. Choosing thresholds on the samples that are counted biases it
        down; :class:`~tradeoff.core.HeldOutLogRatios` does not choose.

        Args:
            real: Scores of real samples, shape (n,); a higher score looks more real.
            generated: Scores of generated samples, shape (m,).
            real_weights: Weights of the real samples, shape (n,); equal if not given.
            generated_weights: Weights of the generated samples, shape (m,), likewise.

        Example:
            >>> profile = RatioProfile.from_scores(real=[0.9, 0.4], generated=[0.7, 0.2])
            >>> profile.curve().precision(1.0)
            0.5

        References:
            :cite:`simon2019`.
        """
        given = Sides(real_weights, generated_weights)
        values = Sides(check_vector("real", real), check_vector("generated", generated))
        scores = np.concatenate(values)
        order = np.argsort(scores)
        weights = np.concatenate(
            [
                scale_weights(check_weights(f"{side}_weights", weight, value.size))
                for side, weight, value in zip(Sides._fields, given, values, strict=True)
            ]
        )
        is_real = order < values.real.size
        if any(weight is not None for weight in given):  # equal weights are 1 in any order
            weights = weights[order]
        p, q = np.where(is_real, weights, 0.0), np.where(is_real, 0.0, weights)
        scores = scores[order]
        p, q = _pool(p, q, scores[1:] != scores[:-1])
        p, q = _pool_violators(*_drop_empty(p, q))
        return cls._sorted(p / p.sum(), q / q.sum())

    @classmethod
    def concatenate(cls, profiles: Sequence[RatioProfile]) -> RatioProfile:
        """The profile whose curve is the mean of the curves of several profiles, such as folds.

        Example:
            >>> a = RatioProfile.from_masses(p=[1.0, 0.0], q=[0.0, 1.0])
            >>> b = RatioProfile.from_masses(p=[1.0], q=[1.0])
            >>> RatioProfile.concatenate([a, b]).curve().precision(1.0)
            0.5
        """
        check_type("profiles", profiles, Sequence)
        if not profiles:
            raise InvalidInputError("`profiles` must hold at least one profile. Got none.")
        p = np.concatenate([profile.p for profile in profiles])
        q = np.concatenate([profile.q for profile in profiles])
        return cls._sorted(_divide(p, len(profiles)), _divide(q, len(profiles)))

    @classmethod
    def _sorted(cls, p: FloatArray, q: FloatArray) -> RatioProfile:
        p, q = _drop_empty(p, q)
        order = np.argsort(_breakpoints(p, q))
        return cls(p[order], q[order])

    def curve(self) -> PRCurve:
        r"""The exact curve :math:`\alpha(\lambda) = \sum_i \min(\lambda p_i, q_i)`.

        Example:
            >>> curve = RatioProfile.from_masses(p=[0.5, 0.5], q=[0.6, 0.4]).curve()
            >>> curve.precision([0.5, 1.0, 2.0])
            array([0.5, 0.9, 1. ])
        """
        return curve_of_atoms(
            _breakpoints(self.p, self.q),
            Sides(self.p, self.q),
            max_precision=_mass(self.q, self.p > 0),
            max_recall=_mass(self.p, self.q > 0),
        )

    def swap(self) -> RatioProfile:
        """The profile with the roles of real and generated exchanged."""
        return self._sorted(self.q[::-1], self.p[::-1])

    @property
    def laws(self) -> Sides[LogRatioLaw]:
        """Distribution of log p/q under P (`real`) and under Q (`generated`)."""
        return Sides(self.p, self.q).map(self._law)

    def _law(self, mass: FloatArray) -> LogRatioLaw:
        kept = mass > 0
        with np.errstate(divide="ignore"):
            log_ratio = np.log(self.p[kept]) - np.log(self.q[kept])
        return LogRatioLaw(log_ratio, mass[kept])


def _breakpoints(p: FloatArray, q: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", over="ignore"):
        return q / p


def _drop_empty(p: FloatArray, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    kept = (p > 0) | (q > 0)
    return (p, q) if kept.all() else (p[kept], q[kept])


def _divide(mass: FloatArray, parts: int) -> FloatArray:
    """Mass divided without losing the support: what would underflow becomes the smallest number."""
    return np.where(mass > 0, np.maximum(mass / parts, _SMALLEST), 0.0)


def _mass(mass: FloatArray, kept: npt.NDArray[np.bool_]) -> float:
    return 1.0 if kept.all() else min(1.0, float(mass[kept].sum()))


def _pool(
    p: FloatArray, q: FloatArray, apart: npt.NDArray[np.bool_]
) -> tuple[FloatArray, FloatArray]:
    """Add up neighboring atoms that are not kept apart."""
    if apart.all():
        return p, q
    starts = np.concatenate(([0], np.flatnonzero(apart) + 1))
    return np.add.reduceat(p, starts), np.add.reduceat(q, starts)


def _pool_violators(p: FloatArray, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Pool atoms, given by ascending score, until p/q ascends as well."""
    # Neighbors out of order end in one block: pooling them first leaves less to SciPy.
    p, q = _pool(p, q, p[1:] * q[:-1] > p[:-1] * q[1:])
    share = p / p.sum()
    total = share + q / q.sum()
    starts = isotonic_regression(share / total, weights=total).blocks[:-1]
    return np.add.reduceat(p, starts), np.add.reduceat(q, starts)
