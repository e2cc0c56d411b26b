"""Results of neighbor metrics: a score with its samples, its expectation and its interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tradeoff._result import Result
from tradeoff._validation import FloatArray, check_share
from tradeoff.exceptions import UndefinedError
from tradeoff.inference.shares import normal_quantile, wilson_interval

__all__ = ["SupportMetrics", "SupportScore"]


@dataclass(frozen=True, eq=False, kw_only=True)
class SupportScore(Result):
    """One metric.

    Args:
        value: Value of the metric.
        samples: Value for each sample of the side that the metric is about.
        expected: Expected value if both distributions were the same, for the given numbers of
            samples; None where no such number exists.
        error: Standard error over fresh draws of both sides; None where it is not known.
        is_share: Whether it is the share of independent samples that pass, the other side's balls
            being what they are.

    Example:
        >>> import numpy as np
        >>> from tradeoff.metrics.neighbors import SupportScore
        >>> score = SupportScore(value=0.5, samples=np.array([1.0, 0.0]), is_share=True)
        >>> [round(end, 2) for end in score.interval()]
        [0.09, 0.91]
    """

    value: float
    samples: FloatArray
    expected: float | None = None
    error: float | None = None
    is_share: bool = False

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Lower and upper limit.

        A share has Wilson's limits, with the samples of its side as they are: they cover what
        fresh samples would score against the same balls. Density and coverage depend on both
        samples, and so does their error: limits cover the mean over fresh draws of both sides, at
        the same numbers of samples. The jackknife never errs on the small side on average; for
        nearly identical distributions it is two to three times too large.

        Args:
            level: Probability with which the interval covers.
        """
        z = normal_quantile(check_share("level", level))
        if self.is_share:
            n = size = float(len(self.samples))
            if self.error:
                center = (self.value + z**2 / (2 * n)) / (1 + z**2 / n)  # never 0 or 1
                size = min(n, center * (1.0 - center) / self.error**2)
            low, high = wilson_interval(self.value, size, level)
            return float(low), float(high)
        if self.error is None:
            raise UndefinedError("There is no interval for this metric: its error is not known.")
        return max(0.0, self.value - z * self.error), self.value + z * self.error


@dataclass(frozen=True, eq=False, kw_only=True)
class SupportMetrics(Result):
    """Neighbor metrics; `result.density` is a number, `result["density"]` a `SupportScore`.

    Args:
        scores: The metrics that were asked for, by name.
        nearest_distance: Distance of every generated sample to the nearest real one, shape (m,);
            None unless authenticity was asked for.
        nearest_index: Row of that real sample, the lower one of ties, shape (m,).
        provenance: Rank k, inequality, sizes and versions.

    Example:
        >>> import numpy as np
        >>> from tradeoff import support_metrics
        >>> rng = np.random.default_rng(0)
        >>> real, generated = rng.normal(size=(1000, 2)), rng.normal(size=(1000, 2))
        >>> result = support_metrics(real=real, generated=generated, progress=False)
        >>> result.density == result["density"].value
        True
        >>> print(result)
        precision  0.998 [0.993, 0.999]
        recall     0.995 [0.988, 0.998]
        density    1.015 [0.949, 1.080], baseline 1.000
        coverage   0.976 [0.922, 0.993], baseline 0.969
        k = 5, 1000 real, 1000 generated
    """

    scores: Mapping[str, SupportScore]
    nearest_distance: FloatArray | None
    nearest_index: npt.NDArray[np.int64] | None
    provenance: Mapping[str, Any]

    def __getitem__(self, name: str) -> SupportScore:
        if name not in self.scores:
            raise UndefinedError(f"`{name}` was not measured: pass metrics={(*self.scores, name)}.")
        return self.scores[name]

    @property
    def precision(self) -> float:
        """Share of generated samples that lie in the ball of a real one."""
        return self["precision"].value

    @property
    def recall(self) -> float:
        """Share of real samples that lie in the ball of a generated one."""
        return self["recall"].value

    @property
    def density(self) -> float:
        """Mean number of real balls that hold a generated sample, divided by k; may exceed 1."""
        return self["density"].value

    @property
    def coverage(self) -> float:
        """Share of real balls that hold a generated sample."""
        return self["coverage"].value

    @property
    def clipped_density(self) -> float:
        """Density with radii clipped at their median and counts at k, over that of real samples."""
        return self["clipped_density"].value

    @property
    def clipped_coverage(self) -> float:
        """Share of good samples that would fill real balls, up to k each, as much as these do."""
        return self["clipped_coverage"].value

    @property
    def cover_precision(self) -> float:
        """Share of generated samples whose own wider ball holds at least k real ones."""
        return self["cover_precision"].value

    @property
    def cover_recall(self) -> float:
        """Share of real samples whose own wider ball holds at least k generated ones."""
        return self["cover_recall"].value

    @property
    def realism(self) -> float:
        """Median realism; above 1, a sample lies in the ball of a real one.

        Large balls are left out.
        """
        return self["realism"].value

    @property
    def authenticity(self) -> float:
        """Share of generated samples that are not suspiciously close to a real one.

        They are farther from their nearest real sample than that sample is from its own nearest
        real neighbor.
        """
        return self["authenticity"].value

    def __str__(self) -> str:
        width = max(len(name) for name in self.scores)
        lines = [f"{name:<{width}}  {self._line(name)}" for name in self.scores]
        about = self.provenance
        sizes = ", ".join(f"{size} {side}" for side, size in about["samples"].items())
        return "\n".join([*lines, f"k = {about['k']}, {sizes}"])

    def _line(self, name: str) -> str:
        score = self.scores[name]
        line = f"{score.value:.3f}"
        if score.is_share or score.error is not None:
            line += " [{:.3f}, {:.3f}]".format(*score.interval())
        if score.expected is not None:
            line += f", baseline {score.expected:.3f}"
        return line
