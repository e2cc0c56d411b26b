r"""Rényi divergence frontiers between P and Q.

A reference R is compared with both sides, as first argument (exclusive) or second (inclusive):

.. math:: \text{exclusive: } (e^{-D_a(R\|Q)}, e^{-D_a(R\|P)}), \qquad
          \text{inclusive: } (e^{-D_a(P\|R)}, e^{-D_a(Q\|R)})

as (precision, recall). The best R for weight :math:`w` on Q is a power mean of both densities.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.integrate import quad
from scipy.special import expit, logsumexp

from tradeoff._result import Result
from tradeoff._validation import (
    FloatArray,
    check_choice,
    check_order,
    check_positive,
    check_shares,
    check_slopes,
    check_type,
    check_vector,
)
from tradeoff.core.held_out import HeldOutLogRatios
from tradeoff.core.law import HasLogRatioLaws, LogRatioLaw
from tradeoff.core.profile import RatioProfile
from tradeoff.exceptions import InvalidInputError

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Kind", "RenyiFrontier", "check_weights", "mauve", "renyi_frontier"]


Kind = Literal["exclusive", "inclusive"]


@dataclass(frozen=True, eq=False, kw_only=True)
class RenyiFrontier(Result):
    """Points of a Rényi frontier.

    Args:
        order: Order of the Rényi divergence, in [0, ∞].
        kind: Whether R is the first argument (exclusive) or the second (inclusive).
        precision: Precision of each point, shape (n,).
        recall: Recall of each point, shape (n,).

    Example:
        >>> from tradeoff import RatioProfile
        >>> from tradeoff.core import renyi_frontier
        >>> profile = RatioProfile.from_masses(p=[0.5, 0.5], q=[0.6, 0.4])
        >>> frontier = renyi_frontier(profile, order=1, kind="inclusive", weight=[0.25, 0.75])
        >>> frontier.precision.round(4), frontier.recall.round(4)
        (array([0.9987, 0.9887]), array([0.9887, 0.9987]))
    """

    order: float
    kind: Kind
    precision: FloatArray
    recall: FloatArray


def renyi_frontier(
    source: HasLogRatioLaws,
    *,
    order: float,
    kind: Kind,
    weight: npt.ArrayLike | None = None,
    lam: npt.ArrayLike | None = None,
) -> RenyiFrontier:
    r"""The frontier of any order of a profile, exactly, or of held-out log-ratios (Monte Carlo).

    Points are chosen by their weight on Q, or by a slope through
    :math:`w/(1-w) = \lambda^{a-1}` (exclusive) and :math:`\lambda^{-a}` (inclusive), with which
    orders that grow to ∞ approach the precision-recall curve at the same slope, if it lies
    between the smallest and the largest q/p. Beyond, they stay at the end of the frontier, while
    the curve continues along its flat parts.

    Args:
        source: Profile, or held-out errors, for which logarithms of means are biased.
        order: Order :math:`a \in [0, \infty]`.
        kind: Kind of frontier, "exclusive" or "inclusive".
        weight: Weights on Q in (0, 1), shape (n,).
        lam: Slopes in (0, ∞), shape (n,). Required at order ∞; not possible at order 1 exclusive
            and order 0 inclusive, where every slope gives weight ½.

    Example:
        Order ∞, exclusive, is the precision-recall curve:

        >>> from tradeoff import RatioProfile
        >>> from tradeoff.core import renyi_frontier
        >>> profile = RatioProfile.from_masses(p=[0.2, 0.3, 0.5], q=[0.5, 0.25, 0.25])
        >>> frontier = renyi_frontier(profile, order=float("inf"), kind="exclusive", lam=[1.0])
        >>> frontier.precision.round(12), profile.curve().precision([1.0])
        (array([0.7]), array([0.7]))

    References:
        :cite:`djolonga2020`.
    """
    check_choice("kind", kind, ("exclusive", "inclusive"))
    order = check_order(order)
    check_type("source", source, HasLogRatioLaws)
    log_odds = _log_odds(order, kind, weight, lam)
    cost = _exclusive_cost if kind == "exclusive" else _inclusive_cost
    real, generated = source.laws
    if (real.log_ratio == -np.inf).any() or (generated.log_ratio == np.inf).any():
        raise InvalidInputError(
            "Real samples must not have a log-ratio of -inf, nor generated samples one of inf."
        )
    # Seen from P, the ratio is 1/r and the weight 1 - w.
    from_q = np.array([cost(order, x, generated, real) for x in log_odds])
    from_p = np.array([cost(order, -x, _invert(real), _invert(generated)) for x in log_odds])
    precision, recall = (from_q, from_p) if kind == "exclusive" else (from_p, from_q)
    return RenyiFrontier(
        order=order, kind=kind, precision=np.exp(-precision), recall=np.exp(-recall)
    )


def check_weights(weight: npt.ArrayLike) -> FloatArray:
    """Weights on Q, strictly between 0 and 1."""
    weights = check_shares("weight", check_vector("weight", weight))
    if ((weights == 0) | (weights == 1)).any():
        raise InvalidInputError("`weight` must lie strictly between 0 and 1.")
    return weights


def _log_odds(
    order: float, kind: Kind, weight: npt.ArrayLike | None, lam: npt.ArrayLike | None
) -> FloatArray:
    """The log-odds of the weight on Q; at order ∞, the logarithm of the slope."""
    if (weight is None) == (lam is None):
        raise InvalidInputError("Exactly one of `weight` and `lam` must be given.")
    if weight is not None:
        if math.isinf(order):
            raise InvalidInputError("At order inf a point is chosen by `lam`. Got `weight`.")
        weights = check_weights(weight)
        return np.log(weights) - np.log1p(-weights)
    slopes = check_slopes(lam)  # type: ignore[arg-type]
    power = order - 1.0 if kind == "exclusive" else -order
    if power == 0:
        raise InvalidInputError(
            f"At order {order:g} every slope gives weight 1/2 on the {kind} frontier. "
            "Choose points by `weight`."
        )
    return np.log(slopes) * (1.0 if math.isinf(order) else power)


def _exclusive_cost(order: float, x: float, own: LogRatioLaw, other: LogRatioLaw) -> float:
    """D_a(R‖Q) in terms of h = log R/q, up to the normalization Z of R."""
    log_ratio, log_weight = own.log_ratio, np.log(own.weight)
    if math.isinf(order):
        h = np.minimum(log_ratio, -x)
        log_z = _log_mean_exp(log_weight, h)
        return np.inf if log_z == -np.inf else float(h.max()) - log_z
    h, edge = _log_power_mean(x, log_ratio, 1.0 - order)
    log_z = np.logaddexp(_log_mean_exp(log_weight, h), edge + _log_mass_at(other, np.inf))
    if log_z == -np.inf:
        return np.inf
    if order == 1:
        density = np.exp(log_weight + h - log_z)
        return float(np.sum(density[density > 0] * h[density > 0]) - log_z)
    h = np.where(order == 0, 0.0, order * h)
    return float((_log_mean_exp(log_weight, h) - order * log_z) / (order - 1.0))


def _inclusive_cost(order: float, x: float, own: LogRatioLaw, other: LogRatioLaw) -> float:
    """D_a(Q‖R) in terms of h = log R/q, up to the normalization Z of R."""
    log_ratio, log_weight = own.log_ratio, np.log(own.weight)
    if math.isinf(order):
        h = np.maximum(log_ratio, -x)
        log_z = np.logaddexp(_log_mean_exp(log_weight, h), _log_mass_at(other, np.inf))
        return float(log_z - h.min())
    if order == 0:
        # R lives on the common support if there is one, else on the side with more weight.
        if (log_ratio > -np.inf).any() or x > 0:
            return 0.0
        return math.log(2.0) if x == 0 else np.inf
    h, edge = _log_power_mean(x, log_ratio, order)
    log_z = np.logaddexp(_log_mean_exp(log_weight, h), edge + _log_mass_at(other, np.inf))
    if order == 1:
        return float(log_z - np.sum(own.weight * h))
    return float(_log_mean_exp(log_weight, (1.0 - order) * h) / (order - 1.0) + log_z)


def _log_power_mean(x: float, log_ratio: FloatArray, b: float) -> tuple[FloatArray, float]:
    """log (w + (1-w) r^b)^(1/b), and what it leaves per unit of P where q = 0."""
    log_w, log_rest = -np.logaddexp(0.0, -x), -np.logaddexp(0.0, x)
    if b == 0:
        return np.exp(log_rest) * log_ratio, -np.inf
    return np.logaddexp(log_w, log_rest + b * log_ratio) / b, log_rest / b if b > 0 else -np.inf


def _log_mean_exp(log_weight: FloatArray, value: FloatArray) -> float:
    return float(logsumexp(log_weight + value))


def _log_mass_at(law: LogRatioLaw, value: float) -> float:
    with np.errstate(divide="ignore"):
        return float(np.log(np.sum(law.weight[law.log_ratio == value])))


def _invert(law: LogRatioLaw) -> LogRatioLaw:
    return LogRatioLaw(-law.log_ratio, law.weight)


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
