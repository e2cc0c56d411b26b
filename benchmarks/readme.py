"""Figures of the README: where they come from, and a mark after those that are stale."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from benchmarks.stale import MARK, is_stale

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FIGURES", "mark_figures"]

FIGURES = {
    "below the truth in 2": "headline > *columns, N = * > limit below truth",
    "the truth in 2 of 1300": "headline > *columns, N = * > runs",
    "loss was named in 6": "headline > *columns, N = * > wrong kind",
    "precision and recall are off by 0.085": "real > CIFAR-10, N = 5,000, mean > ours: error > .3f",
    "the true classes reaches 0.063": "real > CIFAR-10, N = 5,000, mean > oracle: error > .3f",
    "k-means histograms 0.125": "real > CIFAR-10, N = 5,000, mean > sajjadi-2018: error > .3f",
    "a precision of 0.873": "real > CIFAR-10, N = 5,000, q = 10 > ours: recall, precision[1]",
    "where the truth is 0.50": "real > CIFAR-10, N = 5,000, q = 10 > true recall, precision[1]",
    "they take 0.9": "neighbors > 2,048 columns > ratio > .1f",
    "384 columns 1.3": "neighbors > 384 columns > ratio > .1f",
}
"""What the README says before a figure, the figure, and where it comes from."""


def mark_figures(text: str, stale: Callable[[str], bool] = is_stale) -> str:
    """The text of the README with a mark after every stale figure, and after no other.

    Args:
        text: The README.
        stale: Whether the figure with this source is stale.
    """
    for said, source in FIGURES.items():
        words = rf"{MARK}?\s+".join(map(re.escape, said.split()))
        mark = MARK if stale(source) else ""
        text, found = re.subn(rf"({words})(?!\d){MARK}?", rf"\1{mark}", text)
        if found != 1:
            raise ValueError(f"The README must say {said!r} once, and says it {found} times.")
    return text
