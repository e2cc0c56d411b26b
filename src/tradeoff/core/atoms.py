r"""Curves of atoms: masses of both sides that change sides at thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tradeoff.core.curve import PRCurve

if TYPE_CHECKING:
    from tradeoff._sides import Sides
    from tradeoff._validation import FloatArray

__all__ = ["curve_of_atoms"]


def curve_of_atoms(
    thresholds: FloatArray,
    weights: Sides[FloatArray],
    *,
    max_precision: float,
    max_recall: float,
) -> PRCurve:
    r"""The curve of atoms that are rejected up to a slope and pass beyond it.

    .. math:: \alpha(\lambda) = \lambda \sum_{t_i > \lambda} p_i + \sum_{t_i \le \lambda} q_i

    Args:
        thresholds: Slopes :math:`t_i` in ascending order, in [0, ∞], shape (n,).
        weights: Weights :math:`p_i` of the atoms among real and :math:`q_i` among generated
            samples, each of shape (n,); any positive scale.
        max_precision: Limit of precision at :math:`\lambda = \infty`.
        max_recall: Limit of recall at :math:`\lambda = 0`.
    """
    # Entry i counts the first i atoms as passed and the others as rejected.
    passed = np.concatenate(([0.0], np.cumsum(weights.generated)))
    rejected = np.concatenate((np.cumsum(weights.real[::-1])[::-1], [0.0]))
    # Atoms at 0 have passed before the first piece, and atoms at ∞ never pass.
    first = int(np.searchsorted(thresholds, 0.0, side="right"))
    last = int(np.searchsorted(thresholds, np.inf, side="left"))
    inner = thresholds[first:last]
    # A piece begins after the last atom of each run of equal thresholds.
    run_ends = np.flatnonzero(inner[1:] != inner[:-1]) + 1
    pieces = first + np.concatenate(([0], run_ends, [inner.size] if inner.size else []))
    pieces = pieces.astype(np.intp)
    intercepts, slopes = passed[pieces] / passed[-1], rejected[pieces] / rejected[0]
    # The outermost pieces end at the ends, to the last bit.
    slopes[0] = max_recall if intercepts[0] == 0 else slopes[0]
    intercepts[-1] = max_precision if slopes[-1] == 0 else intercepts[-1]
    return PRCurve(
        breakpoints=thresholds[pieces[1:] - 1],
        intercepts=np.minimum(intercepts, intercepts[-1]),
        slopes=np.minimum(slopes, slopes[0]),
        max_precision=max_precision,
        max_recall=max_recall,
    )
