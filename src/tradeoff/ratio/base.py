r"""What estimators of :math:`\log p/q` share.

An estimator is a frozen configuration whose ``fit(real=, generated=, seed=)`` returns a log-ratio:
an object that maps samples to :math:`\log p/q`. Roles are keywords, seeds are explicit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

if TYPE_CHECKING:
    from tradeoff._validation import FloatArray

__all__ = ["Estimator", "LogRatio"]

MOST_COMPONENTS = 64
"""Above this many columns, estimators of densities and trees see principal components."""


@runtime_checkable
class LogRatio(Protocol):
    """Anything that maps samples to log p/q.

    Example:
        Known densities, two Gaussians one apart:

        >>> import numpy as np
        >>> from tradeoff.ratio import LogRatio
        >>> class Known:
        ...     def log_ratio(self, x):
        ...         return 0.5 - x[:, 0]
        >>> isinstance(Known(), LogRatio)
        True
    """

    def log_ratio(self, x: FloatArray) -> FloatArray:
        """Log p/q of samples of shape (n, d), shape (n,)."""


class Estimator(Protocol):
    """A configuration that fits a log-ratio to samples.

    Example:
        >>> import numpy as np
        >>> from tradeoff.ratio import Estimator, Gaussians
        >>> estimator: Estimator = Gaussians()
        >>> rng = np.random.default_rng(0)
        >>> fitted = estimator.fit(
        ...     real=rng.normal(0, 1, (2000, 1)), generated=rng.normal(1, 1, (2000, 1)), seed=0
        ... )
        >>> bool(fitted.log_ratio(np.zeros((1, 1)))[0] > 0)
        True
    """

    def fit(self, *, real: FloatArray, generated: FloatArray, seed: int) -> LogRatio:
        """Fit on samples of shape (n, d) and (m, d)."""


@dataclass(frozen=True, eq=False)
class Standardizer:
    """Columns centered and scaled by both sides together; constant columns become zero."""

    center: FloatArray
    scale: FloatArray

    @classmethod
    def fit(cls, real: FloatArray, generated: FloatArray) -> Standardizer:
        """Each side counts the same, whatever its size."""
        center = 0.5 * (real.mean(0) + generated.mean(0))
        variance = 0.5 * (((real - center) ** 2).mean(0) + ((generated - center) ** 2).mean(0))
        constant = variance <= (1e-12 * np.abs(center)) ** 2
        return cls(center, np.where(constant, np.inf, np.sqrt(np.where(constant, 1.0, variance))))

    def __call__(self, x: FloatArray) -> FloatArray:
        return (x - self.center) / self.scale


@dataclass(frozen=True, eq=False)
class Projection:
    """Standardized columns, and above 64 of them their leading principal components."""

    standardize: Standardizer
    axes: FloatArray | None

    @classmethod
    def fit(
        cls, real: FloatArray, generated: FloatArray, most: int = MOST_COMPONENTS
    ) -> Projection:
        """Components of both sides together, each counting the same."""
        standardize = Standardizer.fit(real, generated)
        if real.shape[1] <= most:
            return cls(standardize, None)
        real, generated = standardize(real), standardize(generated)
        covariance = real.T @ real / len(real) + generated.T @ generated / len(generated)
        _, vectors = np.linalg.eigh(covariance)
        return cls(standardize, vectors[:, : -most - 1 : -1])

    def __call__(self, x: FloatArray) -> FloatArray:
        x = self.standardize(x)
        return x if self.axes is None else x @ self.axes


def thin(rng: np.random.Generator, x: FloatArray, most: int) -> FloatArray:
    """At most so many rows, chosen without replacement, in their order."""
    return x if len(x) <= most else x[np.sort(rng.choice(len(x), most, replace=False))]
