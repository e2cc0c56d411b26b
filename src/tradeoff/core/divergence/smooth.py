r"""Smooth f-divergences: generators, conjugates, activations and ratios.

Conventions: natural logarithms; Jensen-Shannon is the mean of two KL, at most :math:`\log 2`;
Hellinger is squared and not halved, at most 2; GAN is twice Jensen-Shannon minus :math:`\log 4`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tradeoff._validation import check_number
from tradeoff.core.divergence.base import Array, Divergence
from tradeoff.core.divergence.special import box_cox, log_lambert_w_exp, softplus

__all__ = [
    "GAN",
    "KL",
    "Amari",
    "FrontierIntegral",
    "Hellinger",
    "Jeffreys",
    "JensenShannon",
    "Neyman",
    "Pearson",
    "ReverseKL",
]

_INF = math.inf
_LOG2 = math.log(2.0)


class KL(Divergence):
    r"""Kullback-Leibler, :math:`f(u) = u \log u`: punishes what the model misses.

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
    r"""Reverse Kullback-Leibler, :math:`f(u) = -\log u`: punishes what the model invents.

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
        >>> from tradeoff.core.divergence import Neyman
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


class Jeffreys(Divergence):
    r"""Jeffreys' divergence, KL plus reverse KL, :math:`f(u) = (u-1)\log u`.

    Its conjugate is :math:`W + 1/W + t - 2` with Lambert's :math:`W = W_0(e^{1-t})`.

    Example:
        >>> from tradeoff import RatioProfile
        >>> from tradeoff.core.divergence import KL, Jeffreys, ReverseKL
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


class Amari(Divergence):
    r"""Amari's divergence of order a, :math:`f(u) = \frac{u^a - 1 - a(u-1)}{a(a-1)}`.

    Order 1 is KL, 0 reverse KL, ½ twice Hellinger, 2 half of Pearson's :math:`\chi^2`.

    Args:
        order: any real number.

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


class FrontierIntegral(Divergence):
    r"""The frontier integral, :math:`f(u) = \frac{u+1}{2} - \frac{u \log u}{u-1}`.

    It lies between 0 and 1. Along the mixtures :math:`R_t = tP + (1-t)Q` it is
    :math:`2\int_0^1 t\,\mathrm{KL}(P\|R_t) + (1-t)\,\mathrm{KL}(Q\|R_t)\, dt`.

    Example:
        >>> from tradeoff import RatioProfile
        >>> from tradeoff.core.divergence import FrontierIntegral
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


_SERIES_RADIUS = 0.1
_SERIES = np.polynomial.Polynomial([(-1.0) ** k / (k + 1) for k in range(20)])


def _horner(polynomial: np.polynomial.Polynomial, x: Array) -> Array:
    value = 0.0 * x
    for coefficient in polynomial.coef[::-1]:
        value = value * x + float(coefficient)
    return value
