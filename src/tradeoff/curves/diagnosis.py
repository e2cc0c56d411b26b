r"""What an estimator sees of losses that are known: real against real, with and without groups.

A held-out curve is an upper bound of precision and recall, and how close it is depends on features,
estimator and sample size. In the baseline, one random part of the real samples against the other,
nothing may be established. Controls withhold whole groups of real samples (classes, or clusters
where there are no classes) from one side, as a model does that misses them; with both sides
exchanged, as one does that invents them. A size is stated only if such a loss would be established
four times in five, so that one lucky draw is not enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import harmonic_mean
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.cluster import MiniBatchKMeans

from tradeoff._progress import step, whole_run
from tradeoff._result import Result
from tradeoff._sides import by_name
from tradeoff._validation import check_seed
from tradeoff.curves.estimate import CurveEstimate, estimate_curve
from tradeoff.exceptions import InvalidInputError
from tradeoff.inference import policy
from tradeoff.ratio.base import Projection
from tradeoff.ratio.registry import find_estimator
from tradeoff.samples import Pair, Side

if TYPE_CHECKING:
    import numpy.typing as npt

    from tradeoff.ratio.base import Estimator

__all__ = ["CONTROL_STEPS", "Control", "Diagnosis", "diagnose", "diagnose_pair"]

CONTROL_STEPS = ("baseline, real against real", "first control", "second control")
"""What the progress of a run says while they are fitted."""

_FIRST, _SMALLER, _LARGER = 0.2, 0.1, 0.4  # shares to withhold


@dataclass(frozen=True, eq=False, kw_only=True)
class Control(Result):
    """A known loss: real against real, without some groups on one side.

    Args:
        share: Share of real samples in the groups that were withheld.
        groups: What the groups are, "classes" or "clusters".
        estimate: Curve of the two sides.
        level: Confidence level at which a loss is established.

    Example:
        >>> import numpy as np
        >>> from tradeoff import diagnose
        >>> real = np.random.default_rng(0).normal(0, 1, (2000, 2))
        >>> found = diagnose(real=real, generated=real, estimator="trees", progress=False)
        >>> control = found.controls[0]
        >>> control.groups, round(control.share, 1), control.is_established
        ('clusters', 0.2, True)
    """

    share: float
    groups: str
    estimate: CurveEstimate
    level: float = 0.95

    @property
    def seen(self) -> float:
        """How much of the loss recall shows."""
        return 1.0 - self.estimate.headline["curve.recall"]

    @property
    def is_established(self) -> bool:
        """Whether a loss of recall is established."""
        return bool(self.estimate.losses(level=self.level).recall)

    @property
    def is_reliable(self) -> bool:
        """Whether a loss like this one would be established four times in five."""
        return self.is_established and self.strength >= policy.CONTROL_POWER

    @property
    def count(self) -> float:
        """Number of withheld samples, if both sides were as large as their harmonic mean."""
        sizes = self.estimate.provenance["samples"]
        return float(self.share * harmonic_mean(sizes.values()))

    @property
    def strength(self) -> float:
        """The loss that is seen where recall is tested, over the smallest that is established."""
        lam = 1.0 / self.estimate.balance.factor("recall")
        value = self.estimate.raw.recall(lam)
        above = float(self.estimate.interval([lam], level=self.level).recall[0, 1]) - value
        return (1.0 - value) / above


@dataclass(frozen=True, eq=False, kw_only=True)
class Diagnosis(Result):
    """Baseline curve of real against real samples, and controls with known losses.

    Args:
        baseline: Curve of one part of the real samples against the other.
        controls: Controls, in the order in which they were measured.

    Example:
        >>> import numpy as np
        >>> from tradeoff import diagnose
        >>> rng = np.random.default_rng(0)
        >>> real, generated = rng.normal(0, 1, (2000, 2)), rng.normal(1, 1, (2000, 2))
        >>> found = diagnose(real=real, generated=generated, estimator="trees", progress=False)
        >>> found.baseline.losses().difference is None, found.smallest_reliable
        (True, 0.1...)
    """

    baseline: CurveEstimate
    controls: tuple[Control, ...]

    def __str__(self) -> str:
        lines = [f"{'withheld':>10}  {'seen':>6}  {'found 4 in 5':>12}"]
        for control in self.controls:
            found = "yes" if control.is_reliable else "no"
            lines.append(f"{control.share:>10.1%}  {control.seen:>6.1%}  {found:>12}")
        return "\n".join([self.sentence, *lines])

    @property
    def smallest_reliable(self) -> float | None:
        """The smallest share that is found four times in five, if no larger one is missed."""
        missed = max((c.share for c in self.controls if not c.is_reliable), default=0.0)
        found = [c.share for c in self.controls if c.is_reliable and c.share > missed]
        return min(found, default=None)

    @property
    def decisive_count(self) -> float | None:
        """Number of missed samples at which such a loss is established four times in five.

        Taken from the strength of the controls, which grows about as the square of that number.
        At least so many if no control was established. None without controls.
        """
        if not self.controls:
            return None
        counts = [
            control.count
            * (policy.CONTROL_POWER / max(control.strength, policy.WEAKEST_CONTROL))
            ** (1.0 / policy.CONTROL_GROWTH)
            for control in self.controls
        ]
        return float(np.exp(np.mean(np.log(counts))))

    @property
    def sentence(self) -> str:
        """What was planted, and what was seen of it."""
        if not self.controls:
            return "No loss was planted: the real samples form too few groups."
        planted = "; ".join(
            f"{control.share:.0%} withheld, {max(control.seen, 0.0):.0%} detected"
            for control in sorted(self.controls, key=lambda control: control.share)
        )
        smallest = self.smallest_reliable
        outcome = (
            "none would be found four times in five"
            if smallest is None
            else f"the smallest that would be found four times in five is {smallest:.0%}"
        )
        return (
            f"Tested with {self.controls[0].groups} of real samples withheld: {planted}; {outcome}."
        )


@by_name
def diagnose(
    *,
    real: npt.ArrayLike,
    generated: npt.ArrayLike,
    estimator: Estimator | str = "stack",
    folds: int = 5,
    level: float = 0.95,
    seed: int = 0,
    progress: bool = True,
) -> Diagnosis:
    """Baseline of real against real samples, and controls with known losses.

    All are measured as in :func:`~tradeoff.curves.pr_curve`.

    The real samples are divided in two by their content. Groups of them are withheld from one part:
    a fifth, and then a tenth if that would be found four times in five, and two fifths if not.

    Args:
        real: Features of real samples, shape (n, d).
        generated: Features of generated samples, shape (m, d), of which only the number matters.
        estimator: Estimator of log p/q, as given to `pr_curve`.
        folds: Number of folds, as given to `pr_curve`.
        level: Confidence level at which a loss is established.
        seed: Seed of the parts, the groups, the folds and the estimator.
        progress: Whether to show progress lines.

    Example:
        Two Gaussians do not see that modes on a ring are missing, and the controls show it:

        >>> import numpy as np
        >>> from tradeoff import diagnose
        >>> rng = np.random.default_rng(0)
        >>> angle = rng.integers(0, 8, 2000) * np.pi / 4 + 0.3
        >>> ring = 3 * np.stack((np.cos(angle), np.sin(angle)), 1) + rng.normal(0, 0.2, (2000, 2))
        >>> line = diagnose(real=ring, generated=ring, estimator="gaussians", progress=False)
        >>> trees = diagnose(real=ring, generated=ring, estimator="trees", progress=False)
        >>> line.controls[0].seen < trees.controls[0].seen
        True
    """
    pair = Pair.of(real=real, generated=generated)
    with whole_run(progress=progress):
        return diagnose_pair(
            pair, estimator=estimator, folds=folds, level=level, seed=seed, progress=progress
        )


def diagnose_pair(
    pair: Pair,
    *,
    estimator: Any = "stack",
    folds: int = 5,
    level: float = 0.95,
    seed: int = 0,
    repeats: str = "auto",
    jobs: int | None = None,
    progress: bool = True,
) -> Diagnosis:
    """The baseline and controls of a pair, computed once for all models of one size."""
    for side in pair:
        if len(side) < policy.FEWEST_CONTROLLED:
            raise InvalidInputError(
                f"`{side.name}` must hold at least {policy.FEWEST_CONTROLLED} samples to be "
                f"diagnosed. Got {len(side)}."
            )
    model, seed = find_estimator(estimator), check_seed(seed)
    size = min(len(pair.generated), len(pair.real) // 2)

    def measure(label: str, real: Side, generated: Side) -> CurveEstimate:
        with step(label):
            return estimate_curve(
                Pair(real, generated),
                estimator=model,
                folds=folds,
                seed=seed,
                repeats=repeats,
                every_pair=size < policy.MANY_CONTROLLED,
                jobs=jobs,
                progress=progress,
            )

    def compute() -> Diagnosis:
        part, rest = pair.real.parted(size, len(pair.real) - size, seed)
        part = replace(part, name="generated")
        groups = _Groups.of(rest, part, seed)

        def control(label: str, share: float) -> Control:
            kept, withheld = groups.without(part, share, seed)
            found = measure(label, rest, kept)
            return Control(share=withheld, groups=groups.kind, estimate=found, level=level)

        labels = CONTROL_STEPS
        baseline, first = measure(labels[0], rest, part), control(labels[1], _FIRST)
        second = control(labels[2], _SMALLER if first.is_reliable else _LARGER)
        planted = (c for c in (first, second) if 0.0 < c.share <= policy.MOST_WITHHELD)
        return Diagnosis(baseline=baseline, controls=tuple(planted))

    settings = (repr(model), folds, level, seed, repeats, size)
    return pair.real.remember(("diagnosis", *settings), compute)


@dataclass(frozen=True, eq=False)
class _Groups:
    """Groups of samples that can be withheld: classes if they are many and small, else clusters."""

    kind: str
    names: npt.NDArray[np.intp]  # of the samples from which they are withheld
    shares: npt.NDArray[np.float64]  # among all real samples

    @classmethod
    def of(cls, rest: Side, part: Side, seed: int) -> _Groups:
        labels = (*part.labels, *rest.labels)
        if labels and all(label is not None for label in labels):
            names = np.unique(np.array(labels, dtype=str), return_inverse=True)[1]
            shares = np.bincount(names) / len(names)
            if len(shares) >= policy.FEWEST_CLASSES and shares.max() <= policy.LARGEST_CLASS:
                return cls("classes", names[: len(part)], shares)
        project = Projection.fit(rest.x, part.x)
        x = project(np.concatenate((part.x, rest.x)))
        distinct = len(np.unique(x, axis=0))
        clusters = MiniBatchKMeans(min(policy.CLUSTERS, distinct), n_init=3, random_state=seed)
        names = np.asarray(clusters.fit_predict(x))
        return cls("clusters", names[: len(part)], np.bincount(names) / len(names))

    def without(self, part: Side, share: float, seed: int) -> tuple[Side, float]:
        """The samples without groups of about a share, in random order, and their exact share."""
        chosen: list[int] = []
        withheld = 0.0
        for group in np.random.default_rng(seed).permutation(len(self.shares)):
            if abs(withheld + self.shares[group] - share) <= abs(withheld - share):
                chosen.append(int(group))
                withheld += float(self.shares[group])
        return part.take(np.flatnonzero(~np.isin(self.names, chosen))), withheld
