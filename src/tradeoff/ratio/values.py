r"""Counts of equal rows: :math:`\log r = \log\frac{(n_v + 1/2)/n}{(m_v + 1/2)/m}`.

Value v occurs :math:`n_v` times among n real and :math:`m_v` times among m generated training
samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tradeoff._validation import FloatArray, check_features
from tradeoff.ratio.base import Estimator, FittedRatio, count_log_ratio
from tradeoff.samples.keys import row_keys

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["ValueCounts"]


@dataclass(frozen=True)
class ValueCounts(Estimator):
    """Smoothed ratios of how often a value occurs, for data that repeats few values.

    Example:
        >>> import numpy as np
        >>> from tradeoff.ratio.values import ValueCounts
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
