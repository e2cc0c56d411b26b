"""Goals, read from sentences."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tradeoff.exceptions import InvalidInputError

if TYPE_CHECKING:
    from tradeoff.goals import Above, Below, Best

__all__ = ["parse_best", "parse_question"]

_SLOPE = r"(?:λ|lam|lambda)? ?=? ?(\d*\.?\d+)"
_QUESTION = re.compile(
    rf"(?:curve\.)?(precision|recall)(?: at {_SLOPE})?(?: ?([<>])=? ?(\d*\.?\d+))?"
)
_AT_LEAST = re.compile(r"highest (precision|recall) with (precision|recall) at least (\d*\.?\d+)")
_AT_SLOPE = re.compile(rf"best at {_SLOPE}")


def parse_question(text: str) -> Above | Below | Best:
    """A question: precision or recall, at a slope if need be, against a bar if any."""
    from tradeoff.goals import Above, Below, Best

    found = _QUESTION.fullmatch(" ".join(text.split()))
    if found is None or (found[2] is not None and not float(found[2]) > 0):
        raise InvalidInputError(
            'The question must read like "curve.recall > 0.6" or "precision at λ = 2 < 0.9" for '
            f'one model, or "curve.recall" for several. Got {text!r}.'
        )
    key: Any  # one of two words, by the pattern
    key, slope, sign, bar = found.groups()
    lam = None if slope is None else float(slope)
    if bar is None:
        return Best(key, lam)
    return (Below if sign == "<" else Above)(key, float(bar), lam)


def parse_best(text: str) -> Best:
    """What a value of a knob is chosen for: four kinds of sentences are understood."""
    from tradeoff.goals import Above, Best

    plain = " ".join(text.split())
    for goal in (Best("area"), Best("f_score")):
        if plain == str(goal):
            return goal
    if (found := _AT_LEAST.fullmatch(plain)) and found[1] != found[2]:
        keys: list[Any] = [found[1], found[2]]
        return Best(keys[0], given=Above(keys[1], float(found[3])))
    if (found := _AT_SLOPE.fullmatch(plain)) and float(found[1]) > 0:
        lam = float(found[1])
        return Best("precision" if lam >= 1 else "recall", lam)
    raise InvalidInputError(
        'The goal must read like "largest area", "highest F-score", "best at λ = 2" or '
        f'"highest precision with recall at least 0.8". Got {text!r}.'
    )
