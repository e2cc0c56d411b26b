"""What a family of metrics gets, and what it gives back."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tradeoff._extras import import_extra
from tradeoff._progress import Step, step
from tradeoff._registry import resolve
from tradeoff._result import Result
from tradeoff._sides import Sides
from tradeoff.core.curve import PRCurve
from tradeoff.curves import CurveEstimate, Diagnosis
from tradeoff.curves.counted import CountedCurve
from tradeoff.curves.views import SeenView, seen_views
from tradeoff.exceptions import InvalidInputError
from tradeoff.inference import policy
from tradeoff.inference.losses import Losses
from tradeoff.inference.randomization import Owed
from tradeoff.inference.shares import normal_quantile
from tradeoff.metrics.neighbors.parts import NearestReal
from tradeoff.metrics.registry import FAMILIES, find_metric
from tradeoff.metrics.score import Baseline, Score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tradeoff.metrics.registry import Family
    from tradeoff.samples import Pair

__all__ = [
    "Measured",
    "MeasuredCurve",
    "MeasuredTraining",
    "Request",
    "baseline_of",
    "check_families",
    "measure",
    "part_sizes",
    "steps_of",
]

_EXPECTED = "expected values"


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is to be measured, and how.

    Args:
        keys: Keys of the metrics.
        estimator: Estimator of the likelihood ratio behind the curve.
        folds: Number of cross-fitting folds.
        repeats: What equal rows are: "copies", "draws", or "auto" to decide by how they repeat.
        k: Rank k of the neighbor that a neighborhood reaches.
        diagnose: Whether known losses are planted, to test which ones would be detected.
        explain: Whether the curve is counted on a single split too, for an explanation.
        level: Confidence level of the intervals.
        seed: Seed of everything random.
        progress: Whether progress is shown.

    Example:
        >>> from tradeoff.metrics import Request
        >>> Request(keys=("copies.within",)).level
        0.95
    """

    keys: tuple[str, ...]
    estimator: Any = "stack"
    folds: int = 5
    repeats: str = "auto"
    k: int = 5
    diagnose: bool = True
    explain: bool = False
    level: float = 0.95
    seed: int = 0
    progress: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class MeasuredCurve(Result):
    """The curve of a pair, and how much it can be trusted.

    Args:
        estimate: The estimated curve.
        band: The curve with its band.
        losses: What the curve establishes.
        diagnosis: Real against real, and known losses, if they were asked for.
        single: The curve of a single split, if a certificate or an explanation was asked for.
        certificate: The line that the true curve does not exceed, if it was asked for.
        views: What each of several views of the samples shows; empty if there is one.
    """

    estimate: CurveEstimate | CountedCurve
    band: PRCurve
    losses: Losses
    diagnosis: Diagnosis | None = None
    single: CurveEstimate | None = None
    certificate: PRCurve | None = None
    views: tuple[SeenView, ...] = ()

    @classmethod
    def of(
        cls, estimate: CurveEstimate | CountedCurve, *, level: float = 0.95, **more: Any
    ) -> MeasuredCurve:
        """The curve with its band and losses at a confidence level.

        Args:
            estimate: The estimated curve.
            level: Confidence level.
            more: The other fields.
        """
        band, losses = estimate.with_band(level=level), estimate.losses(level=level)
        if isinstance(estimate, CurveEstimate):
            more["views"] = seen_views(estimate, level=level)
        return cls(estimate=estimate, band=band, losses=losses, **more)


@dataclass(frozen=True, eq=False, kw_only=True)
class MeasuredTraining(Result):
    """How generated samples relate to the training set and to held-out samples.

    Args:
        owed: Share of the samples that owe their closeness to the training set.
        close: The same of those that are closer than real samples come to one another.
        nearest: The nearest real samples of each generated one, in both parts.
        is_close: Whether each generated sample is that close to a real one, shape (n,).
        duplicates: Share of held-out samples that are near-duplicates of a training sample.
    """

    owed: Owed
    close: Owed
    nearest: NearestReal
    is_close: npt.NDArray[np.bool_]
    duplicates: float


@dataclass(frozen=True, kw_only=True)
class Measured(Result):
    """What one or several families measured.

    Args:
        scores: Scores by key.
        values: For each side, values of its single samples by key, each of shape (n,).
        provenance: How they were measured.
        curve: The curve, if it was asked for.
        has_few_values: Whether a side repeats so few samples that a curve cannot be estimated.
        training: The comparison with the training set, if it was asked for.

    Example:
        >>> from tradeoff.metrics import Measured, Score
        >>> Measured(scores={"toy.mean": Score(value=0.5)}).values.real
        {}
    """

    scores: Mapping[str, Score]
    values: Sides[Mapping[str, npt.NDArray[Any]]] = Sides({}, {})  # noqa: RUF009, a plain tuple
    provenance: Mapping[str, Any] = field(default_factory=dict)
    curve: MeasuredCurve | None = None
    has_few_values: bool = False
    training: MeasuredTraining | None = None

    def __or__(self, other: Measured) -> Measured:
        """Both together."""
        real, generated = (
            {**ours, **theirs} for ours, theirs in zip(self.values, other.values, strict=True)
        )
        return Measured(
            scores={**self.scores, **other.scores},
            values=Sides(real, generated),
            provenance={**self.provenance, **other.provenance},
            curve=self.curve if other.curve is None else other.curve,
            has_few_values=self.has_few_values or other.has_few_values,
            training=self.training if other.training is None else other.training,
        )


def _with_baseline(key: str, score: Score, pair: Pair, request: Request) -> Score:
    """A score with the baseline that its metric declares, unless it has one already."""
    baseline = baseline_of(key, pair, request) if score.expected is None else None
    metric = find_metric(key)
    if baseline is None or metric is None:
        return score
    if not baseline.error:
        return replace(score, expected=baseline.value)
    least, most = metric.range
    distance = normal_quantile(request.level) * baseline.error
    return replace(
        score,
        expected=baseline.value,
        expected_low=max(baseline.value - distance, least),
        expected_high=min(baseline.value + distance, most),
    )


def baseline_of(key: str, pair: Pair, request: Request) -> Baseline | None:
    """The baseline of a metric for the sizes of a pair, from its real samples alone.

    It is always that of the given numbers of samples: a closed form, the real samples each left
    out of the others, or a value between parts of the real samples that is extrapolated with its
    error.

    Args:
        key: Key of the metric.
        pair: Samples; of the generated ones only the number is used.
        request: Rank of neighbors and seed.

    Returns:
        The baseline; None for a metric that declares none, and with fewer real samples than it
        requires.
    """
    metric = find_metric(key)
    if metric is None or metric.expected is None:
        return None
    if len(pair.real) < max(metric.fewest_real, metric.fewest_ranks * (request.k + 1)):
        return None
    size = len(pair.generated)
    if metric.needs_real and size > policy.SAME_SIZE * len(pair.real):
        return None
    what = (key, "baseline", size, request.k, request.seed)
    make = resolve(metric.expected)
    found: Baseline | None = pair.real.remember(what, lambda: make(pair.real, size, request))
    return found


def part_sizes(n: int, size: int) -> tuple[int, int]:
    """Sizes of two parts of n samples with the ratio of both sides; halves if n is the smaller."""
    other = max(2, round(n * size / (n + size))) if size < n else n // 2
    return n - other if size < n else other, other


def check_families(keys: Sequence[str]) -> None:
    """Check that the packages which metrics need are installed."""
    for family in _families(keys):
        if family.extra is not None:
            package, extra = family.extra
            import_extra(package, extra=extra, purpose=f"The family {family.name} of metrics")


def measure(pair: Pair, request: Request) -> Measured:
    """Everything that was asked for, each function once; scores with baselines, by their keys."""
    for key in request.keys:
        family = FAMILIES[key.partition(".")[0]]
        if family.needs_labels and not all(any(side.labels) for side in pair):
            raise InvalidInputError(f"`{key}` needs labels of both sides: pass `label`.")
    parts: list[tuple[Pair, dict[str, str], Measured]] = []
    for (function, view), keys in _functions(request.keys).items():
        families = _families(keys)
        seen = pair.view(view) if view else pair if families[0].sees_all else pair.first
        names = {key.partition("@")[0]: key for key in keys}
        with nullcontext() if families[0].steps else step(_label(keys)):
            one = resolve(function)(seen, replace(request, keys=tuple(names)))
        parts.append((seen, names, one))
    found = Measured(scores={})
    with step(_EXPECTED):
        for seen, names, one in parts:
            found |= _with_baselines(seen, names, one, request)
    return replace(found, scores={key: found.scores[key] for key in request.keys})


def _with_baselines(
    pair: Pair, names: Mapping[str, str], found: Measured, request: Request
) -> Measured:
    """What was measured of a view with its baselines, by the keys that were asked for."""
    scores = {
        name: _with_baseline(key, found.scores[key], pair, request) for key, name in names.items()
    }
    if scores.keys() == found.scores.keys():
        return replace(found, scores=scores)
    values = (
        {names[key]: value for key, value in side.items() if key in names} for side in found.values
    )
    return replace(found, scores=scores, values=Sides(*values))


def steps_of(request: Request) -> list[Step]:
    """Steps that `measure` shows.

    Args:
        request: What is measured.
    """
    found: list[Step] = []
    for keys in _functions(request.keys).values():
        of_its_own = _families(keys)[0].steps
        found += resolve(of_its_own)(request) if of_its_own else [Step(_label(keys), weight=0.15)]
    return [*found, Step(_EXPECTED, weight=0.1)]


def _functions(keys: Sequence[str]) -> dict[tuple[Any, str], list[str]]:
    """Keys by the function that measures them and the view that is named."""
    functions: dict[tuple[Any, str], list[str]] = {}
    for asked in keys:
        key, _, view = asked.partition("@")
        family = FAMILIES[key.partition(".")[0]]
        functions.setdefault((family.measure, view), []).append(asked)
    return functions


def _label(keys: Sequence[str]) -> str:
    """Names of the families, and of the view if one is named."""
    view = keys[0].partition("@")[2]
    return ", ".join(family.name for family in _families(keys)) + (f" in {view}" if view else "")


def _families(keys: Sequence[str]) -> list[Family]:
    return [FAMILIES[name] for name in dict.fromkeys(key.partition(".")[0] for key in keys)]
