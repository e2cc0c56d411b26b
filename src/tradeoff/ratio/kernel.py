r"""Kernel densities of both sides, with a bandwidth that held-out rows choose."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._validation import FloatArray, check_features
from tradeoff.ratio.base import Estimator, FittedRatio, Projection, squared_distances, thin
from tradeoff.ratio.kernel_logistic import KernelLogistic

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["KernelDensity"]

_ROWS_AT_ONCE = 128  # with their kernels in the cache
_SINGLE_FROM = 16
_JUDGES = 500
_NARROW = 0.03


@dataclass(frozen=True)
class KernelDensity(Estimator):
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

    projects = True
    bandwidths: tuple[float, ...] = (0.06, 0.125, 0.25, 0.5, 1.0)
    most_rows: int = 3000

    def fit(self, *, real: FloatArray, generated: FloatArray, seed: int) -> KernelLogRatio:
        """Fit on samples of shape (n, d) and (m, d)."""
        real, generated = check_features(real=real, generated=generated)
        rng = np.random.default_rng(seed)
        project = Projection.fit(real, generated)
        sides = [project(thin(rng, side, self.most_rows)) for side in (real, generated)]
        return KernelLogRatio(project, *(KernelMean.fit(x, self._bandwidth(rng, x)) for x in sides))

    def with_share(self, share: float) -> KernelDensity:
        """With fewer rows, for several fits whose mean is taken."""
        return replace(self, most_rows=math.ceil(share * self.most_rows))

    def cheaper(self) -> Estimator:
        """A regression on few kernels, narrow enough to see modes closer than most samples."""
        return KernelLogistic(bandwidth=_NARROW, landmarks=200)

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
class KernelLogRatio(FittedRatio):
    """The difference of two kernel log-densities."""

    project: Projection
    real: KernelMean
    generated: KernelMean

    def log_ratio(self, x: FloatArray) -> FloatArray:
        """Log p/q of samples of shape (n, d)."""
        x = self.project(x)
        rows = range(0, len(x), _ROWS_AT_ONCE)
        blocks = [x[i : i + _ROWS_AT_ONCE] for i in rows]
        found = [self.real.log_density(b) - self.generated.log_density(b) for b in blocks]
        return np.concatenate(found)


@dataclass(frozen=True, eq=False)
class KernelMean:
    """The mean of Gaussian kernels at centers.

    Args:
        exponents: What a row and a one are multiplied by, shape (d + 1, k), to give the exponent of
            each kernel but for the row's own square.
        bandwidth: Standard deviation of a kernel.
    """

    exponents: npt.NDArray[Any]
    bandwidth: float

    @classmethod
    def fit(cls, centers: FloatArray, bandwidth: float) -> KernelMean:
        """Kernels at rows of shape (k, d); with many columns they are wide enough for float32."""
        norms = np.einsum("ij,ij->i", centers, centers)
        exponents = np.concatenate((centers.T, -0.5 * norms[None])) / bandwidth**2
        dtype = np.float32 if centers.shape[1] >= _SINGLE_FROM else np.float64
        return cls(np.ascontiguousarray(exponents, dtype), bandwidth)

    def log_density(self, x: FloatArray) -> FloatArray:
        """Of samples of shape (n, d), up to a constant of d."""
        rows = np.ones((len(x), len(self.exponents)), self.exponents.dtype)
        rows[:, :-1] = x
        exponents = rows @ self.exponents
        largest = exponents.max(1, keepdims=True)
        exponents -= largest
        kernels = exponents.astype(np.float32, copy=False)
        means = np.exp(kernels, out=kernels).mean(1)
        own = 0.5 * np.einsum("ij,ij->i", x, x) / self.bandwidth**2
        scale = x.shape[1] * np.log(self.bandwidth)
        return np.asarray(np.log(means, dtype=np.float64) + largest[:, 0] - own - scale)


def _log_means(squares: FloatArray, bandwidth: float) -> FloatArray:
    """Log of the mean kernel of each row, in single precision after the nearest center is out."""
    nearest = squares.min(1, keepdims=True)
    scaled = np.subtract(nearest, squares, dtype=np.float32, casting="same_kind")
    scaled /= np.float32(2 * bandwidth**2)
    means = np.exp(scaled, out=scaled).mean(1, dtype=np.float64)
    return np.asarray(np.log(means) - nearest[:, 0] / (2 * bandwidth**2))
