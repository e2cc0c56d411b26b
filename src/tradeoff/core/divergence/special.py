"""Special functions for any array namespace, differentiable where the namespace is."""

from typing import Any

from tradeoff.core.divergence.base import Array, apply

__all__ = ["lambert_w"]

_NEWTON_STEPS = 8


def lambert_w(x: Array) -> Array:
    r"""Lambert's :math:`W_0(x)`, the solution of :math:`w e^w = x`, for :math:`x \ge 0`.

    Example:
        >>> from tradeoff.core.divergence.special import lambert_w
        >>> round(lambert_w(1.0), 6)
        0.567143
    """

    def value(xp: Any, x: Array) -> Array:
        w = xp.exp(log_lambert_w_exp(xp, xp.log(xp.where(x == 0, xp.ones_like(x), x))))
        return xp.where(x == 0, xp.zeros_like(x), w)

    return apply(value, x)


def log_lambert_w_exp(xp: Any, y: Array) -> Array:
    """log W(e^y), the solution of v + e^v = y, which neither overflows nor underflows.

    v + e^v is convex, and Newton's method from min(y, log max(y, 1)), which is never below the
    solution, falls onto it monotonically.
    """
    v = xp.where(y > 1, xp.log(xp.clip(y, 1.0, None)), y)
    for _ in range(_NEWTON_STEPS):
        v = v - (v + xp.exp(v) - y) / (1.0 + xp.exp(v))
    return v


def softplus(xp: Any, w: Array) -> Array:
    """log(1 + e^w)."""
    return xp.logaddexp(w, xp.zeros_like(w))


def box_cox(xp: Any, u: Array, power: float) -> Array:
    """(u^power - 1) / power, and log u where the power is 0."""
    log_u = xp.log(u)
    return log_u if power == 0 else xp.expm1(power * log_u) / power
