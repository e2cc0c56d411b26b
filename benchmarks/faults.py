"""Samples of both sides with a fault whose share is known, and what the verdict states of them.

Both sides are drawn without replacement from one pool, so that runs differ in both. Classes are
dropped from the generated side, or invented by dropping them from the real side; foreign samples
come from another data set.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks import datasets
from tests.known.distributions import Mixture
from tests.known.headline import KEYS, contradictions
from tradeoff.curves.diagnosis import diagnose_pair
from tradeoff.curves.estimate import estimate_curve
from tradeoff.evaluation.findings import findings_of
from tradeoff.evaluation.verdict import verdict_of
from tradeoff.inference import policy
from tradeoff.metrics.copies import measure as measure_copies
from tradeoff.metrics.curve import curve_scores
from tradeoff.metrics.family import MeasuredCurve, Request
from tradeoff.samples import Pair

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tradeoff.evaluation.verdict import Verdict

COPIED = 10
_LEVEL = 0.95
_JITTER = 1e-3  # of near-copies, relative to the standard deviation of a column
_RARER = 0.6
_CLUSTERS = 10
_TABLE_COLUMNS = 8
_TABLE_ROWS = 40_000


class Data(NamedTuple):
    """A pool of real samples with classes, samples of another data set, and blurred ones."""

    real: datasets.Labeled
    foreign: np.ndarray
    blurred: np.ndarray | None = None


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What is wrong with the generated samples.

    Args:
        name: Name in the record.
        foreign: Share of generated samples that come from another data set.
        dropped: Number of classes that are missing among generated samples.
        invented: Number of classes that are missing among real samples.
        copies: Whether the generated samples are ten real ones, repeated.
        jitter: Standard deviation of what is added to copies, relative to that of each column.
        blurred: Whether the generated samples are blurred images.
        shuffled: Whether the columns of generated samples are shuffled independently.
        uneven: Whether every second class is rarer among generated samples, and the others are more
            frequent, by factors below the margin of 1.5 of a loss.
    """

    name: str
    foreign: float = 0.0
    dropped: int = 0
    invented: int = 0
    copies: bool = False
    jitter: float = 0.0
    blurred: bool = False
    shuffled: bool = False
    uneven: bool = False

    @property
    def kinds(self) -> frozenset[str]:
        """What is lost."""
        if self.copies or self.blurred or self.shuffled or self.is_apart:
            return frozenset({"precision", "recall"})
        losses = {"precision": self.foreign or self.invented, "recall": self.dropped}
        return frozenset(kind for kind, lost in losses.items() if lost)

    @property
    def kind(self) -> str | None:
        """What is lost; None if nothing or more than one of them is."""
        (kind,) = self.kinds if len(self.kinds) == 1 else (None,)
        return kind

    @property
    def is_apart(self) -> bool:
        """Whether the two sides have nothing in common."""
        return self.foreign >= 1.0

    @property
    def is_none(self) -> bool:
        """Whether both sides have one distribution."""
        return not self.kinds and not self.uneven


NONE = Fault(name="none")
FOREIGN = {share: Fault(name=f"{share:.0%} foreign", foreign=share) for share in (0.05, 0.2, 0.5)}
BLUR = Fault(name="blur", blurred=True)
APART = Fault(name="100% foreign", foreign=1.0)
SHUFFLED = Fault(name="columns shuffled", shuffled=True)
UNEVEN = Fault(name="wrong proportions", uneven=True)
COPIES = (
    Fault(name="near-copies of 10", copies=True, jitter=_JITTER),
    Fault(name="exact copies of 10", copies=True),
)


def dropped(count: int, of: int, what: str = "classes") -> Fault:
    """Some of the classes are missing among generated samples."""
    return Fault(name=f"{count} of {of} {what} dropped", dropped=count)


def invented(count: int, of: int, what: str = "sources") -> Fault:
    """Some of the classes are missing among real samples."""
    return Fault(name=f"{count} of {of} {what} foreign", invented=count)


def mixed(count: int, of: int, foreign: float, what: str = "classes") -> Fault:
    """Some of the classes are missing among generated samples, and some of these are foreign."""
    name = f"{count} of {of} {what} dropped, {foreign:.0%} foreign"
    return Fault(name=name, dropped=count, foreign=foreign)


class Drawn(NamedTuple):
    """Two samples, and the true share of the fault."""

    pair: Pair
    share: float


def draw(
    data: Data, fault: Fault, *, real: int, generated: int, seed: int, labeled: bool = True
) -> Drawn:
    """At most so many samples of each side; fewer where the pool is exhausted."""
    rng = np.random.default_rng(seed)
    labels = data.real.labels
    missing = rng.permutation(np.unique(labels))[: fault.dropped + fault.invented]
    allowed = ~np.isin(labels, missing)
    order = rng.permutation(len(labels))
    # The side with all classes comes first: what is left has the same mixture of classes.
    first, second = (generated, real) if fault.invented else (real, generated)
    rest = order[first:]
    sides = order[:first], rest[allowed[rest]][:second]
    rows, others = sides[::-1] if fault.invented else sides
    if fault.uneven:
        rarer = np.isin(labels[rest], np.unique(labels)[::2])
        others = rest[~rarer | (rng.random(len(rest)) < _RARER)][:generated]
    made = data.real.features[others]
    if fault.shuffled:
        made = np.stack([rng.permutation(column) for column in made.T], axis=1)
    if fault.foreign:
        made = made.copy()
        spoiled = np.flatnonzero(rng.random(len(made)) < fault.foreign)
        made[spoiled] = data.foreign[rng.permutation(len(data.foreign))[: len(spoiled)]]
    x = data.real.features[rows]
    if fault.copies:
        made = x[rng.integers(0, COPIED, generated)]
        made = made + fault.jitter * x.std(axis=0) * rng.normal(size=made.shape)
    if fault.blurred:
        assert data.blurred is not None
        made = data.blurred[rng.permutation(len(data.blurred))[:generated]]
    pair = Pair.of(real=x, generated=made)
    if labeled:
        named = tuple(str(label) for label in labels[rows])
        pair = Pair(replace(pair.real, labels=named), pair.generated)
    return Drawn(pair, fault.foreign or float(np.mean(~allowed)))


@cache
def images() -> Data:
    """CIFAR-10 and Fashion-MNIST by EfficientNet-Lite0."""
    blurred = datasets.blurred_pool().features
    return Data(datasets.cifar_pool(), datasets.foreign_pool().features, blurred)


@cache
def texts(size: int = datasets.FULL) -> Data:
    """Sentences of four sources."""
    found = datasets.texts(size)
    return Data(found, found.features[:0])


@cache
def tumors() -> Data:
    """The breast cancer data of scikit-learn, columns standardized: malignant rows are class 0."""
    from sklearn.datasets import load_breast_cancer

    x, labels = load_breast_cancer(return_X_y=True)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    return Data(datasets.Labeled(x, labels), x[:0])


@cache
def table() -> Data:
    """Ten Gaussians far apart in eight columns, and as foreign samples an eleventh.

    Densities do not overlap, so the share of a fault is the true loss at every slope.
    """
    rng = np.random.default_rng(0)
    means = 12.0 * np.eye(_CLUSTERS + 1, _TABLE_COLUMNS)
    means[_TABLE_COLUMNS:] = -12.0 * np.eye(_CLUSTERS + 1 - _TABLE_COLUMNS, _TABLE_COLUMNS)

    def rows(which: int, count: int) -> np.ndarray:
        return Mixture((1.0,), means[which : which + 1], (1.0,))(rng, count)

    each = _TABLE_ROWS // _CLUSTERS
    x = np.concatenate([rows(mode, each) for mode in range(_CLUSTERS)])
    labels = np.repeat(np.arange(_CLUSTERS), each)
    return Data(datasets.Labeled(x, labels), rows(_CLUSTERS, _TABLE_ROWS // 4))


DATA: dict[str, Callable[[], Data]] = {
    "images": images,
    "texts": texts,
    "tumors": tumors,
    "table": table,
}


@dataclass(frozen=True)
class Run:
    """What one verdict states.

    Args:
        kinds: What is lost by the fault.
        share: True share of the fault.
        difference: Lower limit of the distance, if a difference is established.
        limits: First lower limit of each kind that is established.
        findings: Names of everything that is found, copies included.
        at_most: Largest loss of recall that is not ruled out, if that is stated.
        enough: Number of samples that would decide about recall, if that is stated.
        controlled: Whether controls were run.
        contradictions: Number of statements that another statement or number contradicts.
        named_apart: Whether the two sets are said to overlap hardly.
    """

    kinds: frozenset[str]
    share: float
    difference: float | None
    limits: Mapping[str, float]
    findings: tuple[str, ...] = ()
    at_most: float | None = None
    enough: int | None = None
    controlled: bool = False
    contradictions: int = 0
    named_apart: bool = False

    @property
    def exceeds(self) -> bool:
        """Whether a lower limit is above the truth; a wrong kind is counted on its own."""
        stated = [self.difference or 0.0, *(self.limits.get(kind, 0.0) for kind in self.kinds)]
        return max(stated) > self.share

    @property
    def is_falsely_bounded(self) -> bool:
        """Whether the fault is larger than the bound as it is printed, in whole percent."""
        return self.at_most is not None and round(self.at_most, 2) < round(self.share, 2)


def measured(drawn: Drawn, fault: Fault, seed: int, controls: bool) -> Run:
    """The verdict of one run; controls are run only where recall is not lost."""
    curve, verdict = judge(drawn.pair, seed, controls=controls)
    outcomes = {"precision": verdict.precision, "recall": verdict.recall}
    keys = ("copies.of_real", "copies.within")
    scores = measure_copies(drawn.pair, Request(keys=keys)).scores if fault.copies else {}
    return Run(
        kinds=fault.kinds,
        share=drawn.share,
        difference=verdict.difference,
        limits={kind: out.losses[0].at_least for kind, out in outcomes.items() if out.losses},
        findings=tuple(finding.name for finding in findings_of(verdict, scores)),
        at_most=verdict.recall.at_most,
        enough=verdict.recall.enough,
        controlled=curve.diagnosis is not None,
        contradictions=len(contradictions(verdict, curve_scores(KEYS, curve))),
        named_apart=verdict.name == "no overlap",
    )


def judge(pair: Pair, seed: int, *, controls: bool) -> tuple[MeasuredCurve, Verdict]:
    """The verdict, with controls if recall is not lost and both sides are large enough."""
    estimate = estimate_curve(pair, seed=seed, jobs=1, progress=False)
    enough = min(pair.sizes.values()) >= policy.FEWEST_CONTROLLED
    diagnosis = None
    if controls and enough and not estimate.losses(level=_LEVEL).recall:
        diagnosis = diagnose_pair(pair, seed=seed, jobs=1, progress=False)
    curve = MeasuredCurve.of(estimate, level=_LEVEL, diagnosis=diagnosis)
    return curve, verdict_of(curve, pair.sizes)


def decisive_count(pair: Pair, seed: int) -> float | None:
    """The number of missed samples that would be established four times in five."""
    return diagnose_pair(pair, seed=seed, jobs=1, progress=False).decisive_count
