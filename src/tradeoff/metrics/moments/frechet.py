r"""The Fréchet distance between Gaussian fits, the squared 2-Wasserstein distance of Gaussians.

.. math:: \|\mu_1 - \mu_2\|^2 + \operatorname{tr}\bigl(\Sigma_1 + \Sigma_2
    - 2\,(\Sigma_1^{1/2} \Sigma_2 \Sigma_1^{1/2})^{1/2}\bigr)

The root's trace is the sum of the roots of the eigenvalues of a symmetric matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import eigh, eigvalsh

from tradeoff._result import Result
from tradeoff._sides import by_name
from tradeoff._validation import (
    FloatArray,
    check_count,
    check_features,
    check_numbers,
    check_same_columns,
)
from tradeoff.exceptions import InvalidInputError, UndefinedError

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Moments", "frechet_distance"]

_LARGEST = 1e150


@dataclass(frozen=True, eq=False)
class Moments(Result):
    r"""Number, mean and scatter of samples that came in any number of parts.

    The scatter is :math:`\sum_i (x_i - \bar x)(x_i - \bar x)^\top`, in float64. Parts merge by the
    formula for their union, without a large difference of large numbers.

    Args:
        count: Number of samples.
        mean: Mean of the samples, shape (d,).
        scatter: Scatter of the samples, shape (d, d).

    Example:
        >>> import numpy as np
        >>> from tradeoff.metrics.moments.frechet import Moments
        >>> x = np.random.default_rng(0).normal(size=(1000, 3))
        >>> parts = Moments.of(x[:300]).update(x[300:700]).merge(Moments.of(x[700:]))
        >>> bool(np.allclose(parts.covariance, np.cov(x.T), rtol=1e-13))
        True
    """

    count: int
    mean: FloatArray
    scatter: FloatArray

    @classmethod
    def of(cls, samples: npt.ArrayLike, name: str = "samples") -> Moments:
        """Moments of samples of shape (n, d), which errors call by a name."""
        (x,) = check_features(**{name: samples})
        mean = x.mean(0)
        z = x - mean
        return cls(len(x), mean, z.T @ z)

    def first(self, columns: int) -> Moments:
        """Moments of so many of the columns."""
        return Moments(self.count, self.mean[:columns], self.scatter[:columns, :columns])

    @classmethod
    def given(cls, *, count: int, mean: npt.ArrayLike, covariance: npt.ArrayLike) -> Moments:
        """Moments that were computed elsewhere, such as a published reference.

        Args:
            count: Number of samples behind them, at least 2.
            mean: Mean, shape (d,).
            covariance: Covariance with n − 1 in the denominator, shape (d, d).
        """
        center, spread = check_numbers("mean", mean), check_numbers("covariance", covariance)
        if center.ndim != 1 or spread.shape != (center.size, center.size):
            raise InvalidInputError(
                "`covariance` must be square and fit `mean`. Got shapes "
                f"{spread.shape} and {center.shape}."
            )
        if not (center.size and np.isfinite(center).all() and np.isfinite(spread).all()):
            raise InvalidInputError("`mean` and `covariance` must hold finite numbers.")
        if not np.allclose(spread, spread.T, rtol=1e-6, atol=1e-9 * np.abs(spread).max()):
            raise InvalidInputError("`covariance` must be symmetric.")
        values = eigvalsh(0.5 * (spread + spread.T))
        if values[0] < -1e-6 * max(values[-1], 0.0) - 1e-12:
            raise InvalidInputError("`covariance` must not have negative eigenvalues.")
        number = check_count("count", count)
        if number < 2:
            raise InvalidInputError(f"`count` must be at least 2. Got {count}.")
        return cls(number, center, 0.5 * (spread + spread.T) * (number - 1))

    def update(self, samples: npt.ArrayLike) -> Moments:
        """These samples and more."""
        return self.merge(Moments.of(samples))

    def merge(self, other: Moments) -> Moments:
        """Moments of both parts together."""
        if self.mean.size != other.mean.size:
            raise InvalidInputError(
                f"Parts must have the same number of columns. Got {self.mean.size} and "
                f"{other.mean.size}."
            )
        count = self.count + other.count
        shift = other.mean - self.mean
        between = np.outer(shift, shift) * (self.count * other.count / count)
        return Moments(
            count,
            self.mean + shift * (other.count / count),
            self.scatter + other.scatter + between,
        )

    @property
    def covariance(self) -> FloatArray:
        """Covariance with n − 1 in the denominator, shape (d, d)."""
        if self.count < 2:
            raise UndefinedError(f"A covariance requires at least 2 samples. Got {self.count}.")
        return self.scatter / (self.count - 1)


@by_name
def frechet_distance(*, real: Moments | npt.ArrayLike, generated: Moments | npt.ArrayLike) -> float:
    """Fréchet distance between two sets of samples, or their moments; FID on Inception features.

    It is the distance of two Gaussians: 0 does not mean that the distributions agree. With few
    samples it is biased upward, the more columns the more.

    Args:
        real: Features of real samples, shape (n, d), or their moments.
        generated: Features of generated samples, shape (m, d), or their moments.

    Example:
        >>> import numpy as np
        >>> from tradeoff import frechet_distance
        >>> rng = np.random.default_rng(0)
        >>> real = rng.normal(0, 1, (10_000, 2))
        >>> round(frechet_distance(real=real, generated=real + 3.0), 6)
        18.0
    """
    first, second = (
        side if isinstance(side, Moments) else Moments.of(side, name)
        for name, side in (("real", real), ("generated", generated))
    )
    check_same_columns(real=first.mean.size, generated=second.mean.size)
    if not all(np.abs(side.scatter).max() < _LARGEST for side in (first, second)):
        raise InvalidInputError("Features are too large for their squares: scale both sides down.")
    values, vectors = eigh(first.covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0)) @ vectors.T
    product = root @ second.covariance @ root
    roots = np.sqrt(np.maximum(eigvalsh(0.5 * (product + product.T)), 0.0))
    shift = first.mean - second.mean
    traces = np.trace(first.covariance) + np.trace(second.covariance)
    return max(0.0, float(shift @ shift + traces - 2.0 * roots.sum()))
