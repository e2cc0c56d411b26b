"""Draw from the refined law: a generator, a log-ratio and a budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import ndtri

from tradeoff._progress import track
from tradeoff._validation import (
    FloatArray,
    check_choice,
    check_count,
    check_number,
    check_numbers,
    check_seed,
    check_share,
)
from tradeoff.exceptions import InvalidInputError
from tradeoff.inference.shares import wilson_distances
from tradeoff.sampling.rules import RULES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tradeoff.ratio.base import LogRatio
    from tradeoff.sampling.rules import Rule

__all__ = ["Accounting", "BudgetedSampler", "Sampled"]

_MOST_DRAWS = 20.0
_SATURATED = 0.5
_SIGNIFICANT = 4.0


@dataclass(kw_only=True)
class Accounting:
    """What was drawn, and what was kept.

    Args:
        draws: calls of the generator, in samples, since calibration.
        calibration_draws: those that calibration took.
        accepted: samples that were kept.
        log_max_ratio: largest log-ratio seen so far.
        exceeded: draws whose ratio is above the largest one of calibration.
        stopped: why the stream ended early; empty if it did not.
        warnings: what is wrong with the ratio.

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
        """Limits of the rate."""
        z = float(ndtri(0.5 + 0.5 * check_share("level", level)))
        draws = np.array(float(max(self.draws, 1)))
        below, above = (float(d) for d in wilson_distances(np.array(self.rate), draws, z))
        return max(self.rate - below, 0.0), min(self.rate + above, 1.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class Sampled:
    """Samples that were kept, with what belongs to them.

    Args:
        samples: as the generator makes them: an array, a tensor or a list.
        labels: of the kept samples, None if the generator gives none.
        log_ratios: log p/q of each, shape (n,).
        accounting: draws, rate and warnings.

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

    samples: Any
    labels: Any
    log_ratios: FloatArray
    accounting: Accounting


@dataclass(frozen=True, eq=False)
class BudgetedSampler:
    """Keeps of a generator's draws what is optimal for every f-divergence under a budget.

    Args:
        generator: function from a number to so many samples, as an array, a tensor or a list, or
            to a pair of samples and labels.
        log_ratio: maps samples to log p/q: anything with `log_ratio`, or a function.
        budget: K, draws per kept sample that may be spent on average, at least 1.
        method: obrs, the optimal rule; plain rejection; drs, discriminator rejection sampling; or
            mh, independence Metropolis-Hastings, the last state of every K draws.
        calibration: draws from which the rule's constant is computed.
        batch: draws of a batch.
        seed: of acceptance; the generator has its own.

    Example:
        Half of what the model makes is invented; two draws per sample drop it:

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

    def __post_init__(self) -> None:
        check_number("budget", self.budget, at_least=1.0)
        check_choice("method", self.method, RULES)
        check_count("calibration", self.calibration)
        check_count("batch", self.batch)
        check_seed(self.seed)
        if self.method == "mh" and self.budget + 1 > self.batch:
            raise InvalidInputError(
                f"`batch` must hold a chain of {self.budget:g} draws. Got {self.batch}."
            )

    def sample(self, count: int, *, max_draws: int | None = None, progress: bool = True) -> Sampled:
        """So many samples, or fewer if the cap on draws is reached.

        Args:
            count: number of samples.
            max_draws: draws, at most, calibration not counted; 20 times what the budget says if
                not given.
            progress: False silences the progress line.
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
            chosen = np.arange(min(left, len(part.log_ratios)))
            parts.append(_take(part.samples, part.labels, part.log_ratios, chosen, accounting))
            left -= chosen.size
            if left == 0:
                accounting.stopped = ""
                break
        if not parts:
            raise InvalidInputError(
                f"Nothing was kept of {accounting.draws:,} draws: the ratio and the generator do "
                "not fit together."
            )
        return Sampled(
            samples=_joined([part.samples for part in parts]),
            labels=None if parts[0].labels is None else _joined([p.labels for p in parts]),
            log_ratios=np.concatenate([part.log_ratios for part in parts]),
            accounting=accounting,
        )

    def stream(self, *, max_draws: int, accounting: Accounting | None = None) -> Iterator[Sampled]:
        """Kept samples, batch by batch, until the cap on draws is reached.

        Args:
            max_draws: draws, at most, calibration not counted.
            accounting: is kept up to date, if given.
        """
        check_count("max_draws", max_draws)
        accounting = Accounting() if accounting is None else accounting
        rule, largest = self._calibrate(accounting)
        rng = np.random.default_rng(self.seed)
        while accounting.draws < max_draws:
            samples, labels = self._draw(min(self.batch, max_draws - accounting.draws))
            ratios, highest = self._ratios(samples)
            kept = rule.keep(ratios, -rng.standard_exponential(ratios.size))
            accounting.draws += ratios.size
            accounting.accepted += kept.size
            if highest > largest:
                accounting.exceeded += int((ratios > largest).sum())
                accounting.log_max_ratio = max(accounting.log_max_ratio, highest)
            if kept.size:
                yield _take(samples, labels, ratios, kept, accounting)
        accounting.stopped = f"the cap of {max_draws:,} draws was reached"

    def _calibrate(self, accounting: Accounting) -> tuple[Rule, float]:
        found = []
        while accounting.calibration_draws < self.calibration:
            left = self.calibration - accounting.calibration_draws
            samples, _ = self._draw(min(self.batch, left))
            found.append(self._ratios(samples)[0])
            accounting.calibration_draws += found[-1].size
        ratios = np.concatenate(found)
        accounting.warnings = _warnings(ratios)
        accounting.log_max_ratio = float(ratios.max())
        return RULES[self.method](ratios, self.budget), accounting.log_max_ratio

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


def _warnings(log_ratios: FloatArray) -> tuple[str, ...]:
    """What the ratios of calibration draws betray."""
    found = []
    finite = log_ratios[np.isfinite(log_ratios)]
    _, counts = np.unique(finite, return_counts=True)
    if counts.size and counts.max() > _SATURATED * log_ratios.size:
        same = counts.max() / log_ratios.size
        found.append(
            f"The ratio is the same for {same:.0%} of draws: among them, acceptance is blind."
        )
    with np.errstate(over="ignore"):
        ratios = np.exp(log_ratios)
    if not np.isfinite(ratios).all():
        return tuple(found)
    error = ratios.std() / np.sqrt(ratios.size)
    if ratios.mean() > 1.0 + _SIGNIFICANT * error:
        found.append(
            f"The mean ratio of draws is {ratios.mean():.3g}, and cannot be above 1: calibrate the "
            "ratio on held-out samples. Acceptance does not depend on its scale."
        )
    return tuple(found)


def _take(
    samples: Any, labels: Any, ratios: FloatArray, chosen: Any, accounting: Accounting
) -> Sampled:
    def rows(values: Any) -> Any:
        if isinstance(values, (list, tuple)):
            return [values[i] for i in chosen]
        return values[chosen]

    return Sampled(
        samples=rows(samples),
        labels=None if labels is None else rows(labels),
        log_ratios=ratios[chosen],
        accounting=accounting,
    )


def _joined(parts: list[Any]) -> Any:
    if isinstance(parts[0], list):
        return [item for part in parts for item in part]
    if hasattr(parts[0], "detach"):
        import torch

        return torch.cat(parts)
    return np.concatenate(parts)
