"""Losses by class: classes are a partition that no data has chosen, so all samples count."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from tradeoff._sides import Sides
from tradeoff._threads import single_threaded
from tradeoff.explain.result import ClassLoss, established_classes
from tradeoff.explain.shares import Flagged, count_parts
from tradeoff.inference import policy
from tradeoff.ratio.base import Projection, thin

if TYPE_CHECKING:
    import numpy.typing as npt

    from tradeoff.curves.estimate import CurveEstimate
    from tradeoff.inference.losses import Losses
    from tradeoff.samples import Pair

__all__ = ["class_losses", "classes_of", "lost_classes"]

_FEWEST_CLASSES = 2
_MOST_CLASSES = 200
_MOST_ROWS = 10_000
_STEPS = 100
_TOLERANCE = 1e-2


def classes_of(
    pair: Pair, estimate: CurveEstimate, *, seed: int
) -> tuple[tuple[str, ...], Sides[npt.NDArray[np.intp]], str] | None:
    """Names of classes, the class of each sample, and where they come from; None without classes.

    The last class is that of samples without one. If no generated sample has a label, a classifier
    fitted on the real samples of other folds labels both sides.
    """
    labels = Sides(*(side.labels for side in pair))
    if not any(labels.real):
        return None
    from_labels = any(labels.generated)
    known = {label for side in labels for label in side if label}
    names = tuple(sorted(known))
    if not _FEWEST_CLASSES <= len(names) <= _MOST_CLASSES:
        return None
    if from_labels:
        return names, labels.map(lambda side: _numbers(side, names)), "label"
    real = _numbers(labels.real, names)
    return names, _classified(pair, estimate, real, seed=seed), "classifier"


def lost_classes(
    pair: Pair, estimate: CurveEstimate, losses: Losses, *, seed: int
) -> dict[str, list[str]]:
    """Names of classes that surely contribute to an established loss, by its kind."""
    classes = classes_of(pair, estimate, seed=seed) if losses.kinds else None
    if classes is None:
        return {}
    clear = {
        kind: max(
            (min(loss.factor, policy.CLEAR_FACTOR) for loss in getattr(losses, kind)),
            default=policy.CLEAR_FACTOR,
        )
        for kind in ("recall", "precision")
    }
    flags = (Flagged("recall", clear["recall"]), Flagged("precision", clear["precision"]))
    found = class_losses(*classes[:2], estimate, flags, level=losses.level)
    return {kind: names for kind, names in established_classes(found, classes[2]).items() if names}


def _numbers(labels: tuple[str | None, ...], names: tuple[str, ...]) -> npt.NDArray[np.intp]:
    number = {name: i for i, name in enumerate(names)}
    return np.array([number.get(label, len(names)) if label else len(names) for label in labels])


@single_threaded
def _classified(
    pair: Pair, estimate: CurveEstimate, classes: npt.NDArray[np.intp], *, seed: int
) -> Sides[npt.NDArray[np.intp]]:
    """Classes of both sides by classifiers that have seen no sample of the fold."""
    folds = estimate.sides.map(lambda side: side.folds)
    found = Sides(*(np.zeros(len(side), np.intp) for side in pair))
    for fold in np.unique(folds.real):
        rest = thin(np.random.default_rng(seed), np.flatnonzero(folds.real != fold), _MOST_ROWS)
        project = Projection.fit(pair.real.x[rest], pair.real.x[rest])
        model = LogisticRegression(tol=_TOLERANCE, max_iter=_STEPS)
        if len(np.unique(classes[rest])) < 2:
            model = DummyClassifier()
        with warnings.catch_warnings():  # a classifier that is almost fitted is good enough
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(project(pair.real.x[rest]), classes[rest])
        for side, where, out in zip(pair, folds, found, strict=True):
            rows = where == fold
            if rows.any():
                out[rows] = model.predict(project(side.x[rows]))
    return found


def class_losses(
    names: tuple[str, ...],
    classes: Sides[npt.NDArray[np.intp]],
    estimate: CurveEstimate,
    flags: tuple[Flagged, Flagged],
    *,
    level: float,
) -> tuple[ClassLoss, ...]:
    """What each class contributes to the losses of recall and precision, in this order of flags.

    Classes are sorted by what they contribute to the loss of recall, and then of precision.
    """
    count = len(names) + 1
    counted = [
        count_parts(flagged, estimate, classes, count=count, level=level) for flagged in flags
    ]
    shares = [np.bincount(side, minlength=count) / len(side) for side in classes]
    found = [
        ClassLoss(
            name=name,
            real=float(shares[0][i]),
            generated=float(shares[1][i]),
            missed=float(counted[0].share[i]),
            missed_at_least=float(counted[0].at_least[i]),
            invented=float(counted[1].share[i]),
            invented_at_least=float(counted[1].at_least[i]),
        )
        for i, name in enumerate((*names, ""))
        if shares[0][i] or shares[1][i]
    ]
    return tuple(sorted(found, key=lambda one: (one.name == "", -one.missed, -one.invented)))
