r"""Piecewise linear functions :math:`\alpha(\lambda) = a_j + b_j\lambda` of a slope, with two ends.

The pieces meet at breakpoints :math:`\lambda_1 < \dots < \lambda_n`; :math:`\alpha` may jump there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from tradeoff._result import Result
from tradeoff._validation import FloatArray, check_lam, freeze
from tradeoff.exceptions import InvalidInputError

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["PiecewiseLinear", "edges"]


@dataclass(frozen=True, eq=False, kw_only=True)
class PiecewiseLinear(Result):
    r"""A function of λ in pieces, with its limits at both ends.

    Piece :math:`j` holds on :math:`[\lambda_j, \lambda_{j+1})` with :math:`\lambda_0 = 0`.

    Args:
        breakpoints: Slopes :math:`\lambda_1 < \dots < \lambda_n`, finite and positive, shape (n,).
        intercepts: Intercepts :math:`a_0 \dots a_n`, shape (n + 1,).
        slopes: Slopes :math:`b_0 \dots b_n` of the pieces, shape (n + 1,).
        max_precision: Limit of :math:`\alpha(\lambda)` for :math:`\lambda \to \infty`.
        max_recall: Limit of :math:`\alpha(\lambda)/\lambda` for :math:`\lambda \to 0`.
    """

    breakpoints: FloatArray
    intercepts: FloatArray
    slopes: FloatArray
    max_precision: float
    max_recall: float

    def __post_init__(self) -> None:
        for name in ("breakpoints", "intercepts", "slopes"):
            object.__setattr__(self, name, freeze(name, getattr(self, name)))
        n = self.breakpoints.size
        if self.intercepts.size != n + 1 or self.slopes.size != n + 1:
            raise InvalidInputError(
                f"A curve with {n} breakpoints must have {n + 1} intercepts and slopes. "
                f"Got {self.intercepts.size} and {self.slopes.size}."
            )
        lam = self.breakpoints
        if n and not (lam[0] > 0 and lam[-1] < np.inf and (lam[1:] >= lam[:-1]).all()):
            raise InvalidInputError("`breakpoints` must be positive, finite and ascending.")

    def pieces(self, lam: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Intercept and slope of the piece that holds at each λ; same shape as `lam`.

        For a held-out curve they are the share of generated samples that the rule lets pass and
        the share of real samples that it rejects.
        """
        j = np.searchsorted(self.breakpoints, check_lam(lam), side="right")
        return self.intercepts[j], self.slopes[j]

    def swap(self) -> Self:
        r"""The function :math:`\lambda\,\alpha(1/\lambda)`, in which both sides exchange roles."""
        with np.errstate(over="ignore"):
            breakpoints = 1.0 / self.breakpoints[::-1]
        # A breakpoint so small that its inverse overflows goes, with the piece before it.
        keep = np.isfinite(breakpoints)
        return replace(
            self,
            breakpoints=breakpoints[keep],
            intercepts=self.slopes[::-1][np.append(True, keep)],
            slopes=self.intercepts[::-1][np.append(True, keep)],
            max_precision=self.max_recall,
            max_recall=self.max_precision,
        )


def edges(breakpoints: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Left and right end of every piece, each of shape (n + 1,)."""
    return np.concatenate(([0.0], breakpoints)), np.concatenate((breakpoints, [np.inf]))
