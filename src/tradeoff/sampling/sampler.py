"""Draw samples with better quality: a generator, a log-ratio and a budget."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tradeoff._progress import track
from tradeoff._validation import (
    FloatArray,
    check_choice,
    check_count,
    check_number,
    check_numbers,
    check_seed,
)
from tradeoff.exceptions import InvalidInputError
from tradeoff.inference import policy
from tradeoff.ratio.calibration import Isotonic
from tradeoff.sampling.accounting import Accounting, impossible, ratio_warnings
from tradeoff.sampling.rules import RULES
from tradeoff.sampling.sampled import Sampled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tradeoff.ratio.base import LogRatio
    from tradeoff.sampling.rules import Rule

__all__ = ["BudgetedSampler"]

_MOST_DRAWS = 20.0


@dataclass(frozen=True, eq=False)
class BudgetedSampler:
    """Accepts draws of a generator under a budget, optimally for every f-divergence.

    Args:
        generator: Function from a number n to n samples, as an array, a tensor or a list, or to a
            pair of samples and labels.
        log_ratio: Object with a method `log_ratio` that maps samples to log p/q, or a function
            that does so.
        budget: Budget K, the number of draws per kept sample on average, at least 1.
        method: Acceptance rule: obrs, the optimal one; rejection, plain rejection; drs,
            discriminator rejection sampling; or mh, independence Metropolis-Hastings, which keeps
            the last state of every K draws.
        calibration: Number of draws from which the rule's constant is computed.
        batch: Number of draws per batch.
        seed: Seed of acceptance; the generator has its own.
        real: Real samples that the ratio was not fitted on. If they are given, the ratio is
            calibrated on them and on the draws of calibration; if not, the first of these draws are
            checked for what a true ratio cannot do, with a warning.

    Example:
        Half of the model's samples have no counterpart in the real data; with two draws per kept
        sample they are all dropped:

        >>> import numpy as np
        >>> from tradeoff.sampling import BudgetedSampler
        >>> rng = np.random.default_rng(0)
        >>> sampler = BudgetedSampler(
        ...     lambda n: rng.choice([-1.0, 1.0], (n, 1)),
        ...     lambda x: np.where(x[:, 0] > 0, np.log(2.0), -np.inf),
        ...     budget=2.0,
        ... )
        >>> sampled = sampler.sample(100)
        >>> float(sampled.samples.min())
        1.0

    References:
        :cite:`verine2024obrs`.
    """

    generator: Callable[[int], Any]
    log_ratio: LogRatio | Callable[[Any], Any]
    budget: float = 2.0
    method: Literal["obrs", "rejection", "drs", "mh"] = "obrs"
    calibration: int = 10_000
    batch: int = 256
    seed: int = 0
    real: Any = None

    def __post_init__(self) -> None:
        check_number("budget", self.budget, at_least=1.0)
        check_choice("method", self.method, RULES)
        check_count("calibration", self.calibration)
        check_count("batch", self.batch)
        check_seed(self.seed)
        if self.method == "mh" and self.budget + 1 > self.batch:
            raise InvalidInputError(
                f'`batch` must be at least {self.budget + 1:g} for method="mh". Got {self.batch}.'
            )

    def sample(self, count: int, *, max_draws: int | None = None, progress: bool = True) -> Sampled:
        """Draw until `count` samples are kept; fewer come back if `max_draws` is reached first.

        Args:
            count: Number of samples.
            max_draws: Largest number of draws, calibration not counted; 20 times the budget times
                `count` if not given.
            progress: Whether to show a progress line.
        """
        count = check_count("count", count)
        if max_draws is None:
            max_draws = int(_MOST_DRAWS * self.budget * count) + self.batch
        accounting = Accounting()
        parts: list[Sampled] = []
        left = count
        for part in track(
            self.stream(max_draws=max_draws, accounting=accounting),
            "sampling",
            total=count,
            size=lambda part: len(part.log_ratios),
            progress=progress,
        ):
            parts.append(part.take(np.arange(min(left, len(part.log_ratios)))))
            left -= len(parts[-1].log_ratios)
            if left == 0:
                accounting.stopped = ""
                break
        if not parts:
            raise InvalidInputError(
                f"No sample was kept of {accounting.draws:,} draws: check that `log_ratio` was "
                "fitted on this generator."
            )
        return Sampled.concatenate(parts)

    def stream(self, *, max_draws: int, accounting: Accounting | None = None) -> Iterator[Sampled]:
        """Kept samples, batch by batch, until `max_draws` is reached.

        Args:
            max_draws: Largest number of draws, calibration not counted.
            accounting: Accounting to update; a new one if not given.
        """
        check_count("max_draws", max_draws)
        accounting = Accounting() if accounting is None else accounting
        rule, largest, calibrate = self._calibrate(accounting)
        rng = np.random.default_rng(self.seed)
        while accounting.draws < max_draws:
            samples, labels = self._draw(rule.draws(min(self.batch, max_draws - accounting.draws)))
            ratios, highest = self._ratios(samples)
            if calibrate is not None:
                ratios = calibrate(ratios)
                highest = float(ratios.max())
            drawn = Sampled(
                samples=samples, labels=labels, log_ratios=ratios, accounting=accounting
            )
            kept = rule.keep(ratios, -rng.standard_exponential(ratios.size))
            accounting.draws += ratios.size
            accounting.accepted += kept.size
            if highest > largest:
                accounting.exceeded += int((ratios > largest).sum())
                accounting.log_max_ratio = max(accounting.log_max_ratio, highest)
            if kept.size:
                yield drawn.take(kept)
        accounting.stopped = f"the cap of {max_draws:,} draws was reached"

    def _calibrate(self, accounting: Accounting) -> tuple[Rule, float, Isotonic | None]:
        """The rule, the largest log-ratio of calibration, and the map that calibrates."""
        real = None if self.real is None else self._ratios_of_real()
        found: list[FloatArray] = []
        is_checked = self.real is not None
        while accounting.calibration_draws < self.calibration:
            left = self.calibration - accounting.calibration_draws
            samples, _ = self._draw(min(self.batch, left))
            found.append(self._ratios(samples)[0])
            accounting.calibration_draws += found[-1].size
            if not is_checked and accounting.calibration_draws >= policy.CHECKED_DRAWS:
                is_checked = True  # in time to stop
                _warn(impossible(np.concatenate(found)))
        ratios = np.concatenate(found)
        calibrate = None if real is None else _fitted(real, ratios)
        if calibrate is not None:
            ratios = calibrate(ratios)
        accounting.warnings = ratio_warnings(ratios)
        if not is_checked:
            _warn(impossible(ratios))
        accounting.log_max_ratio = float(ratios.max())
        return RULES[self.method](ratios, self.budget), accounting.log_max_ratio, calibrate

    def _ratios_of_real(self) -> FloatArray:
        """Log-ratios of the real samples, of which there must be enough to calibrate."""
        if len(self.real) < policy.FEWEST_CALIBRATED:
            raise InvalidInputError(
                f"`real` must hold at least {policy.FEWEST_CALIBRATED} samples to calibrate the "
                f"ratio. Got {len(self.real)}."
            )
        return self._ratios(self.real)[0]

    def _draw(self, count: int) -> tuple[Any, Any]:
        drawn = self.generator(count)
        samples, labels = drawn if isinstance(drawn, tuple) and len(drawn) == 2 else (drawn, None)
        if len(samples) == 0:
            raise InvalidInputError("`generator` must return samples. It returned none.")
        if labels is not None and len(labels) != len(samples):
            raise InvalidInputError(
                f"`generator` must return a label per sample, {len(samples)}. Got {len(labels)}."
            )
        return samples, labels

    def _ratios(self, samples: Any) -> tuple[FloatArray, float]:
        """Log-ratios, checked, and the largest."""
        measure: Any = getattr(self.log_ratio, "log_ratio", self.log_ratio)
        ratios = check_numbers("log_ratio", measure(samples))
        if ratios.shape != (len(samples),):
            raise InvalidInputError(
                f"`log_ratio` must return a number per sample, {len(samples)}. "
                f"Got shape {ratios.shape}."
            )
        highest = float(ratios.max())
        if np.isnan(highest):
            raise InvalidInputError(
                f"`log_ratio` must not return NaN. It did for {int(np.isnan(ratios).sum())} of "
                f"{len(samples)} draws."
            )
        return ratios, highest


def _fitted(real: FloatArray, drawn: FloatArray) -> Isotonic:
    """The map from log-ratios as they are given to calibrated ones."""
    ends = np.concatenate((real, drawn))
    ends = ends[np.isfinite(ends)]
    low, high = (ends.min() - 1.0, ends.max() + 1.0) if ends.size else (-1.0, 1.0)
    return Isotonic.fit(real=np.clip(real, low, high), generated=np.clip(drawn, low, high))


def _warn(sentences: Sequence[str]) -> None:
    for sentence in sentences:
        warnings.warn(sentence, stacklevel=2)
