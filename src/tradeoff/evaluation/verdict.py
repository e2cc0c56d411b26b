"""The verdict on a model: what is established of its precision and recall, in plain words."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tradeoff._result import Result
from tradeoff._text import in_percent
from tradeoff.inference import policy
from tradeoff.inference.losses import Loss

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tradeoff.metrics.family import MeasuredCurve

__all__ = ["Outcome", "Verdict", "percent", "rounded_factor", "rounded_inverse", "verdict_of"]


@dataclass(frozen=True, kw_only=True)
class Outcome(Result):
    """What is established of precision or of recall.

    Args:
        losses: Losses that are established, the smallest factor first; empty if there are none.
        at_most: Largest loss that is not ruled out, of the kind that was planted; None if nothing
            was planted or nothing planted was established.
        enough: Number of samples on each side with which a loss of 10% would be detected; None
            where that is not known.
        is_minimum: Whether more than `enough` samples may be needed, since nothing that was planted
            was established.
        unseen: Largest planted loss that was not established; None if larger ones were.

    Example:
        >>> from tradeoff.evaluation.verdict import Outcome
        >>> Outcome(at_most=0.1).state, Outcome(enough=1900).state
        ('bounded', 'inconclusive')
    """

    losses: tuple[Loss, ...] = ()
    at_most: float | None = None
    enough: int | None = None
    is_minimum: bool = False
    unseen: float | None = None

    @property
    def state(self) -> str:
        """Whether a loss is established ("lost"), larger ones are ruled out ("bounded"), or not."""
        if self.losses:
            return "lost"
        return "inconclusive" if self.at_most is None else "bounded"

    @property
    def advised(self) -> str:
        """How many samples would be enough, in words; empty where that is not known."""
        if self.enough is None:
            return ""
        return f"{'more than' if self.is_minimum else 'about'} {self.enough:,} samples"


@dataclass(frozen=True, kw_only=True)
class Verdict(Result):
    """What is established of a model, each statement at a confidence level.

    Args:
        level: Confidence level.
        difference: Lower limit of the total variation distance between the two sets; None if no
            difference is established.
        precision: What is established of precision.
        recall: What is established of recall.

    Example:
        >>> from tradeoff.evaluation.verdict import Outcome, Verdict
        >>> print(Verdict(recall=Outcome(at_most=0.1)))
        No difference between the two sets was found.
        Precision: no loss was found, but none is ruled out.
        Recall: no loss was found. If groups that make up more than 10% of the real data were
        missing, this would have been found (tested by withholding groups of real samples).
    """

    _derived = ("sentences",)

    level: float = 0.95
    difference: float | None = None
    precision: Outcome = field(default_factory=Outcome)
    recall: Outcome = field(default_factory=Outcome)

    def __str__(self) -> str:
        return "\n".join(line for text in self.sentences for line in textwrap.wrap(text, 92))

    @property
    def sentences(self) -> tuple[str, ...]:
        """The verdict, one sentence for each question."""
        lost = self.lost
        found = list(lost.values())
        if not found and self.difference is not None:
            found.append(
                "The two sets differ: their total variation distance is at least "
                f"{percent(self.difference)} {self._confidence}. It is not established whether "
                "precision or recall is lost."
            )
        elif not found:
            found.append("No difference between the two sets was found.")
        unknown = {"Precision": "" if "precision" in lost else _open(self.precision)}
        unknown["Recall"] = "" if "recall" in lost else _open(self.recall)
        if unknown["Precision"] == unknown["Recall"]:
            unknown = {"Precision and recall": unknown["Recall"]}
        return (*found, *(f"{kind}: {text}" for kind, text in unknown.items() if text))

    @property
    def lost(self) -> dict[str, str]:
        """The sentence on each established loss, by "precision" and "recall"; the larger first."""
        kinds = {
            "precision": (self.precision, _precision_lost),
            "recall": (self.recall, _recall_lost),
        }
        found = [(kind, *both) for kind, both in kinds.items() if both[0].losses]
        found.sort(key=lambda one: -one[1].losses[0].at_least)
        return {kind: sentence(outcome, self._confidence) for kind, outcome, sentence in found}

    @property
    def _confidence(self) -> str:
        return f"with {in_percent(self.level)} confidence"


def _precision_lost(outcome: Outcome, confidence: str) -> str:
    first, last = outcome.losses[0], outcome.losses[-1]
    text = (
        f"Precision is lost: {confidence} at least {percent(first.at_least)} of the generated "
        "samples come from regions where real data is more than "
        f"{rounded_factor(first.factor)} times rarer than generated data"
    )
    stricter = f"from regions where it is more than {rounded_factor(last.factor)} times rarer"
    further = f"look invented (more than {policy.INVENTED:g} times rarer)"
    return _with_strictest(
        text, outcome, stricter=stricter, alone="they look invented", further=further
    )


def _recall_lost(outcome: Outcome, confidence: str) -> str:
    first, last = outcome.losses[0], outcome.losses[-1]
    text = (
        f"Recall is lost: {confidence} at least {percent(first.at_least)} of the real data comes "
        f"from regions that the model produces less than {rounded_inverse(first.factor)} as often "
        "as it should"
    )
    stricter = f"is produced less than {rounded_inverse(last.factor)} as often"
    further = f"is practically missing (less than {rounded_inverse(policy.INVENTED)} as often)"
    return _with_strictest(
        text, outcome, stricter=stricter, alone="it is practically missing", further=further
    )


def _with_strictest(text: str, outcome: Outcome, *, stricter: str, alone: str, further: str) -> str:
    """A sentence on the first loss, with what is established at the largest factor.

    Args:
        text: The sentence on the first loss, without its stop.
        outcome: The losses.
        stricter: Where the last one lies.
        alone: What the first one means if its factor is large enough for samples to be invented.
        further: The same for the last one.
    """
    first, last = outcome.losses[0], outcome.losses[-1]
    if last.factor >= policy.INVENTED:
        if last is first:
            return f"{text}: {alone}."
        return f"{text}, and at least {percent(last.at_least)} {further}."
    if last.factor < policy.STRICTER * first.factor:
        return f"{text}."
    return f"{text}, and at least {percent(last.at_least)} {stricter}."


def rounded_factor(factor: float) -> str:
    """Two digits, rounded down."""
    scale = 10.0 ** (1 - math.floor(math.log10(factor)))
    return f"{math.floor(factor * scale + 1e-9) / scale:g}"


def rounded_inverse(factor: float) -> str:
    """One over a factor, rounded up."""
    return f"{math.ceil(1000 / factor - 1e-9) / 1000:.1%}".replace(".0%", "%")


def _open(outcome: Outcome) -> str:
    """What is known where no loss is established."""
    if outcome.at_most is not None:
        return (
            f"no loss was found. If groups that make up more than {outcome.at_most:.0%} of the "
            "real data were missing, this would have been found (tested by withholding groups of "
            "real samples)."
        )
    if outcome.enough is not None:
        seen = ""
        if outcome.unseen is not None:
            seen = (
                f"Even a loss of {outcome.unseen:.0%}, planted as a test by withholding real "
                "samples, was not detected. "
            )
        return (
            f"inconclusive. {seen}Detecting a loss of {policy.ASKED:.0%} takes {outcome.advised} "
            "on each side."
        )
    return "no loss was found, but none is ruled out."


def percent(share: float) -> str:
    """A lower limit, rounded down."""
    digits = 0 if share >= 0.1 else 1 if share >= 0.001 else 2
    scale = 10.0 ** (digits + 2)
    return f"{math.floor(share * scale + 1e-9) / scale:.{digits}%}"


def verdict_of(curve: MeasuredCurve, sizes: Mapping[str, int], level: float) -> Verdict:
    """What a curve and its controls establish."""
    losses, diagnosis = curve.estimate.losses(level=level), curve.diagnosis
    at_most = enough = unseen = None
    if diagnosis is not None:
        at_most = diagnosis.smallest_established
        if at_most is None and diagnosis.controls:
            unseen = max(control.share for control in diagnosis.controls)
        if diagnosis.decisive_count is not None:
            needed = _round_up(diagnosis.decisive_count / policy.ASKED)
            enough = needed if needed > min(sizes.values()) else None
    return Verdict(
        level=level,
        difference=losses.difference,
        precision=Outcome(losses=losses.precision, enough=enough, is_minimum=at_most is None),
        recall=Outcome(
            losses=losses.recall,
            at_most=at_most,
            enough=enough,
            is_minimum=at_most is None,
            unseen=unseen,
        ),
    )


def _round_up(count: float) -> int:
    """Two digits, not fewer than needed."""
    step = int(10 ** max(0, math.floor(math.log10(max(count, 1.0))) - 1))
    return math.ceil(count / step) * step
