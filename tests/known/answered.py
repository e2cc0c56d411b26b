"""Answers of a language model to forty questions at two temperatures, with exact probabilities.

Twelve answers of SmolLM2-135M-Instruct to each, of up to 32 tokens, drawn by
`python -m benchmarks.fixture answers`.
"""

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

FILE = Path(__file__).parent / "answers.npz"
SETTINGS = (1.0, 0.7)  # temperatures
OF_EACH = 12


class Answers(NamedTuple):
    """Question, log-probability of each token at both temperatures, and views of each answer."""

    question: np.ndarray
    log_probabilities: np.ndarray
    meaning: np.ndarray
    surface: np.ndarray

    def log_ratio(self, tokens):
        """Log p/q of the first tokens; p has the first temperature."""
        p, q = self.log_probabilities[:, :, :tokens].astype(float).sum(2)
        return p - q

    def surprisal(self):
        """Mean, spread and quantiles of the log-probabilities at the first temperature."""
        rows = [row[row != 0.0].astype(float) for row in self.log_probabilities[0]]
        rows = [row if row.size else np.zeros(1) for row in rows]
        found = [
            [row.mean(), row.std(), *np.quantile(row, (0.05, 0.25, 0.5, 0.75, 0.95)), row.size]
            for row in rows
        ]
        return np.array(found)


@cache
def answers():
    """Answers at both temperatures, and the features of the questions."""
    with np.load(FILE) as kept:
        found = [Answers(*(kept[f"{name}-{i}"] for name in Answers._fields)) for i in (0, 1)]
        return found, kept["asked"].astype(float)
