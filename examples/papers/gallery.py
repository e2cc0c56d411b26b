"""Experiments of the papers: what is measured, what the paper says of it, and a picture.

Each module of this folder is one paper:

    python -m examples.papers.djolonga_2020 --output pictures
    python -m examples.papers.djolonga_2020 --only gaussians --quick --output pictures
"""

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from matplotlib.figure import Figure

from examples.parts.style import neutral

Kind = Literal["exact", "simulated", "real data", "trained models"]
"""Known distributions without samples; samples of known distributions, or small models of them;
real images or texts that are chosen by their labels; generators of real images."""


@dataclass(frozen=True)
class Claim:
    """What a paper says about one number; without limits, it is shown and not tested.

    Args:
        printed: the claim, in our words, with its place in the paper.
        low: the smallest value that agrees with it.
        high: the largest value that agrees with it.
        quick: both limits for an experiment of reduced size, if they differ.
        instead: both limits of our number, if it is known not to agree; `quick` has precedence.
        why_not: what limits us, or what is wrong in the paper, if it does not agree.
    """

    printed: str
    low: float = -math.inf
    high: float = math.inf
    quick: tuple[float, float] | None = None
    instead: tuple[float, float] | None = None
    why_not: str = ""

    def __post_init__(self) -> None:
        if (self.instead is None) == bool(self.why_not):
            raise ValueError(f"{self.printed}: `instead` and `why_not` belong together")

    @property
    def is_tested(self) -> bool:
        """Whether there is a value that does not agree."""
        return math.isfinite(self.low) or math.isfinite(self.high)

    def distance(self, value: float) -> float:
        """How far a value is from the nearest value at which the verdict changes, not negative."""
        return min(abs(value - limit) for limit in (self.low, self.high))

    def verdict(self, value: float) -> str:
        """Whether the paper and our number agree, and if not, why."""
        if not self.is_tested:
            return "shown"
        return "yes" if self.holds(value) else f"no. {self.why_not}"

    def limits(self, *, quick: bool) -> tuple[float, float]:
        """The smallest and the largest value that agree."""
        return self.quick if quick and self.quick else (self.low, self.high)

    def holds(self, value: float, *, quick: bool = False) -> bool:
        """Whether a measured value agrees."""
        low, high = self.limits(quick=quick)
        return low <= value <= high

    def is_as_known(self, value: float, *, quick: bool = False) -> bool:
        """Whether a measured value agrees, or differs as it is known to."""
        if self.instead is None or (quick and self.quick):
            return self.holds(value, quick=quick)
        low, high = self.instead
        return low <= value <= high


class Measured(NamedTuple):
    """Results of an experiment.

    Args:
        values: a number for each claim, by its name.
        shown: what the picture needs.
    """

    values: Mapping[str, float]
    shown: Any


@dataclass(frozen=True)
class Experiment:
    """One experiment of a paper.

    Args:
        name: of the file of its picture, and on the command line.
        kind: what is measured.
        title: what it shows, in a sentence.
        claims: what the paper says, by the name of the number.
        measure: runs the experiment, with True at reduced size.
        draw: makes the picture of what was measured.
    """

    name: str
    kind: Kind
    title: str
    claims: Mapping[str, Claim]
    measure: Callable[[bool], Measured]
    draw: Callable[[Any], Figure]

    def __post_init__(self) -> None:
        if not self.claims:
            raise ValueError(f"{self.name} needs a claim")


def in_words(low: float, high: float) -> str:
    """The values between two limits, either or both of which may be infinite."""
    if not math.isfinite(low) and not math.isfinite(high):
        return ""
    if not math.isfinite(high):
        return f"at least {low:.4g}"
    if not math.isfinite(low):
        return f"at most {high:.4g}"
    first, last = f"{low:.4g}", f"{high:.4g}"
    return first if first == last else f"{first} to {last}"


def rows(experiment: Experiment, values: Mapping[str, float], *, quick: bool) -> list[list[str]]:
    """A line for each claim: its name, our number, what agrees, and whether it does."""
    found = []
    for name, claim in experiment.claims.items():
        limits = in_words(*claim.limits(quick=quick))
        agrees = "agrees" if claim.holds(values[name], quick=quick) else "differs"
        agrees = agrees if claim.is_tested else "shown"
        found.append([name, f"{values[name]:.4g}", limits, agrees])
    return found


def main(experiments: Sequence[Experiment], description: str) -> None:
    """Run the experiments of a paper: print each claim with our number, write the pictures."""
    names = [experiment.name for experiment in experiments]
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path(), help="folder for the pictures")
    parser.add_argument("--only", choices=names, nargs="+", default=names)
    parser.add_argument("--quick", action="store_true", help="run at reduced size")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    for experiment in experiments:
        if experiment.name not in options.only:
            continue
        measured = experiment.measure(options.quick)
        print(f"{experiment.name}: {experiment.title}")
        for line in rows(experiment, measured.values, quick=options.quick):
            print("  " + "  ".join(line))
        path = options.output / f"{experiment.name}.png"
        with neutral():
            experiment.draw(measured.shown).savefig(path, dpi=100 if options.quick else 200)
        print(f"  wrote {path}")
