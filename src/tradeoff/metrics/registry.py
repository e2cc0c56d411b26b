"""Every metric by its key, declared once and without importing what measures it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tradeoff._registry import Registry, suggestion
from tradeoff.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["FAMILIES", "Family", "Metric", "check_counted", "find_metric", "resolve_keys"]

Better = Literal["higher", "lower", "neither"]


@dataclass(frozen=True)
class Metric:
    """One quantity.

    Args:
        key: Its name in results, such as ``knn.density``; the part before the dot is its family.
        meaning: What it says, in a few words.
        better: Which values are better: "higher", "lower", or "neither".
        range: Smallest and largest possible value.
        side: Side whose samples carry its values, "real" or "generated"; None if neither does.
        on_request: Whether it is measured only if it is named, and not with its family.
        expected: Function of the real `Side`, the number of generated samples and the `Request`
            that returns the `Baseline`, or None where there is none; or where it is, as
            ``package.module:name``. None for a metric without a baseline.
        fewest_real: Smallest number of real samples with which it has a baseline.
        fewest_ranks: The same in multiples of k + 1, for metrics of neighbors.
        needs_real: Whether it has no baseline if there are more generated than real samples, since
            parts of the real samples would be too small.
        needs_train: Whether it is measured only if the training set is given.

    Example:
        >>> from tradeoff.metrics import Metric
        >>> Metric("knn.density", "real neighborhoods that hold a generated sample").family
        'knn'
    """

    key: str
    meaning: str
    better: Better = "higher"
    range: tuple[float, float] = (0.0, 1.0)
    side: Literal["real", "generated"] | None = None
    on_request: bool = False
    expected: Any = None
    fewest_real: int = 1
    fewest_ranks: int = 0
    needs_real: bool = False
    needs_train: bool = False

    @property
    def family(self) -> str:
        """The part of the key before the dot."""
        return self.key.partition(".")[0]

    @property
    def arrow(self) -> str:
        """Direction of better values, as a sign."""
        return {"higher": "↑", "lower": "↓", "neither": ""}[self.better]


@dataclass(frozen=True)
class Family:
    """Metrics that are measured together.

    Args:
        name: Name by which all of them are asked for.
        measure: Function from a `Pair` and a `Request` to `Measured`, or where it is, as
            ``package.module:name``. Families with the same function are measured in one call.
        metrics: What it measures.
        by_default: Whether it is measured unless metrics are chosen.
        extra: Package that it needs, and the extra of tradeoff that installs it.
        needs_labels: Whether both sides must have labels.
        is_counted: Whether it can be counted part by part, with a frozen rule.
        sees_all: Whether it sees all views of the samples, rather than the first one or the one
            that is named, as in ``knn.precision@pixels``.
        steps: Function from a `Request` to the steps that its progress shows, or where it is; one
            step with the names of the families if not given.

    Example:
        >>> from tradeoff.metrics import FAMILIES
        >>> FAMILIES["copies"].by_default
        True
        >>> [metric.key for metric in FAMILIES["frechet"].metrics]
        ['frechet.distance']
    """

    name: str
    measure: Any
    metrics: tuple[Metric, ...]
    by_default: bool = False
    extra: tuple[str, str] | None = None
    needs_labels: bool = False
    is_counted: bool = False
    sees_all: bool = False
    steps: Any = None

    def __post_init__(self) -> None:
        for metric in self.metrics:
            if metric.family != self.name or not metric.key.partition(".")[2]:
                raise InvalidInputError(
                    f"Keys of the family `{self.name}` must begin with `{self.name}.`, got "
                    f"`{metric.key}`."
                )


_NEIGHBORS = "tradeoff.metrics.neighbors.family:measure"
_OF_NEIGHBORS = "tradeoff.metrics.neighbors.baselines:expected_"
_OF_MOMENTS = "tradeoff.metrics.moments.family:expected_"
_OF_COPIES = "tradeoff.metrics.copies:expected_"
_TORCH = ("torch", "torch")
_UNBOUNDED = (0.0, math.inf)

FAMILIES: Registry[Family] = Registry(
    "metric",
    "tradeoff.metrics",
    (
        Family(
            "curve",
            "tradeoff.metrics.curve:measure",
            (
                Metric("curve.precision", "share of generated samples that are realistic"),
                Metric("curve.recall", "share of the real data that the model covers"),
                Metric("curve.overlap", "what both sets have in common, in equal proportions"),
                Metric("curve.f_score", "highest F-score on the curve"),
                Metric("curve.area", "area under the whole curve"),
            ),
            by_default=True,
            is_counted=True,
            sees_all=True,
            steps="tradeoff.metrics.curve:steps_of",
        ),
        Family(
            "frontier",
            "tradeoff.metrics.curve:measure",
            (
                Metric("frontier.mauve", "MAUVE from held-out log-ratios; errs upward"),
                Metric(
                    "frontier.integral",
                    "frontier integral from held-out log-ratios; 0 is best, errs downward",
                    "lower",
                ),
            ),
            sees_all=True,
            steps="tradeoff.metrics.curve:steps_of",
        ),
        Family(
            "knn",
            _NEIGHBORS,
            (
                Metric(
                    "knn.precision",
                    "generated samples inside a real neighborhood",
                    side="generated",
                    expected=f"{_OF_NEIGHBORS}precision",
                    fewest_ranks=2,
                ),
                Metric(
                    "knn.recall",
                    "real samples inside a generated neighborhood",
                    side="real",
                    expected=f"{_OF_NEIGHBORS}recall",
                    fewest_ranks=2,
                    needs_real=True,
                ),
                Metric(
                    "knn.density",
                    "real neighborhoods around a generated sample; may exceed 1",
                    range=_UNBOUNDED,
                    side="generated",
                    expected=f"{_OF_NEIGHBORS}density_of",
                ),
                Metric(
                    "knn.coverage",
                    "real neighborhoods that hold a generated sample",
                    side="real",
                    expected=f"{_OF_NEIGHBORS}coverage_of",
                ),
                Metric(
                    "knn.authenticity",
                    "generated samples that are not too close to a real one",
                    side="generated",
                    expected=f"{_OF_NEIGHBORS}authenticity",
                    fewest_ranks=2,
                ),
                Metric(
                    "knn.realism",
                    "median depth inside real neighborhoods; 1 is the edge",
                    range=_UNBOUNDED,
                    side="generated",
                    on_request=True,
                    expected=f"{_OF_NEIGHBORS}realism",
                    fewest_real=1000,  # a median over samples left out in turn is biased
                ),
            ),
            by_default=True,
            extra=_TORCH,
        ),
        Family(
            "clipped",
            _NEIGHBORS,
            (
                Metric(
                    "clipped.density",
                    "density, robust to outliers",
                    side="generated",
                    expected=f"{_OF_NEIGHBORS}clipped_density",
                    fewest_ranks=4,
                    needs_real=True,
                ),
                Metric(
                    "clipped.coverage",
                    "coverage, robust to outliers",
                    side="real",
                    expected=f"{_OF_NEIGHBORS}clipped_coverage",
                    fewest_ranks=4,
                    needs_real=True,
                ),
            ),
            extra=_TORCH,
        ),
        Family(
            "cover",
            _NEIGHBORS,
            (
                Metric(
                    "cover.precision",
                    "generated samples surrounded by real ones",
                    side="generated",
                    expected=f"{_OF_NEIGHBORS}cover_precision",
                ),
                Metric(
                    "cover.recall",
                    "real samples surrounded by generated ones",
                    side="real",
                    expected=f"{_OF_NEIGHBORS}cover_recall",
                ),
            ),
            extra=_TORCH,
        ),
        Family(
            "frechet",
            "tradeoff.metrics.moments.family:measure_frechet",
            (
                Metric(
                    "frechet.distance",
                    "distance between Gaussian fits; 0 is best",
                    "lower",
                    _UNBOUNDED,
                    expected=f"{_OF_MOMENTS}frechet",
                    fewest_real=20,
                ),
            ),
            by_default=True,
            is_counted=True,
        ),
        Family(
            "kernel",
            "tradeoff.metrics.moments.family:measure_kernel",
            (
                Metric(
                    "kernel.distance",
                    "unbiased kernel distance; 0 is best",
                    "lower",
                    (-math.inf, math.inf),
                    expected=f"{_OF_MOMENTS}kernel",
                ),
            ),
            by_default=True,
        ),
        Family(
            "copies",
            "tradeoff.metrics.copies:measure",
            (
                Metric(
                    "copies.of_real",
                    "generated samples identical to a real one",
                    "lower",
                    side="generated",
                    expected=f"{_OF_COPIES}copies_of_real",
                ),
                Metric(
                    "copies.within",
                    "generated samples identical to an earlier one",
                    "lower",
                    side="generated",
                    expected=f"{_OF_COPIES}copies_within",
                ),
                Metric(
                    "copies.owed_to_training",
                    "generated samples that owe their closeness to the training set",
                    "lower",
                    needs_train=True,
                ),
                Metric(
                    "copies.of_training",
                    "generated samples identical to a training sample",
                    "lower",
                    side="generated",
                    needs_train=True,
                ),
                Metric(
                    "copies.near_training",
                    "generated samples closer to a training sample than real ones to one another",
                    "lower",
                    side="generated",
                    needs_train=True,
                ),
            ),
            by_default=True,
            sees_all=True,
        ),
        Family(
            "training",
            "tradeoff.metrics.memorization:measure",
            (
                Metric(
                    "training.c_t",
                    "data-copying statistic of Meehan et al. 2020; far below 0 if samples copy",
                    "neither",
                    (-math.inf, math.inf),
                    needs_train=True,
                ),
                Metric(
                    "training.authenticity",
                    "authenticity of Alaa et al. 2022, against the training set",
                    side="generated",
                    needs_train=True,
                ),
                Metric(
                    "training.fld_gap",
                    "generalization gap of FLD, Jiralerspong et al. 2023; below 0 if overfitted",
                    "neither",
                    (-math.inf, math.inf),
                    needs_train=True,
                ),
                Metric(
                    "training.distance",
                    "median distance to the closest training record (DCR)",
                    "neither",
                    _UNBOUNDED,
                    needs_train=True,
                ),
                Metric(
                    "training.protection",
                    "overfitting protection of DCR, SDMetrics; at most 1",
                    needs_train=True,
                ),
            ),
            extra=_TORCH,
        ),
    ),
)
"""Every family of metrics, by name."""


_USUAL_NAMES = {
    "f1": "curve.f_score",
    "f1_score": "curve.f_score",
    "fid": "frechet.distance",
    "frechet_distance": "frechet.distance",
    "frechet_inception_distance": "frechet.distance",
    "kid": "kernel.distance",
    "kernel_distance": "kernel.distance",
    "kernel_inception_distance": "kernel.distance",
    "improved_precision": "knn.precision",
    "improved_recall": "knn.recall",
    "prdc": "knn",
    "mauve": "frontier.mauve",
}
"""Names of the same quantities elsewhere; results have the key of the registry in any case."""

_SIMILAR_NAMES = {
    "mmd": "kernel.distance",
    "auc": "curve.area",
    "memorization": "copies.owed_to_training",
    "ct": "training.c_t",
    "fld": "training.fld_gap",
    "dcr": "training.distance",
    "duplicates": "copies.within",
}
"""Names of similar quantities elsewhere, for suggestions only."""


def all_metrics() -> dict[str, Metric]:
    """Every metric by its key."""
    return {metric.key: metric for family in FAMILIES.values() for metric in family.metrics}


def find_metric(key: str) -> Metric | None:
    """A metric by its key, whatever the view; None for numbers that only a protocol has."""
    return all_metrics().get(key.partition("@")[0])


def default_metrics(*, counted: bool = False) -> tuple[str, ...]:
    """Names of the families that are measured unless metrics are chosen.

    With `counted`, of those that can be counted part by part.
    """
    return tuple(
        family.name
        for family in FAMILIES.values()
        if family.by_default and (family.is_counted or not counted)
    )


def check_counted(keys: Iterable[str]) -> None:
    """Refuse metrics that cannot be counted part by part."""
    for key in keys:
        if not FAMILIES[key.partition(".")[0]].is_counted:
            can = ", ".join(default_metrics(counted=True))
            raise InvalidInputError(
                f"`{key}` needs all samples at once, and a frozen rule counts them part by part: "
                f"choose among {can}, or leave `rule` as it is."
            )


def full_key(name: str) -> str:
    """The key that a usual or short name means; the name itself if it means none.

    A short name is a key without its family: that of the curve, or else of the only default family
    that has one.

    Example:
        >>> from tradeoff.metrics.registry import full_key
        >>> full_key("recall"), full_key("coverage"), full_key("fid")
        ('curve.recall', 'knn.coverage', 'frechet.distance')
    """
    known = all_metrics()
    name = _USUAL_NAMES.get(_folded(name), name)
    if name in known or name in FAMILIES:
        return name
    if f"curve.{name}" in known:
        return f"curve.{name}"
    same = [f"{family}.{name}" for family in default_metrics() if f"{family}.{name}" in known]
    return same[0] if len(same) == 1 else name


def resolve_keys(metrics: Iterable[str], *, train: bool | None = None) -> tuple[str, ...]:
    """Keys of metrics and families, in the order in which they are declared.

    Usual and short names are accepted, see `full_key`. The name of a view after ``@`` is kept.

    Args:
        metrics: Names.
        train: Whether the training set is given; if not, what needs it is refused, and a family
            means the others of its metrics. None if that is not known yet.
    """
    known, wanted = all_metrics(), dict[tuple[str, str], None]()
    for asked in metrics:
        asked_name, _, view = asked.partition("@")
        name = full_key(asked_name)
        if name in known:
            keys = [name]
        elif name in FAMILIES:
            every = [one for one in FAMILIES[name].metrics if not one.on_request]
            plain = [one for one in every if train or not one.needs_train]
            keys = [one.key for one in plain or every]
        else:
            raise InvalidInputError(_unknown(name, known))
        if train is False and any(known[key].needs_train for key in keys):
            raise InvalidInputError(
                f"`{asked}` compares with the training set: pass `train` (--train PATH), with "
                "held-out data as `real`."
            )
        if view and FAMILIES[keys[0].partition(".")[0]].sees_all:
            raise InvalidInputError(
                f"`{asked}` cannot be measured in one view: `{name}` sees all views at once. Write "
                f"`{name}`."
            )
        wanted |= dict.fromkeys((key, view) for key in keys)
    if not wanted:
        raise InvalidInputError("`metrics` must name at least one metric or family. Got none.")
    places = {key: place for place, key in enumerate(known)}
    return tuple(
        f"{key}@{view}" if view else key
        for key, view in sorted(wanted, key=lambda one: places[one[0]])
    )


def _folded(name: str) -> str:
    return name.lower().replace("-", "_")


def _unknown(name: str, known: Iterable[str]) -> str:
    """What to write instead of a name that is too short, or of one that is not known."""
    same = next((key for key in known if key.partition(".")[2] == name), None)
    similar = _SIMILAR_NAMES.get(_folded(name), same)
    if similar is not None:
        return f"Unknown metric `{name}`. Did you mean `{similar}`?"
    return f"Unknown metric `{name}`. {suggestion(name, (*FAMILIES, *known))}"
