"""What scores show, in words, and what they cannot show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast, get_args

from tradeoff._result import Result
from tradeoff._text import percent
from tradeoff.inference import policy
from tradeoff.metrics.copies import near_copies
from tradeoff.protocols import PROTOCOLS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tradeoff.evaluation.training import TrainingOutcome
    from tradeoff.evaluation.verdict import Verdict
    from tradeoff.metrics.family import Measured
    from tradeoff.metrics.score import Score
    from tradeoff.prompts import PromptReport
    from tradeoff.samples import Pair
    from tradeoff.settings import Settings
    from tradeoff.tables import TableReport

__all__ = [
    "FINDINGS",
    "OF_PROMPTS",
    "OF_TRAINING",
    "Finding",
    "FindingName",
    "findable",
    "findings_of",
    "near_copy_warnings",
    "protocol_warnings",
    "training_warnings",
    "warnings_of",
]

FindingName = Literal[
    "no overlap",
    "precision lost",
    "recall lost",
    "proportions",
    "difference",
    "contradiction",
    "memorized",
    "repeats itself",
    "copies",
    "depends on its training set",
    "overfits",
    "columns",
    "prompts",
    "unfit",
    "variety",
]
FINDINGS: tuple[FindingName, ...] = get_args(FindingName)
"""Names of everything that can be found."""

_OF_BOTH: tuple[FindingName, ...] = ("no overlap", "proportions", "difference")
_LOST: dict[str, FindingName] = {"precision": "precision lost", "recall": "recall lost"}
_COPIES: tuple[tuple[str, FindingName, str, str], ...] = (
    (
        "copies.of_real",
        "memorized",
        "have exactly the features of a real one",
        "remove copies of training data, or compare with real samples that were held out.",
    ),
    (
        "copies.within",
        "repeats itself",
        "repeat the features of an earlier one",
        "remove duplicates, or sample with more randomness.",
    ),
)
_TRAINING_ADVICE: dict[FindingName, str] = {
    "copies": "look at the closest pairs (--report page.html), remove repeated training samples, "
    "and train for fewer steps or on more data.",
    "depends on its training set": "look at the closest pairs (--report page.html). Simple models "
    "fitted to few samples depend on them without copying any.",
    "overfits": "stop the training earlier, or train on more data.",
}
_PROMPT_ADVICE: dict[FindingName, str] = {
    "prompts": "use the same prompts on both sides.",
    "unfit": "look at the samples that fit another prompt better (--report page.html).",
    "variety": "sample with more randomness, and look at the prompts that lose most (--report "
    "page.html).",
}
OF_TRAINING = tuple(_TRAINING_ADVICE)
"""Those among them that only a training set can show."""
OF_PROMPTS = tuple(_PROMPT_ADVICE)
"""Those among them that only prompts can show."""


@dataclass(frozen=True)
class Finding(Result):
    """What a number shows.

    Args:
        name: One of `FINDINGS`, such as "recall lost" or "columns".
        sentence: What was found.
        advice: What to do next.

    Example:
        >>> from tradeoff.evaluation import Finding
        >>> Finding("repeats itself", "90% of generated samples repeat an earlier one.").name
        'repeats itself'
    """

    name: FindingName
    sentence: str
    advice: str = ""


def findings_of(
    verdict: Verdict | None,
    scores: Mapping[str, Score],
    training: TrainingOutcome | None = None,
    table: TableReport | None = None,
    prompts: PromptReport | None = None,
) -> tuple[Finding, ...]:
    """What is wrong with a model, as far as it is established; without a curve, by neighbors."""
    found = [*_losses(verdict), *_by_neighbors(verdict, scores)]
    for name, sentence in ({} if training is None else training.faults).items():
        known = cast("FindingName", name)  # or there is no advice
        found.append(Finding(known, sentence, _TRAINING_ADVICE[known]))
    if table is not None and table.faults:
        advice = "look at the columns and pairs that differ (--report page.html)."
        found.append(Finding("columns", table.faults[0], advice))
    for name, sentence in () if prompts is None else prompts.faults:
        found.append(Finding(name, sentence, _PROMPT_ADVICE[name]))
    for key, name, words, advice in _COPIES:
        if share := _above(scores.get(key)):
            found.append(Finding(name, f"{share} of the generated samples {words}.", advice))
    return tuple(found)


def findable(
    verdict: Verdict | None,
    scores: Mapping[str, Score],
    training: TrainingOutcome | None = None,
    table: TableReport | None = None,
    prompts: PromptReport | None = None,
) -> frozenset[FindingName]:
    """Names of what `findings_of` could have found with these numbers."""
    lost = {name for kind, name in _LOST.items() if f"knn.{kind}" in scores}
    found = {name for key, name, *_ in _COPIES if key in scores}
    if verdict is None:
        found |= lost
    else:
        found |= {*_OF_BOTH, *_LOST.values()}
        if lost:
            found.add("contradiction")
    if training is not None:
        found.update(OF_TRAINING)
    if table is not None:
        found.add("columns")
    if prompts is not None:
        found.update(OF_PROMPTS)
    return frozenset(found)


def _losses(verdict: Verdict | None) -> Iterator[Finding]:
    if verdict is None:
        return
    advice = _advice(verdict)
    for name in _OF_BOTH:
        if name == verdict.name:
            yield Finding(name, verdict.sentences[0], advice.get(name, ""))
    for kind, sentence in verdict.lost.items():
        yield Finding(_LOST[kind], sentence, advice.get(_LOST[kind], ""))


_COMPARE = "compare samples of both sides (--report page.html)."


def _advice(verdict: Verdict) -> dict[str, str]:
    """What to do about what was found, by its name."""
    if verdict.name == "proportions":
        return {"proportions": "compare the shares of classes or groups on both sides."}
    if verdict.name == "difference":
        more = verdict.recall.advised
        words = f"use {more} on each side." if more else "use more samples, or a stronger encoder."
        return {"difference": words}
    if verdict.name == "no overlap" and len(verdict.lost) != 1:
        return {
            "no overlap": f"{_COMPARE} If nothing else explains it, they may "
            "have been read or scaled differently."
        }
    shares = {"precision": verdict.precision.at_least, "recall": verdict.recall.at_least}
    if min(shares.values()) >= policy.SHARED_CAUSE:
        return {
            f"{next(iter(verdict.lost))} lost": f"{_COMPARE} Most generated samples can be told "
            "from real ones. A fault that they have in common, such as blur, noise, or another "
            "size or range of values, lowers precision and recall together; a low recall then does "
            "not mean that kinds of samples are missing."
        }
    look = "look at the invented samples (--report page.html)"
    if policy.WORTH_FILTERING <= shares["precision"] < policy.SHARED_CAUSE:
        look += ", or keep the realistic ones with `tradeoff filter --budget 2`"
    missed = "look at the real samples that the model misses (--report page.html)"
    return {"precision lost": f"{look}.", "recall lost": f"{missed}."}


def _by_neighbors(verdict: Verdict | None, scores: Mapping[str, Score]) -> Iterator[Finding]:
    """Losses that neighbors show and the curve does not.

    Neighbors depend on much besides the distributions, and count only if their limits are clear.
    """
    for kind, name in _LOST.items():
        score = scores.get(f"knn.{kind}")
        shown = verdict is not None and getattr(verdict, kind).losses
        if shown or score is None or score.high is None or not score.expected:
            continue
        if score.high >= 0.5 * score.expected:
            continue
        sentence = f"knn.{kind} is {score.text}, where {score.expected_text} is expected"
        if verdict is None:
            advice = "measure the curve too."
            if any(key.startswith("curve.") for key in scores):
                advice = "look at the samples: one side repeats a few of them."
            yield Finding(name, f"{sentence}.", advice)
        else:
            yield Finding(
                "contradiction",
                f"{sentence}, but the curve shows no loss of {kind}.",
                "look at the samples: with these features, one of the two metrics is misleading.",
            )


def _above(score: Score | None) -> str:
    """A share of copies, if it is surely above that of real data."""
    if score is None or score.low is None:
        return ""
    usual = score.expected_high or score.expected or 0.0
    return f"{score.value:.0%}" if score.low > usual + policy.MATERIAL_COPIES else ""


def warnings_of(
    measured: Measured, settings: Settings, sizes: Mapping[str, int], columns: int
) -> tuple[str, ...]:
    """What the sizes of the samples do not allow, with the sizes that would."""
    scores, found = measured.scores, []
    smaller, larger = min(sizes.values()), max(sizes.values())
    if measured.curve and settings.has_controls and smaller < policy.FEWEST_CONTROLLED:
        found.append(
            "The check of which losses would be detected was skipped: it requires at least "
            f"{policy.FEWEST_CONTROLLED} samples on each side, and the smaller side has {smaller}."
        )
    if settings.explain and (measured.curve is None or measured.curve.single is None):
        found.append(
            "The explanation was skipped: finding what the model misses and invents requires at "
            f"least {policy.FEWEST_CONTROLLED} distinct samples on each side."
        )
    if measured.has_few_values:
        found.append(
            "A side consists mostly of repeats of a few distinct samples. Equal samples count as "
            "copies, so too few are left to estimate a curve, and its scores have the interval "
            '[0, 1]. Look at knn.coverage and copies.within, or pass repeats="draws" (--repeats '
            "draws) if they are independent draws of a few values."
        )
    diagnosis = None if measured.curve is None else measured.curve.diagnosis
    baseline = None if diagnosis is None else diagnosis.baseline.losses(level=settings.level)
    if baseline is not None and (apart := baseline.difference) is not None:
        found.append(
            f"Two random parts of the real data seem to differ by at least {percent(apart)}. That "
            "can only be chance or a defect: measure again with another seed."
        )
    if larger > policy.UNEQUAL * smaller and (score := scores.get("knn.coverage")):
        both = " and ".join(f"{size:,} {side}" for side, size in sizes.items())
        found.append(
            f"With {both} samples, a perfect model has a knn.coverage of {score.expected_text}: "
            f"use {larger:,} samples on each side."
        )
    if "frechet.distance" in scores and smaller < columns:
        found.append(
            f"frechet.distance is biased upward, because {smaller:,} samples are too few for "
            f"{columns:,} feature dimensions. Use {policy.SAMPLES_PER_COLUMN * columns:,} samples "
            "on each side."
        )
    return tuple(found)


def near_copy_warnings(verdict: Verdict | None, pair: Pair, settings: Settings) -> tuple[str, ...]:
    """Samples that nearly repeat one another, where they may be why a loss was found."""
    if verdict is None or verdict.difference is None:
        return ()
    found = near_copies(pair.first, level=settings.level, seed=settings.seed)
    kinds = {"real": ("generated", "recall"), "generated": ("real", "precision")}
    return tuple(
        f"About {percent(share)} of the {side} samples are near-copies of another {side} sample: "
        "their nearest neighbor is less than a third as far away as that of 95% of the "
        f"{kinds[side][0]} samples. Crops, edits or video frames of one sample are not "
        f"independent, and can make {kinds[side][1]} look lost. Keep one of each, or pass "
        f"{side}_groups to pr_curve."
        for side, share in found.items()
    )


def training_warnings(training: TrainingOutcome) -> tuple[str, ...]:
    """What both parts of the real data do not allow."""
    found = []
    if training.difference is not None:
        found.append(
            "Nothing is said about copies: compare with held-out data from the same source, read "
            "and processed in the same way, and split at random."
        )
    if training.duplicates > policy.MATERIAL_COPIES:
        found.append(
            f"About {percent(training.duplicates)} of the held-out samples are near-duplicates of "
            "a training sample. They make copies harder to find: remove them."
        )
    return tuple(found)


def protocol_warnings(protocol: str | None, encoder: str) -> tuple[str, ...]:
    """What a run must share with a publication for its scores to be comparable."""
    if protocol is None:
        return ()
    published, found = PROTOCOLS[protocol], []
    if published.encoder not in ("any", encoder):
        found.append(
            f"The published scores of {protocol} use features of {published.encoder}; this "
            f"run uses {encoder}: the scores are not comparable."
        )
    if published.samples is not None:
        found.append(f"Sample sizes of the published scores of {protocol}: {published.samples}.")
    return tuple(found)
