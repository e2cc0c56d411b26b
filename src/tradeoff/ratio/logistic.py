r"""Logistic regression: a log-ratio that is linear in the features.

:math:`\log r(x) = \langle w, x\rangle + b`, with the penalty on :math:`w` chosen on a held-out
part of the training data. Exact for two Gaussians of one covariance. Written by hand because one
Gram matrix serves all penalties, which scikit-learn would fit one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import minimize
from scipy.special import expit

from tradeoff._validation import FloatArray, check_features
from tradeoff.ratio.base import (
    Estimator,
    FittedRatio,
    Floats,
    Part,
    Projection,
    Standardizer,
    singles,
    thin,
)

__all__ = ["Logistic", "PenalizedRegression"]

Array = npt.NDArray[Any]
BoolArray = npt.NDArray[np.bool_]

_STEPS = 100
_JITTER = 1e-6
_WIDE = 256  # columns from which on single precision is worth it


@dataclass(frozen=True, eq=False)
class Linear(Part):
    """A linear function of all standardized columns."""

    kind = "linear"
    is_wide = True
    weights: Floats
    constant: Floats

    def __call__(self, rows: Floats) -> Floats:
        """Log-ratios of shape (n, 1)."""
        return np.asarray(rows @ self.weights + self.constant)


@dataclass(frozen=True)
class Logistic(Estimator):
    """Logistic regression on standardized columns.

    Args:
        penalties: inverse penalties to choose from, weakest last.
        validation: share of the training rows on which the penalty is chosen.
        choice_rows: rows of each side with which the penalty is chosen at most.

    Example:
        >>> import numpy as np
        >>> from tradeoff.ratio import Logistic
        >>> rng = np.random.default_rng(0)
        >>> real, generated = rng.normal(0, 1, (1000, 2)), rng.normal(0.5, 1, (1000, 2))
        >>> fitted = Logistic().fit(real=real, generated=generated, seed=0)
        >>> bool(fitted.log_ratio(real).mean() > fitted.log_ratio(generated).mean())
        True
    """

    sees_views_together = True
    part = Linear
    penalties: tuple[float, ...] = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
    validation: float = 0.2
    choice_rows: int = 1500

    def fit(self, *, real: FloatArray, generated: FloatArray, seed: int) -> LinearLogRatio:
        """Fit on samples of shape (n, d) and (m, d)."""
        real, generated = check_features(real=real, generated=generated)
        standardize = Standardizer.fit(real, generated)
        dtype = np.float32 if real.shape[1] >= _WIDE else np.float64
        x = standardize.both(real, generated, dtype)
        is_real = np.arange(len(x)) < len(real)
        rng = np.random.default_rng(seed)
        several = len(self.penalties) > 1
        penalty, start = self._choose(rng, x, is_real) if several else (self.penalties[0], None)
        weights, intercept = PenalizedRegression(x, is_real).fit(penalty, start)
        return LinearLogRatio(standardize, weights, intercept)

    def _choose(
        self, rng: np.random.Generator, x: Array, is_real: BoolArray
    ) -> tuple[float, tuple[FloatArray, float] | None]:
        """The penalty with the smallest balanced log-loss on held-out rows, and its fit."""
        sides = (is_real, ~is_real)
        used = np.concatenate([thin(rng, np.flatnonzero(side), self.choice_rows) for side in sides])
        x, is_real = x[used], is_real[used]
        held_out = rng.random(len(x)) < self.validation
        parts = [is_real[held_out], is_real[~held_out]]
        if not all(part.any() and not part.all() for part in parts):
            return self.penalties[0], None
        regression = PenalizedRegression(x[~held_out], is_real[~held_out])
        losses: list[float] = []
        fits: list[tuple[FloatArray, float]] = []
        for penalty in self.penalties:
            fits.append(regression.fit(penalty, fits[-1] if fits else None))
            score = x[held_out] @ fits[-1][0] + fits[-1][1]
            loss = np.logaddexp(0.0, np.where(is_real[held_out], -score, score))
            losses.append(sum(float(loss[parts[0] == side].mean()) for side in (True, False)))
            if losses[-1] > 1.01 * min(losses):
                break  # weaker penalties only fit the noise better
        best = int(np.argmin(losses))
        return self.penalties[best], fits[best]


@dataclass(frozen=True, eq=False)
class LinearLogRatio(FittedRatio):
    """A log-ratio that is linear in standardized columns."""

    standardize: Standardizer
    weights: FloatArray
    intercept: float

    def log_ratio(self, x: FloatArray) -> FloatArray:
        """Log p/q of samples of shape (n, d)."""
        return self.standardize(x) @ self.weights + self.intercept

    def to_arrays(self, project: Projection) -> dict[str, Array]:
        """In the columns as they are standardized before."""
        given, wanted = project.standardize, self.standardize
        constant = np.isinf(wanted.scale) | np.isinf(given.scale)
        factor = np.where(constant, 0.0, given.scale / np.where(constant, 1.0, wanted.scale))
        shift = (given.center - wanted.center) / np.where(constant, np.inf, wanted.scale)
        return {
            "weights": singles((factor * self.weights)[:, None]),
            "constant": singles(self.intercept + shift @ self.weights)[None],
        }


class PenalizedRegression:
    r"""Penalized logistic regression, each side counting the same.

    .. math:: \tfrac12 \|w\|^2 + C \sum_i c_i \log(1 + e^{-y_i(\langle w, x_i\rangle + b)})

    The second derivative is about :math:`I + \tfrac C4 X^\top X` at most, and in coordinates in
    which this is the identity a few quasi-Newton steps are enough. With fewer rows than columns,
    the weights are combinations of rows, and coordinates in which there are as few do as well.
    """

    def __init__(self, x: Array, is_real: BoolArray) -> None:
        self.rows: RowSpace | None = RowSpace.of(x) if len(x) < x.shape[1] else None
        if self.rows is not None:
            x = self.rows.coordinates
        self.x = x
        self.sign = np.where(is_real, 1.0, -1.0).astype(x.dtype)
        share = np.where(is_real, is_real.mean(), 1.0 - is_real.mean())
        self.count = (0.5 / share).astype(x.dtype)
        self.gram = (x.T @ x).astype(np.float64)

    def fit(
        self,
        penalty: float,
        start: tuple[FloatArray, float] | None = None,
        real_weight: float = 1.0,
    ) -> tuple[FloatArray, float]:
        """Weights and intercept; real samples may count more or less than generated ones."""
        n, d = self.x.shape
        bound = 0.25 * penalty * self.gram
        bound.flat[:: d + 1] += 1.0
        root = cholesky(bound, lower=True, overwrite_a=True, check_finite=False)
        scale = np.sqrt(0.25 * penalty * n)
        balance = np.where(self.sign > 0, real_weight, 1.0) * (2.0 / (1.0 + real_weight))
        count = (self.count * balance).astype(self.x.dtype)

        def loss(u: FloatArray) -> tuple[float, FloatArray]:
            w = solve_triangular(root, u[:-1], lower=True, trans=1, check_finite=False)
            margin = self.sign * (self.x @ w.astype(self.x.dtype) + u[-1] / scale)
            slope = -penalty * count * self.sign * expit(-margin)
            value = penalty * float(count @ np.logaddexp(0.0, -margin)) + 0.5 * float(w @ w)
            gradient = (slope @ self.x).astype(np.float64) + w
            inner = solve_triangular(root, gradient, lower=True, check_finite=False)
            return value, np.append(inner, float(slope.sum()) / scale)

        first = np.zeros(d + 1)
        if start is not None:
            weights = start[0] if self.rows is None else self.rows.narrow(start[0])
            first = np.append(root.T @ weights, start[1] * scale)
        # Far enough for a ranking, which calibration on other data turns into a ratio.
        options = {"maxiter": _STEPS, "ftol": 1e-4, "gtol": 1e-4}
        found = minimize(loss, first, jac=True, method="L-BFGS-B", options=options)
        weights = solve_triangular(root, found.x[:-1], lower=True, trans=1, check_finite=False)
        if self.rows is not None:
            weights = self.rows.widen(weights)
        return np.asarray(weights), float(found.x[-1] / scale)


@dataclass(frozen=True, eq=False)
class RowSpace:
    """Coordinates of fewer rows than columns, as many as rows, with the same inner products.

    Args:
        x: Rows of shape (n, d).
        coordinates: The rows in n coordinates, lower triangular.
    """

    x: Array
    coordinates: Array

    @classmethod
    def of(cls, x: Array) -> RowSpace:
        """By a Cholesky decomposition of inner products, made definite."""
        wide = x.astype(np.float64)  # in single precision, products of equal rows are not definite
        products = wide @ wide.T
        products.flat[:: len(x) + 1] += _JITTER * max(float(np.trace(products)) / len(x), 1e-300)
        return cls(x, cholesky(products, lower=True, check_finite=False).astype(x.dtype))

    def narrow(self, weights: FloatArray) -> FloatArray:
        """Weights of columns as weights of coordinates."""
        return np.asarray(
            solve_triangular(self.coordinates, self.x @ weights, lower=True, check_finite=False),
            np.float64,
        )

    def widen(self, weights: FloatArray) -> FloatArray:
        """Weights of coordinates as weights of columns."""
        of_rows = solve_triangular(
            self.coordinates, weights, lower=True, trans=1, check_finite=False
        )
        return np.asarray(of_rows @ self.x, np.float64)
