r"""Curves made to have the shape of a true one.

The true precision is at most :math:`\min(1, \lambda)` and rises with :math:`\lambda`, while recall
falls. :func:`clip` raises a counted curve to that shape and :func:`tighten` lowers an upper bound
to it. Each works on precision first, and on recall by swapping roles.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from tradeoff.core.piecewise import PiecewiseLinear, edges

if TYPE_CHECKING:
    from tradeoff._validation import FloatArray

__all__ = ["clip", "tighten"]

Curve = TypeVar("Curve", bound=PiecewiseLinear)


def clip(curve: Curve) -> Curve:
    """The curve capped at min(1, λ), with the largest precision before and recall after each λ."""
    return _rising(_rising(_capped(curve)).swap()).swap()


def tighten(curve: Curve) -> Curve:
    """The curve capped at min(1, λ), with the least precision after and recall before each λ."""
    return _lowered(_lowered(_capped(curve)).swap()).swap()


def _capped(curve: Curve) -> Curve:
    """The minimum of the curve and min(1, λ), with a breakpoint wherever they cross."""
    lam, a, b = curve.breakpoints, curve.intercepts, curve.slopes
    left, right = edges(lam)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        crossings = np.stack(((1.0 - a) / b, a / (1.0 - b)))
    crossings = crossings[(crossings > left) & (crossings < right)]
    knots = np.unique(np.concatenate((lam, crossings, [1.0])))
    piece = np.searchsorted(lam, np.concatenate(([0.0], knots)), side="right")
    # Between knots the order does not change, so one point inside each interval decides it.
    inner = np.sqrt(knots[:-1]) * np.sqrt(knots[1:])
    last = min(2.0 * float(knots[-1]), sys.float_info.max)
    middle = np.concatenate(([0.5 * knots[0]], inner, [last]))
    below = a[piece] + b[piece] * middle <= np.minimum(1.0, middle)
    return replace(
        curve,
        breakpoints=knots,
        intercepts=np.where(below, a[piece], np.where(middle > 1, 1.0, 0.0)),
        slopes=np.where(below, b[piece], np.where(middle > 1, 0.0, 1.0)),
        max_precision=min(1.0, curve.max_precision),
        max_recall=min(1.0, curve.max_recall),
    )


def _rising(curve: Curve) -> Curve:
    """The running maximum of precision: each piece is constant until it exceeds the level so far.

    The level is the largest value at the end of any piece before.
    """
    lam, a, b = curve.breakpoints, curve.intercepts, curve.slopes
    left, _ = edges(lam)
    level = np.maximum.accumulate(np.concatenate(([0.0], a[:-1] + b[:-1] * lam)))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        meets = np.where(a + b * left >= level, left, np.where(b > 0, (level - a) / b, np.inf))
    end = max(curve.max_precision, float(level[-1]))
    return _divided(curve, meets, (level, a), (np.zeros_like(b), b), end)


def _lowered(curve: Curve) -> Curve:
    """The least precision at greater slopes: each piece stops at the lowest start after it."""
    lam, a, b = curve.breakpoints, curve.intercepts, curve.slopes
    starts = np.append(a[1:] + b[1:] * lam, curve.max_precision)
    level = np.minimum.accumulate(starts[::-1])[::-1]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        meets = np.where(b > 0, (level - a) / b, np.where(a <= level, np.inf, 0.0))
    return _divided(curve, meets, (a, level), (b, np.zeros_like(b)), curve.max_precision)


def _divided(
    curve: Curve,
    meets: FloatArray,
    intercepts: tuple[FloatArray, FloatArray],
    slopes: tuple[FloatArray, FloatArray],
    max_precision: float,
) -> Curve:
    """Every piece divided in two at a slope, given the lines before and after it."""
    left, right = edges(curve.breakpoints)
    meets = np.clip(meets, left, right)
    # Halves alternate: piece j becomes the entries 2j and 2j + 1, and empty halves are dropped.
    starts = np.stack((left, meets), axis=1).ravel()
    keep = np.stack((meets > left, meets < right), axis=1).ravel()
    return replace(
        curve,
        breakpoints=starts[keep][1:],
        intercepts=np.stack(intercepts, axis=1).ravel()[keep],
        slopes=np.stack(slopes, axis=1).ravel()[keep],
        max_precision=max_precision,
    )
