"""Two Gaussians, one for each side: a quadratic log-ratio."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.covariance import EmpiricalCovariance, LedoitWolf

from tradeoff._validation import FloatArray, check_features
from tradeoff.ratio.base import Estimator, FittedRatio, Floats, Part, Projection, singles

__all__ = ["Gaussians"]

_RIDGE = 1e-6


@dataclass(frozen=True, eq=False)
class Quadratic(Part):
    """The difference of two Gaussian log-densities: a weighted sum of squares along its axes."""

    kind = "quadratic"
    axes: Floats
    weights: Floats
    linear: Floats
    constant: Floats

    def __call__(self, rows: Floats) -> Floats:
        """Log-ratios of shape (n, 1)."""
        squares = rows @ self.axes
        squares *= squares
        return np.asarray(squares @ self.weights + rows @ self.linear + self.constant)


@dataclass(frozen=True)
class Gaussians(Estimator):
    """A Gaussian for each side; above 64 columns on principal components.

    Args:
        shrunk: whether covariances are shrunk toward a multiple of the identity (Ledoit-Wolf).

    Example:
        >>> import numpy as np
        >>> from tradeoff.ratio import Gaussians
        >>> rng = np.random.default_rng(0)
        >>> real, generated = rng.normal(0, 1, (5000, 1)), rng.normal(0, 2, (5000, 1))
        >>> fitted = Gaussians().fit(real=real, generated=generated, seed=0)
        >>> fitted.log_ratio(np.array([[0.0], [2.0]])).round(1)  # log 2, and log 2 - 3/2
        array([ 0.7, -0.8])
    """

    projects = True
    part = Quadratic
    shrunk: bool = False

    def fit(self, *, real: FloatArray, generated: FloatArray, seed: int) -> GaussiansLogRatio:
        """Fit on samples of shape (n, d) and (m, d); the seed changes nothing."""
        real, generated = check_features(real=real, generated=generated)
        project = Projection.fit(real, generated)
        estimate = LedoitWolf if self.shrunk else EmpiricalCovariance
        laws = []
        for side in (project(real), project(generated)):
            covariance = estimate().fit(side).covariance_ + _RIDGE * np.eye(side.shape[1])
            values, vectors = np.linalg.eigh(covariance)
            values = np.maximum(values, _RIDGE)
            laws.append((side.mean(0), vectors / np.sqrt(values), -0.5 * np.log(values).sum()))
        return GaussiansLogRatio(project, *laws)


@dataclass(frozen=True, eq=False)
class GaussiansLogRatio(FittedRatio):
    """The difference of two Gaussian log-densities, each a mean, a whitening map and a constant."""

    project: Projection
    real: tuple[FloatArray, FloatArray, float]
    generated: tuple[FloatArray, FloatArray, float]

    def log_ratio(self, x: FloatArray) -> FloatArray:
        """Log p/q of samples of shape (n, d)."""
        x = self.project(x)
        real, generated = (
            constant - 0.5 * (((x - mean) @ whiten) ** 2).sum(1)
            for mean, whiten, constant in (self.real, self.generated)
        )
        return np.asarray(real - generated)

    def to_arrays(self, project: Projection) -> dict[str, npt.NDArray[Any]]:
        """Of columns that are projected already."""
        center, scale = self.project.standardize.center, self.project.standardize.scale
        k = len(center)
        form, linear, constant = np.zeros((k, k)), np.zeros(k), np.zeros(1)
        for sign, (mean, whiten, log_norm) in ((1.0, self.real), (-1.0, self.generated)):
            root = whiten / scale[:, None]  # y -> (y - center) / scale - mean, whitened
            offset = -(center / np.where(np.isinf(scale), 1.0, scale) + mean)
            offset = np.where(np.isinf(scale), -mean, offset) @ whiten
            form -= 0.5 * sign * root @ root.T
            linear -= sign * root @ offset
            constant += sign * (log_norm - 0.5 * offset @ offset)
        weights, axes = np.linalg.eigh(form)
        return {
            "axes": singles(axes),
            "weights": singles(weights[:, None]),
            "linear": singles(linear[:, None]),
            "constant": singles(constant),
        }
