"""Cards of the headline scores: good or bad in words, and where value and limit lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tradeoff._text import in_percent, percent

if TYPE_CHECKING:
    from tradeoff.evaluation import Evaluation
    from tradeoff.evaluation.verdict import Outcome, Verdict
    from tradeoff.metrics.score import Score

__all__ = ["LEFT", "RIGHT", "State", "cards_of"]

LEFT, RIGHT = 14.0, 286.0  # ends of the strip, in a picture of 300
_MIDDLE = 0.5
_KINDS = {
    "precision": "Share of the generated samples that are realistic.",
    "recall": "Share of the real data that the model covers.",
    "overlap": "What both sets have in common, also in its proportions.",
}
_LOST = {"precision": "invents", "recall": "misses"}


class State(NamedTuple):
    """What is known of a score.

    Args:
        name: "bad", "good" or "open", which chooses the color.
        sign: A sign that is told apart without color.
        words: What is established, or that nothing is.
        detail: What that means.
    """

    name: str
    sign: str
    words: str
    detail: str = ""


_OPEN = State("open", "?", "too few samples to tell")


def cards_of(evaluation: Evaluation) -> list[dict[str, Any]]:
    """A card for each headline score that was measured."""
    return [
        {
            "name": kind.capitalize(),
            "meaning": meaning,
            "value": evaluation[f"curve.{kind}"].value_text,
            "limit": evaluation[f"curve.{kind}"].interval_text,
            "state": _state(evaluation.verdict, kind),
            "marks": _marks(evaluation[f"curve.{kind}"]),
        }
        for kind, meaning in _KINDS.items()
        if f"curve.{kind}" in evaluation.scores
    ]


def _state(verdict: Verdict | None, kind: str) -> State:
    if verdict is None:
        return State("open", "?", "not known: there is no reliable curve")
    if kind == "overlap":
        return _state_of_overlap(verdict)
    outcome: Outcome = getattr(verdict, kind)
    if outcome.losses:
        words = f"{_LOST[kind]} at least {percent(outcome.at_least)}"
        return State("bad", "✗", words, f"with {in_percent(verdict.level)} confidence")
    if outcome.at_most is None or verdict.name in ("no overlap", "difference"):
        return _OPEN
    detail = f"{outcome.at_most:.0%} or more would be found 4 times in 5"
    return State("good", "✓", "no loss found", detail)


def _state_of_overlap(verdict: Verdict) -> State:
    if verdict.difference is not None:
        words = f"at least {percent(verdict.difference)} differs"
        return State("bad", "✗", words, f"with {in_percent(verdict.level)} confidence")
    if verdict.recall.at_most is None:
        return _OPEN
    return State("good", "✓", "no difference found")


def _marks(score: Score) -> dict[str, dict[str, Any]]:
    """Places and labels on the strip: of the value, the guaranteed limit, and the baseline."""
    found = {"value": (score.value, f"value {score.value_text}")}
    if score.high is not None and score.high < 1.0:
        found["limit"] = (score.high, score.interval_text)
    if score.expected is not None:
        found["expected"] = (score.expected, f"{score.expected_text} if both sets were real")
    return {
        name: {
            "x": round(LEFT + (RIGHT - LEFT) * min(max(place, 0.0), 1.0), 1),
            "label": label,
            "anchor": "end" if place > _MIDDLE else "start",
        }
        for name, (place, label) in found.items()
    }
