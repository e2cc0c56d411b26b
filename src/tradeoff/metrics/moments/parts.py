"""A score that is computed part by part."""

from __future__ import annotations

from dataclasses import dataclass

from tradeoff._result import Result
from tradeoff._validation import FloatArray

__all__ = ["PartScores"]


@dataclass(frozen=True, eq=False)
class PartScores(Result):
    """The values of a score on several parts of the samples.

    Args:
        values: Score of every part, shape (parts,).

    Example:
        >>> import numpy as np
        >>> from tradeoff.metrics.moments import PartScores
        >>> PartScores(np.array([8.9, 9.1])).mean
        9.0
    """

    values: FloatArray

    @property
    def mean(self) -> float:
        """Mean over parts."""
        return float(self.values.mean())

    @property
    def deviation(self) -> float:
        """Standard deviation over parts; not a standard error, least of all if parts overlap."""
        return float(self.values.std())
