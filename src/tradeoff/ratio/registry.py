"""Estimators by name, declared without importing them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any

from tradeoff._registry import Registry, resolve
from tradeoff.exceptions import InvalidInputError, first_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tradeoff.ratio.base import Estimator

__all__ = [
    "ESTIMATORS",
    "EstimatorDeclaration",
    "estimator_from_fields",
    "estimator_to_fields",
    "find_estimator",
]


@dataclass(frozen=True)
class EstimatorDeclaration:
    """An estimator that can be asked for by name.

    Args:
        name: Name of the estimator.
        about: What it is, in a few words.
        configuration: Class of its configuration, or where it is, as ``package.module:name``.
        options: Fields that differ from the defaults of the class.

    Example:
        >>> from tradeoff.ratio.registry import ESTIMATORS
        >>> ESTIMATORS["shrunk-gaussians"].make()
        Gaussians(shrunk=True)
    """

    name: str
    about: str
    configuration: Any
    options: Mapping[str, Any] = field(default_factory=dict)

    def make(self) -> Estimator:
        """The estimator with its defaults."""
        estimator: Estimator = resolve(self.configuration)(**self.options)
        return estimator


ESTIMATORS: Registry[EstimatorDeclaration] = Registry(
    "estimator",
    "tradeoff.estimators",
    (
        EstimatorDeclaration("logistic", "logistic regression", "tradeoff.ratio.logistic:Logistic"),
        EstimatorDeclaration(
            "trees", "gradient-boosted trees", "tradeoff.ratio.trees:BoostedTrees"
        ),
        EstimatorDeclaration(
            "gaussians", "a Gaussian fitted to each side", "tradeoff.ratio.gaussian:Gaussians"
        ),
        EstimatorDeclaration(
            "shrunk-gaussians",
            "Gaussians with shrunk covariances",
            "tradeoff.ratio.gaussian:Gaussians",
            {"shrunk": True},
        ),
        EstimatorDeclaration(
            "quantized", "counts in k-means clusters", "tradeoff.ratio.quantized:Quantized"
        ),
        EstimatorDeclaration(
            "kernel", "kernel density of each side", "tradeoff.ratio.kernel:KernelDensity"
        ),
        EstimatorDeclaration(
            "kernel-logistic",
            "logistic regression on kernels",
            "tradeoff.ratio.kernel_logistic:KernelLogistic",
        ),
        EstimatorDeclaration(
            "neighbors", "counts among nearest neighbors", "tradeoff.ratio.neighbors:Neighbors"
        ),
        *(
            EstimatorDeclaration(
                f"balls-{kind}", about, "tradeoff.ratio.balls:BallCounts", {"balls": kind}
            )
            for kind, about in (
                ("improved", "counts of the balls of improved precision and recall"),
                ("kernel", "counts of balls of one radius for each side"),
                ("coverage", "counts in balls around a sample, as in coverage"),
            )
        ),
        EstimatorDeclaration(
            "stack", "learned combination of several estimators", "tradeoff.ratio.stack:Stack"
        ),
        EstimatorDeclaration(
            "fast", "another name for logistic", "tradeoff.ratio.logistic:Logistic"
        ),
    ),
)
"""Every estimator, by name."""


def find_estimator(estimator: Any) -> Estimator:
    """An estimator by name, by its fields, as it is, or around a scikit-learn classifier."""
    if isinstance(estimator, str):
        return _adapted(ESTIMATORS[estimator].make())
    if isinstance(estimator, dict):
        return _adapted(estimator_from_fields(estimator))
    if isinstance(estimator, type):
        raise InvalidInputError(
            f"`estimator` must be configured. Got the class {estimator.__name__}: "
            f"write {estimator.__name__}()."
        )
    if not hasattr(estimator, "fit"):
        raise InvalidInputError(
            f"`estimator` must be a name or have `fit`. Got a {type(estimator).__name__}."
        )
    if hasattr(estimator, "get_params"):
        found: Estimator = resolve("tradeoff.ratio.classifier:Classifier")(estimator)
        return found
    _check_fields(estimator)
    return _adapted(estimator)


def _adapted(estimator: Any) -> Estimator:
    from tradeoff.ratio.base import Adapted, Estimator

    return estimator if isinstance(estimator, Estimator) else Adapted(estimator)


def _check_fields(estimator: Any) -> None:
    """Numbers and lists of numbers must be positive, and whole where the default is."""
    from tradeoff._validation import check_count, check_positive

    if not is_dataclass(estimator):
        return
    for f in fields(estimator):
        values = getattr(estimator, f.name)
        if isinstance(f.default, tuple) and not (isinstance(values, tuple) and values):
            raise InvalidInputError(
                f"`{f.name}` of {type(estimator).__name__} must be a tuple of numbers. "
                f"Got {values!r}."
            )
        defaults = f.default if isinstance(f.default, tuple) else (f.default,)
        for value in values if isinstance(values, tuple) else (values,):
            if type(defaults[0]) is int:
                check_count(f.name, value)
            elif type(defaults[0]) is float:
                check_positive(f.name, value)


def estimator_to_fields(estimator: Any) -> dict[str, Any] | None:
    """A registered estimator as its name and what differs from its defaults; None for others."""
    found = []
    for declaration in ESTIMATORS.values():
        kind = resolve(declaration.configuration)
        if type(estimator) is not kind or not is_dataclass(estimator):
            continue
        plain = kind(**declaration.options)
        changed = {
            f.name: _to_json(getattr(estimator, f.name))
            for f in fields(estimator)
            if getattr(estimator, f.name) != getattr(plain, f.name)
        }
        found.append({"name": declaration.name, **changed})
    return min(found, key=len, default=None)


def estimator_from_fields(values: Mapping[str, Any]) -> Estimator:
    """What `estimator_to_fields` described."""
    declaration = ESTIMATORS[str(values.get("name"))]
    options = {key: _from_json(value) for key, value in values.items() if key != "name"}
    kind = resolve(declaration.configuration)
    known = [f.name for f in fields(kind)] if is_dataclass(kind) else list(options)
    if unknown := [name for name in options if name not in known]:
        raise InvalidInputError(
            f"`estimator` has unknown fields: {', '.join(unknown)}. The estimator "
            f"{declaration.name} has {', '.join(known) or 'none'}."
        )
    try:
        estimator: Estimator = kind(**{**declaration.options, **options})
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"`estimator` has a wrong field: {first_line(error)}.") from None
    _check_fields(estimator)
    return estimator


def _to_json(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [_to_json(item) for item in value]
    return (estimator_to_fields(value) or repr(value)) if is_dataclass(value) else value


def _from_json(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_from_json(item) for item in value)
    return estimator_from_fields(value) if isinstance(value, dict) else value
