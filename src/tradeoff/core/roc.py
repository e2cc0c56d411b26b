r"""ROC curves of a profile: :math:`P(S)` against :math:`Q(S)` for the best sets :math:`S`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

import numpy as np

from tradeoff._result import Result
from tradeoff._validation import FloatArray, check_shares, same_kind

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["ROCCurve"]


@dataclass(frozen=True, eq=False, kw_only=True)
class ROCCurve(Result):
    r"""The ROC curve of a profile, whose region is the mode-collapse region.

    Args:
        generated: Share :math:`Q(S)` of generated samples called real, ascending, shape (n,).
        real: Share :math:`P(S)` of real samples called real, ascending, shape (n,).

    Example:
        A model that generates one of two modes: half of the real mass is out of its reach.

        >>> from tradeoff import RatioProfile
        >>> roc = RatioProfile.from_masses(p=[0.5, 0.5], q=[1.0, 0.0]).curve().roc()
        >>> roc.collapsed_mass(0.0)
        0.5
        >>> roc.area
        0.75

    References:
        :cite:`lin2018`.
    """

    generated: FloatArray
    real: FloatArray

    @property
    def area(self) -> float:
        """Area under the ROC curve, 1/2 for identical distributions and 1 for disjoint ones."""
        return float(np.trapezoid(self.real, self.generated))

    @overload
    def collapsed_mass(self, epsilon: float) -> float: ...
    @overload
    def collapsed_mass(self, epsilon: npt.ArrayLike) -> FloatArray: ...
    def collapsed_mass(self, epsilon: npt.ArrayLike) -> float | FloatArray:
        r"""Upper edge of the mode-collapse region at :math:`\varepsilon`.

        The largest :math:`\delta = P(S)` with :math:`Q(S) \le \varepsilon` among the rules of the
        curve and mixtures of neighboring ones; for a profile, among all sets.
        """
        return same_kind(np.interp(check_shares("epsilon", epsilon), self.generated, self.real))
