"""The headline of a page: what matters most, in one sentence that a phone shows in three lines."""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from tradeoff._text import percent, printable, shortened
from tradeoff.report.text import verdict_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tradeoff.comparison.models import Comparison
    from tradeoff.evaluation import Evaluation
    from tradeoff.evaluation.verdict import Verdict
    from tradeoff.explain import Explanation

__all__ = ["Headline", "headline_of", "headline_of_comparison", "headline_of_sentences"]

_LONGEST = 92  # characters: three lines on a phone, two on a desktop
_LONGEST_NAME = 24
_WORDS = 2  # of a group that is named by words


class Headline(NamedTuple):
    """What a page says first.

    Args:
        title: The headline.
        rest: Sentences below it. What the headline shortens is among them in full.
    """

    title: str
    rest: list[str]


def headline_of(evaluation: Evaluation) -> Headline:
    """The headline of an evaluation: its losses, groups first, or else its first sentence."""
    sentences, verdict = verdict_of(evaluation), evaluation.verdict
    if verdict is not None and verdict.name == "loss":
        title = _losses(verdict, evaluation.explanation)
        kind, first = next(iter(verdict.lost.items()))
        is_told = all(printable(name) in title for name in getattr(verdict, kind).groups)
        rest = [one for one in sentences if not (is_told and one == first)]
        rest += _hints(verdict, evaluation.explanation)
        return Headline(title, list(map(printable, rest)))
    if verdict is not None and verdict.name == "nothing found" and evaluation.findings:
        found = [one.sentence for one in evaluation.findings if one.name != "contradiction"]
        first = [*found, evaluation.findings[0].sentence][0]  # something else is wrong
        sentences = [first, *(one for one in sentences if one != first)]
    return headline_of_sentences(sentences or ["No verdict: there is no reliable curve."])


def headline_of_sentences(sentences: Sequence[str]) -> Headline:
    """The first sentence if it is short, or else its beginning."""
    first, *rest = map(printable, sentences)
    if len(first) <= _LONGEST:
        return Headline(first, rest)
    start, _, end = first.partition(". ")
    if len(start) < _LONGEST and end:
        return Headline(f"{start}.", [end, *rest])
    start = re.split("[:;] ", first)[0]
    title = f"{start}." if len(start) < _LONGEST else shortened(first, _LONGEST)
    return Headline(title, [first, *rest])


def headline_of_comparison(comparison: Comparison) -> Headline:
    """Which model is better than all others, and what the only other one misses."""
    better = {pair: _better(comparison, *pair) for pair in combinations(comparison.evaluations, 2)}
    verdicts = list(map(printable, comparison.verdicts))
    names = list(comparison.evaluations)
    beaten = {name: {other for pair in better if name in pair for other in pair} for name in names}
    best = [
        name
        for name in names
        if all(better[pair] == name for pair in better if name in pair) and beaten[name]
    ]
    if len(names) == 2:
        return _of_two(comparison, best[0], verdicts) if best else headline_of_sentences(verdicts)
    if best:
        title = f"{_named(best[0])} is better than the {len(names) - 1} others."
    elif all(winner is None for winner in better.values()):
        title = "No model is shown to be better than another."
    else:
        title = "No model is shown to be better than all others."
    return Headline(title, verdicts)


def _of_two(comparison: Comparison, best: str, verdicts: list[str]) -> Headline:
    (other,) = (name for name in comparison.evaluations if name != best)
    title = f"{_named(best)} is better than {_named(other)}"
    missed = {
        name: _names(one.verdict, one.explanation)["recall"] if one.verdict is not None else []
        for name, one in comparison.evaluations.items()
    }
    only = [name for name in missed[other] if name not in missed[best]]
    candidates = [f"{title}, which misses {_listed(only[:n])}." for n in range(len(only), 0, -1)]
    return Headline(_fitting([*candidates, f"{title}."]), verdicts)


def _better(comparison: Comparison, first: str, second: str) -> str | None:
    """Which of two models is better in everything that differs; None if that is neither."""
    settings = comparison.evaluations[first].settings
    signs = {
        one.value > 0
        for one in comparison.differences
        if (one.first, one.second) == (first, second) and one.p_value < 1.0 - settings.level
    }
    return None if len(signs) != 1 else first if signs.pop() else second


def _losses(verdict: Verdict, explanation: Explanation | None) -> str:
    """Both losses, the larger first, with as many names of groups as fit."""
    names = _names(verdict, explanation)

    def told(kind: str, count: int, *, is_first: bool) -> str:
        verb = {"recall": "misses", "precision": "invents"}[kind]
        share = f"at least {percent(getattr(verdict, kind).at_least)}"
        of = {"recall": "of the real data", "precision": "of its samples"}[kind]
        what = _listed(names[kind][:count])
        if not what:
            return f"{verb} {share} {of}"
        return f"{verb} {what}: {share} {of} in all" if is_first else f"{verb} {what}: {share}"

    candidates = []
    for count in range(max(map(len, names.values())), -1, -1):
        parts = [told(kind, count, is_first=i == 0) for i, kind in enumerate(verdict.lost)]
        text = "; ".join(parts)
        candidates.append(f"{text[0].upper()}{text[1:]}.")
    return _fitting(candidates)


def _hints(verdict: Verdict, explanation: Explanation | None) -> list[str]:
    """The largest group of each loss of which no group is established."""
    losses = (explanation.missed, explanation.invented) if explanation is not None else ()
    return [
        f"Where to look first, although it is not established: {loss.groups[0].name}."
        for loss in losses
        if loss is not None
        and loss.kind in verdict.lost
        and not getattr(verdict, loss.kind).groups
        and loss.groups
        and loss.groups[0].kind != "number"
    ]


def _names(verdict: Verdict, explanation: Explanation | None) -> dict[str, list[str]]:
    """Names of groups by kind of loss; of those that are named by words, the first ones."""
    found = {}
    for kind, loss in (
        ("recall", explanation and explanation.missed),
        ("precision", explanation and explanation.invented),
    ):
        by_words = {group.name for group in loss.groups if group.kind == "words"} if loss else set()
        found[kind] = [
            f"“{', '.join(printable(name).split(', ')[:_WORDS])}”"
            if name in by_words
            else printable(name)
            for name in getattr(verdict, kind).groups
        ]
    return found


def _listed(names: Sequence[str]) -> str:
    *first, last = names or [""]
    return f"{', '.join(first)} and {last}" if first else last


def _fitting(candidates: Iterable[str]) -> str:
    """The first that is short enough, or the last."""
    found = ""
    for found in candidates:
        if len(found) <= _LONGEST:
            break
    return shortened(found, _LONGEST)


def _named(model: str) -> str:
    name = shortened(printable(model), _LONGEST_NAME)
    return f"“{name}”" if " " in name else name
