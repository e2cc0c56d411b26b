"""Choose a knob: every value against one reference, and the one that reaches a goal best."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

from tradeoff._registry import resolve
from tradeoff._result import Result
from tradeoff._text import in_percent
from tradeoff._validation import check_count, check_type
from tradeoff.comparison.curves import difference_of, value_of
from tradeoff.comparison.models import Comparison, check_left, compare_measured
from tradeoff.curves.folds import check_enough
from tradeoff.evaluation.pipeline import checked, open_real
from tradeoff.evaluation.result import Paged
from tradeoff.exceptions import InvalidInputError, first_line
from tradeoff.goals import Best
from tradeoff.inference import policy
from tradeoff.settings import Keywords, Settings, with_keywords

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tradeoff.curves import CurveEstimate

__all__ = ["Sweep", "SweepPoint", "sweep"]

_LARGEST_AREA = Best("area")


@dataclass(frozen=True, kw_only=True)
class SweepPoint(Result):
    """A value of the knob in the plane of precision and recall.

    Args:
        value: The value, as text.
        precision: Precision at λ = 1.5, for all values the same.
        precision_limits: Lower and upper limit; all limits of a sweep hold together.
        recall: Recall at λ = 1/1.5.
        recall_limits: Lower and upper limit.
        area: Area under the curve.
        is_pareto: Whether no other value has at least as much of both, and more of one.

    Example:
        >>> from tradeoff.comparison.sweep import SweepPoint
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
        goal: What the value is chosen for.
        best: The value that reaches the goal best; None if every value is refuted.
        alike: Values that cannot be told from the best with this many samples, the best among them.
        refuted: Values that surely miss the condition of the goal.
        level: Confidence level of all statements together.
        comparison: Evaluation of each value, and differences between them.
        failed: Values that could not be measured, and why: their samples are missing, broken or
            too much alike, or `generate` raised an error.

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

    _derived = ("sentences",)

    points: tuple[SweepPoint, ...]
    goal: Best
    best: str | None
    alike: tuple[str, ...]
    refuted: tuple[str, ...]
    level: float
    comparison: Comparison
    failed: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return str(resolve("tradeoff.report.blocks:text_of")(self))

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which value to take, and what that is worth."""
        confidence = f"with {in_percent(self.level)} confidence"
        given, found = self.goal.given, []
        if self.best is None:
            found.append(f"No value qualifies: {confidence}, all of them violate the condition.")
        else:
            (best,) = (point for point in self.points if point.value == self.best)
            if given is not None and (reached := _reached(self.goal, best)) < given.above:
                found.append(
                    f"No value has a measured {given.key} of {given.above:g} or more; "
                    f"{self.best} is closest, with {reached:.3f}."
                )
            else:
                found.append(f"{self.best} has the {self.goal}.")
            others = [value for value in self.alike if value != self.best]
            if others:
                alike = ", ".join(others)
                found.append(f"With this many samples, it cannot be distinguished from {alike}.")
            elif len(self.points) > len(self.refuted) + 1:
                left = "other value that is not ruled out" if self.refuted else "other value"
                found.append(f"It is better than every {left}, {confidence}.")
        if self.failed:
            found.append(f"Not measured: {', '.join(self.failed)}.")
        if self.refuted:
            found.append(f"Ruled out {confidence}: {', '.join(self.refuted)}.")
        if given is not None and self.best is not None:
            found.append(
                f"Measured {given.key} is an upper bound: it can show that {given.key} "
                f"does not reach {given.above:g}, but it cannot prove that it does."
            )
        return tuple(found)


@with_keywords(without=("rule", "protocol"), metrics="curve", diagnose=False)
def sweep(
    real: Any,
    generated: Mapping[Any, Any] | None = None,
    *,
    generate: Callable[[Any, int], Any] | None = None,
    values: Sequence[Any] = (),
    n: int = 2000,
    train: Any = None,
    goal: Best = _LARGEST_AREA,
    progress: bool = True,
    **settings: Unpack[Keywords],
) -> Sweep:
    """Measure a model at several values of a sampling parameter (a knob), and choose one.

    All statements about the curve hold together at the confidence level.

    Args:
        real: Samples of real data, as for :func:`~tradeoff.evaluate`.
        generated: Samples of each value, by the value. Give either these or `generate`.
        generate: Function of a value and a number n that returns n samples.
        values: Values of the knob that are passed to `generate`; tuples for two knobs.
        n: Number of samples that are generated for each value.
        train: Real samples on which the model was trained, as for :func:`~tradeoff.evaluate`; then
            copies of them are measured, too, for each value on its own.
        goal: What to choose for: ``Best("area")``, ``Best("f_score")``,
            ``Best("precision", lam=2)``, ``Best("precision", given=Above("recall", 0.8))``, or the
            last two the other way round.
        progress: Whether to show progress lines.
        **settings: Settings of the evaluations.

    Example:
        >>> import numpy as np
        >>> from tradeoff import Above, Best, sweep
        >>> rng = np.random.default_rng(0)
        >>> real = rng.normal(0, 1, (1000, 1))
        >>> made = {0.2: rng.normal(0, 0.2, (1000, 1)), 1.0: rng.normal(0, 1, (1000, 1))}
        >>> result = sweep(
        ...     real=real, generated=made, estimator="gaussians", progress=False,
        ...     goal=Best("precision", given=Above("recall", 0.8)),
        ... )
        >>> result.best, result.refuted
        ('1.0', ('0.2',))
    """
    _check_goal(goal)
    if (generated is None) == (generate is None):
        raise InvalidInputError("Either `generated` or `generate` must be given, and not both.")
    chosen = Settings.of({**defaults(train), **settings})
    if generated is not None:
        check_type("generated", generated, Mapping)
        named = dict(zip(_names(list(generated)), generated.values(), strict=True))
        failed: dict[str, str] = {}
    else:
        real = open_real(real, _checked(chosen))  # before anything is generated
        named, failed = _generated(generate, values, n)
    return sweep_sources(real, named, goal, chosen, train=train, failed=failed, progress=progress)


def defaults(train: Any) -> dict[str, Any]:
    """Settings of a sweep unless others are chosen, with a training set or without (None)."""
    metrics = "curve" if train is None else ("curve", "copies")
    return {"metrics": metrics, "diagnose": False}


def _generated(generate: Any, values: Any, n: int) -> tuple[dict[str, Any], dict[str, str]]:
    """Samples of each value by its name, and why others have none."""
    if not callable(generate):
        raise InvalidInputError(f"`generate` must be a function. Got {type(generate).__name__}.")
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidInputError(f"`values` must list values of the knob. Got {values!r}.")
    knobs, count = list(values), check_count("n", n)
    if len(knobs) < 2:
        raise InvalidInputError(
            f"`values` must hold at least two values of the knob. Got {len(knobs)}."
        )
    names = _names(knobs)
    check_enough("generated", count)
    named, failed = {}, {}
    for name, value in zip(names, knobs, strict=True):
        try:
            named[name] = generate(value, count)
        except Exception as error:  # the samples of the other values are worth keeping
            failed[name] = f"`generate` raised {type(error).__name__}: {first_line(error)}."
    return named, failed


def _names(knobs: Sequence[Any]) -> list[str]:
    """A text for each value."""
    names = [
        ", ".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)
        for value in knobs
    ]
    for i, name in enumerate(names):
        if name in names[:i] or knobs[i] in knobs[:i]:
            raise InvalidInputError(f"Each value of the knob must be given once. Got {name} twice.")
    return names


def _check_goal(goal: Best) -> None:
    if not isinstance(goal, Best):
        raise InvalidInputError(f'`goal` must be a goal such as Best("area"). Got {goal!r}.')
    if goal.given is not None and goal.given.lam is not None:
        raise InvalidInputError("`given` of the goal must have no `lam` of its own in a sweep.")


def _checked(settings: Settings) -> Settings:
    if not any(key.partition(".")[0] == "curve" for key in settings.metrics or ()):
        raise InvalidInputError("`metrics` must contain the curve, which values are chosen by.")
    return checked(settings)


def sweep_sources(
    real: Any,
    generated: Mapping[str, Any],
    goal: Best,
    settings: Settings,
    *,
    train: Any = None,
    failed: Mapping[str, str] | None = None,
    progress: bool,
) -> Sweep:
    """Several values of a knob by complete settings; see `sweep`.

    `failed` are values that could not be generated, and why.
    """
    reasons = dict(failed or {})
    if reasons:
        check_left(generated, reasons)
    comparison, estimates = compare_measured(
        real, generated, _checked(settings), train=train, failed=reasons, progress=progress
    )
    chosen = choose(estimates, goal, settings.level)
    return Sweep(
        goal=goal,
        level=settings.level,
        comparison=comparison,
        failed=reasons,
        **chosen._asdict(),
    )


class Choice(NamedTuple):
    """The fields of a `Sweep` that are computed from estimates."""

    points: tuple[SweepPoint, ...]
    best: str | None
    alike: tuple[str, ...]
    refuted: tuple[str, ...]


def choose(estimates: Mapping[str, CurveEstimate], goal: Best, level: float) -> Choice:
    """The value that reaches a goal best, by estimates that share their real samples and folds."""
    points = _points(estimates, level)
    refuted = tuple(
        point.value
        for point in points
        if goal.given is not None
        and getattr(point, f"{goal.given.key}_limits")[1] < goal.given.above
    )
    best, alike = _best(estimates, points, goal, refuted, level)
    return Choice(points, best, alike, refuted)


def _reached(goal: Best, point: SweepPoint) -> float:
    """The measured value that the condition of a goal is about; infinite without one."""
    return inf if goal.given is None else float(getattr(point, goal.given.key))


def _points(estimates: Mapping[str, CurveEstimate], level: float) -> tuple[SweepPoint, ...]:
    """All values with limits that hold together."""
    joint = 1.0 - (1.0 - level) / (2 * len(estimates))
    shown = {
        name: [estimate.shown(kind, lam, level=joint) for kind, lam in policy.COMMON_SLOPES.items()]
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
    goal: Best,
    refuted: Sequence[str],
    level: float,
) -> tuple[str | None, tuple[str, ...]]:
    """The best value that is not refuted, and those that cannot be told from it."""
    left = [point.value for point in points if point.value not in refuted]
    if not left:
        return None, ()
    reached = {point.value: _reached(goal, point) for point in points}
    fitting = left
    if goal.given is not None:
        bar = goal.given.above
        fitting = [name for name in left if reached[name] >= bar]
        if not fitting:  # the closest one
            fitting, goal = left, Best(goal.given.key)

    def order(name: str) -> tuple[float, float, float]:
        estimate = estimates[name]
        return value_of(goal, estimate), reached[name], float(estimate.curve.area)

    best = max(fitting, key=order)
    pairs = len(list(combinations(estimates, 2)))
    joint = 1.0 - (1.0 - level) / max(1, pairs)
    alike = tuple(
        name
        for name in left
        if name == best or not _is_surely_lower(goal, estimates[name], estimates[best], joint)
    )
    return best, alike


def _is_surely_lower(goal: Best, first: CurveEstimate, second: CurveEstimate, level: float) -> bool:
    """Whether the first value is lower than the second, by a paired test at a level."""
    tested = difference_of(goal, first, second, level=level)
    return bool(tested.value < 0 and tested.p_value < 1.0 - level)
