r"""Divergences whose generator is a power of the ratio: Amari's family and special cases.

Hellinger is squared and not halved, at most 2.
"""

from __future__ import annotations

import math
from typing import Any

from tradeoff._validation import check_number
from tradeoff.core.divergence.base import Array, Divergence
from tradeoff.core.divergence.special import box_cox, softplus

__all__ = ["Amari", "Hellinger", "Neyman", "Pearson"]

_INF = math.inf
_LOG2 = math.log(2.0)


class Pearson(Divergence):
    r"""Pearson's :math:`\chi^2`, :math:`f(u) = (u-1)^2`.

    Example:
        >>> from tradeoff import RatioProfile
        >>> from tradeoff.core.divergence import Pearson
        >>> Pearson().of(RatioProfile.from_masses(p=[1.0, 0.0], q=[0.5, 0.5]))
        1.0
    """

    name = "Pearson divergence"
    at_zero = 1.0
    slope_at_infinity = _INF
    discriminator_range = (-2.0, _INF)

    def reverse(self) -> Neyman:
        """Neyman's divergence."""
        return Neyman()

    def _generator(self, xp: Any, u: Array) -> Array:
        return (u - 1.0) ** 2

    def _derivative(self, xp: Any, u: Array) -> Array:
        return 2.0 * (u - 1.0)

    def _second_derivative(self, xp: Any, u: Array) -> Array:
        return 2.0 * xp.ones_like(u)

    def _conjugate(self, xp: Any, t: Array) -> Array:
        return t**2 / 4.0 + t

    def _activation(self, xp: Any, w: Array) -> Array:
        return -2.0 + softplus(xp, w)

    def _ratio(self, xp: Any, t: Array) -> Array:
        return 1.0 + t / 2.0

    def _log_ratio(self, xp: Any, w: Array) -> Array:
        # log(log(1 + e^w)) is w itself where e^w is lost in 1.
        inside = xp.log(softplus(xp, xp.clip(w, -30.0, _INF)))
        return xp.where(w < -30.0, w, inside) - _LOG2

    def _dual(self, xp: Any, v: Array) -> Array:
        return xp.expm1(2.0 * v)


class Neyman(Divergence):
    r"""Neyman's :math:`\chi^2`, :math:`f(u) = (1-u)^2/u`.

    Example:
        >>> from tradeoff import RatioProfile
        >>> from tradeoff.core.divergence.power import Neyman
        >>> Neyman().of(RatioProfile.from_masses(p=[0.5, 0.5], q=[1.0, 0.0]))
        1.0
    """

    name = "Neyman divergence"
    at_zero = _INF
    slope_at_infinity = 1.0
    discriminator_range = (-_INF, 1.0)

    def reverse(self) -> Pearson:
        """Pearson's divergence."""
        return Pearson()

    def _generator(self, xp: Any, u: Array) -> Array:
        return (1.0 - u) ** 2 / u

    def _derivative(self, xp: Any, u: Array) -> Array:
        return 1.0 - 1.0 / u**2

    def _second_derivative(self, xp: Any, u: Array) -> Array:
        return 2.0 / u**3

    def _conjugate(self, xp: Any, t: Array) -> Array:
        return 2.0 - 2.0 * xp.sqrt(1.0 - t)

    def _activation(self, xp: Any, w: Array) -> Array:
        return -xp.expm1(-w)

    def _ratio(self, xp: Any, t: Array) -> Array:
        return 1.0 / xp.sqrt(1.0 - t)

    def _log_ratio(self, xp: Any, w: Array) -> Array:
        return 0.5 * w

    def _dual(self, xp: Any, v: Array) -> Array:
        return -2.0 * xp.expm1(-v)


class Hellinger(Divergence):
    r"""Squared Hellinger distance, :math:`f(u) = (\sqrt u - 1)^2`, at most 2.

    Example:
        >>> from tradeoff import RatioProfile
        >>> from tradeoff.core.divergence import Hellinger
        >>> Hellinger().of(RatioProfile.from_masses(p=[1.0, 0.0], q=[0.0, 1.0]))
        2.0
    """

    name = "Hellinger divergence"
    at_zero = 1.0
    slope_at_infinity = 1.0
    discriminator_range = (-_INF, 1.0)

    def reverse(self) -> Hellinger:
        """Itself: it is symmetric."""
        return self

    def _generator(self, xp: Any, u: Array) -> Array:
        return (xp.sqrt(u) - 1.0) ** 2

    def _derivative(self, xp: Any, u: Array) -> Array:
        return 1.0 - 1.0 / xp.sqrt(u)

    def _second_derivative(self, xp: Any, u: Array) -> Array:
        return 0.5 / (u * xp.sqrt(u))

    def _conjugate(self, xp: Any, t: Array) -> Array:
        return t / (1.0 - t)

    def _activation(self, xp: Any, w: Array) -> Array:
        return -xp.expm1(-w)

    def _ratio(self, xp: Any, t: Array) -> Array:
        return 1.0 / (1.0 - t) ** 2

    def _log_ratio(self, xp: Any, w: Array) -> Array:
        return 2.0 * w

    def _dual(self, xp: Any, v: Array) -> Array:
        return xp.expm1(0.5 * v)


class Amari(Divergence):
    r"""Amari's divergence of order a, :math:`f(u) = \frac{u^a - 1 - a(u-1)}{a(a-1)}`.

    Order 1 is KL, 0 reverse KL, ½ twice Hellinger, 2 half of Pearson's :math:`\chi^2`.

    Args:
        order: Order a, any real number.

    Example:
        >>> from tradeoff import RatioProfile
        >>> from tradeoff.core.divergence import KL, Amari
        >>> profile = RatioProfile.from_masses(p=[0.5, 0.5], q=[0.6, 0.4])
        >>> round(Amari(2.0).of(profile), 6), round(Amari(1.0).of(profile) / KL().of(profile), 6)
        (0.020833, 1.0)
    """

    name = "Amari divergence"

    def __init__(self, order: float) -> None:
        self.order = a = check_number("order", order)
        self.at_zero = 1.0 / a if a > 0 else _INF
        self.slope_at_infinity = 1.0 / (1.0 - a) if a < 1 else _INF
        self.discriminator_range = (
            -1.0 / (a - 1.0) if a > 1 else -_INF,
            1.0 / (1.0 - a) if a < 1 else _INF,
        )

    def __repr__(self) -> str:
        return f"Amari({self.order:g})"

    def reverse(self) -> Amari:
        """Amari's divergence of order 1 - a."""
        return Amari(1.0 - self.order)

    def _generator(self, xp: Any, u: Array) -> Array:
        a = self.order
        if a >= 0.5:
            return (u * box_cox(xp, u, a - 1.0) - (u - 1.0)) / a
        return (box_cox(xp, u, a) - (u - 1.0)) / (a - 1.0)

    def _derivative(self, xp: Any, u: Array) -> Array:
        return box_cox(xp, u, self.order - 1.0)

    def _second_derivative(self, xp: Any, u: Array) -> Array:
        return u ** (self.order - 2.0)

    def _conjugate(self, xp: Any, t: Array) -> Array:
        return box_cox(xp, self._ratio(xp, t), self.order)

    def _activation(self, xp: Any, w: Array) -> Array:
        b = self.order - 1.0
        return w if b == 0 else xp.expm1(b * w) / b

    def _ratio(self, xp: Any, t: Array) -> Array:
        b = self.order - 1.0
        return xp.exp(t if b == 0 else xp.log1p(b * t) / b)

    def _log_ratio(self, xp: Any, w: Array) -> Array:
        return w

    def _dual(self, xp: Any, v: Array) -> Array:
        a = self.order
        return v if a == 0 else xp.expm1(a * v) / a
