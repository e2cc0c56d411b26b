r"""Precision-recall curves, piecewise :math:`\alpha(\lambda) = a + b\lambda`.

For :math:`P` (real), :math:`Q` (model) and slope :math:`\lambda`,

.. math:: \alpha(\lambda) = \int \min(\lambda p, q), \qquad \beta = \alpha / \lambda ,

and, for the rule that calls :math:`\{p/q < 1/\lambda\}` generated, :math:`a` is the share of
generated samples it lets pass and :math:`b` the share of real samples it rejects.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from tradeoff._validation import (
    FloatArray,
    check_lam,
    check_positive,
    check_shares,
    freeze,
)
from tradeoff.exceptions import InvalidInputError

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["HEADLINE_PRECISION_LAM", "HEADLINE_RECALL_LAM", "PRCurve", "ROCCurve"]

HEADLINE_PRECISION_LAM = 20.0
"""Slope at which precision is reported."""
HEADLINE_RECALL_LAM = 0.4
"""Slope at which recall is reported."""

_SCHEMA = "tradeoff.PRCurve"
_SCHEMA_VERSION = 1
_ROUNDING = 1e-12
_SMALLEST_WEIGHT = 1e-100


@dataclass(frozen=True, eq=False, kw_only=True)
class PRCurve:
    r"""The precision-recall curve :math:`\lambda \mapsto (\alpha(\lambda), \beta(\lambda))`.

    Piece :math:`j` holds on :math:`[\lambda_j, \lambda_{j+1})` with :math:`\lambda_0 = 0`; there
    :math:`\alpha = a_j + b_j \lambda`. Summaries are those of the curve as it is: raw held-out
    counts may exceed 1, and their summaries with them. Get one from :meth:`RatioProfile.curve
    <tradeoff.core.RatioProfile.curve>` (continuous and concave) or
    :meth:`HeldOutErrors.curve <tradeoff.core.HeldOutErrors.curve>` (small jumps).

    Args:
        breakpoints: slopes :math:`\lambda_1 < \dots < \lambda_n`, finite and positive, shape (n,).
        intercepts: :math:`a_0 \dots a_n`, shape (n + 1,).
        slopes: :math:`b_0 \dots b_n`, shape (n + 1,).
        max_precision: :math:`\alpha(\infty) = Q(\operatorname{supp} P)`.
        max_recall: :math:`\beta(0) = P(\operatorname{supp} Q)`.
        lower: lower band, if there is one.
        upper: upper band, if there is one.

    Example:
        A model that knows one of two modes has full precision and half the recall:

        >>> from tradeoff import RatioProfile
        >>> curve = RatioProfile.from_masses(p=[0.5, 0.5], q=[1.0, 0.0]).curve()
        >>> curve.max_precision, curve.max_recall
        (1.0, 0.5)
        >>> curve.precision(1.0), curve.recall(0.4)
        (0.5, 0.5)
        >>> curve.breakpoints
        array([2.])

    References:
        :cite:`sajjadi2018`, :cite:`simon2019`.
    """

    breakpoints: FloatArray
    intercepts: FloatArray
    slopes: FloatArray
    max_precision: float
    max_recall: float
    lower: PRCurve | None = None
    upper: PRCurve | None = None

    def __post_init__(self) -> None:
        for name in ("breakpoints", "intercepts", "slopes"):
            object.__setattr__(self, name, freeze(name, getattr(self, name)))
        n = self.breakpoints.size
        if self.intercepts.size != n + 1 or self.slopes.size != n + 1:
            raise InvalidInputError(
                f"A curve with {n} breakpoints must have {n + 1} intercepts and slopes. "
                f"Got {self.intercepts.size} and {self.slopes.size}."
            )
        lam = self.breakpoints
        if n and not (lam[0] > 0 and lam[-1] < np.inf and (lam[1:] >= lam[:-1]).all()):
            raise InvalidInputError("`breakpoints` must be positive, finite and ascending.")

    @classmethod
    def _from_atoms(
        cls,
        thresholds: FloatArray,
        real: FloatArray,
        generated: FloatArray,
        *,
        max_precision: float,
        max_recall: float,
    ) -> PRCurve:
        r"""The curve of atoms that change sides at given thresholds.

        .. math:: \alpha(\lambda) = \lambda \sum_{t_i > \lambda} p_i + \sum_{t_i \le \lambda} q_i

        Args:
            thresholds: :math:`t_i` in ascending order, in [0, ∞], shape (n,).
            real: weight of each atom among real samples, shape (n,); any positive scale.
            generated: weight of each atom among generated samples, shape (n,); any positive scale.
            max_precision: the end at :math:`\lambda = \infty`.
            max_recall: the end at :math:`\lambda = 0`.
        """
        passed = np.concatenate(([0.0], np.cumsum(generated)))
        rejected = np.concatenate((np.cumsum(real[::-1])[::-1], [0.0]))
        first = int(np.searchsorted(thresholds, 0.0, side="right"))
        last = int(np.searchsorted(thresholds, np.inf, side="left"))
        inner = thresholds[first:last]
        run_ends = np.flatnonzero(inner[1:] != inner[:-1]) + 1
        pieces = first + np.concatenate(([0], run_ends, [inner.size] if inner.size else []))
        pieces = pieces.astype(np.intp)
        intercepts, slopes = passed[pieces] / passed[-1], rejected[pieces] / rejected[0]
        # The outermost pieces end at the ends, to the last bit.
        slopes[0] = max_recall if intercepts[0] == 0 else slopes[0]
        intercepts[-1] = max_precision if slopes[-1] == 0 else intercepts[-1]
        return cls(
            breakpoints=thresholds[pieces[1:] - 1],
            intercepts=np.minimum(intercepts, intercepts[-1]),
            slopes=np.minimum(slopes, slopes[0]),
            max_precision=max_precision,
            max_recall=max_recall,
        )

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
        return _same_kind(value)

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
        return _same_kind(np.where(lam == 0, self.max_recall, value))

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
    def area(self) -> float:
        r"""Area under the curve, :math:`\frac12 \int_0^\infty \beta(\lambda)^2 d\lambda`, exactly.

        It is 1 for identical laws and 0 for disjoint ones.
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
        left, right = self._edges()
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
        return _same_kind(np.where(piece < 0, 0.0, value))

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
        pieces of the curve are its vertices :math:`(a, 1 - b)`.
        """
        return ROCCurve(
            generated=np.concatenate(([0.0], self.intercepts, [1.0])),
            real=np.concatenate(([0.0], 1.0 - self.slopes, [1.0])),
        )

    def swap(self) -> PRCurve:
        r"""The curve with the roles of real and generated exchanged.

        .. math:: \alpha_{Q,P}(\lambda) = \beta_{P,Q}(1/\lambda)

        Where a held-out curve jumps, the value at the jump is taken from its other side.
        """
        with np.errstate(over="ignore"):
            breakpoints = 1.0 / self.breakpoints[::-1]
        keep = np.isfinite(breakpoints)
        return PRCurve(
            breakpoints=breakpoints[keep],
            intercepts=self.slopes[::-1][np.append(True, keep)],
            slopes=self.intercepts[::-1][np.append(True, keep)],
            max_precision=self.max_recall,
            max_recall=self.max_precision,
            lower=self.lower.swap() if self.lower else None,
            upper=self.upper.swap() if self.upper else None,
        )

    def clipped(self) -> PRCurve:
        r"""The curve clipped at :math:`\min(1, \lambda)` and made monotone, as it is shown.

        Held-out counts jump and may exceed what any pair of laws attains. Clipping lowers them
        where they do; then precision is replaced by its largest value at smaller slopes, and
        recall by its largest value at greater ones, which only raises them. Bands are left out.

        Example:
            >>> from tradeoff import HeldOutErrors
            >>> raw = HeldOutErrors(real=[0.5, -0.2], generated=[0.3, -0.4]).curve()
            >>> raw.precision(4.0), raw.clipped().precision(4.0)
            (1.0, 1.0)
            >>> round(raw.precision(1.1), 2), raw.clipped().precision(1.1)
            (1.05, 1.0)
        """
        return _rising(_rising(_capped(self)).swap()).swap()

    def tightened(self) -> PRCurve:
        r"""The lowest line that an upper bound of a true curve implies.

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
        return _lowered(_lowered(_capped(self)).swap()).swap()

    def to_json(self) -> str:
        """The curve as JSON, without loss; :meth:`from_json` reads it back.

        Example:
            >>> from tradeoff import PRCurve, RatioProfile
            >>> curve = RatioProfile.from_masses(p=[0.5, 0.5], q=[0.6, 0.4]).curve()
            >>> PRCurve.from_json(curve.to_json()).precision(1.0) == curve.precision(1.0)
            True
        """
        return json.dumps(_to_fields(self), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> PRCurve:
        """Read what :meth:`to_json` wrote, in this or an earlier version."""
        try:
            fields = json.loads(text)
        except (ValueError, TypeError) as error:
            raise InvalidInputError(
                f"The text must be JSON written by PRCurve.to_json. {error}."
            ) from None
        return _from_fields(fields)

    def pieces(self, lam: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Intercept and slope of the piece that holds at each λ; same shape as `lam`.

        Of a held-out curve they are the share of generated samples that the rule lets pass and
        the share of real samples that it rejects.
        """
        j = np.searchsorted(self.breakpoints, check_lam(lam), side="right")
        return self.intercepts[j], self.slopes[j]

    def _edges(self) -> tuple[FloatArray, FloatArray]:
        """Left and right end of every piece."""
        lam = self.breakpoints
        return np.concatenate(([0.0], lam)), np.concatenate((lam, [np.inf]))


@dataclass(frozen=True, eq=False, kw_only=True)
class ROCCurve:
    r"""The ROC curve of a profile, whose region is the mode-collapse region.

    Args:
        generated: share :math:`Q(S)` of generated samples called real, ascending, shape (n,).
        real: share :math:`P(S)` of real samples called real, ascending, shape (n,).

    Example:
        A model that knows one of two modes: half of the real mass is out of its reach.

        >>> from tradeoff import RatioProfile
        >>> roc = RatioProfile.from_masses(p=[0.5, 0.5], q=[1.0, 0.0]).curve().roc()
        >>> roc.collapsed_mass(0.0)
        0.5
        >>> roc.area
        0.75

    References:
        :cite:`lin2018`.
    """

    generated: FloatArray
    real: FloatArray

    @property
    def area(self) -> float:
        """Area under the ROC curve, 1/2 for identical laws and 1 for disjoint ones."""
        return float(np.trapezoid(self.real, self.generated))

    @overload
    def collapsed_mass(self, epsilon: float) -> float: ...
    @overload
    def collapsed_mass(self, epsilon: npt.ArrayLike) -> FloatArray: ...
    def collapsed_mass(self, epsilon: npt.ArrayLike) -> float | FloatArray:
        r"""Upper edge of the mode-collapse region at :math:`\varepsilon`.

        The largest :math:`\delta = P(S)` with :math:`Q(S) \le \varepsilon` among the rules of the
        curve and mixtures of neighboring ones; for a profile, among all sets.
        """
        return _same_kind(np.interp(check_shares("epsilon", epsilon), self.generated, self.real))


def _capped(curve: PRCurve) -> PRCurve:
    """The minimum of the curve and min(1, λ), with a breakpoint wherever they cross."""
    lam, a, b = curve.breakpoints, curve.intercepts, curve.slopes
    left, right = curve._edges()
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        crossings = np.stack(((1.0 - a) / b, a / (1.0 - b)))
    crossings = crossings[(crossings > left) & (crossings < right)]
    knots = np.unique(np.concatenate((lam, crossings, [1.0])))
    piece = np.searchsorted(lam, np.concatenate(([0.0], knots)), side="right")
    inner = np.sqrt(knots[:-1]) * np.sqrt(knots[1:])
    last = min(2.0 * float(knots[-1]), sys.float_info.max)
    middle = np.concatenate(([0.5 * knots[0]], inner, [last]))
    below = a[piece] + b[piece] * middle <= np.minimum(1.0, middle)
    return PRCurve(
        breakpoints=knots,
        intercepts=np.where(below, a[piece], np.where(middle > 1, 1.0, 0.0)),
        slopes=np.where(below, b[piece], np.where(middle > 1, 0.0, 1.0)),
        max_precision=min(1.0, curve.max_precision),
        max_recall=min(1.0, curve.max_recall),
    )


def _rising(curve: PRCurve) -> PRCurve:
    """The running maximum of precision: each piece waits at the level reached before it."""
    lam, a, b = curve.breakpoints, curve.intercepts, curve.slopes
    left, _ = curve._edges()
    level = np.maximum.accumulate(np.concatenate(([0.0], a[:-1] + b[:-1] * lam)))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        meets = np.where(a + b * left >= level, left, np.where(b > 0, (level - a) / b, np.inf))
    end = max(curve.max_precision, float(level[-1]))
    return _divided(curve, meets, (level, a), (np.zeros_like(b), b), end)


def _lowered(curve: PRCurve) -> PRCurve:
    """The least precision at greater slopes: each piece stops at the lowest start after it."""
    lam, a, b = curve.breakpoints, curve.intercepts, curve.slopes
    starts = np.append(a[1:] + b[1:] * lam, curve.max_precision)
    level = np.minimum.accumulate(starts[::-1])[::-1]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        meets = np.where(b > 0, (level - a) / b, np.where(a <= level, np.inf, 0.0))
    return _divided(curve, meets, (a, level), (b, np.zeros_like(b)), curve.max_precision)


def _divided(
    curve: PRCurve,
    meets: FloatArray,
    intercepts: tuple[FloatArray, FloatArray],
    slopes: tuple[FloatArray, FloatArray],
    max_precision: float,
) -> PRCurve:
    """Every piece divided in two at a slope, with what holds before and after it."""
    left, right = curve._edges()
    meets = np.clip(meets, left, right)
    starts = np.stack((left, meets), axis=1).ravel()
    keep = np.stack((meets > left, meets < right), axis=1).ravel()
    return PRCurve(
        breakpoints=starts[keep][1:],
        intercepts=np.stack(intercepts, axis=1).ravel()[keep],
        slopes=np.stack(slopes, axis=1).ravel()[keep],
        max_precision=max_precision,
        max_recall=curve.max_recall,
    )


def _same_kind(value: Any) -> float | FloatArray:
    array = np.asarray(value, dtype=np.float64)
    return float(array) if array.ndim == 0 else array


def _to_fields(curve: PRCurve) -> dict[str, Any]:
    return {
        "schema": _SCHEMA,
        "version": _SCHEMA_VERSION,
        "breakpoints": curve.breakpoints.tolist(),
        "intercepts": curve.intercepts.tolist(),
        "slopes": curve.slopes.tolist(),
        "max_precision": _number_to_json(curve.max_precision),
        "max_recall": _number_to_json(curve.max_recall),
        "lower": _to_fields(curve.lower) if curve.lower else None,
        "upper": _to_fields(curve.upper) if curve.upper else None,
    }


def _from_fields(fields: Any) -> PRCurve:
    schema = fields.get("schema") if isinstance(fields, dict) else None
    if schema != _SCHEMA:
        raise InvalidInputError(f"The JSON must have the schema {_SCHEMA}. Got {schema!r}.")
    if fields.get("version") != _SCHEMA_VERSION:
        raise InvalidInputError(
            f"This version of tradeoff reads {_SCHEMA} version {_SCHEMA_VERSION}. "
            f"Got version {fields.get('version')!r}: update tradeoff to read it."
        )
    names = {field.name for field in dataclasses.fields(PRCurve)}
    if missing := names - fields.keys():
        raise InvalidInputError(f"The JSON of a curve lacks {', '.join(sorted(missing))}.")
    return PRCurve(
        breakpoints=fields["breakpoints"],
        intercepts=fields["intercepts"],
        slopes=fields["slopes"],
        max_precision=float(check_lam(_number_from_json(fields["max_precision"]), "max_precision")),
        max_recall=float(check_lam(_number_from_json(fields["max_recall"]), "max_recall")),
        lower=_from_fields(fields["lower"]) if fields["lower"] else None,
        upper=_from_fields(fields["upper"]) if fields["upper"] else None,
    )


def _number_to_json(value: float) -> float | str:
    return value if np.isfinite(value) else str(value)


def _number_from_json(value: Any) -> Any:
    return np.inf if value == "inf" else value
