r"""MAUVE, the area under a scaled frontier of order 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.integrate import quad
from scipy.special import expit

from tradeoff._validation import FloatArray, check_positive, check_type
from tradeoff.core.frontier import check_weights, renyi_frontier
from tradeoff.core.held_out import HeldOutLogRatios
from tradeoff.core.profile import RatioProfile

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["mauve"]

_LOGIT_RANGE = 40.0
_HELD_OUT_SHARES = expit(np.linspace(-15.0, 15.0, 241))


def mauve(
    source: RatioProfile | HeldOutLogRatios,
    *,
    scaling: float = 5.0,
    weight: npt.ArrayLike | None = None,
) -> float:
    r"""MAUVE: area under :math:`(e^{-c\,\mathrm{KL}(Q\|R_t)}, e^{-c\,\mathrm{KL}(P\|R_t)})`.

    :math:`R_t = tP + (1-t)Q`, closed by (1, 0) and (0, 1). It is 1 for identical
    distributions and :math:`\Gamma(c+1)^2/\Gamma(2c+1)`, not 0, for disjoint ones.

    From held-out log-ratios, each divergence is replaced by its dual bound
    :math:`\mathbb{E}_P[\log s] + 1 - \mathbb{E}_{R_t}[s]` with :math:`s = r/(tr + 1 - t)`, whose
    expectation is never above the divergence. A bad ratio thus raises the area.

    Args:
        source: Profile of p/q, or held-out log-ratios.
        scaling: Constant :math:`c > 0`.
        weight: Weights :math:`1 - t` on Q in (0, 1) at which the curve is sampled and joined by
            straight lines, as in the published code; the exact area if not given.

    Example:
        >>> from tradeoff import RatioProfile
        >>> from tradeoff.core import mauve
        >>> profile = RatioProfile.from_masses(p=[0.2, 0.3, 0.5], q=[0.5, 0.25, 0.25])
        >>> round(mauve(profile), 6)
        0.864732

        From log-ratios of held-out samples, here of two Gaussians one apart:

        >>> import numpy as np
        >>> from tradeoff import HeldOutLogRatios
        >>> rng = np.random.default_rng(0)
        >>> real, generated = 0.5 - rng.normal(0, 1, 20_000), 0.5 - rng.normal(1, 1, 20_000)
        >>> round(mauve(HeldOutLogRatios(real=real, generated=generated)), 1)
        0.6

    References:
        :cite:`pillutla2021`.
    """
    check_type("source", source, RatioProfile, HeldOutLogRatios)
    scaling = check_positive("scaling", scaling)
    path = None if weight is None else np.sort(check_weights(weight))[::-1]
    if isinstance(source, HeldOutLogRatios):
        shares = _HELD_OUT_SHARES if path is None else 1.0 - path
        costs = _dual_bounds(source, shares), _dual_bounds(source.swap(), 1.0 - shares)
        return _area(*(np.exp(-scaling * cost) for cost in costs))
    if path is not None:
        points = renyi_frontier(source, order=1.0, kind="inclusive", weight=path)
        return _area(points.precision**scaling, points.recall**scaling)

    real, generated = source.laws

    def height(s: float) -> float:
        """y at t = σ(s)."""
        return float(np.exp(scaling * np.sum(real.weight * _log_mixture(-s, -real.log_ratio))))

    def width(s: float) -> float:
        """x at t = σ(s)."""
        return float(
            np.exp(scaling * np.sum(generated.weight * _log_mixture(s, generated.log_ratio)))
        )

    def strip(s: float) -> float:
        """y·(-dx/ds), from dR/ds / R = σ(s + log r) - σ(s)."""
        slope = expit(s) - np.sum(generated.weight * expit(s + generated.log_ratio))
        return float(height(s) * scaling * width(s) * slope)

    area, _ = quad(strip, -_LOGIT_RANGE, _LOGIT_RANGE, epsabs=1e-11, epsrel=1e-11, limit=500)
    return float(area) + width(_LOGIT_RANGE)


def _area(precision: FloatArray, recall: FloatArray) -> float:
    """Under straight lines between points, closed by (1, 0) and (0, 1)."""
    x = np.concatenate(([1.0], recall, [0.0]))
    return float(np.trapezoid(x, np.concatenate(([0.0], precision, [1.0]))))


def _dual_bounds(held_out: HeldOutLogRatios, shares: FloatArray) -> FloatArray:
    """Lower bounds of KL(P‖R) for R = tP + (1 - t)Q and each share t, at least 0."""
    real, generated = held_out.laws
    bounds = np.empty(shares.size)
    with np.errstate(over="ignore", divide="ignore"):
        odds = [np.exp(-side.log_ratio) for side in (real, generated)]
        for i, t in enumerate(shares):
            in_real, in_generated = (1.0 / (t + (1.0 - t) * side) for side in odds)
            mean = t * (real.weight @ in_real) + (1.0 - t) * (generated.weight @ in_generated)
            bounds[i] = real.weight @ np.log(in_real) + 1.0 - mean
    return np.maximum(bounds, 0.0)


def _log_mixture(s: float, log_ratio: FloatArray) -> FloatArray:
    """log(t r + 1 - t) at t = σ(s)."""
    log_t, log_rest = -np.logaddexp(0.0, -s), -np.logaddexp(0.0, s)
    return np.asarray(np.logaddexp(log_t + log_ratio, log_rest))
