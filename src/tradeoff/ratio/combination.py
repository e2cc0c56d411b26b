r"""From the scores of several log-ratios to one: weigh them, then calibrate.

:math:`\log r = \sum_i w_i\, s(\log r_i) + \langle v, h\rangle + b` with weights
:math:`w_i \ge 0`, :math:`s(t) = 6\tanh(t/6)` and hints :math:`h`, fitted by logistic regression;
isotonic regression of its scores makes it a log-ratio. Both are learned on rows that the scores
have not seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from tradeoff.ratio.base import Standardizer
from tradeoff.ratio.calibration import Isotonic

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from tradeoff._validation import FloatArray

__all__ = ["Combiner", "MemberScores", "WeightedSum"]

_FAR = 6.0  # log-ratios beyond this are all the same: certain
_PENALTY = 1e-3  # without it, scores of separable parts would each have a scale of their own


class MemberScores(NamedTuple):
    """Scores of samples by fitted members.

    Args:
        log_ratios: log p/q by each member, shape (n, k).
        hints: further columns that may bear on it, shape (n, h).
        views: Name of the view that each column of both comes from, empty for several views at
            once; empty tuples where there are no views.
    """

    log_ratios: FloatArray
    hints: FloatArray
    views: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())

    @classmethod
    def join(cls, scores: Sequence[MemberScores]) -> MemberScores:
        """One after the other."""
        log_ratios, hints, views = zip(*scores, strict=True)
        return cls(np.concatenate(log_ratios), np.concatenate(hints), views[0])

    def seen_by(self, views: Collection[str]) -> MemberScores:
        """Columns of members that see one of these views, and nothing else."""
        kept = [[i for i, view in enumerate(owners) if view in views] for owners in self.views]
        return MemberScores(self.log_ratios[:, kept[0]], self.hints[:, kept[1]])


@dataclass(frozen=True, eq=False)
class WeightedSum:
    """A weighted sum of the members' scores, with weights that are not negative."""

    scale_hints: Standardizer
    weights: FloatArray

    @classmethod
    def fit(cls, *, real: MemberScores, generated: MemberScores) -> WeightedSum:
        """Logistic regression, each side counting the same."""
        members = real.log_ratios.shape[1]
        scale_hints = Standardizer.fit(real.hints, generated.hints)
        x = np.concatenate([_columns(side, scale_hints) for side in (real, generated)])
        n, m = len(real.hints), len(generated.hints)
        sign = np.repeat([1.0, -1.0], [n, m])
        weight = np.repeat([0.5 / n, 0.5 / m], [n, m])

        def loss(w: FloatArray) -> tuple[float, FloatArray]:
            margin = sign * (x @ w)
            gradient = _PENALTY * w - x.T @ (weight * sign * expit(-margin))
            value = weight @ np.logaddexp(0.0, -margin) + 0.5 * _PENALTY * w @ w
            return float(value), gradient

        start = np.zeros(x.shape[1])
        start[:members] = 1.0 / members
        bounds = [(0.0, None)] * members + [(None, None)] * (x.shape[1] - members)
        found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
        return cls(scale_hints, found.x)

    def __call__(self, scores: MemberScores) -> FloatArray:
        """Scores of shape (n,)."""
        return np.asarray(_columns(scores, self.scale_hints) @ self.weights)

    def spreads(self, scores: MemberScores) -> FloatArray:
        """How much each member and each hint moves the sum over these samples."""
        columns = _columns(scores, self.scale_hints)[:, :-1]
        return np.asarray(np.abs(self.weights[:-1]) * columns.std(0))


@dataclass(frozen=True, eq=False)
class Combiner:
    """One log-ratio from the scores of several members: their weighted sum, calibrated."""

    combine: WeightedSum | None
    calibrate: Isotonic

    @classmethod
    def learn(cls, *, real: Sequence[MemberScores], generated: Sequence[MemberScores]) -> Combiner:
        """Learn from scores about rows that their members have not seen, in parts.

        Scores to be calibrated come from a combination learned on the other parts.
        """
        sides = (real, generated)
        if real[0].log_ratios.shape[1] == 1:
            return cls(
                None, _isotonic([[part.log_ratios[:, 0] for part in side] for side in sides])
            )
        whole = WeightedSum.fit(
            real=MemberScores.join(real), generated=MemberScores.join(generated)
        )
        combined: tuple[list[FloatArray], list[FloatArray]] = ([], [])
        for i in range(len(real)):
            others = [MemberScores.join([*side[:i], *side[i + 1 :]]) for side in sides]
            enough = all(len(side.hints) for side in others)
            combine = WeightedSum.fit(real=others[0], generated=others[1]) if enough else whole
            for found, side in zip(combined, sides, strict=True):
                found.append(combine(side[i]))
        return cls(whole, _isotonic(combined))

    def __call__(self, scores: MemberScores) -> FloatArray:
        """Log p/q of shape (n,); there may be no samples of one side in a fold."""
        if not len(scores.log_ratios):
            return np.empty(0)
        combined = self.combine(scores) if self.combine else scores.log_ratios[:, 0]
        return self.calibrate(combined)


def _isotonic(scores: Sequence[Sequence[FloatArray]]) -> Isotonic:
    real, generated = (np.concatenate(parts) for parts in scores)
    return Isotonic.fit(real=real, generated=generated)


def _columns(scores: MemberScores, scale_hints: Standardizer) -> FloatArray:
    squeezed = _FAR * np.tanh(scores.log_ratios / _FAR)
    ones = np.ones((len(squeezed), 1))
    return np.concatenate((squeezed, scale_hints(scores.hints), ones), axis=1)
