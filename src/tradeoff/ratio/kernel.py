r"""Kernel densities of both sides, with a bandwidth that held-out rows choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tradeoff._validation import FloatArray, check_features
from tradeoff.ratio.base import Projection, squared_distances, thin

__all__ = ["KernelDensity"]

_ROWS_AT_ONCE = 512
_JUDGES = 500


@dataclass(frozen=True)
class KernelDensity:
    """Gaussian kernels of one bandwidth; above 64 columns on principal components.

    Args:
        bandwidths: multiples of Scott's rule to choose from, by held-out likelihood.
        most_rows: rows of each side used at most.

    Example:
        >>> import numpy as np
        >>> from tradeoff.ratio.kernel import KernelDensity
        >>> rng = np.random.default_rng(0)
        >>> modes = rng.choice([-3.0, 3.0], (1000, 1)) + rng.normal(0, 0.5, (1000, 1))
        >>> fitted = KernelDensity().fit(real=modes, generated=rng.normal(0, 3, (1000, 1)), seed=0)
        >>> between, at_mode = fitted.log_ratio(np.array([[0.0], [3.0]]))
        >>> bool(between < 0 < at_mode)
        True
    """

    projects: ClassVar[bool] = True
    bandwidths: tuple[float, ...] = (0.06, 0.125, 0.25, 0.5, 1.0)
    most_rows: int = 4000

    def fit(self, *, real: FloatArray, generated: FloatArray, seed: int) -> KernelLogRatio:
        """Fit on samples of shape (n, d) and (m, d)."""
        real, generated = check_features(real=real, generated=generated)
        rng = np.random.default_rng(seed)
        project = Projection.fit(real, generated)
        sides = [project(thin(rng, side, self.most_rows)) for side in (real, generated)]
        return KernelLogRatio(project, *((x, self._bandwidth(rng, x)) for x in sides))

    def _bandwidth(self, rng: np.random.Generator, x: FloatArray) -> float:
        n, d = x.shape
        scott = float(n ** (-1.0 / (d + 4)) * np.sqrt(np.mean(x.var(0)) + 1e-12))
        held_out = np.asarray(rng.random(n) < 0.2)
        if n < 10 or not held_out.any() or held_out.all():
            return scott
        squares = squared_distances(thin(rng, x[held_out], _JUDGES), x[~held_out])
        likelihoods = [
            _log_means(squares, factor * scott).mean() - d * np.log(factor)
            for factor in self.bandwidths
        ]
        return self.bandwidths[int(np.argmax(likelihoods))] * scott


@dataclass(frozen=True, eq=False)
class KernelLogRatio:
    """The difference of two kernel log-densities, each of centers and a bandwidth."""

    project: Projection
    real: tuple[FloatArray, float]
    generated: tuple[FloatArray, float]

    def log_ratio(self, x: FloatArray) -> FloatArray:
        """Log p/q of samples of shape (n, d)."""
        x = self.project(x)
        return _log_density(x, *self.real) - _log_density(x, *self.generated)


def _log_density(x: FloatArray, centers: FloatArray, bandwidth: float) -> FloatArray:
    parts = [
        _log_means(squared_distances(x[i : i + _ROWS_AT_ONCE], centers), bandwidth)
        for i in range(0, len(x), _ROWS_AT_ONCE)
    ]
    return np.asarray(np.concatenate(parts) - x.shape[1] * np.log(bandwidth))


def _log_means(squares: FloatArray, bandwidth: float) -> FloatArray:
    """Log of the mean kernel of each row, in single precision after the nearest center is out."""
    nearest = squares.min(1, keepdims=True)
    scaled = np.subtract(nearest, squares, dtype=np.float32, casting="same_kind")
    scaled /= np.float32(2 * bandwidth**2)
    means = np.exp(scaled, out=scaled).mean(1, dtype=np.float64)
    return np.asarray(np.log(means) - nearest[:, 0] / (2 * bandwidth**2))
