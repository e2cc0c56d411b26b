r"""MAUVE, the area under a scaled frontier of order 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.integrate import quad
from scipy.special import expit

from tradeoff._validation import FloatArray, check_positive, check_type, check_vector
from tradeoff.core.frontier import renyi_frontier
from tradeoff.core.profile import RatioProfile

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["mauve"]

_LOGIT_RANGE = 40.0


def mauve(
    profile: RatioProfile, *, scaling: float = 5.0, weight: npt.ArrayLike | None = None
) -> float:
    r"""MAUVE: area under :math:`(e^{-c\,\mathrm{KL}(Q\|R_t)}, e^{-c\,\mathrm{KL}(P\|R_t)})`.

    :math:`R_t = tP + (1-t)Q`, closed by (1, 0) and (0, 1). It is 1 for identical
    distributions and :math:`\Gamma(c+1)^2/\Gamma(2c+1)`, not 0, for disjoint ones.

    Args:
        profile: Profile of p/q.
        scaling: Constant :math:`c > 0`.
        weight: Weights :math:`1 - t` on Q in (0, 1) at which the curve is sampled and joined by
            straight lines, as in the published code; the exact area if not given.

    Example:
        >>> from tradeoff import RatioProfile
        >>> from tradeoff.core import mauve
        >>> profile = RatioProfile.from_masses(p=[0.2, 0.3, 0.5], q=[0.5, 0.25, 0.25])
        >>> round(mauve(profile), 6)
        0.864732

    References:
        :cite:`pillutla2021`.
    """
    check_type("profile", profile, RatioProfile)
    scaling = check_positive("scaling", scaling)
    if weight is not None:
        path = np.sort(check_vector("weight", weight))[::-1]
        points = renyi_frontier(profile, order=1.0, kind="inclusive", weight=path)
        x = np.concatenate(([1.0], points.recall**scaling, [0.0]))
        y = np.concatenate(([0.0], points.precision**scaling, [1.0]))
        return float(np.trapezoid(x, y))

    real, generated = profile.laws

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


def _log_mixture(s: float, log_ratio: FloatArray) -> FloatArray:
    """log(t r + 1 - t) at t = σ(s)."""
    log_t, log_rest = -np.logaddexp(0.0, -s), -np.logaddexp(0.0, s)
    return np.asarray(np.logaddexp(log_t + log_ratio, log_rest))
