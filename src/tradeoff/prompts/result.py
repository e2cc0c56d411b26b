"""What is established of samples and their prompts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from tradeoff._result import Result
from tradeoff._text import percent, percent_up
from tradeoff.explain.result import Preview
from tradeoff.inference import policy

__all__ = ["Mismatch", "Part", "PromptReport", "PromptVariety", "Share", "ShownPrompt", "Variety"]

PromptFault = Literal["prompts", "unfit", "variety"]


@dataclass(frozen=True, kw_only=True)
class Part(Result):
    """What both sides have in common in samples, in prompts, or in both together.

    Args:
        overlap: Held-out overlap.
        overlap_at_most: Upper confidence limit of it; 1 if no difference is established.
        precision: Held-out precision at the balanced point.
        precision_at_most: Upper confidence limit of it; 1 if no loss is established.
        recall: Held-out recall at the balanced point.
        recall_at_most: Upper confidence limit of it; 1 if no loss is established.

    Example:
        >>> from tradeoff.prompts import Part
        >>> Part(overlap=0.8, overlap_at_most=0.85, precision=0.8, recall=0.9).differs
        True
    """

    overlap: float = 1.0
    overlap_at_most: float = 1.0
    precision: float = 1.0
    precision_at_most: float = 1.0
    recall: float = 1.0
    recall_at_most: float = 1.0

    @property
    def differs(self) -> bool:
        """Whether a difference is established."""
        return self.overlap_at_most < 1.0

    @property
    def may_be_unfit(self) -> bool:
        """Whether generated ones are wrong, rather than mostly some of the real ones missing."""
        lost = 1.0 - self.precision
        return self.differs and lost >= policy.OF_RECALL * (1.0 - self.recall)


@dataclass(frozen=True, kw_only=True)
class Mismatch(Result):
    """A generated sample that fits another prompt better than its own.

    Args:
        sample: The sample.
        prompt: Its prompt.
        better: The prompt that it suggests.

    Example:
        >>> from tradeoff.explain.result import Preview
        >>> from tradeoff.prompts import Mismatch
        >>> one = Mismatch(sample=Preview(id="7.png"), prompt="a bag", better="an ankle boot")
        >>> one.better
        'an ankle boot'
    """

    sample: Preview
    prompt: str
    better: str


@dataclass(frozen=True, kw_only=True)
class ShownPrompt(Result):
    """Some samples of a prompt, of both sides.

    Args:
        prompt: The prompt.
        real: Some of its real samples.
        generated: Some of its generated samples.

    Example:
        >>> from tradeoff.explain.result import Preview
        >>> from tradeoff.prompts import ShownPrompt
        >>> shown = {"real": (Preview(id="a"),), "generated": (Preview(id="b"),)}
        >>> ShownPrompt(prompt="Tell a joke.", **shown).prompt
        'Tell a joke.'
    """

    prompt: str
    real: tuple[Preview, ...]
    generated: tuple[Preview, ...]


@dataclass(frozen=True, kw_only=True)
class PromptVariety(Result):
    """How much variety the samples of one prompt have, in shares of that of the real ones.

    Args:
        prompt: The prompt.
        variety: Mean squared distance between generated samples over that between real ones.
        low: Lower limit of it; the limits of all prompts hold together.
        high: Upper limit of it.

    Example:
        >>> from tradeoff.prompts import PromptVariety
        >>> PromptVariety(prompt="Tell a joke.", variety=0.2, low=0.1, high=0.4).is_lost
        True
    """

    prompt: str
    variety: float
    low: float
    high: float

    @property
    def is_lost(self) -> bool:
        """Whether the generated samples are surely closer to each other than the real ones."""
        return self.high < 1.0


@dataclass(frozen=True, kw_only=True)
class Share(Result):
    """A share with its limits.

    Args:
        value: The share.
        low: Lower confidence limit.
        high: Upper confidence limit.

    Example:
        >>> from tradeoff.prompts import Share
        >>> print(Share(value=0.414, low=0.36, high=0.47).words)
        41% (36% to 47%)
    """

    value: float
    low: float
    high: float

    @property
    def words(self) -> str:
        """The share in a sentence."""
        return f"{self.value:.0%} ({self.low:.0%} to {self.high:.0%})"


@dataclass(frozen=True, kw_only=True)
class Variety(Result):
    """Variety of the generated samples in shares of that of the real ones.

    Args:
        within: Mean squared distance between samples of one prompt, generated over real.
        between: Spread of the prompts' means, without what single samples add to it, generated
            over real; None if the real means do not differ.
        prompts: Each prompt with enough samples on both sides, the least variety first.

    Example:
        >>> from tradeoff.prompts import Share, Variety
        >>> within = Share(value=0.41, low=0.36, high=0.47)
        >>> found = Variety(within=within, between=Share(value=0.95, low=0.86, high=1.05))
        >>> print(found.sentences[0])
        Within prompts, generated samples have 41% (36% to 47%) of the variety of real ones;
        between prompts 95% (86% to 105%).
    """

    _derived = ("sentences",)

    within: Share
    between: Share | None = None
    prompts: tuple[PromptVariety, ...] = ()

    @property
    def lost(self) -> tuple[PromptVariety, ...]:
        """Prompts that surely lose variety."""
        return tuple(one for one in self.prompts if one.is_lost)

    @property
    def is_lost(self) -> bool:
        """Whether samples of one prompt are surely closer to each other than the real ones."""
        return self.within.high < 1.0

    @property
    def sentences(self) -> tuple[str, ...]:
        """Both shares, and the prompts that lose variety."""
        told = f"Within prompts, generated samples have {self.within.words} of the variety of real "
        told += "ones" if self.between is None else f"ones; between prompts {self.between.words}"
        found = [f"{told}."]
        if self.lost:
            named = "; ".join(f"“{one.prompt}”" for one in self.lost[: policy.NAMED_GROUPS])
            rest = len(self.lost) - policy.NAMED_GROUPS
            more = f"; and {rest} more" if rest > 0 else ""
            verb = "prompt surely loses" if len(self.lost) == 1 else "prompts surely lose"
            found.append(f"{len(self.lost)} {verb} variety: {named}{more}.")
        return tuple(found)


@dataclass(frozen=True, kw_only=True)
class PromptReport(Result):
    """What is lost of samples, of prompts, and of how samples fit their prompts.

    Args:
        level: Confidence level of each statement.
        prompts: Number of different prompts by side.
        shared: Number of prompts that both sides have.
        unit: "prompt" if limits are those of other prompts of the same kind, or "sample" if they
            are about these prompts alone.
        of_prompts: What the prompts have in common.
        of_samples: What the samples have in common, whatever their prompts.
        of_pairs: What the samples with their prompts have in common; None if they were not
            compared, since prompts differ.
        compared: Number of samples of each side that were compared, if prompts differ: as many of
            each shared prompt on both sides; None if all were.
        unfit: Estimated share of the generated samples that do not fit their prompts; None unless
            it is established that there are any.
        mismatched: Generated samples that fit another prompt better, if any do not fit their own;
            the clearest first. In a result read from JSON, empty.
        worst: Samples of the prompts that lose most variety, or of those with most mismatches. In a
            result read from JSON, empty.
        variety: Variety within and between prompts; None if prompts have too few samples.

    Example:
        >>> from tradeoff.prompts import Part, PromptReport
        >>> found = PromptReport(
        ...     prompts={"real": 40, "generated": 40}, shared=40,
        ...     of_pairs=Part(overlap=0.93, overlap_at_most=0.96), unfit=0.07,
        ... )
        >>> print(found.sentences[0])
        About 7% of the generated samples do not fit their prompts: samples and prompts together
        have at most 96% in common. No loss in the samples alone was found.
    """

    _derived = ("sentences",)
    _unsaved = ("mismatched", "worst")

    level: float = 0.95
    prompts: dict[str, int]
    shared: int
    unit: str = "prompt"
    of_prompts: Part = Part()
    of_samples: Part = Part()
    of_pairs: Part | None = None
    compared: dict[str, int] | None = None
    unfit: float | None = None
    mismatched: tuple[Mismatch, ...] = ()
    worst: tuple[ShownPrompt, ...] = ()
    variety: Variety | None = None

    @property
    def faults(self) -> tuple[tuple[PromptFault, str], ...]:
        """Names ("prompts", "unfit", "variety") of what is wrong, each with its sentence."""
        found: list[tuple[PromptFault, str]] = []
        if self.of_prompts.differs:
            found.append(("prompts", self._of_prompts()))
        if self.unfit is not None:
            found.append(("unfit", self._of_pairs()))
        if self._tells_variety and self.variety is not None and self.variety.is_lost:
            found.append(("variety", self.variety.sentences[0]))
        return tuple(found)

    @property
    def _tells_variety(self) -> bool:
        """Samples with wrong prompts make prompts look varied: then only a loss says something."""
        return self.variety is not None and (self.unfit is None or self.variety.is_lost)

    @property
    def sentences(self) -> tuple[str, ...]:
        """All that is said, prompts that differ first."""
        found = [self._of_prompts()] if self.of_prompts.differs else []
        if self.of_pairs is not None:
            found.append(self._of_pairs())
        if self._tells_variety and self.variety is not None:
            found += self.variety.sentences
        return tuple(found)

    def without_values(self) -> PromptReport:
        """The same without names of samples, and without prompts."""
        variety = None if self.variety is None else replace(self.variety, prompts=())
        return replace(self, mismatched=(), worst=(), variety=variety)

    def _of_prompts(self) -> str:
        common = percent_up(self.of_prompts.overlap_at_most)
        told = f"The prompts of the two sides differ: they have at most {common} in common."
        if self.of_pairs is None:
            return f"{told} Too few samples have a prompt that is on both sides to compare them."
        return (
            f"{told} Samples are compared on the {self.shared:,} prompts that both sides have, as "
            "many of each on both."
        )

    def _of_pairs(self) -> str:
        assert self.of_pairs is not None
        common = percent_up(self.of_pairs.overlap_at_most)
        alone = f"the samples alone have at most {percent_up(self.of_samples.overlap_at_most)}"
        if self.unfit is not None:
            told = (
                f"About {self.unfit:.0%} of the generated samples do not fit their prompts: "
                f"samples and prompts together have at most {common} in common"
            )
            if self.of_samples.differs:
                return f"{told}; {alone}."
            return f"{told}. No loss in the samples alone was found."
        if self.of_samples.differs:
            return (
                f"{alone[0].upper()}{alone[1:]} in common; that any do not fit their prompts is "
                "not shown."
            )
        if self.of_pairs.recall_at_most < 1.0:
            missed = percent(1.0 - self.of_pairs.recall_at_most)
            return f"For their prompts, at least {missed} of the real samples are missed."
        if self.of_pairs.differs:
            return (
                f"With their prompts, the two sets have at most {common} in common. Whether the "
                "samples or their prompts differ cannot be told from so few samples."
            )
        return "No samples that do not fit their prompts were found."
