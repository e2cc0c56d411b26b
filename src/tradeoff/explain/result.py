"""What a model misses and invents: groups of samples, classes, filtering and closest pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tradeoff._result import Result
from tradeoff._text import printable

__all__ = [
    "ClassLoss",
    "ClosePair",
    "Example",
    "Explanation",
    "Filtered",
    "Group",
    "GroupedLoss",
    "Preview",
]


@dataclass(frozen=True, kw_only=True)
class Preview(Result):
    """A sample as a report shows it.

    Args:
        id: Name of the sample.
        label: Class of the sample, None if it has none.
        text: Beginning of a text.
        image: A small image as a data URI.
        fields: Columns of a row and what they hold, those that a rule names first.
        named: Number of columns that the rule names.

    Example:
        >>> from tradeoff.explain.result import Preview
        >>> Preview(id="cats/1.png", label="cats").caption
        'cats'
        >>> Preview(id="rows[3]", fields=(("age", "40"), ("city", "Oslo"))).summary
        'age: 40, city: Oslo'
    """

    id: str
    label: str | None = None
    text: str | None = None
    image: str | None = None
    fields: tuple[tuple[str, str], ...] = ()
    named: int = 0

    @property
    def caption(self) -> str:
        """The class, or else the name."""
        return self.label or self.id

    @property
    def has_content(self) -> bool:
        """Whether more than the name can be shown."""
        return bool(self.image or self.text or self.fields)

    @property
    def summary(self) -> str:
        """A text, a row or the name as one line."""
        row = ", ".join(f"{name}: {value}" for name, value in self.fields)
        return self.text or row or printable(self.id)


@dataclass(frozen=True, kw_only=True)
class Example(Result):
    """A sample of a group, and the nearest sample of the other side.

    Args:
        sample: The sample.
        nearest: The nearest sample of the other side that is not shown with another example.
        distance: Distance between the two, in the coordinates of the groups.

    Example:
        >>> from tradeoff.explain.result import Example, Preview
        >>> Example(sample=Preview(id="a"), nearest=Preview(id="b"), distance=0.5).distance
        0.5
    """

    sample: Preview
    nearest: Preview
    distance: float


@dataclass(frozen=True, kw_only=True)
class Group(Result):
    """Samples that belong together, and what they contribute to a loss.

    Args:
        name: What sets the group apart: classes, words, a rule, or its number.
        kind: What the name is: "classes", "words", "rule" or "number".
        share: Contribution to the loss, counted on samples that did not form the group.
        at_least: Lower confidence limit of the contribution, simultaneous over all groups.
        size: Number of samples that are missed (invented) in the group.
        counted: Number of those that were counted.
        other: Number of counted samples of the other side in the same region.
        times_needed: How many times as many samples on both sides would establish the contribution
            four times in five if all shares stay the same; None if it is established, or if no
            number up to 64 times would.
        members: Names of the samples, in the order of the data.
        examples: Samples of the group, the most typical one first.

    Example:
        >>> from tradeoff.explain.result import Group
        >>> Group(name="truck", share=0.06, at_least=0.03, size=150).is_established
        True
    """

    name: str
    kind: str = "number"
    share: float
    at_least: float
    size: int
    counted: int = 0
    other: int = 0
    times_needed: float | None = None
    members: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()

    @property
    def is_established(self) -> bool:
        """Whether the group surely contributes to the loss."""
        return self.at_least > 0.0


@dataclass(frozen=True, kw_only=True)
class GroupedLoss(Result):
    """A loss of recall or precision, divided into groups whose contributions add up to it.

    Args:
        kind: "recall" for groups of real samples that are missed, "precision" for groups of
            generated samples that are invented.
        factor: Real samples count as missed (generated ones as invented) where the other side is
            more than this many times rarer.
        loss: The loss, counted on the samples that did not form the groups.
        low: Lower confidence limit of that loss.
        high: Upper confidence limit of the same count.
        overall: The loss at the same slope, counted on all samples.
        groups: The groups, the largest contribution first.

    Example:
        >>> from tradeoff.explain.result import GroupedLoss
        >>> found = GroupedLoss(kind="recall", factor=5.0, loss=0.1, low=0.08, high=0.12)
        >>> found.lam, sum(group.share for group in found.groups)
        (0.2, 0)
    """

    kind: str
    factor: float
    loss: float
    low: float
    high: float
    overall: float = 0.0
    groups: tuple[Group, ...] = ()

    @property
    def lam(self) -> float:
        """The slope λ."""
        return self.factor if self.kind == "precision" else 1.0 / self.factor


@dataclass(frozen=True, kw_only=True)
class ClassLoss(Result):
    """How much of a class is missed, and how much of what a model makes of it is invented.

    Args:
        name: Name of the class; empty for samples without one.
        real: Share of the class among real samples.
        generated: Share of the class among generated samples.
        missed: Contribution of the class to the loss of recall.
        missed_at_least: Lower confidence limit of it, simultaneous over classes.
        invented: Contribution of the class to the loss of precision.
        invented_at_least: Lower confidence limit of it, simultaneous over classes.

    Example:
        >>> from tradeoff.explain.result import ClassLoss
        >>> half = ClassLoss(name="truck", real=0.1, generated=0.05, missed=0.05)
        >>> half.missed_within
        0.5
    """

    name: str
    real: float
    generated: float
    missed: float = 0.0
    missed_at_least: float = 0.0
    invented: float = 0.0
    invented_at_least: float = 0.0

    @property
    def missed_within(self) -> float:
        """Share of the real samples of the class that is missed."""
        return self.missed / self.real if self.real else 0.0

    @property
    def invented_within(self) -> float:
        """Share of the generated samples of the class that is invented."""
        return self.invented / self.generated if self.generated else 0.0


@dataclass(frozen=True, kw_only=True)
class Filtered(Result):
    """What is left of the losses after dropping the least realistic generated samples.

    Args:
        dropped: Share of generated samples that is dropped.
        precision_loss: Loss of precision of the rest.
        precision_low: Lower confidence limit of it.
        recall_loss: Loss of recall of the rest.
        recall_low: Lower confidence limit of it.

    Example:
        >>> from tradeoff.explain.result import Filtered
        >>> Filtered(dropped=0.05, precision_loss=0.01, recall_loss=0.2).precision_low
        0.0
    """

    dropped: float
    precision_loss: float
    precision_low: float = 0.0
    recall_loss: float
    recall_low: float = 0.0


@dataclass(frozen=True, kw_only=True)
class ClosePair(Result):
    """A generated sample that lies close to a real one.

    Args:
        generated: The generated sample.
        real: The nearest real sample.
        distance: Distance between the two.
        usual: Distance of that real sample from its nearest real neighbor.

    Example:
        >>> from tradeoff.explain.result import ClosePair, Preview
        >>> pair = {"generated": Preview(id="g"), "real": Preview(id="r")}
        >>> ClosePair(**pair, distance=0.1, usual=0.8).distance
        0.1
    """

    generated: Preview
    real: Preview
    distance: float
    usual: float


@dataclass(frozen=True, kw_only=True)
class Explanation(Result):
    """What a model misses and invents.

    Args:
        level: Confidence level of the limits.
        missed: Groups of real samples that the model misses; None if none are flagged.
        invented: Groups of generated samples that are not realistic; None if none are flagged.
        classes: Losses by class; empty if there are no classes.
        classes_by: Where classes come from: "label", or "classifier" where generated samples have
            none and a classifier fitted on other real samples labels both sides.
        filtering: What dropping the least realistic samples would do.
        closest: Generated samples that lie closest to a real one.

    Example:
        >>> from tradeoff.explain.result import Explanation
        >>> Explanation(level=0.95).missed is None
        True
    """

    _version = 4

    level: float
    missed: GroupedLoss | None = None
    invented: GroupedLoss | None = None
    classes: tuple[ClassLoss, ...] = ()
    classes_by: str = ""
    filtering: tuple[Filtered, ...] = ()
    closest: tuple[ClosePair, ...] = ()

    @property
    def established(self) -> dict[str, list[str]]:
        """Names of classes, or else of groups, that surely contribute to a loss, by its kind."""
        named = established_classes(self.classes, self.classes_by)
        for kind, grouped in (("recall", self.missed), ("precision", self.invented)):
            groups = grouped.groups if grouped else ()
            named[kind] = named[kind] or [
                group.name for group in groups if group.is_established and group.kind != "number"
            ]
        return named

    def without_samples(self) -> Explanation:
        """The same without samples, their names, words and rules; classes stay."""
        return replace(
            self,
            missed=_without_samples(self.missed),
            invented=_without_samples(self.invented),
            closest=(),
        )


def _without_samples(loss: GroupedLoss | None) -> GroupedLoss | None:
    if loss is None:
        return None
    groups = tuple(
        replace(
            group,
            examples=(),
            members=(),
            name=group.name if group.kind == "classes" else f"Group {number}",
            kind=group.kind if group.kind == "classes" else "number",
        )
        for number, group in enumerate(loss.groups, 1)
    )
    return replace(loss, groups=groups)


def established_classes(classes: tuple[ClassLoss, ...], by: str) -> dict[str, list[str]]:
    """Names of classes that surely contribute to a loss, by its kind, the largest first.

    What a classifier calls samples that are not realistic says nothing about the class.
    """
    named: dict[str, list[str]] = {"recall": [], "precision": []}
    for kind, which in (("recall", "missed"), ("precision", "invented")):
        if kind == "precision" and by != "label":
            continue
        lost = [one for one in classes if one.name and getattr(one, f"{which}_at_least") > 0]
        lost.sort(key=lambda one: -getattr(one, which))
        named[kind] = [one.name for one in lost]
    return named
