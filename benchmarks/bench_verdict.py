"""The verdict on models whose faults are known: what it finds, and how often it is wrong.

A bar is a count of failures that an exact binomial test at 1% still accepts: `ratio` is the number
of failures over the largest number that is accepted, for the worst of the bars of a row. Seeds
start at 10,000; the constants of the rule were chosen on smaller ones.

    python -m benchmarks.bench_verdict --try "images, N = 100, none" --seeds 20

runs single cases with fewer and other seeds, and writes nothing.
"""

from __future__ import annotations

import argparse
import functools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
from scipy.stats import binom

from benchmarks import faults
from benchmarks.faults import (
    APART,
    BLUR,
    COPIES,
    FOREIGN,
    NONE,
    SHUFFLED,
    UNEVEN,
    Fault,
    decisive_count,
    dropped,
    invented,
    measured,
    mixed,
)
from benchmarks.harness import Summary, render, run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchmarks.faults import Drawn, Run
    from benchmarks.harness import Row

FIRST_SEED = 10_000
PILOT_SEED = 20_000
TRIAL_SEED = 30_000
RUNS, FEW_RUNS, RUNS_OF_NONE = 40, 5, 150
OTHER_RUNS = 10  # of cases without a bar of their own
CONTROLLED = 20  # of the runs without a fault
PILOTS, TRIES, PILOT_SIZE = 20, 5, 500  # fewer than 90 runs could not reject 100% established
LARGEST_ADVICE = 6_000
_WRONG = 0.05
_REJECTED = 0.01
_ADVISED = (0.65, 0.95)
_BOUND = 0.2
_COUNTS = ("false alarms", "wrong kind", "limit above truth", "false bound", "contradictions")
_NEVER = 0.0


@dataclass(frozen=True, kw_only=True)
class Case:
    """Samples of one data set and size with one fault.

    Args:
        data: Name of the data set.
        fault: What is wrong with generated samples.
        real: Number of real samples.
        generated: Number of generated samples; as many as real ones if None.
        runs: Number of seeds.
        first: The first of them.
        labeled: Whether controls know the classes.
        found: Least share of runs in which a difference must be established.
        named: Least share of runs in which the right kind must be established.
        not_fine: Least share of runs in which something must be found, copies included.
        bounded: Least share of runs in which losses of recall above 0.2 must be ruled out.
    """

    data: str
    fault: Fault
    real: int
    generated: int | None = None
    runs: int = RUNS
    first: int = FIRST_SEED
    labeled: bool = True
    found: float | None = None
    named: float | None = None
    not_fine: float | None = None
    bounded: float | None = None

    def __str__(self) -> str:
        against = "" if self.generated is None else f" real, {self.generated:,} generated"
        labels = "" if self.labeled else ", no labels"
        return f"{self.data}, N = {self.real:,}{against}, {self.fault.name}{labels}"

    def draw(self, seed: int) -> Drawn:
        """Samples of one run."""
        return faults.draw(
            faults.DATA[self.data](),
            self.fault,
            real=self.real,
            generated=self.generated or self.real,
            seed=seed,
            labeled=self.labeled,
        )

    def measure(self) -> Row:
        """Counts over all runs, and the worst ratio to a bar."""
        drawn = ((seed, self.draw(seed)) for seed in range(self.first, self.first + self.runs))
        found = joblib.Parallel(n_jobs=-1)(
            joblib.delayed(measured)(one, self.fault, seed, self.needs_controls(seed))
            for seed, one in drawn
        )
        return self.row(found)

    def needs_controls(self, seed: int) -> bool:
        """Whether controls are run where recall is not lost."""
        if self.fault.kinds == {"recall"}:
            return True
        return self.fault.is_none and seed < self.first + CONTROLLED

    def row(self, found: Sequence[Run]) -> Row:
        """Figures of all runs."""
        total, kind = len(found), self.fault.kind
        stated = [one.at_most for one in found if one.at_most is not None]
        row: Row = {
            "runs": total,
            "difference": float(np.mean([one.difference is not None for one in found])),
        }
        if self.not_fine is not None:
            row["found"] = float(np.mean([bool(one.findings) for one in found]))
        if kind is not None:
            limits = [one.limits[kind] for one in found if kind in one.limits]
            row["kind"] = len(limits) / total
            row["share"] = float(np.mean([one.share for one in found]))
            row["limit, median"] = float(np.median(limits)) if limits else None
        if any(one.controlled for one in found):
            row["controlled"] = sum(one.controlled for one in found)
            row["bounded"] = len(stated)
            row["bound, median"] = float(np.median(stated)) if stated else None
            sizes = [one.enough for one in found if one.enough is not None]
            row["advised size, median"] = float(np.median(sizes)) if sizes else None
        bars = self.bars(found)
        row |= {name: bars[name].failures for name in _COUNTS if name in bars}
        worst = max(bars, key=lambda name: bars[name].ratio, default=None)
        if worst is not None:
            row |= {"worst bar": str(bars[worst]), "ratio": bars[worst].ratio, "bar": 1.0}
        return row

    def bars(self, found: Sequence[Run]) -> dict[str, Bar]:
        """Bars of this case by name."""
        bars: dict[str, Bar] = {}

        def add(name: str, failed: Sequence[bool], allowed: float | None) -> None:
            if failed and allowed is not None:
                bars[name] = Bar(name, sum(failed), len(failed), allowed)

        kind = self.fault.kind
        if self.fault.is_none:
            add("false alarms", [one.difference is not None for one in found], _WRONG)
            controlled = [one for one in found if one.controlled]
            loose = [one.at_most is None or one.at_most > _BOUND for one in controlled]
            add("not bounded", loose, _complement(self.bounded))
        elif len(self.fault.kinds) < 2:
            add("wrong kind", [bool(set(one.limits) - one.kinds) for one in found], _WRONG)
        if kind is not None:
            add("limit above truth", [one.exceeds for one in found], _WRONG)
            add("kind missed", [kind not in one.limits for one in found], _complement(self.named))
            bounded = [one for one in found if one.at_most is not None]
            add("false bound", [one.is_falsely_bounded for one in bounded], _WRONG)
        if self.fault.is_apart:
            add("no overlap not named", [not one.named_apart for one in found], _NEVER)
        add("contradictions", [one.contradictions > 0 for one in found], _NEVER)
        add("called fine", [not one.findings for one in found], _complement(self.not_fine))
        missed = [one.difference is None for one in found]
        add("difference missed", missed, _complement(self.found))
        return bars


@dataclass(frozen=True)
class Bar:
    """A number of failures, and the share of failures that is allowed."""

    name: str
    failures: int
    runs: int
    share: float

    @property
    def allowed(self) -> int:
        """The largest number of failures that an exact binomial test at 1% accepts."""
        return int(binom.ppf(1.0 - _REJECTED, self.runs, self.share))

    @property
    def ratio(self) -> float:
        """Failures over the number that is allowed; above 1 for any failure if none is."""
        return self.failures / max(self.allowed, 0.5)

    def __str__(self) -> str:
        return f"{self.name} {self.failures} of {self.runs}, {self.allowed} allowed"


def _complement(share: float | None) -> float | None:
    return None if share is None else 1.0 - share


@dataclass(frozen=True, kw_only=True)
class Advice:
    """The number of samples that the controls of a small sample advise, tried out.

    Args:
        data: Name of the data set.
        fault: Fault that is to be established.
        pilots: Number of small samples, each of which gives its own advice.
        tries: Number of runs at each advised size.
        size: Number of real samples of a pilot.
        at_least: Whether it may be established too often. The advice comes from classes that are
            withheld, and samples that are farther away than another class need fewer.
    """

    data: str
    fault: Fault
    pilots: int = PILOTS
    tries: int = TRIES
    size: int = PILOT_SIZE
    at_least: bool = False

    def __str__(self) -> str:
        return f"{self.data}, advice at N = {self.size:,}, {self.fault.name}"

    def measure(self) -> Row:
        """The share of runs at the advised size in which the fault is established.

        A size above the largest that is tried counts as one at which every run establishes it.
        """
        counts = advised_counts(self.data, self.size, self.pilots)
        share = Case(data=self.data, fault=self.fault, real=self.size).draw(PILOT_SEED).share
        advised = [round(count / share) for count in counts if count is not None]
        sizes = [size for size in advised if size <= LARGEST_ADVICE]
        tried = [size for size in sizes for _ in range(self.tries)]
        tasks = (
            (seed, Case(data=self.data, fault=self.fault, real=size).draw(seed))
            for seed, size in enumerate(tried, FIRST_SEED)
        )
        found = joblib.Parallel(n_jobs=-1)(
            joblib.delayed(measured)(drawn, self.fault, seed, False) for seed, drawn in tasks
        )
        beyond = len(advised) - len(sizes)
        established = [self.fault.kind in one.limits for one in found]
        row: Row = {
            "pilots": self.pilots,
            "advised size, median": float(np.median(advised)) if advised else None,
            "advised size, quartiles": [*map(round, np.percentile(advised or [0], [25, 75]))],
            "too large to try": beyond,
            "runs": len(found),
        }
        return row | self.judged(established + [True] * (beyond * self.tries))

    def judged(self, established: Sequence[bool]) -> Row:
        """The share, and whether it is in the range."""
        if not established:
            return {"kind": None, "ratio": float("inf"), "bar": 1.0}
        low, high = _ADVISED
        runs, hits = len(established), sum(established)
        bars = [Bar("established too rarely", runs - hits, runs, 1.0 - low)]
        if not self.at_least:
            bars.append(Bar("established too often", hits, runs, high))
        worst = max(bars, key=lambda bar: bar.ratio)
        return {"kind": hits / runs, "worst bar": str(worst), "ratio": worst.ratio, "bar": 1.0}


@functools.cache
def advised_counts(data: str, size: int, pilots: int) -> list[float | None]:
    """Numbers of missed samples that would decide, by the controls of small samples."""
    pilot = Case(data=data, fault=NONE, real=size)
    drawn = ((seed, pilot.draw(seed).pair) for seed in range(PILOT_SEED, PILOT_SEED + pilots))
    return list(
        joblib.Parallel(n_jobs=-1)(
            joblib.delayed(decisive_count)(pair, seed) for seed, pair in drawn
        )
    )


def image_cases() -> list[Case]:
    """All faults at all sizes, with the bars of single cases."""
    half, two = dropped(5, 10), dropped(2, 10)
    bars: dict[tuple[int, Fault], dict[str, Any]] = {
        (100, FOREIGN[0.5]): {"named": 0.85},
        (200, FOREIGN[0.5]): {"named": 0.95},
        (200, half): {"found": 0.75},
        (500, half): {"named": 0.9},
        (500, FOREIGN[0.2]): {"named": 0.95},
        (2_000, FOREIGN[0.05]): {"named": 0.9},
        (2_000, two): {"named": 0.9},
        (5_000, NONE): {"bounded": 0.5},
    }
    cases: list[Case] = []
    for size in (100, 200, 500, 2_000, 5_000):
        cases.append(_none("images", size, **bars.get((size, NONE), {})))
        for fault in (*FOREIGN.values(), two, half):
            bar = bars.get((size, fault), {})
            runs = RUNS if bar else OTHER_RUNS if size < 5_000 else FEW_RUNS
            cases.append(Case(data="images", fault=fault, real=size, runs=runs, **bar))
    cases += [_not_fine("images", fault, n) for fault in (BLUR, *COPIES) for n in (200, 2_000)]
    new = (APART, dropped(9, 10), mixed(2, 10, 0.2), UNEVEN)
    cases += [_none("images", 60), *_of("images", new, (60, 200, 1_000))]
    cases.append(Case(data="images", fault=two, real=500, labeled=False))
    cases.append(Case(data="images", fault=half, real=200, labeled=False))
    return cases


def other_cases() -> list[Case]:
    """Texts, tables and sides of unequal sizes."""
    one, two = dropped(1, 4, "sources"), dropped(2, 4, "sources")
    cases: list[Case] = [
        *_of("texts", (dropped(3, 4, "sources"), UNEVEN, *COPIES), (60, 300)),
        *_of("tumors", (SHUFFLED,), (60, 100, 200)),
        *_of("table", (APART, SHUFFLED, dropped(9, 10), mixed(2, 10, 0.2), UNEVEN), (60, 500)),
    ]
    for size in (100, 300, 1_200):
        cases.append(_none("texts", size))
        sources = (one, two, invented(1, 4), invented(2, 4))
        cases += [Case(data="texts", fault=fault, real=size, runs=OTHER_RUNS) for fault in sources]
    for size in (100, 200, 280):
        cases.append(_none("tumors", size))
        malignant = Fault(name="malignant rows dropped", dropped=1)
        cases.append(Case(data="tumors", fault=malignant, real=size, runs=OTHER_RUNS))
    for size in (100, 500):
        cases.append(_none("table", size))
        modes = (*FOREIGN.values(), dropped(2, 10), dropped(5, 10))
        cases += [Case(data="table", fault=fault, real=size, runs=OTHER_RUNS) for fault in modes]
    for real, generated in ((5_000, 500), (500, 5_000)):
        cases.append(_none("images", real, generated=generated, runs=RUNS))
        cases += [
            Case(data="images", fault=fault, real=real, generated=generated, runs=OTHER_RUNS)
            for fault in (FOREIGN[0.2], dropped(2, 10))
        ]
    return cases


def _none(
    data: str,
    real: int,
    *,
    generated: int | None = None,
    runs: int = RUNS_OF_NONE,
    bounded: float | None = None,
) -> Case:
    return Case(data=data, fault=NONE, real=real, generated=generated, runs=runs, bounded=bounded)


def _of(data: str, found: Sequence[Fault], sizes: Sequence[int]) -> list[Case]:
    """Cases without bars of their own, a few runs each."""
    return [
        Case(data=data, fault=fault, real=size, runs=OTHER_RUNS)
        for size in sizes
        for fault in found
    ]


def _not_fine(data: str, fault: Fault, real: int) -> Case:
    """Copies and blur must not be called fine."""
    return Case(data=data, fault=fault, real=real, runs=FEW_RUNS, not_fine=0.9)


ADVICE = (
    Advice(data="images", fault=dropped(2, 10)),
    Advice(data="images", fault=dropped(5, 10)),
    Advice(data="images", fault=invented(2, 10, "classes")),
    Advice(data="images", fault=FOREIGN[0.2], at_least=True),
    Advice(data="texts", fault=dropped(1, 4, "sources")),
)


def pooled(name: str, rows: Mapping[str, Row]) -> Row:
    """A kind of error over all cases in which it can be made; it must not exceed 5%."""
    counted = [row for row in rows.values() if name in row]
    runs = sum(row["bounded" if name == "false bound" else "runs"] for row in counted)
    bar = Bar(name, sum(row[name] for row in counted), runs, _WRONG)
    return {"runs": runs, name: bar.failures, "worst bar": str(bar), "ratio": bar.ratio, "bar": 1.0}


CASES: dict[str, Callable[[], Row] | Summary] = {
    str(case): case.measure for case in (*other_cases(), *image_cases(), *ADVICE)
}
CASES |= {f"all cases, {name}": Summary(functools.partial(pooled, name)) for name in _COUNTS}


def try_out(names: Sequence[str], seeds: int) -> None:
    """Print rows of single cases, with fewer runs."""
    cases = {str(case): case for case in (*image_cases(), *other_cases())}
    for name in names:
        case = cases[name]
        row = {"case": name} | replace(case, runs=seeds, first=TRIAL_SEED).measure()
        print(render({"rows": [row]}), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--try", dest="names", nargs="+", default=[], help="names of cases")
    parser.add_argument("--seeds", type=int, default=FEW_RUNS, help="runs of each of them")
    given = parser.parse_args()
    if given.names:
        try_out(given.names, given.seeds)
    else:
        run("verdict", "The verdict on models whose faults are known", CASES)
