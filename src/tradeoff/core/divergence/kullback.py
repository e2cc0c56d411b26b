"""Kullback-Leibler divergences: forward, reverse, and their sum, with natural logarithms."""

from __future__ import annotations

import math
from typing import Any

from tradeoff.core.divergence.base import Array, Divergence
from tradeoff.core.divergence.special import log_lambert_w_exp

__all__ = ["KL", "Jeffreys", "ReverseKL"]

_INF = math.inf


class KL(Divergence):
    r"""Kullback-Leibler, :math:`f(u) = u \log u`: penalizes what the model misses.

    Example:
        >>> from tradeoff import RatioProfile
        >>> from tradeoff.core.divergence import KL
        >>> KL().of(RatioProfile.from_masses(p=[0.5, 0.5], q=[1.0, 0.0]))
        inf
    """

    name = "Kullback-Leibler divergence"
    at_zero = 0.0
    slope_at_infinity = _INF
    discriminator_range = (-_INF, _INF)

    def reverse(self) -> ReverseKL:
        """Reverse KL."""
        return ReverseKL()

    def _generator(self, xp: Any, u: Array) -> Array:
        return u * xp.log(u)

    def _derivative(self, xp: Any, u: Array) -> Array:
        return 1.0 + xp.log(u)

    def _second_derivative(self, xp: Any, u: Array) -> Array:
        return 1.0 / u

    def _conjugate(self, xp: Any, t: Array) -> Array:
        return xp.exp(t - 1.0)

    def _activation(self, xp: Any, w: Array) -> Array:
        return w

    def _ratio(self, xp: Any, t: Array) -> Array:
        return xp.exp(t - 1.0)

    def _log_ratio(self, xp: Any, w: Array) -> Array:
        return w - 1.0

    def _dual(self, xp: Any, v: Array) -> Array:
        return xp.exp(v)


class ReverseKL(Divergence):
    r"""Reverse Kullback-Leibler, :math:`f(u) = -\log u`: penalizes what the model invents.

    Example:
        >>> from tradeoff import RatioProfile
        >>> from tradeoff.core.divergence import ReverseKL
        >>> round(ReverseKL().of(RatioProfile.from_masses(p=[0.5, 0.5], q=[1.0, 0.0])), 6)
        0.693147
    """

    name = "reverse Kullback-Leibler divergence"
    at_zero = _INF
    slope_at_infinity = 0.0
    discriminator_range = (-_INF, 0.0)

    def reverse(self) -> KL:
        """KL."""
        return KL()

    def _generator(self, xp: Any, u: Array) -> Array:
        return -xp.log(u)

    def _derivative(self, xp: Any, u: Array) -> Array:
        return -1.0 / u

    def _second_derivative(self, xp: Any, u: Array) -> Array:
        return 1.0 / u**2

    def _conjugate(self, xp: Any, t: Array) -> Array:
        return -1.0 - xp.log(-t)

    def _activation(self, xp: Any, w: Array) -> Array:
        return -xp.exp(-w)

    def _ratio(self, xp: Any, t: Array) -> Array:
        return -1.0 / t

    def _log_ratio(self, xp: Any, w: Array) -> Array:
        return w

    def _dual(self, xp: Any, v: Array) -> Array:
        return v - 1.0


class Jeffreys(Divergence):
    r"""Jeffreys' divergence, KL plus reverse KL, :math:`f(u) = (u-1)\log u`.

    Its conjugate is :math:`W + 1/W + t - 2` with Lambert's :math:`W = W_0(e^{1-t})`.

    Example:
        >>> from tradeoff import RatioProfile
        >>> from tradeoff.core.divergence.kullback import KL, Jeffreys, ReverseKL
        >>> profile = RatioProfile.from_masses(p=[0.5, 0.5], q=[0.6, 0.4])
        >>> abs(Jeffreys().of(profile) - KL().of(profile) - ReverseKL().of(profile)) < 1e-15
        True
    """

    name = "Jeffreys divergence"
    at_zero = _INF
    slope_at_infinity = _INF
    discriminator_range = (-_INF, _INF)

    def reverse(self) -> Jeffreys:
        """Itself: it is symmetric."""
        return self

    def _generator(self, xp: Any, u: Array) -> Array:
        return (u - 1.0) * xp.log(u)

    def _derivative(self, xp: Any, u: Array) -> Array:
        return 1.0 + xp.log(u) - 1.0 / u

    def _second_derivative(self, xp: Any, u: Array) -> Array:
        return 1.0 / u + 1.0 / u**2

    def _conjugate(self, xp: Any, t: Array) -> Array:
        log_w = log_lambert_w_exp(xp, 1.0 - t)
        return xp.exp(log_w) + xp.exp(-log_w) + t - 2.0

    def _activation(self, xp: Any, w: Array) -> Array:
        return w

    def _ratio(self, xp: Any, t: Array) -> Array:
        return xp.exp(-log_lambert_w_exp(xp, 1.0 - t))

    def _log_ratio(self, xp: Any, w: Array) -> Array:
        return -log_lambert_w_exp(xp, 1.0 - w)

    def _dual(self, xp: Any, v: Array) -> Array:
        return xp.expm1(v) + v
