"""Kept samples with their labels and log-ratios, whatever container the generator uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._result import Result
from tradeoff._validation import FloatArray
from tradeoff.inference import policy
from tradeoff.inference.shares import wilson_interval

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Accounting", "Sampled", "ratio_warnings"]


@dataclass(kw_only=True)
class Accounting(Result):
    """Counts of draws and kept samples.

    Args:
        draws: Number of draws since calibration.
        calibration_draws: Number of draws during calibration.
        accepted: Number of samples that were kept.
        log_max_ratio: Largest log-ratio seen so far.
        exceeded: Number of draws whose ratio is above the largest one of calibration.
        stopped: Reason why the stream ended early; empty if it did not.
        warnings: Problems of the ratio, a sentence each.

    Example:
        >>> from tradeoff.sampling import Accounting
        >>> done = Accounting(draws=1000, accepted=480)
        >>> done.rate, [round(end, 3) for end in done.rate_interval()]
        (0.48, [0.449, 0.511])
    """

    draws: int = 0
    calibration_draws: int = 0
    accepted: int = 0
    log_max_ratio: float = -np.inf
    exceeded: int = 0
    stopped: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def rate(self) -> float:
        """Accepted samples per draw."""
        return self.accepted / self.draws if self.draws else 0.0

    def rate_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Lower and upper confidence limit of the rate."""
        return wilson_interval(self.rate, max(self.draws, 1), level)


def ratio_warnings(log_ratios: FloatArray) -> tuple[str, ...]:
    """Problems that the log-ratios of calibration draws show, a sentence each."""
    found = []
    finite = log_ratios[np.isfinite(log_ratios)]
    _, counts = np.unique(finite, return_counts=True)
    if counts.size and counts.max() > policy.SATURATED * log_ratios.size:
        same = counts.max() / log_ratios.size
        found.append(
            f"The ratio is the same for {same:.0%} of draws, so acceptance cannot distinguish them."
        )
    with np.errstate(over="ignore"):
        ratios = np.exp(log_ratios)
    if not np.isfinite(ratios).all():
        return tuple(found)
    error = ratios.std() / np.sqrt(ratios.size)
    if ratios.mean() > 1.0 + policy.MISCALIBRATED * error:
        found.append(
            f"The mean ratio of draws is {ratios.mean():.3g}, and that of a true ratio is at most "
            "1: calibrate the ratio on held-out samples. Acceptance does not depend on its scale."
        )
    return tuple(found)


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
