"""What a family of metrics gets, and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tradeoff._extras import import_extra
from tradeoff._registry import resolve
from tradeoff._result import Result
from tradeoff._sides import Sides
from tradeoff.exceptions import InvalidInputError
from tradeoff.metrics.registry import FAMILIES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from tradeoff.core.curve import PRCurve
    from tradeoff.curves import CurveEstimate, Diagnosis
    from tradeoff.curves.counted import CountedCurve
    from tradeoff.metrics.registry import Family
    from tradeoff.metrics.score import Score
    from tradeoff.samples import Pair

__all__ = ["Measured", "MeasuredCurve", "Request", "check_families", "measure"]


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
        diagnosis: Real against real, and known losses, if they were asked for.
        single: The curve of a single split, if a certificate or an explanation was asked for.
        certificate: The line that the true curve does not exceed, if it was asked for.
    """

    estimate: CurveEstimate | CountedCurve
    band: PRCurve
    diagnosis: Diagnosis | None = None
    single: CurveEstimate | None = None
    certificate: PRCurve | None = None


@dataclass(frozen=True, kw_only=True)
class Measured(Result):
    """What one or several families measured.

    Args:
        scores: Scores by key.
        values: For each side, values of its single samples by key, each of shape (n,).
        provenance: How they were measured.
        curve: The curve, if it was asked for.
        has_few_values: Whether a side repeats so few samples that a curve cannot be estimated.

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
        )


def check_families(keys: Sequence[str]) -> None:
    """Check that the packages which metrics need are installed."""
    for family in _families(keys):
        if family.extra is not None:
            package, extra = family.extra
            import_extra(package, extra=extra, purpose=f"The family {family.name} of metrics")


def measure(pair: Pair, request: Request) -> Measured:
    """Everything that was asked for, each function once, scores in the order of the keys."""
    functions: dict[Any, list[str]] = {}
    for key in request.keys:
        family = FAMILIES[key.partition(".")[0]]
        if family.needs_labels and not all(any(side.labels) for side in pair):
            raise InvalidInputError(f"`{key}` needs labels of both sides: pass `label`.")
        functions.setdefault(family.measure, []).append(key)
    found = Measured(scores={})
    for function, keys in functions.items():
        found |= resolve(function)(pair, replace(request, keys=tuple(keys)))
    return replace(found, scores={key: found.scores[key] for key in request.keys})


def _families(keys: Sequence[str]) -> list[Family]:
    return [FAMILIES[name] for name in dict.fromkeys(key.partition(".")[0] for key in keys)]
