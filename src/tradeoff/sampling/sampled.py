"""Kept samples with their labels and log-ratios, whatever container the generator uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._result import Result
from tradeoff._validation import FloatArray
from tradeoff.sampling.accounting import Accounting

if TYPE_CHECKING:
    import numpy.typing as npt


__all__ = ["Sampled"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Sampled(Result):
    """Kept samples with their labels and log-ratios.

    Args:
        samples: Samples in the generator's container: an array, a tensor or a list. An array is
            read-only; anything else is the generator's own object.
        labels: Labels of the samples; None if the generator gives none.
        log_ratios: Log p/q of each sample, shape (n,).
        accounting: Draws, rate and warnings.

    Example:
        >>> import numpy as np
        >>> from tradeoff.sampling import BudgetedSampler
        >>> rng = np.random.default_rng(0)
        >>> sampler = BudgetedSampler(
        ...     lambda n: rng.normal(0, 1, (n, 1)), lambda x: x[:, 0] - 0.5, budget=2.0
        ... )
        >>> sampled = sampler.sample(1000)
        >>> sampled.samples.shape, bool(sampled.samples.mean() > 0.5)
        ((1000, 1), True)
    """

    _shared = frozenset({"samples", "labels"})

    samples: Any
    labels: Any
    log_ratios: FloatArray
    accounting: Accounting

    def take(self, rows: npt.NDArray[np.intp]) -> Sampled:
        """The samples of given rows."""
        return Sampled(
            samples=_rows(self.samples, rows),
            labels=None if self.labels is None else _rows(self.labels, rows),
            log_ratios=self.log_ratios[rows],
            accounting=self.accounting,
        )

    @classmethod
    def concatenate(cls, parts: list[Sampled]) -> Sampled:
        """All samples of several parts, at least one; the accounting is that of the first."""
        labels = [part.labels for part in parts]
        return cls(
            samples=_joined([part.samples for part in parts]),
            labels=None if labels[0] is None else _joined(labels),
            log_ratios=np.concatenate([part.log_ratios for part in parts]),
            accounting=parts[0].accounting,
        )


def _rows(values: Any, rows: npt.NDArray[np.intp]) -> Any:
    if isinstance(values, (list, tuple)):
        return [values[i] for i in rows]
    return values[rows]


def _joined(parts: list[Any]) -> Any:
    if isinstance(parts[0], list):
        return [item for part in parts for item in part]
    if hasattr(parts[0], "detach"):
        import torch

        return torch.cat(parts)
    return np.concatenate(parts)
