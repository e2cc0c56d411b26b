"""Figures of the README: where they come from, and a mark after those that are stale."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from benchmarks.stale import MARK, is_stale

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["COUNTED", "FIGURES", "mark_figures"]

_TOTAL = "metrics > total, {}, reduced grid > {}"
FIGURES = {
    "precision and recall is 0.085": "real > CIFAR-10, N = 5,000, mean > ours: error > .3f",
    "true classes reaches 0.063": "real > CIFAR-10, N = 5,000, mean > oracle: error > .3f",
    "al. 0.096": "real > CIFAR-10, N = 5,000, mean > simon-2019: error > .3f",
    "(Sajjadi et al.) 0.125": "real > CIFAR-10, N = 5,000, mean > sajjadi-2018: error > .3f",
    "tradeoff reports 0.873": "real > CIFAR-10, N = 5,000, q = 10 > ours: recall, precision[1]",
    "the true precision is 0.50": "real > CIFAR-10, N = 5,000, q = 10 > true recall, precision[1]",
    "difference was reported in 55": "verdict > all cases, false alarms > false alarms",
    "reported in 55 of 2030": "verdict > all cases, false alarms > runs",
    "loss was named in 1": "verdict > all cases, wrong kind > wrong kind",
    "named in 1 of 805": "verdict > all cases, wrong kind > runs",
    "above the true loss in 3": "verdict > all cases, limit above truth > limit above truth",
    "in all of 40": "verdict > images, N = 500, 20% foreign > runs",
    "of ten in 8 of 10": "verdict > images, N = 500, 2 of 10 classes dropped > runs",
    "clipped density passes 18": _TOTAL.format("clipped density and coverage", "fidelity"),
    "clipped coverage 15": _TOTAL.format("clipped density and coverage", "diversity"),
    ", density 13": _TOTAL.format("density and coverage", "fidelity"),
    "and coverage 13": _TOTAL.format("density and coverage", "diversity"),
    "improved precision 10": _TOTAL.format("improved precision and recall", "fidelity"),
    "improved recall 6": _TOTAL.format("improved precision and recall", "diversity"),
    "they take 0.9": "neighbors > 2,048 columns > ratio > .1f",
    "and 1.3": "neighbors > 384 columns > ratio > .1f",
    "takes 0.3": "memory > 1,000,000 + 20,000, 64 columns, stored reference > gigabytes > .1f",
    "samples take 2.2": "profile > scores, 10⁶ + 10⁶ > ratio > .1f",
    "log-ratios 6.1": "profile > held-out errors, 10⁶ + 10⁶ > ratio > .1f",
}
"""What the README says before a figure, the figure, and where it comes from."""

COUNTED = {"curve passes 25": "sanity", "for precision and 27": "sanity"}
"""The same for figures that are counted over all rows of a record."""


def mark_figures(text: str, stale: Callable[[str], bool] = is_stale) -> str:
    """The text of the README with a mark after every stale figure, and after no other.

    Args:
        text: The README.
        stale: Whether the figure with this source is stale.
    """
    for said, source in (FIGURES | COUNTED).items():
        words = rf"{MARK}?\s+".join(map(re.escape, said.split()))
        mark = MARK if stale(source) else ""
        text, found = re.subn(rf"({words})(?!\d){MARK}?", rf"\1{mark}", text)
        if found != 1:
            raise ValueError(f"The README must say {said!r} once, and says it {found} times.")
    return text
