r"""Divergences with a kink: total variation and the PR-divergence of a slope :math:`\lambda`.

Their discriminators only tell on which side of the kink a sample lies, so they give no ratio.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tradeoff._validation import check_number, check_type
from tradeoff.core.curve import PRCurve
from tradeoff.core.divergence.base import Array, Divergence
from tradeoff.core.profile import RatioProfile

__all__ = ["PRDivergence", "TotalVariation"]

_ONE_SIDED = "its discriminator only tells on which side of the kink a sample lies"


class TotalVariation(Divergence):
    r"""Total variation, :math:`f(u) = \frac12|u - 1|`; it equals :math:`1 - \alpha(1)`.

    Example:
        >>> from tradeoff import RatioProfile
        >>> from tradeoff.core.divergence import TotalVariation
        >>> TotalVariation().of(RatioProfile.from_masses(p=[0.5, 0.5], q=[1.0, 0.0]))
        0.5
    """

    name = "total variation"
    at_zero = 0.5
    slope_at_infinity = 0.5
    discriminator_range = (-0.5, 0.5)

    def reverse(self) -> TotalVariation:
        """Itself: it is symmetric."""
        return self

    def of_curve(self, curve: PRCurve) -> float:
        """The PR-divergence at λ = 1, where all the weight is."""
        return PRDivergence(1.0).of_curve(curve)

    def _generator(self, xp: Any, u: Array) -> Array:
        return 0.5 * xp.abs(u - 1.0)

    def _derivative(self, xp: Any, u: Array) -> Array:
        return 0.5 * xp.sign(u - 1.0)

    def _conjugate(self, xp: Any, t: Array) -> Array:
        return 1.0 * t

    def _activation(self, xp: Any, w: Array) -> Array:
        return 0.5 * xp.tanh(w)

    def _ratio(self, xp: Any, t: Array) -> Array:
        raise self._undefined("ratio", _ONE_SIDED)


class PRDivergence(Divergence):
    r"""The PR-divergence, :math:`f(u) = \max(\lambda u, 1) - \max(\lambda, 1)`.

    :math:`D_\lambda(P\|Q) = \int \max(\lambda p, q) - \max(\lambda, 1)`, so that
    :math:`\alpha(\lambda) = \min(1, \lambda) - D_\lambda`. At :math:`\lambda = 1` it is total
    variation. For other slopes it may vanish although P and Q differ.

    Args:
        lam: Slope in [0, ∞]; at ∞ the divergence is :math:`Q(p = 0)`, without a dual form.

    Example:
        >>> from tradeoff import RatioProfile
        >>> from tradeoff.core.divergence import PRDivergence
        >>> profile = RatioProfile.from_masses(p=[0.5, 0.5], q=[1.0, 0.0])
        >>> [PRDivergence(lam).of(profile) for lam in (0.5, 1.0, 2.0)]
        [0.25, 0.5, 0.0]

    References:
        :cite:`verine2023`, :cite:`verine2024`.
    """

    name = "PR-divergence"

    def __init__(self, lam: float) -> None:
        self.lam = check_number("lam", lam, at_least=0.0, finite=False)
        self.at_zero = 1.0 if math.isinf(self.lam) else 1.0 - max(self.lam, 1.0)
        self.slope_at_infinity = 0.0 if math.isinf(self.lam) else self.lam
        self.discriminator_range = (0.0, self.lam)

    def __repr__(self) -> str:
        return f"PRDivergence({self.lam:g})"

    def reverse(self) -> Divergence:
        r""":math:`D_\lambda(Q\|P) = \lambda D_{1/\lambda}(P\|Q)`.

        The generators of both sides differ by a multiple of :math:`u - 1`, which costs nothing.
        """
        if self.lam == 0 or math.isinf(self.lam):
            raise self._undefined(
                f"reverse at λ = {self.lam:g}", "it would be a PR-divergence times 0 or infinity"
            )
        return self.lam * PRDivergence(1.0 / self.lam)

    def of(self, profile: RatioProfile) -> float:
        """The exact value on a profile, by a generator that is never negative."""
        check_type("profile", profile, RatioProfile)
        p, q = profile.p, profile.q
        if math.isinf(self.lam):
            return float(q[p == 0].sum())
        excess = self.lam * p - q
        return float(np.maximum(-excess if self.lam >= 1 else excess, 0.0).sum())

    def of_curve(self, curve: PRCurve) -> float:
        r""":math:`\min(1, \lambda) - \alpha(\lambda)`."""
        check_type("curve", curve, PRCurve)
        return min(1.0, self.lam) - curve.precision(self.lam)

    def _generator(self, xp: Any, u: Array) -> Array:
        if math.isinf(self.lam):
            return 0.0 * u
        return xp.clip(self.lam * u, 1.0, None) - max(self.lam, 1.0)

    def _derivative(self, xp: Any, u: Array) -> Array:
        self._require_finite("derivative")
        return self.lam * xp.where(self.lam * u > 1, xp.ones_like(u), xp.zeros_like(u))

    def _conjugate(self, xp: Any, t: Array) -> Array:
        self._require_finite("conjugate")
        return max(self.lam, 1.0) - 1.0 + (t / self.lam if self.lam > 0 else 0.0 * t)

    def _activation(self, xp: Any, w: Array) -> Array:
        self._require_finite("activation")
        return 0.5 * self.lam * (1.0 + xp.tanh(0.5 * w))

    def _ratio(self, xp: Any, t: Array) -> Array:
        raise self._undefined("ratio", _ONE_SIDED)

    def _require_finite(self, what: str) -> None:
        if math.isinf(self.lam):
            raise self._undefined(
                f"{what} at λ = inf", "its generator is not lower semi-continuous"
            )
