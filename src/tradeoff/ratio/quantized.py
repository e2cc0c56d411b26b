"""Counts in cells, which are clusters of k-means or equal rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.cluster import MiniBatchKMeans

from tradeoff._validation import FloatArray, check_count, check_features
from tradeoff.ratio.base import Estimator, FittedRatio, Projection, count_log_ratio, thin
from tradeoff.samples.keys import row_keys

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Quantized", "ValueCounts"]


@dataclass(frozen=True)
class Quantized(Estimator):
    """Smoothed ratios of k-means clusters, fitted on both sides together.

    Args:
        clusters: number of clusters; the square root of the number of rows if not given.
        most_rows: rows of each side on which the clusters are found at most.

    Example:
        >>> import numpy as np
        >>> from tradeoff.ratio.quantized import Quantized
        >>> rng = np.random.default_rng(0)
        >>> real, generated = rng.normal(0, 1, (500, 2)), rng.normal(4, 1, (500, 2))
        >>> fitted = Quantized(clusters=4).fit(real=real, generated=generated, seed=0)
        >>> fitted.log_ratio(np.array([[0.0, 0.0], [4.0, 4.0]])).round(0) * 1.0 > 0
        array([ True, False])

    References:
        :cite:`sajjadi2018`.
    """

    projects = True
    clusters: int | None = None
    most_rows: int = 10_000

    def __post_init__(self) -> None:
        if self.clusters is not None:
            object.__setattr__(self, "clusters", check_count("clusters", self.clusters))

    def fit(self, *, real: FloatArray, generated: FloatArray, seed: int) -> QuantizedLogRatio:
        """Fit on samples of shape (n, d) and (m, d)."""
        real, generated = check_features(real=real, generated=generated)
        project = Projection.fit(real, generated)
        rng = np.random.default_rng(seed)
        union = project(np.concatenate([thin(rng, x, self.most_rows) for x in (real, generated)]))
        distinct = len(np.unique(union, axis=0))
        wanted = self.clusters or int(np.sqrt(len(union)))
        clusters = max(1, min(wanted, distinct))
        model = MiniBatchKMeans(clusters, batch_size=1024, n_init=3, random_state=seed).fit(union)
        counts = [
            np.bincount(model.predict(project(side)), minlength=clusters)
            for side in (real, generated)
        ]
        log_ratios = count_log_ratio(counts, (len(real), len(generated)))
        return QuantizedLogRatio(project, model, log_ratios)


@dataclass(frozen=True, eq=False)
class QuantizedLogRatio(FittedRatio):
    """The log-ratio of a sample's cluster."""

    project: Projection
    model: MiniBatchKMeans
    log_ratios: FloatArray

    def log_ratio(self, x: FloatArray) -> FloatArray:
        """Log p/q of samples of shape (n, d)."""
        return np.asarray(self.log_ratios[self.model.predict(self.project(x))])


@dataclass(frozen=True)
class ValueCounts(Estimator):
    """Smoothed ratios of how often a value occurs, for data that repeats few values.

    Example:
        >>> import numpy as np
        >>> from tradeoff.ratio.quantized import ValueCounts
        >>> real, generated = np.array([[1.0], [1.0], [2.0]]), np.array([[1.0], [2.0], [2.0]])
        >>> fitted = ValueCounts().fit(real=real, generated=generated, seed=0)
        >>> fitted.log_ratio(np.array([[1.0], [2.0], [3.0]])).round(2)
        array([ 0.51, -0.51,  0.  ])
    """

    def fit(self, *, real: FloatArray, generated: FloatArray, seed: int) -> ValueCountsLogRatio:
        """Count values of shape (n, d) and (m, d); the seed changes nothing."""
        real, generated = check_features(real=real, generated=generated)
        keys = [row_keys(side) for side in (real, generated)]
        values = np.unique(np.concatenate(keys))
        counts = [
            np.bincount(np.searchsorted(values, side), minlength=len(values)) for side in keys
        ]
        log_ratios = count_log_ratio(counts, (len(real), len(generated)))
        return ValueCountsLogRatio(values, log_ratios)


@dataclass(frozen=True, eq=False)
class ValueCountsLogRatio(FittedRatio):
    """The log-ratio of each value that was seen, 0 for others."""

    values: npt.NDArray[np.uint64]
    log_ratios: FloatArray

    def log_ratio(self, x: FloatArray) -> FloatArray:
        """Log p/q of samples of shape (n, d)."""
        keys = row_keys(np.asarray(x, np.float64))
        place = np.minimum(np.searchsorted(self.values, keys), len(self.values) - 1)
        return np.where(self.values[place] == keys, self.log_ratios[place], 0.0)
