"""The mean raw curve is never below the truth, and dual bounds are never above it.

A row is the worst shortfall over slopes, or excess over divergences, in standard errors of the
mean over seeds, and must not exceed four.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.harness import Row, run
from tests.known.honesty import KNOWN, honest
from tradeoff.ratio import ESTIMATORS

if TYPE_CHECKING:
    from collections.abc import Callable


CASES: dict[str, Callable[[], Row]] = {
    f"{estimator}: {name}": (lambda e=estimator, k=name: honest(e, k))
    for estimator in ESTIMATORS
    if estimator != "fast"  # another name for logistic
    for name in KNOWN
}

if __name__ == "__main__":
    run("honesty", "Worst violation over 200 seeds (stack 40), N = 500, in standard errors", CASES)
