"""The verdict on a model: what is established of its precision and recall, in plain words."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tradeoff._result import Result
from tradeoff._text import in_percent, percent, percent_up
from tradeoff.curves.views import SeenView
from tradeoff.features.registry import SHOWN
from tradeoff.inference import policy
from tradeoff.inference.losses import Balance, Loss

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tradeoff.metrics.family import MeasuredCurve

__all__ = ["Outcome", "Verdict", "rounded_factor", "rounded_inverse", "verdict_of"]


@dataclass(frozen=True, kw_only=True)
class Outcome(Result):
    """What is established of precision or of recall.

    Args:
        value: The held-out value.
        losses: Losses that are established, the smallest factor first; empty if there are none.
        at_most: Largest loss that is not ruled out: a larger one would have been found four times
            in five. None if that is not known of any size.
        enough: Number of samples on each side with which a loss of 10% would be detected; None
            where that is not known.
        is_minimum: Whether more than `enough` samples may be needed, since no loss that was planted
            would be found four times in five.
        groups: What the missed (invented) samples are, the largest group first, where it is known.

    Example:
        >>> from tradeoff.evaluation.verdict import Outcome
        >>> Outcome(at_most=0.1).state, Outcome(enough=1900).state
        ('bounded', 'inconclusive')
    """

    value: float = 1.0
    losses: tuple[Loss, ...] = ()
    at_most: float | None = None
    enough: int | None = None
    is_minimum: bool = False
    groups: tuple[str, ...] = ()

    @property
    def at_least(self) -> float:
        """Lower confidence limit of the loss; 0 if none is established."""
        return self.losses[0].at_least if self.losses else 0.0

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
            difference is established, and then no loss is.
        balance: The balanced slope of the curve.
        precision: What is established of precision.
        recall: What is established of recall.
        views: What each of several views of the samples shows; empty if there is one.

    Example:
        >>> from tradeoff.evaluation.verdict import Outcome, Verdict
        >>> print(Verdict(precision=Outcome(at_most=0.1), recall=Outcome(at_most=0.1)))
        No difference between the two sets was found.
        Missing or invented groups of 10% or more would have been found four times in five.
    """

    _derived = ("name", "sentences", "exact")

    level: float = 0.95
    difference: float | None = None
    balance: Balance = field(default_factory=lambda: Balance(lam=1.0, low=1.0, high=1.0))
    precision: Outcome = field(default_factory=Outcome)
    recall: Outcome = field(default_factory=Outcome)
    views: tuple[SeenView, ...] = ()

    def __str__(self) -> str:
        return "\n".join(line for text in self.sentences for line in textwrap.wrap(text, 92))

    @property
    def name(self) -> str:
        """What is wrong: "no overlap", "loss", "proportions", "difference" or "nothing found"."""
        if self.difference is None:
            return "nothing found"
        if 1.0 - self.difference < policy.LITTLE_OVERLAP:
            return "no overlap"
        if self.precision.losses or self.recall.losses:
            return "loss"
        has_kinds = min(self.precision.value, self.recall.value) >= policy.RIGHT_KINDS
        return "proportions" if has_kinds else "difference"

    @property
    def sentences(self) -> tuple[str, ...]:
        """The verdict, what is wrong first, for someone who reads it once."""
        common = "" if self.difference is None else f"at most {percent_up(1.0 - self.difference)}"
        found = list(self.lost.values())
        if self.name == "no overlap":
            found.insert(0, f"The two sets hardly overlap: they have {common} in common.")
            if len(found) == 1:
                found.append(
                    "Whether samples are missing or invented cannot be told from so few samples."
                )
        elif self.name == "proportions":
            found.append(
                "Makes the right kinds of samples in the wrong proportions: the two sets have "
                f"{common} in common."
            )
            found.append("Nothing is shown to be missing or invented.")
        elif self.name == "difference":
            found.append(
                f"The two sets differ: they have {common} in common. Whether samples are missing, "
                "invented, or only in the wrong proportions cannot be told from so few samples."
            )
        elif self.name == "nothing found":
            found.append("No difference between the two sets was found.")
        return (*found, *self._seen(), *self._not_found())

    @property
    def lost(self) -> dict[str, str]:
        """The sentence on each established loss, by "precision" and "recall"; the larger first."""
        sentences = {
            "precision": f"At least {percent(self.precision.at_least)} of the generated samples "
            f"are not realistic{_named(self.precision.groups)}.",
            "recall": f"Misses at least {percent(self.recall.at_least)} of the real data"
            f"{_named(self.recall.groups)}.",
        }
        losses = {"precision": self.precision.at_least, "recall": self.recall.at_least}
        order = sorted((kind for kind in losses if losses[kind] > 0), key=lambda k: -losses[k])
        return {kind: sentences[kind] for kind in order}

    @property
    def exact(self) -> tuple[str, ...]:
        """The same statements with their confidence and the factors that they hold for."""
        confidence = f"with {in_percent(self.level)} confidence"
        found = []
        if self.difference is not None:
            found.append(
                f"Overlap (λ = 1): {confidence}, the total variation distance is at least "
                f"{percent(self.difference)}."
            )
        found += [
            f"Precision: {confidence}, at least {percent(loss.at_least)} of the generated samples "
            f"come from regions where real data is {_rarer(loss.factor)} generated data."
            for loss in self.precision.losses
        ]
        found += [
            f"Recall: {confidence}, at least {percent(loss.at_least)} of the real data comes from "
            f"regions where generated data is {_rarer(loss.factor)} real data."
            for loss in self.recall.losses
        ]
        slopes = (self.balance.slope("precision"), self.balance.slope("recall"))
        found.append(
            f"The balanced slope is λ = {self.balance.lam:.2g}: precision is read at "
            f"{slopes[0]:.2g} and recall at {slopes[1]:.2g}."
        )
        return tuple(found)

    def _seen(self) -> list[str]:
        """Which views show an established difference, and which ones do not."""
        if self.difference is None:
            return []
        sees = [view.name for view in self.views if view.sees]
        blind = [view.name for view in self.views if view.is_blind]
        if sees and blind:
            words = [f"{one} ({SHOWN[one]})" if one in SHOWN else one for one in sees]
            return [f"Seen in {_listed(words, 'and')}, not in {_listed(blind, 'or')}."]
        if blind:
            return [f"No single view shows it; all {len(self.views)} together do."]
        return []

    def named(self, groups: Mapping[str, Sequence[str]]) -> Verdict:
        """The same with what is missed ("recall") and invented ("precision"), where it is known."""
        found = {kind: tuple(names[: policy.NAMED_GROUPS]) for kind, names in groups.items()}
        return replace(
            self,
            precision=replace(self.precision, groups=found.get("precision", ())),
            recall=replace(self.recall, groups=found.get("recall", ())),
        )

    def _not_found(self) -> list[str]:
        """What is known of kinds of losses that are not established."""
        open_kinds = {
            kind: outcome
            for kind, outcome in (("recall", self.recall), ("precision", self.precision))
            if not outcome.losses
        }
        if not open_kinds or self.name in ("no overlap", "difference"):
            return []
        sizes = {kind: one.at_most for kind, one in open_kinds.items() if one.at_most is not None}
        if sizes and self.name != "proportions":
            return [_bounded(sizes)]
        if self.name == "nothing found":
            advised = self.recall.advised
            if advised:
                return [
                    f"Too few samples to rule a loss out: finding one of {policy.ASKED:.0%} takes "
                    f"{advised} on each side."
                ]
            return ["It was not tested which losses would have been found."]
        (kind, outcome), *others = open_kinds.items()
        if self.name == "loss" and outcome.advised and not others:
            verb = "misses" if kind == "recall" else "invents"
            return [
                f"Whether it {verb} samples cannot be told from so few: finding "
                f"{policy.ASKED:.0%} of them takes {outcome.advised} on each side."
            ]
        return []


def _bounded(sizes: Mapping[str, float]) -> str:
    """Up to which size losses would have been found."""
    size = f"{max(sizes.values()):.0%} or more would have been found four times in five."
    if len(sizes) > 1:
        return f"Missing or invented groups of {size}"
    verb = "Misses" if "recall" in sizes else "Invents"
    return f"{verb} nothing that we could find; {size}"


def _named(groups: Sequence[str]) -> str:
    """Names of groups; rules hold commas of their own."""
    separator = "; " if any("," in name or " " in name for name in groups) else ", "
    return f": {separator.join(groups)}" if groups else ""


def _listed(names: Sequence[str], word: str) -> str:
    """Names in a sentence."""
    *first, last = names
    return f"{', '.join(first)} {word} {last}" if first else last


def _rarer(factor: float) -> str:
    if factor >= 1.0:
        times = rounded_factor(factor)
        return "rarer than" if times == "1" else f"more than {times} times rarer than"
    return f"less than {rounded_factor(1.0 / factor)} times as frequent as"


def rounded_factor(factor: float) -> str:
    """Two digits, rounded down."""
    scale = 10.0 ** (1 - math.floor(math.log10(factor)))
    return f"{math.floor(factor * scale + 1e-9) / scale:g}"


def rounded_inverse(factor: float) -> str:
    """One over a factor, rounded up."""
    return f"{math.ceil(1000 / factor - 1e-9) / 1000:.1%}".replace(".0%", "%")


def verdict_of(curve: MeasuredCurve, sizes: Mapping[str, int]) -> Verdict:
    """What a curve and its controls establish."""
    losses, diagnosis, headline = curve.losses, curve.diagnosis, curve.estimate.headline
    at_most = enough = None
    if diagnosis is not None:
        at_most = diagnosis.smallest_reliable
        if diagnosis.decisive_count is not None:
            needed = _round_up(diagnosis.decisive_count / policy.ASKED)
            enough = needed if needed > min(sizes.values()) else None
    outcomes = {
        kind: Outcome(
            value=headline[f"curve.{kind}"],
            losses=getattr(losses, kind),
            at_most=at_most,
            enough=enough,
            is_minimum=at_most is None,
        )
        for kind in ("precision", "recall")
    }
    return Verdict(
        level=losses.level,
        difference=losses.difference,
        balance=losses.balance,
        views=curve.views,
        **outcomes,
    )


def _round_up(count: float) -> int:
    """Two digits, not fewer than needed."""
    step = int(10 ** max(0, math.floor(math.log10(max(count, 1.0))) - 1))
    return math.ceil(count / step) * step
