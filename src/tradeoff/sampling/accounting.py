"""Counts of what a sampler drew and kept, and warnings about the ratio it used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tradeoff._result import Result
from tradeoff.inference import policy
from tradeoff.inference.shares import wilson_interval

if TYPE_CHECKING:
    from tradeoff._validation import FloatArray

__all__ = ["Accounting", "impossible", "ratio_warnings"]


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
    finite = log_ratios[np.isfinite(log_ratios)]
    _, counts = np.unique(finite, return_counts=True)
    found = impossible(log_ratios)
    if counts.size and counts.max() > policy.SATURATED * log_ratios.size:
        same = counts.max() / log_ratios.size
        told = f"The ratio is the same for {same:.0%} of draws, so acceptance cannot distinguish"
        return (f"{told} them.", *found)
    return found


def impossible(log_ratios: FloatArray) -> tuple[str, ...]:
    """What log-ratios of draws show that a true ratio cannot, a sentence each.

    The mean ratio of draws is at most 1, so its logarithm cannot be positive alone.
    """
    low, high = float(log_ratios.min()), float(log_ratios.max())
    if 0.0 <= low < high <= 1.0:
        return (
            "All log-ratios lie between 0 and 1, like the outputs of a sigmoid: pass the "
            "discriminator without its last activation.",
        )
    with np.errstate(over="ignore"):
        ratios = np.exp(log_ratios)
    if not np.isfinite(ratios).all():
        return ()
    error = ratios.std() / np.sqrt(ratios.size)
    if ratios.mean() <= 1.0 + policy.MISCALIBRATED * error:
        return ()
    return (
        f"The mean ratio of draws is {ratios.mean():.3g}, and that of a true ratio is at most 1: "
        "calibrate the ratio on held-out samples, by `real=`. If only its scale is wrong, "
        "acceptance does not depend on it.",
    )
