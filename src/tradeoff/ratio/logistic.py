r"""Logistic regression: a log-ratio that is linear in the features.

:math:`\log r(x) = \langle w, x\rangle + b`, with the penalty on :math:`w` chosen on a held-out
part of the training data. Exact for two Gaussians of one covariance.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from tradeoff._validation import FloatArray, check_features
from tradeoff.ratio.base import Standardizer

__all__ = ["Logistic"]

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Logistic:
    """Logistic regression on standardized columns.

    Args:
        penalties: inverse penalties to choose from, weakest last.
        validation: share of the training rows on which the penalty is chosen.

    Example:
        >>> import numpy as np
        >>> from tradeoff.ratio import Logistic
        >>> rng = np.random.default_rng(0)
        >>> real, generated = rng.normal(0, 1, (1000, 2)), rng.normal(0.5, 1, (1000, 2))
        >>> fitted = Logistic().fit(real=real, generated=generated, seed=0)
        >>> bool(fitted.log_ratio(real).mean() > fitted.log_ratio(generated).mean())
        True
    """

    penalties: tuple[float, ...] = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
    validation: float = 0.2

    def fit(self, *, real: FloatArray, generated: FloatArray, seed: int) -> LinearLogRatio:
        """Fit on samples of shape (n, d) and (m, d)."""
        real, generated = check_features(real=real, generated=generated)
        standardize = Standardizer.fit(real, generated)
        x = standardize(np.concatenate((real, generated)))
        is_real = np.arange(len(x)) < len(real)
        held_out = np.random.default_rng(seed).random(len(x)) < self.validation
        several = len(self.penalties) > 1
        penalty = self._choose(x, is_real, held_out) if several else self.penalties[0]
        weights, intercept = _regress(x, is_real, penalty)
        return LinearLogRatio(standardize, weights, intercept)

    def _choose(self, x: FloatArray, is_real: BoolArray, held_out: BoolArray) -> float:
        """The penalty with the smallest balanced log-loss on the held-out rows."""
        sides = [is_real[held_out], is_real[~held_out]]
        if not all(side.any() and not side.all() for side in sides):
            return self.penalties[0]
        losses = []
        start = None
        for penalty in self.penalties:
            start = _regress(x[~held_out], is_real[~held_out], penalty, start)
            score = x[held_out] @ start[0] + start[1]
            loss = np.logaddexp(0.0, np.where(is_real[held_out], -score, score))
            real, generated = loss[is_real[held_out]], loss[~is_real[held_out]]
            losses.append(real.mean() + generated.mean())
            if losses[-1] > 1.05 * min(losses):
                break  # weaker penalties only fit the noise better
        return self.penalties[int(np.argmin(losses))]


@dataclass(frozen=True, eq=False)
class LinearLogRatio:
    """A log-ratio that is linear in standardized columns."""

    standardize: Standardizer
    weights: FloatArray
    intercept: float

    def log_ratio(self, x: FloatArray) -> FloatArray:
        """Log p/q of samples of shape (n, d)."""
        return self.standardize(x) @ self.weights + self.intercept


def _regress(
    x: FloatArray,
    is_real: BoolArray,
    penalty: float,
    start: tuple[FloatArray, float] | None = None,
) -> tuple[FloatArray, float]:
    model = LogisticRegression(
        C=penalty, class_weight="balanced", max_iter=300, tol=1e-4, warm_start=start is not None
    )
    if start is not None:
        model.coef_, model.intercept_ = start[0][None], np.array([start[1]])
        model.classes_ = np.array([False, True])
    with warnings.catch_warnings():
        # Far enough for a ranking, which calibration on other data turns into a ratio.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(x, is_real)
    return model.coef_[0], float(model.intercept_[0])
