"""Choose a knob: every value against one reference, and the one that fits a wish best."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from tradeoff._registry import resolve
from tradeoff._result import Result
from tradeoff._sides import by_name
from tradeoff._text import in_percent
from tradeoff._validation import check_count
from tradeoff.core.headline import HEADLINE_SLOPES
from tradeoff.curves.comparison import compare_curves
from tradeoff.evaluation.comparison import Comparison, compare_measured
from tradeoff.evaluation.result import Paged
from tradeoff.exceptions import InvalidInputError
from tradeoff.settings import Settings, as_names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tradeoff.curves import CurveEstimate

__all__ = ["Sweep", "SweepPoint", "Wish", "sweep"]

_AT_LEAST = re.compile(r"highest (precision|recall) with (precision|recall) at least (\d*\.?\d+)")
_AT_SLOPE = re.compile(r"best at (?:λ|lam|lambda)? ?=? ?(\d*\.?\d+)")
_AREA = "largest area"
_F_SCORE = "highest F-score"


@dataclass(frozen=True, kw_only=True)
class Wish(Result):
    """What a value of a knob is chosen for.

    Args:
        key: What is to be high: "area", "f_score", "precision" or "recall".
        lam: Slope at which precision or recall is taken; None for the area and the F-score.
        condition: What must not be too low, "precision" or "recall"; None without a condition.
        at_least: Bound of the condition.

    Example:
        >>> from tradeoff.evaluation.sweeps import Wish
        >>> Wish.parse("highest precision with recall at least 0.8").at_least
        0.8
        >>> Wish.parse("best at λ = 2").lam
        2.0
    """

    key: str = "area"
    lam: float | None = None
    condition: str | None = None
    at_least: float = 0.0

    @classmethod
    def parse(cls, text: str) -> Wish:
        """Read a wish: four kinds of sentences are understood."""
        plain = " ".join(str(text).split())
        if plain in (_AREA, _F_SCORE):
            return cls(key="area" if plain == _AREA else "f_score")
        if found := _AT_LEAST.fullmatch(plain):
            key, condition, bound = found.groups()
            if key != condition and float(bound) <= 1.0:
                return cls(
                    key=key, lam=HEADLINE_SLOPES[key], condition=condition, at_least=float(bound)
                )
        if found := _AT_SLOPE.fullmatch(plain):
            lam = float(found.group(1))
            if lam > 0:
                return cls(key="precision" if lam >= 1 else "recall", lam=lam)
        raise InvalidInputError(
            f'`wish` must read like "{_AREA}", "{_F_SCORE}", "best at λ = 2" or '
            f'"highest precision with recall at least 0.8". Got {text!r}.'
        )

    def value_of(self, estimate: CurveEstimate) -> float:
        """What is to be high."""
        curve = estimate.curve
        if self.key == "area":
            return float(curve.area)
        return float(curve.f_score(1.0) if self.lam is None else getattr(curve, self.key)(self.lam))

    def is_surely_lower(self, first: CurveEstimate, second: CurveEstimate, level: float) -> bool:
        """Whether the first value is lower than the second, by a paired test at a level."""
        slopes = (1.0,) if self.lam is None else (self.lam,)
        found = compare_curves(first, second, lam=slopes, level=level)
        tested = getattr(found, self.key)
        if self.lam is not None:
            tested = tested[self.lam]
        return bool(tested.value < 0 and tested.p_value < 1.0 - level)


@dataclass(frozen=True, kw_only=True)
class SweepPoint(Result):
    """A value of the knob in the plane of precision and recall.

    Args:
        value: The value, as text.
        precision: Precision at λ = 20.
        precision_limits: Lower and upper limit; all limits of a sweep hold together.
        recall: Recall at λ = 0.4.
        recall_limits: Lower and upper limit.
        area: Area under the curve.
        is_pareto: Whether no other value has at least as much of both, and more of one.

    Example:
        >>> from tradeoff.evaluation.sweeps import SweepPoint
        >>> limits = {"precision_limits": (0.8, 1.0), "recall_limits": (0.7, 0.8)}
        >>> SweepPoint(value="0.7", precision=0.9, recall=0.75, area=0.7, **limits).is_pareto
        False
    """

    value: str
    precision: float
    precision_limits: tuple[float, float]
    recall: float
    recall_limits: tuple[float, float]
    area: float
    is_pareto: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class Sweep(Paged, Result):
    """Values of a knob, measured against the same real samples, and the one to take.

    Args:
        points: The values in their order.
        wish: What the value is chosen for, as it was given.
        best: The value that fits the wish best; None if every value is refuted.
        alike: Values that cannot be told from the best with this many samples, the best among them.
        refuted: Values that surely miss the condition of the wish.
        level: Confidence level of all statements together.
        comparison: Evaluation of each value, and differences between them.

    Example:
        A knob that trades recall for precision:

        >>> import numpy as np
        >>> from tradeoff import sweep
        >>> rng = np.random.default_rng(0)
        >>> real = rng.normal(0, 1, (1000, 1))
        >>> def generate(scale, n):
        ...     return rng.normal(0, scale, (n, 1))
        >>> result = sweep(
        ...     real=real, generate=generate, values=(0.1, 1.0, 6.0), n=1000,
        ...     estimator="gaussians", progress=False,
        ... )
        >>> result.best, result.alike
        ('1.0', ('1.0',))
    """

    points: tuple[SweepPoint, ...]
    wish: str
    best: str | None
    alike: tuple[str, ...]
    refuted: tuple[str, ...]
    level: float
    comparison: Comparison

    def __str__(self) -> str:
        return str(resolve("tradeoff.report.text:sweep_summary_of")(self))

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which value to take, and what that is worth."""
        confidence = f"with {in_percent(self.level)} confidence"
        found = []
        if self.best is None:
            found.append(f"No value qualifies: {confidence}, all of them violate the condition.")
        else:
            found.append(f"Take {self.best} ({self.wish}).")
            others = [value for value in self.alike if value != self.best]
            if others:
                alike = ", ".join(others)
                found.append(f"With this many samples, it cannot be distinguished from {alike}.")
            elif len(self.points) > len(self.refuted) + 1:
                left = "other value that is not ruled out" if self.refuted else "other value"
                found.append(f"It is better than every {left}, {confidence}.")
        if self.refuted:
            found.append(f"Ruled out {confidence}: {', '.join(self.refuted)}.")
        wish = Wish.parse(self.wish)
        if wish.condition is not None and self.best is not None:
            found.append(
                f"Measured {wish.condition} is an upper bound: it can show that {wish.condition} "
                f"does not reach {wish.at_least:g}, but it cannot prove that it does."
            )
        return tuple(found)


@by_name
def sweep(
    *,
    real: Any,
    generated: Mapping[Any, Any] | None = None,
    generate: Callable[[Any, int], Any] | None = None,
    values: Sequence[Any] = (),
    n: int = 2000,
    wish: str = _AREA,
    metrics: str | Sequence[str] | None = "curve",
    encoder: Any = None,
    estimator: Any = "stack",
    folds: int = 5,
    repeats: Literal["auto", "copies", "draws"] = "auto",
    level: float = 0.95,
    diagnose: bool = False,
    explain: bool = False,
    seed: int = 0,
    progress: bool = True,
) -> Sweep:
    """Measure a model at several values of a sampling parameter (a knob), and choose one.

    Args:
        real: Samples of real data, as for :func:`~tradeoff.evaluate`.
        generated: Samples of each value, by the value. Give either these or `generate`.
        generate: Function of a value and a number n that returns n samples.
        values: Values of the knob that are passed to `generate`; tuples for two knobs.
        n: Number of samples that are generated for each value.
        wish: What to choose for: "largest area", "highest F-score", "best at λ = 2", or "highest
            precision with recall at least 0.8" (or the other way round).
        metrics: Keys or families of metrics, the curve among them.
        encoder: Encoder of the samples.
        estimator: Estimator of the likelihood ratio behind the curve.
        folds: Number of cross-fitting folds.
        repeats: What equal samples are for the curve: "copies" of one sample, independent "draws"
            of one value, or "auto" to decide by how they repeat.
        level: Probability with which all statements hold together.
        diagnose: Whether to plant known losses in the real data, to test which would be detected.
        explain: Whether to look for what each value misses and invents, for the report.
        seed: Seed of everything random.
        progress: Whether to show progress lines.

    Example:
        >>> import numpy as np
        >>> from tradeoff import sweep
        >>> rng = np.random.default_rng(0)
        >>> real = rng.normal(0, 1, (1000, 1))
        >>> made = {0.2: rng.normal(0, 0.2, (1000, 1)), 1.0: rng.normal(0, 1, (1000, 1))}
        >>> result = sweep(
        ...     real=real, generated=made, estimator="gaussians", progress=False,
        ...     wish="highest precision with recall at least 0.8",
        ... )
        >>> result.best, result.refuted
        ('1.0', ('0.2',))
    """
    parsed = Wish.parse(wish)
    if (generated is None) == (generate is None):
        raise InvalidInputError("Either `generated` or `generate` must be given, and not both.")
    knobs = list(values if generated is None else generated)
    _check_distinct(knobs)
    if generate is not None:
        if not knobs:
            raise InvalidInputError("`values` must hold at least two values of the knob. Got none.")
        count = check_count("n", n)
        generated = {value: generate(value, count) for value in knobs}
    assert generated is not None
    settings = Settings(
        metrics=as_names(metrics),
        encoder=encoder,
        estimator=estimator,
        folds=folds,
        repeats=repeats,
        level=level,
        diagnose=diagnose,
        explain=explain,
        seed=seed,
    )
    named = {_name(value): samples for value, samples in generated.items()}
    return sweep_sources(real, named, parsed, wish, settings, progress=progress)


def _check_distinct(values: Sequence[Any]) -> None:
    for i, value in enumerate(values):
        if value in values[:i] or _name(value) in map(_name, values[:i]):
            raise InvalidInputError(
                f"Each value of the knob must be given once. Got {value} twice."
            )


def sweep_sources(
    real: Any,
    generated: Mapping[str, Any],
    parsed: Wish,
    wish: str,
    settings: Settings,
    *,
    progress: bool,
) -> Sweep:
    """Several values of a knob by complete settings; see `sweep`."""
    if not any(key.partition(".")[0] == "curve" for key in settings.metrics or ()):
        raise InvalidInputError("`metrics` must contain the curve, which values are chosen by.")
    comparison, estimates = compare_measured(real, generated, settings, progress=progress)
    if left_out := [name for name in generated if name not in estimates]:
        raise InvalidInputError(
            f"`{left_out[0]}` repeats too few distinct samples for a curve: leave it out."
        )
    chosen = choose(estimates, parsed, settings.level)
    return Sweep(wish=wish, level=settings.level, comparison=comparison, **chosen._asdict())


class Choice(NamedTuple):
    """The fields of a `Sweep` that are computed from estimates."""

    points: tuple[SweepPoint, ...]
    best: str | None
    alike: tuple[str, ...]
    refuted: tuple[str, ...]


def choose(estimates: Mapping[str, CurveEstimate], wish: Wish, level: float) -> Choice:
    """The value that fits a wish best, by estimates that share their real samples and folds."""
    points = _points(estimates, level)
    refuted = tuple(
        point.value
        for point in points
        if wish.condition is not None
        and getattr(point, f"{wish.condition}_limits")[1] < wish.at_least
    )
    best, alike = _best(estimates, points, wish, refuted, level)
    return Choice(points, best, alike, refuted)


def _name(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _points(estimates: Mapping[str, CurveEstimate], level: float) -> tuple[SweepPoint, ...]:
    """All values with limits that hold together."""
    joint = 1.0 - (1.0 - level) / (2 * len(estimates))
    shown = {
        name: [estimate.shown(kind, lam, level=joint) for kind, lam in HEADLINE_SLOPES.items()]
        for name, estimate in estimates.items()
    }
    places = {name: (precision[0], recall[0]) for name, (precision, recall) in shown.items()}
    return tuple(
        SweepPoint(
            value=name,
            precision=precision[0],
            precision_limits=precision[1:],
            recall=recall[0],
            recall_limits=recall[1:],
            area=float(estimates[name].curve.area),
            is_pareto=not any(
                other != places[name] and other[0] >= precision[0] and other[1] >= recall[0]
                for other in places.values()
            ),
        )
        for name, (precision, recall) in shown.items()
    )


def _best(
    estimates: Mapping[str, CurveEstimate],
    points: Sequence[SweepPoint],
    wish: Wish,
    refuted: Sequence[str],
    level: float,
) -> tuple[str | None, tuple[str, ...]]:
    """The best value that is not refuted, and those that cannot be told from it."""
    left = [point.value for point in points if point.value not in refuted]
    if not left:
        return None, ()
    fitting = [
        point.value
        for point in points
        if point.value in left
        and (wish.condition is None or getattr(point, wish.condition) >= wish.at_least)
    ]
    best = max(
        fitting or left,
        key=lambda name: (wish.value_of(estimates[name]), estimates[name].curve.area),
    )
    pairs = len(list(combinations(estimates, 2)))
    joint = 1.0 - (1.0 - level) / max(1, pairs)
    alike = tuple(
        name
        for name in left
        if name == best or not wish.is_surely_lower(estimates[name], estimates[best], joint)
    )
    return best, alike
