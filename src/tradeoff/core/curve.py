r"""Precision-recall curves, piecewise :math:`\alpha(\lambda) = a + b\lambda`.

For :math:`P` (real), :math:`Q` (model) and slope :math:`\lambda`,

.. math:: \alpha(\lambda) = \int \min(\lambda p, q), \qquad \beta = \alpha / \lambda ,

and, for the rule that calls :math:`\{p/q < 1/\lambda\}` generated, :math:`a` is the share of
generated samples it lets pass and :math:`b` the share of real samples it rejects.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np
from scipy.optimize import isotonic_regression

from tradeoff._registry import resolve
from tradeoff._validation import FloatArray, check_lam, check_positive, check_shares, same_kind
from tradeoff.core.piecewise import PiecewiseLinear, edges
from tradeoff.core.roc import ROCCurve
from tradeoff.exceptions import InvalidInputError, UndefinedError

if TYPE_CHECKING:
    import numpy.typing as npt

    from tradeoff._sides import Sides

__all__ = ["PRCurve", "clip", "curve_of_atoms", "tighten"]


_ROUNDING = 1e-12
_SMALLEST_WEIGHT = 1e-100
_LARGEST = 1e300
_BEYOND = np.geomspace(1.25, 100.0, 20)


@dataclass(frozen=True, eq=False, kw_only=True)
class PRCurve(PiecewiseLinear):
    r"""The precision-recall curve :math:`\lambda \mapsto (\alpha(\lambda), \beta(\lambda))`.

    Piece :math:`j` holds on :math:`[\lambda_j, \lambda_{j+1})` with :math:`\lambda_0 = 0`; there
    :math:`\alpha = a_j + b_j \lambda`. Summaries are those of the curve as it is: raw
    held-out counts may exceed 1, and so may their summaries. Get one from :meth:`RatioProfile.curve
    <tradeoff.core.RatioProfile.curve>` (continuous and concave) or
    :meth:`HeldOutLogRatios.curve <tradeoff.core.HeldOutLogRatios.curve>` (small jumps).

    Args:
        breakpoints: Slopes :math:`\lambda_1 < \dots < \lambda_n`, finite and positive, shape (n,).
        intercepts: Intercepts :math:`a_0 \dots a_n`, shape (n + 1,).
        slopes: Slopes :math:`b_0 \dots b_n` of the pieces, shape (n + 1,).
        max_precision: Largest precision, :math:`\alpha(\infty) = Q(\operatorname{supp} P)`.
        max_recall: Largest recall, :math:`\beta(0) = P(\operatorname{supp} Q)`.
        lower: Lower limit of a band, or None.
        upper: Upper limit of a band, or None.

    Example:
        A model that generates one of two modes has full precision and half the recall:

        >>> from tradeoff import PRCurve, RatioProfile
        >>> curve = RatioProfile.from_masses(p=[0.5, 0.5], q=[1.0, 0.0]).curve()
        >>> curve.max_precision, curve.max_recall
        (1.0, 0.5)
        >>> curve.precision(1.0), curve.recall(0.4)
        (0.5, 0.5)
        >>> curve.breakpoints
        array([2.])
        >>> PRCurve.from_json(curve.to_json()).precision(1.0)
        0.5

    References:
        :cite:`sajjadi2018`, :cite:`simon2019`.
    """

    lower: PRCurve | None = None
    upper: PRCurve | None = None

    @overload
    def precision(self, lam: float) -> float: ...
    @overload
    def precision(self, lam: npt.ArrayLike) -> FloatArray: ...
    def precision(self, lam: npt.ArrayLike) -> float | FloatArray:
        r""":math:`\alpha(\lambda)` at any :math:`\lambda \in [0, \infty]`; same shape as `lam`."""
        lam = check_lam(lam)
        a, b = self.pieces(lam)
        with np.errstate(invalid="ignore"):
            value = np.where(np.isinf(lam), self.max_precision, a + b * lam)
        return same_kind(value)

    @overload
    def recall(self, lam: float) -> float: ...
    @overload
    def recall(self, lam: npt.ArrayLike) -> FloatArray: ...
    def recall(self, lam: npt.ArrayLike) -> float | FloatArray:
        r""":math:`\beta(\lambda)` at any :math:`\lambda \in [0, \infty]`; same shape as `lam`."""
        lam = check_lam(lam)
        a, b = self.pieces(lam)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.where(np.isinf(lam), 0.0, a / lam + b)
        return same_kind(np.where(lam == 0, self.max_recall, value))

    def f_score(self, weight: float) -> float:
        r"""The largest :math:`F_s` on the curve, exactly; `weight` is :math:`s`.

        .. math:: F_s(\lambda) = (1 + s^2) \frac{\alpha \beta}{s^2 \alpha + \beta}
                               = \frac{(1 + s^2)\, \alpha(\lambda)}{1 + s^2 \lambda}

        is monotone on each piece, so its supremum is at an end of one. :math:`s > 1` favors
        recall: :math:`F_8` is the recall-like and :math:`F_{1/8}` the precision-like summary of
        :cite:t:`sajjadi2018`.

        Example:
            >>> from tradeoff import RatioProfile
            >>> curve = RatioProfile.from_masses(p=[0.5, 0.5], q=[1.0, 0.0]).curve()
            >>> round(curve.f_score(1 / 8), 4), round(curve.f_score(8), 4)
            (0.9848, 0.5039)
        """
        s2 = min(max(check_positive("weight", weight), _SMALLEST_WEIGHT), 1 / _SMALLEST_WEIGHT) ** 2
        lam = self.breakpoints
        with np.errstate(over="ignore"):
            scale = 1 + s2 * lam
        from_left = (self.intercepts[:-1] + self.slopes[:-1] * lam) / scale
        from_right = (self.intercepts[1:] + self.slopes[1:] * lam) / scale
        outermost = [self.intercepts[0], self.slopes[-1] / s2]
        at_ends = np.concatenate((from_left, from_right, outermost))
        return float((1 + s2) * at_ends.max())

    @property
    def balanced_slope(self) -> float:
        r"""The slope of the highest :math:`F_1`, the one closest to 1 if there are several.

        From here on a model that only omits has all its precision, and up to here one that only
        invents has all its recall. The outermost slopes are those of the first and last piece.

        Example:
            >>> from tradeoff import RatioProfile
            >>> RatioProfile.from_masses(p=[0.5, 0.5], q=[1.0, 0.0]).curve().balanced_slope
            2.0
        """
        lam = self.breakpoints
        if not lam.size:
            return 1.0
        score = np.minimum(self.precision(lam), np.minimum(1.0, lam)) / (1.0 + lam)
        # Between breakpoints it is monotone, and constant where both terms of a piece are equal.
        inside = bool(lam[0] <= 1.0 <= lam[-1])
        if inside and min(self.precision(1.0), 1.0) / 2.0 >= score.max() - _ROUNDING:
            return 1.0
        best = lam[score >= score.max() - _ROUNDING]
        return float(best[np.abs(np.log(best)).argmin()])

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve with its band, and return the display.

        Args:
            ax: Matplotlib axes; a new figure if not given.

        Example:
            >>> from tradeoff import RatioProfile
            >>> curve = RatioProfile.from_masses(p=[0.5, 0.5], q=[1.0, 0.0]).curve()
            >>> curve.plot().ax_.get_xlabel()
            'recall'
        """
        return resolve("tradeoff.report.display:PRCurveDisplay")(self).plot(ax)

    @property
    def area(self) -> float:
        r"""Area under the curve, :math:`\frac12 \int_0^\infty \beta(\lambda)^2 d\lambda`, exactly.

        It is 1 for identical distributions and 0 for disjoint ones.
        """
        lam, a, b = self.breakpoints, self.intercepts, self.slopes
        if a[0] > 0 or b[-1] ** 2 > 0:
            return np.inf  # infinite held-out log-ratios on the wrong side
        if lam.size == 0:
            return 0.0
        inner_a, inner_b = a[1:-1], b[1:-1]
        low, high = lam[:-1], lam[1:]
        inner = (
            (inner_a / low) * inner_a
            - (inner_a / high) * inner_a
            + 2 * inner_a * inner_b * (np.log(high) - np.log(low))
            + inner_b * (inner_b * high - inner_b * low)
        )
        ends = b[0] * (b[0] * lam[0]) + (a[-1] / lam[-1]) * a[-1]
        return float(0.5 * (inner.sum() + ends))

    @property
    def total_variation(self) -> float:
        r""":math:`\mathrm{TV}(P, Q) = 1 - \alpha(1)`."""
        return 1.0 - self.precision(1.0)

    @overload
    def precision_at_recall(self, recall: float) -> float: ...
    @overload
    def precision_at_recall(self, recall: npt.ArrayLike) -> FloatArray: ...
    def precision_at_recall(self, recall: npt.ArrayLike) -> float | FloatArray:
        """The largest precision attainable together with a recall; 0 beyond the largest recall.

        Example:
            >>> from tradeoff import RatioProfile
            >>> curve = RatioProfile.from_masses(p=[0.2, 0.3, 0.5], q=[0.5, 0.25, 0.25]).curve()
            >>> round(curve.precision_at_recall(0.7), 12)
            0.7
        """
        recall = check_shares("recall", recall)
        rounded = (recall > self.max_recall) & (recall <= self.max_recall * (1 + _ROUNDING))
        recall = np.where(rounded, self.max_recall, recall)
        a, b = self.intercepts, self.slopes
        left, right = edges(self.breakpoints)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            at_left = np.concatenate(([self.max_recall], a[1:] / left[1:] + b[1:]))
            # Recall falls on each piece; from the right, its running maximum finds the last
            # piece on which a value is still reached, also where held-out curves jump.
            reached = np.maximum.accumulate(at_left[::-1])[::-1]
            piece = np.searchsorted(-reached, -recall, side="right") - 1
            inside = np.maximum(piece, 0)
            lam = np.where(recall > b[inside], a[inside] / (recall - b[inside]), np.inf)
            lam = np.clip(lam, left[inside], right[inside])
            value = np.where(np.isinf(lam), self.max_precision, recall * lam)
        value = np.where(recall == 0, self.max_precision, value)
        return same_kind(np.where(piece < 0, 0.0, value))

    @overload
    def recall_at_precision(self, precision: float) -> float: ...
    @overload
    def recall_at_precision(self, precision: npt.ArrayLike) -> FloatArray: ...
    def recall_at_precision(self, precision: npt.ArrayLike) -> float | FloatArray:
        """The largest recall attainable together with a precision; 0 beyond the largest one."""
        return self.swap().precision_at_recall(check_shares("precision", precision))

    def is_attainable(self, *, precision: float, recall: float) -> bool:
        r"""Whether some :math:`\mu` has :math:`\beta\mu \le P` and :math:`\alpha\mu \le Q`.

        Points on the curve itself count, up to rounding.

        Example:
            >>> from tradeoff import RatioProfile
            >>> curve = RatioProfile.from_masses(p=[0.5, 0.5], q=[1.0, 0.0]).curve()
            >>> curve.is_attainable(precision=1.0, recall=0.5)
            True
            >>> curve.is_attainable(precision=0.5, recall=0.6)
            False
        """
        alpha = float(check_shares("precision", precision))
        beta = float(check_shares("recall", recall))
        if alpha == 0 or beta == 0:
            return True
        return bool(alpha <= self.precision(alpha / beta) * (1 + _ROUNDING))

    def roc(self) -> ROCCurve:
        r"""The ROC curve of the same profile: :math:`Q(S)` against :math:`P(S)`.

        The rule at slope :math:`\lambda` calls :math:`S = \{p/q \ge 1/\lambda\}` real, so the
        pieces of the curve are its vertices :math:`(a, 1 - b)`. Pieces of a clipped curve are not
        rules, so it has none: ask ``estimate.raw``.
        """
        generated = np.concatenate(([0.0], self.intercepts, [1.0]))
        real = np.concatenate(([0.0], 1.0 - self.slopes, [1.0]))
        if min(np.diff(generated).min(), np.diff(real).min()) < -_ROUNDING:
            raise UndefinedError(
                "A clipped curve has no ROC curve, since its pieces are not rules. Call roc() of "
                "the curve as counted, such as `estimate.raw.roc()`."
            )
        return ROCCurve(generated=generated, real=real)

    def swap(self) -> PRCurve:
        r"""The curve with the roles of real and generated exchanged.

        .. math:: \alpha_{Q,P}(\lambda) = \beta_{P,Q}(1/\lambda)

        Where a held-out curve jumps, the value at the jump is taken from its other side.
        """
        return replace(
            super().swap(),
            lower=self.lower.swap() if self.lower else None,
            upper=self.upper.swap() if self.upper else None,
        )

    def clipped(self) -> PRCurve:
        r"""The curve clipped at :math:`\min(1, \lambda)` and made monotone, as it is shown.

        Held-out counts jump, and may exceed what any two distributions attain. Where precision
        falls with λ, or recall rises, pieces are averaged (isotonic regression), so that noise is
        not taken for precision; what is left of a jump is leveled up. Bands are left out.

        Example:
            >>> from tradeoff import HeldOutLogRatios
            >>> raw = HeldOutLogRatios(real=[0.5, -0.2], generated=[0.3, -0.4]).curve()
            >>> raw.precision(4.0), raw.clipped().precision(4.0)
            (1.0, 1.0)
            >>> round(raw.precision(1.1), 2), round(raw.clipped().precision(1.1), 2)
            (1.05, 0.96)
        """
        curve = _averaged(replace(self, lower=None, upper=None))
        return clip(_averaged(curve.swap()).swap())

    def tightened(self) -> PRCurve:
        r"""The lowest upper bound of a true curve that an upper bound implies.

        The truth is at most :math:`\min(1, \lambda)`, its precision rises with λ and its recall
        falls. So an upper bound holds at smaller slopes too for precision, and at greater ones
        for recall. Slopes and intercepts of the pieces must not be negative.

        Example:
            >>> from tradeoff import PRCurve
            >>> bound = PRCurve(
            ...     breakpoints=[1.0], intercepts=[0.0, 0.5], slopes=[0.9, 0.2],
            ...     max_precision=1.0, max_recall=1.0,
            ... )
            >>> round(bound.precision(0.9), 2), round(bound.tightened().precision(0.9), 2)
            (0.81, 0.7)
        """
        return tighten(replace(self, lower=None, upper=None))

    @classmethod
    def _from_fields(cls, **fields: Any) -> PRCurve:
        """From a file: numbers must be small enough that precision and recall are finite."""
        for name in ("intercepts", "slopes"):
            if (np.abs(fields[name]) > _LARGEST).any():
                raise InvalidInputError(f"`{name}` of a curve must lie within ±{_LARGEST:g}.")
        for name in ("max_precision", "max_recall"):
            check_lam(fields[name], name)
        return cls(**fields)


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
    with np.errstate(over="ignore"):
        below = a[piece] + b[piece] * middle <= np.minimum(1.0, middle)
    return replace(
        curve,
        breakpoints=knots,
        intercepts=np.where(below, a[piece], np.where(middle > 1, 1.0, 0.0)),
        slopes=np.where(below, b[piece], np.where(middle > 1, 0.0, 1.0)),
        max_precision=min(1.0, curve.max_precision),
        max_recall=min(1.0, curve.max_recall),
    )


def _averaged(curve: Curve) -> Curve:
    r"""The curve with neighboring pieces of falling precision replaced by their mean.

    A piece counts as its mean over :math:`\log\lambda` does, and weighs its width over the
    variance of a count, which grows as :math:`1 + \lambda^2`. The two outermost pieces stay, from
    a hundred times beyond the last breakpoint on.
    """
    if curve.breakpoints.size < 2:
        return curve
    first, last = curve.breakpoints[[0, -1]]
    farthest = min(_LARGEST / last, _LARGEST * first)
    beyond = _BEYOND[farthest > _BEYOND]
    lam = np.concatenate((first / beyond[::-1], curve.breakpoints, last * beyond))
    a, b = (
        np.concatenate((np.repeat(v[0], beyond.size), v, np.repeat(v[-1], beyond.size)))
        for v in (curve.intercepts, curve.slopes)
    )
    left, right = lam[:-1], lam[1:]
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        width = np.log(right) - np.log(left)
        mean = a[1:-1] + b[1:-1] * np.where(width > 0, (right - left) / width, left)
        weight = np.maximum(width / (1.0 + left * right), _SMALLEST_WEIGHT)
    if not np.isfinite(mean).all():
        return curve
    levels = isotonic_regression(mean, weights=weight)
    pooled = np.repeat(np.diff(levels.blocks) > 1, np.diff(levels.blocks))
    a[1:-1], b[1:-1] = np.where(pooled, levels.x, a[1:-1]), np.where(pooled, 0.0, b[1:-1])
    return replace(curve, breakpoints=lam, intercepts=a, slopes=b)


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


def curve_of_atoms(
    thresholds: FloatArray,
    weights: Sides[FloatArray],
    *,
    max_precision: float,
    max_recall: float,
) -> PRCurve:
    r"""The curve of atoms that are rejected up to a slope and pass beyond it.

    .. math:: \alpha(\lambda) = \lambda \sum_{t_i > \lambda} p_i + \sum_{t_i \le \lambda} q_i

    Args:
        thresholds: Slopes :math:`t_i` in ascending order, in [0, ∞], shape (n,).
        weights: Weights :math:`p_i` of the atoms among real and :math:`q_i` among generated
            samples, each of shape (n,); any positive scale.
        max_precision: Limit of precision at :math:`\lambda = \infty`.
        max_recall: Limit of recall at :math:`\lambda = 0`.
    """
    # Entry i counts the first i atoms as passed and the others as rejected.
    passed = np.concatenate(([0.0], np.cumsum(weights.generated)))
    rejected = np.concatenate((np.cumsum(weights.real[::-1])[::-1], [0.0]))
    # Atoms at 0 have passed before the first piece, and atoms at ∞ never pass.
    first = int(np.searchsorted(thresholds, 0.0, side="right"))
    last = int(np.searchsorted(thresholds, np.inf, side="left"))
    inner = thresholds[first:last]
    # A piece begins after the last atom of each run of equal thresholds.
    run_ends = np.flatnonzero(inner[1:] != inner[:-1]) + 1
    pieces = first + np.concatenate(([0], run_ends, [inner.size] if inner.size else []))
    pieces = pieces.astype(np.intp)
    intercepts, slopes = passed[pieces] / passed[-1], rejected[pieces] / rejected[0]
    # The outermost pieces end at the ends, to the last bit.
    slopes[0] = max_recall if intercepts[0] == 0 else slopes[0]
    intercepts[-1] = max_precision if slopes[-1] == 0 else intercepts[-1]
    return PRCurve(
        breakpoints=thresholds[pieces[1:] - 1],
        intercepts=np.minimum(intercepts, intercepts[-1]),
        slopes=np.minimum(slopes, slopes[0]),
        max_precision=max_precision,
        max_recall=max_recall,
    )
