r"""What every f-divergence offers, and how it is evaluated on profiles and curves.

.. math:: D_f(P\|Q) = \mathbb{E}_Q[f(p/q)] + Q(p = 0)\, f(0) + P(q = 0)\, f'(\infty)

with the expectation over the common support. Functions of a ratio or of a discriminator are
written once against the array namespace of their argument: NumPy and PyTorch share the code.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import array_api_compat
import numpy as np

from tradeoff._validation import FloatArray, check_numbers, check_positive, check_type, same_kind
from tradeoff.core.curve import PRCurve
from tradeoff.core.profile import RatioProfile
from tradeoff.exceptions import UndefinedError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Array", "Divergence", "Scaled", "apply"]

Array = Any
"""An array of any array-API namespace, or a number."""


def apply(function: Callable[[Any, Array], Array], x: Array) -> Array:
    """Apply a function of (namespace, array) to an array, a list or a number; numbers give numbers.

    NumPy's warnings are silenced: infinite values at the ends of a domain are intended, and NaN is
    returned where a function is undefined.
    """
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        if array_api_compat.is_array_api_obj(x):
            return function(array_api_compat.array_namespace(x), x)
        return same_kind(function(np, check_numbers("argument", x)))


class Divergence(ABC):
    r"""An f-divergence :math:`D_f(P\|Q) = \mathbb{E}_Q[f(p/q)]`, with P real and Q generated.

    Subclasses give the formulas inside the domain; this class adds the ends, the evaluation on
    profiles and curves, and the sentence for what does not exist.

    Example:
        >>> from tradeoff import RatioProfile
        >>> from tradeoff.core.divergence import KL, JensenShannon
        >>> profile = RatioProfile.from_masses(p=[1.0, 0.0], q=[0.5, 0.5])
        >>> round(KL().of(profile), 6), KL().reverse().of(profile)
        (0.693147, inf)
        >>> round((2 * JensenShannon()).of(profile), 6)
        0.431523
    """

    name: str
    at_zero: float
    """:math:`f(0)`, what generated mass without real mass costs."""
    slope_at_infinity: float
    r""":math:`f'(\infty) = \lim f(u)/u`, what real mass without generated mass costs."""
    discriminator_range: tuple[float, float]
    """Values of a discriminator, the domain of the conjugate."""

    def generator(self, u: Array) -> Array:
        r""":math:`f(u)` of ratios :math:`u = p/q \ge 0`; same shape and namespace."""

        def value(xp: Any, u: Array) -> Array:
            zero = u == 0
            inside = self._generator(xp, xp.where(zero, xp.ones_like(u), u))
            return xp.where(zero, xp.full_like(inside, self.at_zero), inside)

        return apply(value, u)

    def derivative(self, u: Array) -> Array:
        r""":math:`f'(u)`, which is the optimal discriminator :math:`T^*` at the ratio u."""
        return apply(self._derivative, u)

    def second_derivative(self, u: Array) -> Array:
        r""":math:`f''(u)`."""
        return apply(self._second_derivative, u)

    def conjugate(self, t: Array) -> Array:
        r""":math:`f^*(t) = \sup_{u \ge 0} tu - f(u)`, infinite above the discriminator's range."""
        low, high = self.discriminator_range

        def value(xp: Any, t: Array) -> Array:
            inside = self._conjugate(xp, xp.clip(t, low, high))
            inside = xp.where(t < low, xp.full_like(inside, -self.at_zero), inside)
            return xp.where(t > high, xp.full_like(inside, np.inf), inside)

        return apply(value, t)

    def activation(self, w: Array) -> Array:
        """Maps a network's output, any real number, into the discriminator's range."""
        return apply(self._activation, w)

    def ratio(self, t: Array) -> Array:
        r"""The ratio :math:`p/q = \nabla f^*(t)` that t stands for; NaN outside the range."""
        low, high = self.discriminator_range

        def value(xp: Any, t: Array) -> Array:
            inside = self._ratio(xp, xp.clip(t, low, high))
            return xp.where((t < low) | (t > high), xp.full_like(inside, np.nan), inside)

        return apply(value, t)

    def log_ratio(self, w: Array) -> Array:
        r"""The :math:`\log p/q` that a network's output stands for, without overflow."""
        return apply(self._log_ratio, w)

    def dual(self, log_ratio: Array) -> Array:
        r""":math:`f^*(f'(r)) = r f'(r) - f(r)` at a log-ratio: the generated side of the dual."""
        return apply(self._dual, log_ratio)

    def weight(self, lam: Array) -> Array:
        r"""The weight in :math:`D_f = \int_0^\infty w(\lambda) D_\lambda\,d\lambda`.

        :math:`w(\lambda) = \lambda^{-3} f''(1/\lambda)`: what trade-off does this loss target?
        """
        return apply(lambda xp, lam: self._second_derivative(xp, 1.0 / lam) / lam**3, lam)

    @abstractmethod
    def reverse(self) -> Divergence:
        r"""The divergence of swapped roles, :math:`f^\circ(u) = u f(1/u)`."""

    def of(self, profile: RatioProfile) -> float:
        r"""The exact value on a profile, boundary terms included; never below :math:`f(1)`."""
        check_type("profile", profile, RatioProfile)
        p, q = profile.p, profile.q
        more = (p >= q) & (q > 0)
        less = (p < q) & (p > 0)
        # Each ratio is taken below 1, so that tiny masses do not overflow: p f°(q/p) = q f(p/q).
        with np.errstate(over="ignore"):
            value = np.sum(p[more] * self.reverse().generator(q[more] / p[more]))
            value += np.sum(q[less] * self.generator(p[less] / q[less]))
        value += _cost(p[q == 0], self.slope_at_infinity) + _cost(q[p == 0], self.at_zero)
        return max(float(value), float(self.generator(1.0)))

    def of_curve(self, curve: PRCurve) -> float:
        r"""The value rebuilt from the PR-divergences of a curve, exactly piece by piece.

        .. math:: \int_0^\infty w(\lambda)\, (\min(1, \lambda) - \alpha(\lambda))\, d\lambda

        On the curve of a profile this is :meth:`of`. On a held-out curve it is the dual bound
        :math:`\mathbb{E}_P[f'(r)] - \mathbb{E}_Q[f^*(f'(r))]`, whose expectation is never above
        the truth; infinite log-ratios on the wrong side make it :math:`-\infty`.

        Example:
            >>> from tradeoff import HeldOutLogRatios
            >>> from tradeoff.core.divergence import KL
            >>> held_out = HeldOutLogRatios(real=[0.5, 1.0], generated=[-1.0, -0.5])
            >>> round(KL().of_curve(held_out.curve()), 6)
            1.262795
        """
        check_type("curve", curve, PRCurve)
        # Each half is integrated with ratios below 1, so that nothing overflows.
        precision_half = self._beyond_one(curve)
        recall_half = self.reverse()._beyond_one(curve.swap())
        return float(self.generator(1.0)) + precision_half + recall_half

    def _beyond_one(self, curve: PRCurve) -> float:
        """The integral over λ > 1, from w(λ) dλ = -dφ(1/λ) and λ w(λ) dλ = -df'(1/λ)."""
        first = int(np.searchsorted(curve.breakpoints, 1.0, side="right"))
        a, b = curve.intercepts[first:], curve.slopes[first:]
        if b[-1] ** 2 > 0:
            return -np.inf
        u = 1.0 / np.append(1.0, curve.breakpoints[first:])
        steep = self.derivative(u)
        phi = self.generator(u) - u * steep
        inner = (1.0 - a[:-1]) * np.diff(phi) + b[:-1] * np.diff(steep)
        return float(inner.sum()) + _times(1.0 - a[-1], self.at_zero - phi[-1])

    def __rmul__(self, factor: float) -> Scaled:
        """A positive multiple of the divergence, `2 * JensenShannon()`."""
        return Scaled(factor, self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    @abstractmethod
    def _generator(self, xp: Any, u: Array) -> Array: ...

    @abstractmethod
    def _derivative(self, xp: Any, u: Array) -> Array: ...

    def _second_derivative(self, xp: Any, u: Array) -> Array:
        raise self._undefined("second derivative", "all its weight is on one trade-off")

    def _conjugate(self, xp: Any, t: Array) -> Array:
        raise self._undefined("conjugate", "none is known in closed form")

    def _activation(self, xp: Any, w: Array) -> Array:
        raise self._undefined("activation", "no discriminator is trained on it")

    def _ratio(self, xp: Any, t: Array) -> Array:
        raise self._undefined("ratio", "no discriminator is trained on it")

    def _log_ratio(self, xp: Any, w: Array) -> Array:
        return xp.log(self._ratio(xp, self._activation(xp, w)))

    def _dual(self, xp: Any, v: Array) -> Array:
        u = xp.exp(v)
        return u * self._derivative(xp, u) - self._generator(xp, u)

    def _undefined(self, what: str, why: str) -> UndefinedError:
        return UndefinedError(f"The {self.name} has no {what}: {why}.")


class Scaled(Divergence):
    r"""A positive multiple :math:`c \cdot D_f`, written ``c * divergence``.

    Example:
        >>> from tradeoff.core.divergence import Pearson
        >>> from tradeoff.core.divergence.base import Scaled
        >>> half = 0.5 * Pearson()
        >>> isinstance(half, Scaled), half
        (True, 0.5 * Pearson())
        >>> half.conjugate(0.5), half.ratio(0.5)
        (0.625, 1.5)
    """

    def __init__(self, factor: float, divergence: Divergence) -> None:
        self.factor = check_positive("factor", factor)
        self.divergence = divergence
        self.name = divergence.name
        self.at_zero = factor * divergence.at_zero
        self.slope_at_infinity = factor * divergence.slope_at_infinity
        low, high = divergence.discriminator_range
        self.discriminator_range = (factor * low, factor * high)

    def reverse(self) -> Divergence:
        """The same multiple of the reverse."""
        return self.factor * self.divergence.reverse()

    def of(self, profile: RatioProfile) -> float:
        """The multiple of the value on a profile."""
        return self.factor * self.divergence.of(profile)

    def of_curve(self, curve: PRCurve) -> float:
        """The multiple of the value rebuilt from a curve."""
        return self.factor * self.divergence.of_curve(curve)

    def __repr__(self) -> str:
        return f"{self.factor:g} * {self.divergence!r}"

    def _generator(self, xp: Any, u: Array) -> Array:
        return self.factor * self.divergence._generator(xp, u)

    def _derivative(self, xp: Any, u: Array) -> Array:
        return self.factor * self.divergence._derivative(xp, u)

    def _second_derivative(self, xp: Any, u: Array) -> Array:
        return self.factor * self.divergence._second_derivative(xp, u)

    def _conjugate(self, xp: Any, t: Array) -> Array:
        return self.factor * self.divergence._conjugate(xp, t / self.factor)

    def _activation(self, xp: Any, w: Array) -> Array:
        return self.factor * self.divergence._activation(xp, w)

    def _ratio(self, xp: Any, t: Array) -> Array:
        return self.divergence._ratio(xp, t / self.factor)

    def _log_ratio(self, xp: Any, w: Array) -> Array:
        return self.divergence._log_ratio(xp, w)

    def _dual(self, xp: Any, v: Array) -> Array:
        return self.factor * self.divergence._dual(xp, v)


def _cost(mass: FloatArray, price: float) -> float:
    return _times(float(mass.sum()), price)


def _times(mass: float, price: float) -> float:
    """Mass times price, where no mass costs nothing even at an infinite price."""
    return 0.0 if mass == 0 else float(mass * price)
