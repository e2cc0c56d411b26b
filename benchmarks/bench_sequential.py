"""Answers while sampling: how often they are wrong, and how many samples they take.

Counts are simulated, with 20,000 real samples: one model against a bar, or A against B. Looks are
taken every 25 generated samples up to 1,000 (250 at λ = 1), then every 250 up to 20,000. Next to
the mean number of samples is the smallest fixed number that a test with the same error needs for a
power of 95%, if it knows the gap. A tie must not be broken: its row also counts the runs in which
limits of all looks together miss the truth. A gap that the real side's own noise hides is announced
before any sample is generated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import binom, norm

from benchmarks.harness import Row, run
from tests.known.curves import over_seeds
from tests.known.sequential import (
    ERRORS,
    FIRST,
    LAST,
    QUESTIONS,
    REAL,
    Question,
    Shifted,
    fixed_size,
    simulate,
)
from tradeoff import Best, decide
from tradeoff.inference.betting import BettingTest

if TYPE_CHECKING:
    from collections.abc import Callable

RUNS = 500
GAPS = (0.0, 0.03, -0.03, 0.05, -0.05, 0.1, -0.1)
BEHIND = (0.0, 0.0, 0.02, 0.04, 0.05, 0.06, 0.08, 0.1)
BEST_RUNS = 200
_TOO_MANY = 1e-3
_SAMPLES = {1.0: (1.3, 1.3), 0.4: (1.3, 2.0)}


def measured(question: Question, gap: float) -> Row:
    """Wrong answers and samples for both errors."""
    found = over_seeds(lambda i: simulate(question, gap, 80_000 + i), RUNS)
    row: Row = {}
    ratios = []
    for error in ERRORS:
        answers, samples = np.array([one[error] for one in found]).T
        wrong = int((answers != 0).sum() if gap == 0 else (answers == -np.sign(gap)).sum())
        allowed = int(binom.ppf(1 - _TOO_MANY, RUNS, error))
        row |= {
            f"wrong at {error:g}": wrong,
            f"answered at {error:g}": float((answers != 0).mean()),
        }
        ratios.append(wrong / allowed)
        if gap:
            fixed = fixed_size(question, gap, error)
            row |= {f"samples at {error:g}": float(samples.mean()), f"fixed at {error:g}": fixed}
            bars = _SAMPLES.get(question.lam)
            if bars and abs(gap) <= 0.05 and fixed is not None:
                ratios.append(samples.mean() / fixed / bars[gap < 0])
    return row | {"undecidable": undecidable(question, gap), "ratio": max(ratios), "bar": 1.0}


def undecidable(question: Question, gap: float) -> str:
    """For which errors the real side cannot resolve the gap."""
    shares = np.array(question.real)
    test = BettingTest(
        question.lam,
        question.values,
        real=REAL * shares,
        spread=question.spread(),
        looks=(FIRST[question.lam], LAST),
    )
    hidden = [error for error in ERRORS if abs(gap) <= test.resolvable(error=error)[gap < 0]]
    return ", ".join(f"{error:g}" for error in hidden)


def best_of_eight(seed: int) -> tuple[bool, bool, int, int]:
    """Whether a best model is left, only the tied ones, samples, and samples without dropping."""
    rng = np.random.default_rng(seed)
    distances = -2.0 * norm.ppf(0.5 * (0.6 - np.array(BEHIND)))
    names = [f"model {i}" for i in range(len(BEHIND))]
    found = decide(
        real=rng.normal(0, 1, (REAL, 1)),
        generated={
            name: (lambda n, d=distance: rng.normal(d, 1, (n, 1)))
            for name, distance in zip(names, distances, strict=True)
        },
        goal=Best("precision", lam=1.0),
        rule={name: Shifted(d) for name, d in zip(names, distances, strict=True)},
        every=500,
        limit=LAST,
        progress=False,
    )
    used = list(found.samples.values())
    tied = set(names[:2])
    return bool(set(found.best) & tied), set(found.best) <= tied, sum(used), max(used) * len(used)


def eight_models() -> Row:
    """The best of eight, two of which are tied."""
    found = np.array(over_seeds(lambda i: best_of_eight(90_000 + i), BEST_RUNS))
    lost = int(BEST_RUNS - found[:, 0].sum())
    allowed = int(binom.ppf(1 - _TOO_MANY, BEST_RUNS, 0.05))
    return {
        "best model dropped": lost,
        "only tied models left": float(found[:, 1].mean()),
        "samples of all": float(found[:, 2].mean()),
        "of equal numbers": float((found[:, 2] / found[:, 3]).mean()),
        "ratio": lost / allowed,
        "bar": 1.0,
    }


def name_of(question: Question, gap: float) -> str:
    """Name of a case."""
    return f"{question.name}, λ = {question.lam:g}, gap {gap:+g}"


CASES: dict[str, Callable[[], Row]] = {
    name_of(question, gap): (lambda q=question, g=gap: measured(q, g))
    for question in QUESTIONS
    for gap in GAPS
}

CASES["best of eight models, two tied, 200 runs"] = eight_models

if __name__ == "__main__":
    run("sequential", "Answers while sampling, 500 runs of each row", CASES)
