"""A small GAN of clothes under four budgets, judged by what acceptance does not use."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

from benchmarks.harness import Row, run
from examples.fashion_budget import BUDGETS, improve

if TYPE_CHECKING:
    from collections.abc import Callable

_improved = cache(partial(improve, steps=4000, size=5000))

CASES: dict[str, Callable[[], Row]] = {
    f"K = {budget:g}": partial(lambda budget: _improved()[budget].row, budget) for budget in BUDGETS
}

if __name__ == "__main__":
    run("fashion", "Fashion-MNIST, a GAN under a budget", CASES)
