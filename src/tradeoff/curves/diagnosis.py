r"""What an honest curve is worth: its ceiling, and whether it is tight.

An honest curve is an upper bound. The ceiling, real against real, shows noise and leakage. Curves
of smaller samples and of other estimators show whether the bound is still falling. The positive
control shows whether a gap that is known to be there is seen: real against real, where a tenth of
one side is replaced by near-copies of a few real samples, so that precision is 0.9 at λ = 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._result import Result
from tradeoff._sides import by_name
from tradeoff._validation import check_seed
from tradeoff.curves.estimate import estimate_curve
from tradeoff.exceptions import InvalidInputError
from tradeoff.ratio.registry import ESTIMATORS, find_estimator
from tradeoff.samples import Pair, Side

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from tradeoff.curves.estimate import CurveEstimate
    from tradeoff.ratio.base import Estimator

__all__ = ["FEWEST_SAMPLES", "Diagnosis", "diagnose", "diagnose_pair"]

_ALTERED = 0.1
_SEEN = 2 / 3  # of the known gap, at least
_COPIED = 6
_CHOICES = 200
_JITTER = 1e-3
FEWEST_SAMPLES = 160
"""Of each side, below which nothing can be said of a curve's worth."""
_RIVALS = ("logistic", "trees", "gaussians", "quantized", "kernel")


@dataclass(frozen=True, eq=False, kw_only=True)
class Diagnosis(Result):
    """How much an honest curve can be trusted to be close to the truth.

    Args:
        ceiling: real against real.
        model: the model against real samples, at the size of the ceiling.
        quarter: the model at half of that size.
        rivals: the model by other estimators at the size of the ceiling, by name.
        control: real against real with a tenth of one side altered, precision 0.9 at λ = 1.

    Example:
        >>> import numpy as np
        >>> from tradeoff import diagnose
        >>> rng = np.random.default_rng(0)
        >>> real, generated = rng.normal(0, 1, (2000, 2)), rng.normal(1, 1, (2000, 2))
        >>> found = diagnose(real=real, generated=generated, estimator="logistic", progress=False)
        >>> found.ceiling.curve.precision(1.0) > 0.95 > found.model.curve.precision(1.0)
        True
    """

    ceiling: CurveEstimate
    model: CurveEstimate
    quarter: CurveEstimate
    rivals: Mapping[str, CurveEstimate]
    control: CurveEstimate

    def __str__(self) -> str:
        curves = {
            "model": self.model,
            "ceiling": self.ceiling,
            "quarter": self.quarter,
            "control": self.control,
            **{f"by {name}": rival for name, rival in self.rivals.items()},
        }
        width = max(map(len, curves))
        lines = [f"{'':<{width}}  precision  recall"]
        for name, estimate in curves.items():
            precision, recall = estimate.headline.values()
            lines.append(f"{name:<{width}}  {precision:9.3f}  {recall:6.3f}")
        return "\n".join([self.verdict, *lines])

    @property
    def sees_the_control(self) -> bool:
        """Whether at least two thirds of the known gap were seen."""
        return self._seen >= _SEEN * _ALTERED

    @property
    def _seen(self) -> float:
        return 1.0 - self.control.curve.precision(1.0)

    @property
    def _noise(self) -> float:
        return 0.5 * float(np.ptp(self.control.interval([1.0]).precision))

    @property
    def still_falling(self) -> float:
        """How much precision at λ = 1 fell when the samples doubled; about 0 if it has settled."""
        return self.quarter.raw.precision(1.0) - self.model.raw.precision(1.0)

    @property
    def beaten_by(self) -> float:
        """How much lower the upper limit of the lowest rival is at λ = 1."""
        ours = self.model.raw.precision(1.0)
        gaps = [ours - rival.interval([1.0]).precision[0, 1] for rival in self.rivals.values()]
        return max(0.0, float(max(gaps, default=0.0)))

    @property
    def verdict(self) -> str:
        """One sentence on what the curve shows."""
        if self._noise > _SEEN * _ALTERED:
            return (
                f"Too few samples to tell: a known gap of {_ALTERED:g} is within the noise, "
                f"±{self._noise:.2f}."
            )
        if not self.sees_the_control:
            return (
                "Only an upper bound here: of a known gap of "
                f"{_ALTERED:g} this estimator sees {self._seen:.2f}."
            )
        if self.beaten_by > 0:
            return (
                "Only an upper bound here: another estimator shows a precision lower by at least "
                f"{self.beaten_by:.3f} at λ = 1."
            )
        upper = self.model.interval([1.0]).precision[0, 1]
        if self.still_falling > 0.05 and upper < self.quarter.raw.precision(1.0):
            return (
                f"Still falling: twice the samples lowered precision by {self.still_falling:.2f} "
                "at λ = 1, and more samples may lower it further."
            )
        return "No sign of a gap between the curve and the truth."


@by_name
def diagnose(
    *,
    real: npt.ArrayLike,
    generated: npt.ArrayLike,
    estimator: Estimator | str = "stack",
    folds: int = 5,
    seed: int = 0,
    progress: bool = True,
) -> Diagnosis:
    """Ceiling and tightness of the curve that :func:`~tradeoff.curves.pr_curve` gives.

    The real samples are divided in two by their content, and everything is compared at that size.
    Samples are taken to be independent.

    Args:
        real: Features of real samples, shape (n, d).
        generated: Features of generated samples, shape (m, d).
        estimator: Estimator of log p/q, as given to `pr_curve`.
        folds: Number of folds, as given to `pr_curve`.
        seed: Seed of the halves, the folds, the control and the estimator.
        progress: Whether to show progress lines.

    Example:
        A line cannot see what happens on a ring, and says so:

        >>> import numpy as np
        >>> from tradeoff import diagnose
        >>> rng = np.random.default_rng(0)
        >>> angle = rng.integers(0, 8, (2, 2000)) * np.pi / 4 + 0.3
        >>> ring = 3 * np.stack((np.cos(angle), np.sin(angle)), axis=2)
        >>> real, generated = ring + rng.normal(0, 0.2, (2, 2000, 2))
        >>> line = diagnose(real=real, generated=generated, estimator="logistic", progress=False)
        >>> line.verdict[:45]
        'Only an upper bound here: of a known gap of 0'
    """
    pair = Pair.of(real=real, generated=generated)
    return diagnose_pair(pair, estimator=estimator, folds=folds, seed=seed, progress=progress)


def diagnose_pair(
    pair: Pair,
    *,
    estimator: Any = "stack",
    folds: int = 5,
    seed: int = 0,
    repeats: str = "auto",
    jobs: int | None = None,
    progress: bool = True,
) -> Diagnosis:
    """Ceiling and tightness of the curve of a pair; see `diagnose`."""
    for side in pair:
        if len(side) < FEWEST_SAMPLES:
            raise InvalidInputError(
                f"`{side.name}` must hold at least {FEWEST_SAMPLES} samples to be diagnosed. "
                f"Got {len(side)}."
            )
    model, seed = find_estimator(estimator), check_seed(seed)

    def measure(real: Side, generated: Side, by: Estimator = model) -> CurveEstimate:
        return estimate_curve(
            Pair(real, generated),
            estimator=by,
            folds=folds,
            seed=seed,
            repeats=repeats,
            jobs=jobs,
            progress=progress,
        )

    baseline = pair.real_against_real(seed)
    sides = (*baseline, pair.generated.halves(seed)[0])
    size = min(len(side) for side in sides)
    half, rest, made = (side.take(slice(size)) for side in sides)
    rivals = {name: ESTIMATORS[name].make() for name in _RIVALS}
    return Diagnosis(
        ceiling=measure(half, rest),
        model=measure(half, made),
        quarter=measure(half.take(slice(size // 2)), made.take(slice(size // 2))),
        rivals={
            name: measure(half, made, rival) for name, rival in rivals.items() if rival != model
        },
        control=measure(half, _altered(rest, seed)),
    )


def _altered(side: Side, seed: int) -> Side:
    """A tenth of the rows replaced by near-copies of a few of the others.

    Of many choices the one whose mean is closest to that of the data, so that the mean hardly
    betrays it.
    """
    rng, x = np.random.default_rng(seed), side.x
    altered = round(_ALTERED * len(x))
    kept, sd = x[altered:], x.std(0)
    z = (kept - kept.mean(0)) / np.where(sd > 0, sd, 1.0)
    choices = rng.integers(0, len(kept), (_CHOICES, _COPIED))
    copied = kept[choices[np.argmin([(z[rows].mean(0) ** 2).sum() for rows in choices])]]
    jitter = _JITTER * sd * rng.normal(size=(altered, x.shape[1]))
    near_copies = copied[rng.integers(0, _COPIED, altered)] + jitter
    return side.take(slice(altered, None)).preceded_by(near_copies)
