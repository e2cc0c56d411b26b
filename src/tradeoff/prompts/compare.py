r"""Does each sample fit its prompt?

Three curves are counted in the same folds: of prompts, of samples, and of pairs of both. With
:math:`\mathrm{TV}` the total variation distance, :math:`\mathrm{TV}_\mathrm{pairs} \le
\mathrm{TV}_\mathrm{samples} + \mathbb{E}\,\mathrm{TV}(\mathrm{prompt} \mid \mathrm{sample})`
where prompts have one distribution on both sides. Samples are said not to fit their prompts if the
pairs surely differ, not only in that generated samples of a prompt lack something, their log-ratio
predicts the side surely better than that of the samples alone (in squared error of the
probability), and what it shows besides is not a small part of the loss.

Where both sides have the same prompts with several samples each, samples are placed in folds one by
one: by prompt, a sample with a wrong prompt would lie in another fold than its relatives. Else all
samples of a prompt lie in one fold. Limits are those of other prompts of the same kind: a prompt
counts once, with its samples of both sides.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from tradeoff._result import Result
from tradeoff._sides import Sides
from tradeoff._validation import FloatArray
from tradeoff.curves.estimate import estimate_curve
from tradeoff.explain.previews import preview_of
from tradeoff.inference import policy
from tradeoff.inference.paired import Counted, SumOfMeans
from tradeoff.inference.shares import normal_quantile
from tradeoff.prompts.estimator import Conditioned, Suggestion
from tradeoff.prompts.result import Mismatch, Part, PromptReport
from tradeoff.prompts.variety import variety_of
from tradeoff.samples import Pair, Side, View

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tradeoff.curves.estimate import CurveEstimate, HeldOut
    from tradeoff.prompts.estimator import Seen

__all__ = ["Prompts", "compare_prompts"]

_SHOWN = 50
_FITTING = "fitting prompts"


@dataclass(frozen=True, eq=False, kw_only=True)
class Prompts(Result):
    """The prompts of the samples of both sides.

    Args:
        names: All prompts, each once.
        features: Features of each prompt, shape (prompts, d).
        real: Number of the prompt of each real sample, shape (n,).
        generated: Number of the prompt of each generated sample, shape (m,).

    Example:
        >>> from tradeoff.prompts import Prompts
        >>> found = Prompts.of(real=["a cat", "a dog", "a cat"], generated=["a dog", "a dog"])
        >>> found.names, found.real.tolist(), found.features.shape
        (('a cat', 'a dog'), [0, 1, 0], (2, 2))
    """

    names: tuple[str, ...]
    features: FloatArray
    real: npt.NDArray[np.intp]
    generated: npt.NDArray[np.intp]

    @classmethod
    def of(
        cls,
        *,
        real: Sequence[str],
        generated: Sequence[str],
        embed: Callable[[Sequence[str]], FloatArray] | None = None,
    ) -> Prompts:
        """Prompts with their features.

        Args:
            real: Prompt of each real sample.
            generated: Prompt of each generated sample.
            embed: Function from prompts to features, shape (n, d). Not used for few prompts, which
                are told apart by columns of zeros and ones.
        """
        names = sorted({*real, *generated})
        place = {name: number for number, name in enumerate(names)}
        first, second = (
            np.array([place[one] for one in side], np.intp) for side in (real, generated)
        )
        if embed is None or len(names) <= policy.FEW_PROMPTS:
            features = np.eye(len(names))
        else:
            features = np.asarray(embed(names), np.float64)
        return cls(names=tuple(names), features=features, real=first, generated=second)

    @property
    def sides(self) -> Sides[npt.NDArray[np.intp]]:
        """Number of the prompt of each sample of both sides."""
        return Sides(self.real, self.generated)

    @cached_property
    def counts(self) -> Sides[npt.NDArray[np.intp]]:
        """Number of samples of each prompt."""
        return self.sides.map(lambda side: np.bincount(side, minlength=len(self.names)))

    @property
    def shared(self) -> npt.NDArray[np.intp]:
        """Prompts that both sides have."""
        return np.flatnonzero(np.minimum(*self.counts))

    @property
    def have_answers(self) -> bool:
        """Whether both sides have nearly the same prompts, with several samples of each."""
        on_both = min(float(one[self.shared].sum() / one.sum()) for one in self.counts)
        each = min(len(side) for side in self.sides) / len(self.names)
        return on_both >= policy.SAME_PROMPTS and each >= policy.FEWEST_ANSWERS

    @property
    def are_proportional(self) -> bool:
        """Whether every prompt has the same share of both sides."""
        real, made = self.counts
        return bool((real * made.sum() == made * real.sum()).all())

    @property
    def groups(self) -> Sides[list[int] | None]:
        """Groups that stay in one fold; None if samples are placed one by one."""
        if self.have_answers or max(map(np.max, self.counts)) == 1:
            return Sides(None, None)
        return self.sides.map(np.ndarray.tolist)

    def take(self, rows: Sides[npt.NDArray[np.intp]]) -> Prompts:
        """Those of some of the samples."""
        real, made = (side[some] for side, some in zip(self.sides, rows, strict=True))
        return replace(self, real=real, generated=made)


def compare_prompts(
    pair: Pair,
    prompts: Prompts,
    *,
    folds: int = 5,
    level: float = 0.95,
    seed: int = 0,
    progress: bool = True,
) -> PromptReport:
    """What is lost of prompts, of samples, and of how samples fit their prompts.

    Args:
        pair: The samples.
        prompts: Their prompts.
        folds: Number of cross-fitting folds.
        level: Confidence level of each statement.
        seed: Seed of the folds and of the estimators.
        progress: Whether to show progress lines.

    Example:
        Three kinds of samples, and a model that gives 30% of them the name of another kind:

        >>> import numpy as np
        >>> from tradeoff.prompts import Prompts, compare_prompts
        >>> from tradeoff.samples import Pair
        >>> rng = np.random.default_rng(0)
        >>> kinds = rng.integers(0, 3, (2, 600))
        >>> x = 4.0 * np.eye(3)[kinds] + rng.normal(size=(2, 600, 3))
        >>> names = np.array(["a cat", "a dog", "a hen"])[kinds]
        >>> names[1, :180] = np.roll(names[1, :180], 1)
        >>> found = compare_prompts(
        ...     Pair.of(real=x[0], generated=x[1]),
        ...     Prompts.of(real=names[0], generated=names[1]),
        ...     progress=False,
        ... )
        >>> found.of_samples.differs, found.of_pairs.differs, 0.1 < found.unfit < 0.3
        (False, True, True)
    """
    run = _Run(pair, prompts, folds, level, seed, progress)
    about: dict[str, Any] = {
        "level": level,
        "prompts": {
            name: int((one > 0).sum())
            for name, one in zip(Sides._fields, prompts.counts, strict=True)
        },
        "shared": int(prompts.shared.size),
        "unit": "prompt" if run.is_grouped else "sample",
        "variety": variety_of(
            Sides(pair.real.first.x, pair.generated.first.x),
            prompts.sides,
            prompts.names,
            level=level,
        ),
    }
    of_prompts = Part() if prompts.are_proportional else run.part(run.estimate("prompts"))
    if not of_prompts.differs:
        return PromptReport(**about, of_prompts=of_prompts, **run.fit())
    rows = _matched(pair, prompts, seed)
    fewest = min(map(len, rows))
    if fewest < policy.FEWEST_PAIRED:
        return PromptReport(**about, of_prompts=of_prompts)
    some = Pair(*(side.take(index) for side, index in zip(pair, rows, strict=True)))
    run = _Run(some, prompts.take(rows), folds, level, seed, progress)
    compared = dict(zip(Sides._fields, map(len, rows), strict=True))
    return PromptReport(**about, of_prompts=of_prompts, compared=compared, **run.fit())


def _matched(pair: Pair, prompts: Prompts, seed: int) -> Sides[npt.NDArray[np.intp]]:
    """As many samples of each shared prompt on both sides, chosen by content."""
    fewest = np.minimum(*prompts.counts)
    found = []
    for side, numbers in zip(pair, prompts.sides, strict=True):
        order = side.order_for(seed)
        order = order[np.argsort(numbers[order], kind="stable")]
        ordered = numbers[order]
        rank = np.arange(len(order)) - np.searchsorted(ordered, ordered)
        found.append(np.sort(order[rank < fewest[ordered]]))
    return Sides(*found)


@dataclass(frozen=True, eq=False)
class _Run:
    """Samples and prompts that are compared in one way."""

    pair: Pair
    prompts: Prompts
    folds: int
    level: float
    seed: int
    progress: bool

    @property
    def is_grouped(self) -> bool:
        """Whether a prompt counts once, not each of its samples."""
        many = len(self.prompts.names) > policy.FEW_PROMPTS
        return many and bool(max(map(np.max, self.prompts.counts)) > 1)

    @cached_property
    def joined(self) -> Pair:
        """Samples with the features of their prompts, and with groups."""
        sides = [
            Side.of(side.name, np.hstack((side.x, self.prompts.features[numbers])), groups=groups)
            for side, numbers, groups in zip(
                self.pair, self.prompts.sides, self.prompts.groups, strict=True
            )
        ]
        return Pair(*sides)

    def estimate(self, sees: Seen) -> CurveEstimate:
        """The curve of prompts, samples or pairs, with limits over prompts."""
        columns = self.pair.columns
        views = self.pair.views or (View("sample", 0, columns),)
        model = Conditioned(sees, views, View("prompt", columns, self.joined.columns))
        found = estimate_curve(
            self.joined,
            estimator=model,
            folds=self.folds,
            seed=self.seed,
            repeats="draws",
            progress=self.progress,
        )
        if not self.is_grouped:
            return found
        sides = [
            replace(side, groups=numbers)
            for side, numbers in zip(found.sides, self.prompts.sides, strict=True)
        ]
        return replace(found, real=sides[0], generated=sides[1])

    def fit(self) -> dict[str, Any]:
        """Parts of samples and of pairs, and whether samples fit their prompts."""
        samples, pairs = (self.estimate(sees) for sees in ("samples", "pairs"))
        parts = {"of_samples": self.part(samples), "of_pairs": self.part(pairs)}
        unfit = self._unfit(samples, pairs) if parts["of_pairs"].may_be_unfit else None
        listed = () if unfit is None else self._mismatched(samples, pairs)
        return parts | {"unfit": unfit, "mismatched": listed}

    def part(self, estimate: CurveEstimate) -> Part:
        """What a curve shows; the limit of the overlap pairs both sides by prompt."""
        rows = [_errors(side, sign) for side, sign in zip(estimate.sides, (1.0, -1.0), strict=True)]
        counted = self._counted(estimate, rows, self.is_grouped, policy.NEAR_IDENTITY)
        value = float(counted.value[0])
        reach = normal_quantile(2.0 * self.level - 1.0) * float(np.sqrt(counted.covariance[0, 0]))
        at_most = value + reach
        values = {name.partition(".")[2]: one for name, one in estimate.headline.items()}
        found = Part(**values)
        if at_most > 1.0 - policy.SMALLEST_LOSS:
            return found
        losses = estimate.losses(level=self.level)
        return replace(
            found,
            overlap_at_most=at_most,
            precision_at_most=losses.at_most("precision"),
            recall_at_most=losses.at_most("recall"),
        )

    def _counted(
        self,
        estimate: CurveEstimate,
        rows: Sequence[FloatArray],
        by_prompt: bool,
        inflation: float = 1.0,
    ) -> SumOfMeans:
        """The sum of both sides' means; by prompt, its samples are one observation."""
        sides = list(estimate.sides)
        if not by_prompt:
            parts = [
                Counted(values[:, None], side.folds, None)
                for values, side in zip(rows, sides, strict=True)
            ]
            return SumOfMeans(parts, inflation)
        total, size = sum(one.mean() for one in rows), sum(map(len, rows))
        # Deviations from each side's mean, weighed so that the mean of all is the sum of both.
        both = np.concatenate([(one - one.mean()) * (size / len(one)) for one in rows])
        folds = np.concatenate([side.folds for side in sides])
        groups = np.concatenate(self.prompts.sides)
        return SumOfMeans(
            [Counted((both + total)[:, None], folds, groups, policy.UNSEEN)], inflation
        )

    def _unfit(self, samples: CurveEstimate, pairs: CurveEstimate) -> float | None:
        """Estimated share of samples that do not fit their prompts, if there surely are any."""
        gains = [
            _mistakes(alone, sign) - _mistakes(with_prompt, sign)
            for alone, with_prompt, sign in zip(
                samples.sides, pairs.sides, (1.0, -1.0), strict=True
            )
        ]
        # Where both sides have the same prompts, it is about these, of which samples are drawn.
        by_prompt = self.is_grouped and not self.prompts.have_answers
        gain = self._counted(pairs, gains, by_prompt)
        distance = normal_quantile(2.0 * self.level - 1.0)
        if float(gain.value[0]) <= distance * gain.error(np.ones(1)):
            return None
        alone, both = (min(one.headline["curve.overlap"], 1.0) for one in (samples, pairs))
        return alone - both if alone - both > policy.OF_PROMPTS * (1.0 - both) else None

    def _mismatched(self, samples: CurveEstimate, pairs: CurveEstimate) -> tuple[Mismatch, ...]:
        """Generated samples that fit their prompts least, and prompts that they fit better."""
        real, made = (side.first.x for side in self.pair)
        known = self.prompts.features
        suggest = Suggestion.fit(
            (real, made), (known[self.prompts.real], known[self.prompts.generated])
        )
        excess = samples.generated.log_ratios - pairs.generated.log_ratios
        found = []
        prompts = suggest.of_prompts(known)
        for row in np.argsort(-excess, kind="stable")[:_SHOWN]:
            wanted = suggest.of_samples(made[row : row + 1])
            best = int(((prompts - wanted) ** 2).sum(1).argmin())
            own = int(self.prompts.generated[row])
            if best != own and excess[row] > 0.0:
                shown = preview_of(self.pair.generated, int(row), {})
                own_name, better = (self.prompts.names[number] for number in (own, best))
                found.append(Mismatch(sample=shown, prompt=own_name, better=better))
        return tuple(found)


def _errors(side: HeldOut, sign: float) -> FloatArray:
    """Whether samples are taken for those of the other side, at λ = 1."""
    wrong = side.log_ratios < 0.0 if sign > 0 else side.log_ratios >= 0.0
    return np.asarray(wrong, np.float64)


def _mistakes(side: HeldOut, sign: float) -> FloatArray:
    """Squared error of the probability of the own side."""
    return np.asarray(expit(-sign * side.log_ratios) ** 2)
