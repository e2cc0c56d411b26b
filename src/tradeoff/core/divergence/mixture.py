r"""Divergences from mixtures of both sides: GAN, Jensen-Shannon and the frontier integral.

Jensen-Shannon is the mean of two KL divergences, at most :math:`\log 2`; GAN is twice
Jensen-Shannon minus :math:`\log 4`. Logarithms are natural.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tradeoff.core.divergence.base import Array, Divergence
from tradeoff.core.divergence.special import softplus

__all__ = ["GAN", "FrontierIntegral", "JensenShannon"]

_INF = math.inf
_LOG2 = math.log(2.0)
_SERIES_RADIUS = 0.1
_SERIES = np.polynomial.Polynomial([(-1.0) ** k / (k + 1) for k in range(20)])


class GAN(Divergence):
    r"""The first GAN's loss, :math:`f(u) = u\log u - (1+u)\log(1+u)`; :math:`-\log 4` at P = Q.

    Example:
        >>> from tradeoff import RatioProfile
        >>> from tradeoff.core.divergence import GAN
        >>> round(GAN().of(RatioProfile.from_masses(p=[0.5, 0.5], q=[0.5, 0.5])), 6)
        -1.386294
    """

    name = "GAN divergence"
    at_zero = 0.0
    slope_at_infinity = 0.0
    discriminator_range = (-_INF, 0.0)

    def reverse(self) -> GAN:
        """Itself: it is symmetric."""
        return self

    def _generator(self, xp: Any, u: Array) -> Array:
        return -u * softplus(xp, -xp.log(u)) - xp.log1p(u)

    def _derivative(self, xp: Any, u: Array) -> Array:
        return -softplus(xp, -xp.log(u))

    def _second_derivative(self, xp: Any, u: Array) -> Array:
        return 1.0 / (u * (1.0 + u))

    def _conjugate(self, xp: Any, t: Array) -> Array:
        return -xp.log(-xp.expm1(t))

    def _activation(self, xp: Any, w: Array) -> Array:
        return -softplus(xp, -w)

    def _ratio(self, xp: Any, t: Array) -> Array:
        return -xp.exp(t) / xp.expm1(t)

    def _log_ratio(self, xp: Any, w: Array) -> Array:
        return w

    def _dual(self, xp: Any, v: Array) -> Array:
        return softplus(xp, v)


class JensenShannon(Divergence):
    r"""Jensen-Shannon, :math:`f(u) = \frac12[u\log u - (1+u)\log\frac{1+u}{2}] \le \log 2`.

    Example:
        >>> from tradeoff import RatioProfile
        >>> from tradeoff.core.divergence import JensenShannon
        >>> round(JensenShannon().of(RatioProfile.from_masses(p=[1.0, 0.0], q=[0.0, 1.0])), 6)
        0.693147
    """

    name = "Jensen-Shannon divergence"
    at_zero = _LOG2 / 2
    slope_at_infinity = _LOG2 / 2
    discriminator_range = (-_INF, _LOG2 / 2)

    def reverse(self) -> JensenShannon:
        """Itself: it is symmetric."""
        return self

    def _generator(self, xp: Any, u: Array) -> Array:
        return 0.5 * (GAN()._generator(xp, u) + (1.0 + u) * _LOG2)

    def _derivative(self, xp: Any, u: Array) -> Array:
        return 0.5 * (_LOG2 - softplus(xp, -xp.log(u)))

    def _second_derivative(self, xp: Any, u: Array) -> Array:
        return 0.5 / (u * (1.0 + u))

    def _conjugate(self, xp: Any, t: Array) -> Array:
        return -0.5 * xp.log(2.0 - xp.exp(2.0 * t))

    def _activation(self, xp: Any, w: Array) -> Array:
        return 0.5 * (_LOG2 - softplus(xp, -w))

    def _ratio(self, xp: Any, t: Array) -> Array:
        return xp.exp(2.0 * t) / (2.0 - xp.exp(2.0 * t))

    def _log_ratio(self, xp: Any, w: Array) -> Array:
        return w

    def _dual(self, xp: Any, v: Array) -> Array:
        return 0.5 * (softplus(xp, v) - _LOG2)


class FrontierIntegral(Divergence):
    r"""The frontier integral, :math:`f(u) = \frac{u+1}{2} - \frac{u \log u}{u-1}`.

    It lies between 0 and 1. Along the mixtures :math:`R_t = tP + (1-t)Q` it is
    :math:`2\int_0^1 t\,\mathrm{KL}(P\|R_t) + (1-t)\,\mathrm{KL}(Q\|R_t)\, dt`.

    Example:
        >>> from tradeoff import RatioProfile
        >>> from tradeoff.core.divergence.mixture import FrontierIntegral
        >>> FrontierIntegral().of(RatioProfile.from_masses(p=[1.0, 0.0], q=[0.0, 1.0]))
        1.0

    References:
        :cite:`liu2021`.
    """

    name = "frontier integral"
    at_zero = 0.5
    slope_at_infinity = 0.5
    discriminator_range = (-_INF, 0.5)

    def reverse(self) -> FrontierIntegral:
        """Itself: it is symmetric."""
        return self

    def _generator(self, xp: Any, u: Array) -> Array:
        return 0.5 * (u + 1.0) - u * _log_quotient(xp, u)

    def _derivative(self, xp: Any, u: Array) -> Array:
        return 0.5 - _log_quotient(xp, u) - u * _log_quotient(xp, u, 1)

    def _second_derivative(self, xp: Any, u: Array) -> Array:
        return -2.0 * _log_quotient(xp, u, 1) - u * _log_quotient(xp, u, 2)


def _log_quotient(xp: Any, u: Array, derivative: int = 0) -> Array:
    """log u / (u - 1) or a derivative of it; by its series near 1, where the quotient cancels."""
    near = abs(u - 1.0) < _SERIES_RADIUS
    far = xp.where(near, 2.0 * xp.ones_like(u), u)
    quotient = xp.log(far) / (far - 1.0)
    if derivative > 0:
        quotient = (1.0 / far - quotient) / (far - 1.0)
    if derivative > 1:
        quotient = -(1.0 / far**2 + 2.0 * quotient) / (far - 1.0)
    series = _horner(_SERIES.deriv(derivative), xp.where(near, u - 1.0, xp.zeros_like(u)))
    return xp.where(near, series, quotient)


def _horner(polynomial: np.polynomial.Polynomial, x: Array) -> Array:
    value = 0.0 * x
    for coefficient in polynomial.coef[::-1]:
        value = value * x + float(coefficient)
    return value
