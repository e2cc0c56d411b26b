"""Titles of a character model as several views see them, and sentences of four sources."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np

from benchmarks import datasets, textgenrnn
from benchmarks.textgenrnn import Knob
from tradeoff.data import Sample
from tradeoff.features import open_encoder

if TYPE_CHECKING:
    from collections.abc import Sequence

Features = dict[str, np.ndarray]

SETTINGS = {
    "T = 0.85": Knob(0.85),
    "T = 0.7": Knob(0.7),
    "10 most probable": Knob(most=10),
}
MEANING, SURFACE = "all-minilm-l6-v2", "surface"
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Texts:
    """Drawn texts as the views see them.

    Args:
        drawn: The texts with their probabilities.
        views: Features by view.
    """

    drawn: textgenrnn.Drawn
    views: Features


def all_texts(wanted: Sequence[tuple[Knob, int, int]]) -> list[Texts]:
    """Texts of several settings, seeds and sizes, drawn on all cores and kept."""
    missing = [one for one in wanted if one not in _DRAWN]
    drawn = joblib.Parallel(n_jobs=-1)(joblib.delayed(texts)(*one) for one in missing)
    _DRAWN.update(zip(missing, drawn, strict=True))
    return [_DRAWN[one] for one in wanted]


def texts(knob: Knob, seed: int, size: int) -> Texts:
    """Texts at a setting; at temperature 1 their probability at every other one is known."""
    real = Knob()
    others = tuple(SETTINGS.values()) if knob == real else (real,)
    drawn = textgenrnn.draw(size, knob, others, seed)
    at_one = drawn.log_probabilities[0 if knob == real else 1]
    return Texts(drawn, embedded(drawn.texts) | {"surprisal": surprisal(at_one, drawn.lengths)})


def surprisal(log_probabilities: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Mean, spread and quantiles of the log-probabilities of characters, and their number."""
    rows = [row[:length] for row, length in zip(log_probabilities, lengths, strict=True)]
    found = [[row.mean(), row.std(), *np.quantile(row, _QUANTILES), len(row)] for row in rows]
    return np.asarray(found)


def embedded(lines: Sequence[str]) -> Features:
    """Features of texts by the sentence encoder and of their surface."""
    found = {}
    for name in (MEANING, SURFACE):
        encoder = _encoder(name)
        prepared = [encoder.prepare(Sample(str(i), text)) for i, text in enumerate(lines)]
        parts = [encoder.embed(prepared[i : i + 512]) for i in range(0, len(prepared), 512)]
        found[name] = np.concatenate(parts).astype(float)
    return found


@cache
def _encoder(name: str) -> Any:
    return open_encoder(name, kind="text")


@cache
def sources() -> list[list[str]]:
    """Sentences by source."""
    return [rows for _, rows in datasets.text_lines()]


_DRAWN: dict[tuple[Knob, int, int], Texts] = {}
