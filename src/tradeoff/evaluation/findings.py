"""What scores show, in words, and what they cannot show."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tradeoff._result import Result
from tradeoff.core.headline import HEADLINE_PRECISION_LAM, HEADLINE_RECALL_LAM
from tradeoff.curves.diagnosis import FEWEST_SAMPLES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tradeoff.metrics.family import Measured
    from tradeoff.metrics.score import Score
    from tradeoff.samples import Pair
    from tradeoff.settings import Settings

__all__ = ["Finding", "findings_of", "warnings_of"]

_MATERIAL = 0.01  # a share of copies that is worth a word
_WIDE = 0.05  # half an interval
_UNEQUAL = 2.0
_SAMPLES_PER_COLUMN = 10


@dataclass(frozen=True)
class Finding(Result):
    """What a number shows.

    Args:
        name: precision lost, recall lost, memorized or repeats itself.
        sentence: what it means.

    Example:
        >>> from tradeoff.evaluation import Finding
        >>> Finding("repeats itself", "90% of generated samples repeat an earlier one.").name
        'repeats itself'
    """

    name: str
    sentence: str


def findings_of(scores: Mapping[str, Score]) -> tuple[Finding, ...]:
    """What is wrong with a model, as far as intervals can tell."""
    found = []
    if lost := _lost(scores.get("curve.precision")):
        sentence = (
            f"At least {lost} of generated samples lie where real data is more than "
            f"{HEADLINE_PRECISION_LAM:g} times rarer: they look invented."
        )
        found.append(Finding("precision lost", sentence))
    elif sentence := _halved("knn.precision", scores):
        found.append(Finding("precision lost", sentence))
    if lost := _lost(scores.get("curve.recall")):
        sentence = (
            f"Of at least {lost} of real data the model makes less than "
            f"{HEADLINE_RECALL_LAM:g} times what it should."
        )
        found.append(Finding("recall lost", sentence))
    elif sentence := _halved("knn.recall", scores):
        found.append(Finding("recall lost", sentence))
    for key, name, words in (
        ("copies.of_real", "memorized", "have the very features of a real one"),
        ("copies.within", "repeats itself", "repeat the features of an earlier one"),
    ):
        if share := _above(scores.get(key)):
            found.append(Finding(name, f"{share} of generated samples {words}."))
    return tuple(found)


def _lost(score: Score | None) -> str:
    """What is missing to 1, with its interval, if the score is below that of real data."""
    if score is None or score.low is None or score.high is None:
        return ""
    ceiling = min(1.0, score.expected or 1.0)
    if score.high >= ceiling or score.value > ceiling - _MATERIAL:
        return ""
    return f"{1 - score.value:.0%} [{1 - score.high:.0%}, {1 - score.low:.0%}]"


def _halved(key: str, scores: Mapping[str, Score]) -> str:
    """Neighbors depend on much besides the laws, and are heard only if they are sure."""
    score = scores.get(key)
    if score is None or score.high is None or not score.expected:
        return ""
    if score.high >= 0.5 * score.expected:
        return ""
    return (
        f"{key} is {score.value_text} {score.interval_text}, where real data has "
        f"{score.expected_text}."
    )


def _above(score: Score | None) -> str:
    """A share of copies, if it is surely above that of real data."""
    if score is None or score.low is None:
        return ""
    usual = score.expected_high or score.expected or 0.0
    return f"{score.value:.0%}" if score.low > usual + _MATERIAL else ""


def warnings_of(measured: Measured, settings: Settings, pair: Pair) -> tuple[str, ...]:
    """What the sizes of the samples do not allow, with the sizes that would."""
    scores, found = measured.scores, []
    few_values = measured.curve is not None and measured.curve.has_few_values
    smaller, larger = min(pair.sizes.values()), max(pair.sizes.values())
    for key in ("curve.precision", "curve.recall"):
        score = scores.get(key)
        if score is None or score.low is None or score.high is None:
            continue
        half = 0.5 * (score.high - score.low)
        if _WIDE < half < 0.5:
            enough = _round_up(smaller * (half / _WIDE) ** 2)
            found.append(
                f"{key} is known to ±{half:.2f} only: about {enough:,} samples of each side would "
                f"give ±{_WIDE:g}."
            )
    if measured.curve and settings.diagnose and smaller < FEWEST_SAMPLES and not few_values:
        found.append(
            f"Ceiling and tightness take at least {FEWEST_SAMPLES} samples of each side; "
            f"there are {smaller}."
        )
    if few_values:
        found.append(
            "Copies stay in one fold, so the curve does not see that so few distinct samples "
            "repeat: its interval is [0, 1]. Look at knn.coverage and copies.within."
        )
    if larger > _UNEQUAL * smaller and (score := scores.get("knn.coverage")):
        sizes = " and ".join(f"{size:,} {side}" for side, size in pair.sizes.items())
        found.append(
            f"With {sizes} samples knn.coverage of a perfect model is {score.expected_text}: take "
            f"{larger:,} of each."
        )
    if "frechet.distance" in scores and smaller < pair.columns:
        found.append(
            f"frechet.distance has {smaller:,} samples for {pair.columns:,} columns and is biased "
            f"upward: {_SAMPLES_PER_COLUMN * pair.columns:,} of each side would do."
        )
    return tuple(found)


def _round_up(count: float) -> int:
    """Two digits, not fewer than needed."""
    step = int(10 ** max(0, math.floor(math.log10(max(count, 1.0))) - 1))
    return math.ceil(count / step) * step
