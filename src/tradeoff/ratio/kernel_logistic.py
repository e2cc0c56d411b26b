r"""Kernel logistic regression: a log-ratio that is linear in the similarity to landmarks.

:math:`\log r(x) = \sum_j a_j \exp(-\|x - c_j\|^2 / s) + b` with landmarks :math:`c_j` drawn from
the training rows and :math:`s` the median squared distance between them (Nyström features).
Written by hand because one Gram matrix serves all fits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh

from tradeoff._validation import FloatArray, check_features
from tradeoff.ratio.base import (
    PREDICTED_AT_ONCE,
    Estimator,
    FittedRatio,
    Floats,
    Part,
    Projection,
    singles,
    squared_distances,
    thin,
)
from tradeoff.ratio.logistic import PenalizedRegression

__all__ = ["KernelLogistic"]

_SMALLEST_EIGENVALUE = 1e-6
_ROWS_PER_LANDMARK = 3


@dataclass(frozen=True, eq=False)
class Kernels(Part):
    """Gaussian kernels at landmarks, of which several log-ratios are linear functions.

    The exponent is linear in a row, its square and one, so that a single product gives it.
    """

    kind = "kernels"
    exponent: Floats
    coefficients: Floats
    constant: Floats

    @property
    def outputs(self) -> int:
        """One for each weight of real samples."""
        return len(self.constant)

    def __call__(self, rows: Floats) -> Floats:
        """Log-ratios of shape (n, fits)."""
        squares = np.einsum("ij,ij->i", rows, rows)[:, None]
        kernels = np.concatenate((rows, squares, np.ones_like(squares)), axis=1) @ self.exponent
        np.minimum(kernels, 0.0, out=kernels)
        return np.asarray(np.exp(kernels, out=kernels) @ self.coefficients + self.constant)


@dataclass(frozen=True)
class KernelLogistic(Estimator):
    """Logistic regression on Gaussian kernels; above 64 columns on principal components.

    Args:
        landmarks: Number of training rows around which kernels are placed, at most a third of them.
        penalty: Inverse penalty of the regression.
        bandwidth: Scale of the kernel, in multiples of the median squared distance.
        real_weights: Weights of real samples, one fit each. A weight far from 1 fits the tail of
            the ratio better; a stack combines the fits, and alone the log-ratio is their mean.
        most_rows: Rows of each side that are used at most.

    Example:
        >>> import numpy as np
        >>> from tradeoff.ratio.kernel_logistic import KernelLogistic
        >>> rng = np.random.default_rng(0)
        >>> real, generated = rng.normal(0, 1, (2000, 2)), rng.normal(0, 2, (2000, 2))
        >>> fitted = KernelLogistic().fit(real=real, generated=generated, seed=0)
        >>> near, far = fitted.log_ratio(np.array([[0.0, 0.0], [4.0, 4.0]]))
        >>> bool(near > 0 > far)
        True
    """

    projects = True
    part = Kernels
    landmarks: int = 400
    penalty: float = 10.0
    bandwidth: float = 1.0
    real_weights: tuple[float, ...] = (0.1, 1.0, 10.0)
    most_rows: int = 10_000

    def fit(self, *, real: FloatArray, generated: FloatArray, seed: int) -> KernelLogisticLogRatio:
        """Fit on samples of shape (n, d) and (m, d)."""
        real, generated = check_features(real=real, generated=generated)
        project = Projection.fit(real, generated)
        return self.fit_projected(
            real=project(real), generated=project(generated), seed=seed, project=project
        )

    def fit_projected(
        self,
        *,
        real: FloatArray,
        generated: FloatArray,
        seed: int,
        project: Projection | None = None,
    ) -> KernelLogisticLogRatio:
        """Fit on columns that are projected already: scaling them again would whiten them."""
        rng = np.random.default_rng(seed)
        real, generated = (thin(rng, side, self.most_rows) for side in (real, generated))
        pooled = np.concatenate((real, generated))
        landmarks = min(self.landmarks, max(1, len(pooled) // _ROWS_PER_LANDMARK))
        kernel = LandmarkKernel.fit(thin(rng, pooled, landmarks), self.bandwidth)
        features = kernel(pooled) @ kernel.whiten
        center = features.mean(0)
        features -= center
        regression = PenalizedRegression(features, np.arange(len(pooled)) < len(real))
        coefficients, intercepts = [], []
        for weight in self.real_weights:
            weights, intercept = regression.fit(self.penalty, real_weight=weight)
            coefficients.append(kernel.whiten @ weights)
            intercepts.append(intercept - center @ weights - np.log(weight))
        return KernelLogisticLogRatio(
            project,
            kernel,
            np.stack(coefficients, axis=1).astype(np.float32),
            np.array(intercepts),
        )


@dataclass(frozen=True, eq=False)
class LandmarkKernel:
    """Gaussian kernels at landmarks, in single precision.

    Args:
        landmarks: Rows at which the kernels are centered, shape (k, d).
        scale: Median squared distance between landmarks.
        whiten: Map from kernels to features whose products are the kernel's, shape (k, j).
    """

    landmarks: npt.NDArray[np.float32]
    scale: float
    whiten: npt.NDArray[np.float32]

    @classmethod
    def fit(cls, landmarks: FloatArray, bandwidth: float) -> LandmarkKernel:
        """Scale and features of landmarks of shape (k, d)."""
        squares = squared_distances(landmarks, landmarks)
        apart = squares[np.triu_indices(len(landmarks), 1)]
        scale = float(np.median(apart)) if apart.size else 1.0
        scale = bandwidth * scale if scale > 0 else 1.0
        values, vectors = eigh(np.exp(-squares / scale))
        kept = values > _SMALLEST_EIGENVALUE * values[-1]
        whiten = vectors[:, kept] / np.sqrt(values[kept])
        return cls(landmarks.astype(np.float32), scale, whiten.astype(np.float32))

    def __call__(self, x: FloatArray) -> npt.NDArray[np.float32]:
        """Kernels of samples of shape (n, d), shape (n, k)."""
        squares = squared_distances(x.astype(np.float32), self.landmarks)
        squares *= np.float32(-1.0 / self.scale)
        return np.asarray(np.exp(squares, out=squares))


@dataclass(frozen=True, eq=False)
class KernelLogisticLogRatio(FittedRatio):
    """Log-ratios that are linear in kernels, one for each weight of real samples."""

    project: Projection | None
    kernel: LandmarkKernel
    coefficients: npt.NDArray[np.float32]
    intercepts: FloatArray

    def log_ratio(self, x: FloatArray) -> FloatArray:
        """Log p/q of samples of shape (n, d)."""
        return np.asarray(self.log_ratio_of_each(x).mean(1))

    def log_ratio_of_each(self, x: FloatArray) -> FloatArray:
        """Log p/q by each fit, shape (n, fits)."""
        x = self.project(x) if self.project else x
        blocks = [
            self.kernel(x[i : i + PREDICTED_AT_ONCE]) @ self.coefficients
            for i in range(0, len(x), PREDICTED_AT_ONCE)
        ]
        return np.asarray(np.concatenate(blocks) + self.intercepts)

    def to_arrays(self, project: Projection) -> dict[str, npt.NDArray[Any]]:
        """Of columns that are projected already."""
        landmarks, scale = self.kernel.landmarks.astype(np.float64), self.kernel.scale
        exponent = np.concatenate(
            (
                2.0 * landmarks.T,
                -np.ones((1, len(landmarks))),
                -np.einsum("ij,ij->i", landmarks, landmarks)[None],
            )
        )
        return {
            "exponent": singles(exponent / scale),
            "coefficients": self.coefficients,
            "constant": singles(self.intercepts),
        }
