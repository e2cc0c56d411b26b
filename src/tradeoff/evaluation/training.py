r"""What is established of a model and its training set: copies, dependence, overfitting.

Overfitting is a difference of overlaps: of the generated samples with the training set, and with as
many held-out samples. Both are counted on the same generated samples, so the variance is paired,
doubled near identity, and :math:`S^2 / (K - 1)` is added, where :math:`S^2` is the variance between
the :math:`K` folds :cite:p:`nadeau2003`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from tradeoff._result import Result
from tradeoff._text import percent, percent_up
from tradeoff.curves.estimate import CurveEstimate, estimate_curve
from tradeoff.curves.overlaps import overlap_difference
from tradeoff.curves.repeats import Repeats
from tradeoff.inference import policy
from tradeoff.inference.randomization import Owed
from tradeoff.samples import Pair, Side

if TYPE_CHECKING:
    from tradeoff.metrics.family import Measured
    from tradeoff.settings import Settings

__all__ = ["COMPARING", "TrainingOutcome", "outcome_of"]

COMPARING = "comparing with the training set"


@dataclass(frozen=True, kw_only=True)
class TrainingOutcome(Result):
    """What is established of a model and its training set.

    Args:
        level: Confidence level of each statement.
        samples: Number of training samples.
        owed: Share of generated samples that owe their closeness to the training set.
        close: The same of samples that are closer than real ones come to one another.
        difference: Lower limit of the total variation distance between the training set and the
            held-out data; None if no difference was found. With one, nothing can be tested.
        is_checked: Whether these two could be compared.
        gain: Lower limit of what generated samples have in common with the training set beyond
            what they have with held-out data; None if nothing is established or no curve measured.
        duplicates: Share of held-out samples that are near-duplicates of a training sample; 0 where
            most training samples repeat another one.
        often: Largest number of generated samples that are that close to one training sample.

    Example:
        >>> from tradeoff.evaluation.training import TrainingOutcome
        >>> from tradeoff.inference.randomization import Owed
        >>> owed = Owed(value=0.05, at_least=0.03, p_value=0.001, detectable=0.01)
        >>> found = TrainingOutcome(samples=1000, owed=owed, close=owed)
        >>> found.state
        'copies'
        >>> print(found.sentences[0])
        Copies: at least 3.0% of the generated samples owe their closeness to the training set
        (about 5%), closer than real samples come to one another.
    """

    _derived = ("state", "sentences", "exact")

    level: float = 0.95
    samples: int
    owed: Owed
    close: Owed
    difference: float | None = None
    is_checked: bool = True
    gain: float | None = None
    duplicates: float = 0.0
    often: int = 0

    @property
    def state(self) -> str:
        """What is established: "copies", "depends", "nothing found", or "not comparable"."""
        if self.difference is not None or self.is_known:
            return "not comparable"
        if not self.owed.is_established:
            return "nothing found"
        return "copies" if self.close.is_established else "depends"

    @property
    def is_known(self) -> bool:
        """Whether most held-out samples are in the training set, so that nothing is held out."""
        return self.duplicates > policy.MOSTLY

    @property
    def faults(self) -> dict[str, str]:
        """Sentences on what is wrong, by a name for it."""
        if self.state == "not comparable":
            return {}
        found = {}
        if self.state == "copies":
            found["copies"] = (
                f"Copies: {_owing(self.close)}, closer than real samples come to one another."
            )
            if self.owed.at_least > self.close.at_least:
                found["copies"] += f" At any distance, at least {percent(self.owed.at_least)} do."
        if self.state == "depends":
            found["depends on its training set"] = (
                f"Depends on its training set: {_owing(self.owed)}, but are not shown to be closer "
                "than real samples come to one another."
            )
        if self.gain is not None:
            found["overfits"] = (
                f"Overfits: the generated samples have at least {percent(self.gain)} more in "
                "common with the training set than with held-out data."
            )
        return found

    @property
    def sentences(self) -> tuple[str, ...]:
        """All that is said, what is wrong first."""
        if self.difference is not None:
            return (
                "Whether the model copies cannot be tested: the training set and the held-out data "
                f"differ (they have at most {percent_up(1.0 - self.difference)} in common), so "
                "they are not two random parts of one set.",
            )
        if self.is_known:
            return (
                f"Whether the model copies cannot be tested: {percent(self.duplicates)} of the "
                "held-out samples are in the training set, or nearly. Give real samples that the "
                "model was not trained on.",
            )
        found = list(self.faults.values())
        if self.state == "nothing found":
            found.append(self._not_found())
        if not self.is_checked:
            found.append(
                "It was not checked whether the training set and the held-out data are alike: they "
                "hold too few distinct samples."
            )
        return tuple(found)

    @property
    def exact(self) -> tuple[str, ...]:
        """The tests behind the sentences."""
        if self.state == "not comparable":
            return ()
        found = [
            f"Training set: p-value {self.owed.p_value:.2g} for all votes and "
            f"{self.close.p_value:.2g} for those closer than real samples come to one another, by "
            f"{policy.PERMUTATIONS:,} permutations of the labels of real samples."
        ]
        if self.duplicates:
            found.append(
                f"{self.duplicates:.1%} of the held-out samples are near-duplicates of a training "
                "sample."
            )
        if self.often >= policy.OFTEN:
            found.append(
                f"One training sample has {self.often} generated samples closer to it than real "
                "ones come to one another. For the test this is one observation: look at the pairs."
            )
        return tuple(found)

    def _not_found(self) -> str:
        size = self.owed.detectable
        if size is None:
            return (
                "Too few samples to tell whether the model copies its training set: use more "
                "held-out and generated samples."
            )
        return (
            f"No copying of the training set was found; {percent_up(size)} or more would have been "
            "found four times in five. This does not guarantee privacy."
        )


def _owing(owed: Owed) -> str:
    return (
        f"at least {percent(owed.at_least)} of the generated samples owe their closeness to the "
        f"training set (about {owed.value:.0%})"
    )


def outcome_of(pair: Pair, measured: Measured, settings: Settings) -> TrainingOutcome | None:
    """What a comparison with the training set establishes; None where there is none.

    Args:
        pair: The samples.
        measured: What was measured of them.
        settings: Settings of the measurement.
    """
    found, train = measured.training, pair.train
    if found is None or train is None:
        return None
    apart, is_checked = _difference(pair.real, train, settings)
    gain = None
    if apart is None and measured.curve is not None:
        gain = _gain(pair, train, measured.curve.estimate, settings)
    repeats = np.unique(train.keys).size <= policy.MOSTLY * len(train)
    copied = found.nearest.train.rows[found.is_close & found.nearest.of_train, 0]
    return TrainingOutcome(
        level=settings.level,
        samples=len(train),
        owed=found.owed,
        close=found.close,
        difference=apart,
        is_checked=is_checked,
        gain=gain,
        duplicates=0.0 if repeats else found.duplicates,
        often=int(np.bincount(copied, minlength=1).max()),
    )


def _difference(held_out: Side, train: Side, settings: Settings) -> tuple[float | None, bool]:
    """How different both parts of the real data are at least, and whether that could be tested."""

    def compute() -> tuple[float | None, bool]:
        size = min(len(held_out), len(train))
        pair = Pair(_part(held_out, size, settings), _part(train, size, settings, "generated"))
        if Repeats.of(pair, settings.repeats).leave_few(pair):
            return None, False
        estimate = _curve(pair, settings)
        return estimate.losses(level=1.0 - policy.NOT_EXCHANGEABLE).difference, True

    what = ("difference", settings.seed, str(settings.estimator), settings.repeats, settings.folds)
    return train.remember(what, compute)


def _part(side: Side, size: int, settings: Settings, name: str = "real") -> Side:
    """So many samples, chosen at random by their content, in the role of another side."""
    part = side if size == len(side) else side.take(side.order_for(settings.seed)[:size])
    return part if part.name == name else replace(part.take(slice(None)), name=name)


def _curve(pair: Pair, settings: Settings) -> CurveEstimate:
    return estimate_curve(
        pair,
        estimator=settings.estimator,
        folds=settings.folds,
        seed=settings.seed,
        repeats=settings.repeats,
        progress=False,
    )


def _gain(pair: Pair, train: Side, of_held_out: Any, settings: Settings) -> float | None:
    """Lower limit of the overlap with the training set minus that with held-out data."""
    size = min(len(train), len(pair.real))
    if size < len(pair.real):
        of_held_out = _curve(Pair(_part(pair.real, size, settings), pair.generated), settings)
    against_train = Pair(_part(train, size, settings), pair.generated)
    if Repeats.of(against_train, settings.repeats).leave_few(against_train):
        return None
    value, error = overlap_difference(
        _curve(against_train, settings),
        of_held_out,
        shared=["generated"],
        inflation=policy.NEAR_IDENTITY,
    )
    at_least = value - float(ndtri(settings.level)) * error
    return at_least if at_least > policy.SMALLEST_LOSS else None
