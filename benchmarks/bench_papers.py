"""The gallery of the papers' experiments at full size; also draws the pictures of its page.

A row is a claim of a paper: our number, the limits within which it agrees, and what limits us where
it does not. `--claims` writes the limits and words of `examples/papers` into the record and keeps
what was measured.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.harness import RESULTS, Row, Summary, run, write
from examples.papers import MODULES
from examples.papers.gallery import in_words
from examples.parts.style import neutral

if TYPE_CHECKING:
    from collections.abc import Callable

    from examples.papers.gallery import Claim, Experiment

PICTURES = Path(__file__).parents[1] / "docs" / "_static" / "papers"
LONGEST = 7200.0
WHOLE = "all experiments, relative to two hours"


def experiments() -> dict[str, Experiment]:
    """All of them, by paper and name."""
    found: dict[str, Experiment] = {}
    for module in MODULES:
        paper = "-".join(module.split("_")[:2])
        for one in importlib.import_module(f"examples.papers.{module}").EXPERIMENTS:
            found[f"{paper}, {one.name}"] = one
    return found


@cache
def measured(name: str) -> tuple[dict[str, float], float]:
    """The numbers of an experiment and its seconds; its picture is written on the way."""
    begun = time.perf_counter()
    experiment = experiments()[name]
    values, shown = experiment.measure(False)
    taken = time.perf_counter() - begun
    PICTURES.mkdir(parents=True, exist_ok=True)
    with neutral():
        experiment.draw(shown).savefig(PICTURES / f"{experiment.name}.png", dpi=160)
    return dict(values), taken


def judged(claim: Claim, value: float) -> Row:
    """A claim next to our number."""
    return {
        "the paper": claim.printed,
        "ours": value,
        "agrees if": in_words(claim.low, claim.high),
        "agrees": "yes" if claim.holds(value) else f"no. {claim.why_not}",
    }


def claim_row(name: str, number: str) -> Row:
    """One claim of an experiment; the first one also has the time of the experiment."""
    found = experiments()[name].claims
    values, taken = measured(name)
    first = number == next(iter(found))
    return judged(found[number], values[number]) | ({"seconds": taken} if first else {})


def claims() -> dict[str, Claim]:
    """The claim of each case."""
    return {
        f"{name}: {number}": claim
        for name, experiment in experiments().items()
        for number, claim in experiment.claims.items()
    }


def judge_again() -> None:
    """Write present limits and words into the record."""
    path = RESULTS / "papers.json"
    record = json.loads(path.read_text())
    known = claims()
    record["rows"] = [
        {"case": row["case"], **judged(known[row["case"]], row["ours"])}
        | {key: row[key] for key in ("seconds", "code") if key in row}
        if row["case"] in known
        else row
        for row in record["rows"]
    ]
    write(path, record)


def whole(rows: dict[str, Row]) -> Row:
    """The time of all experiments."""
    taken = sum(row.get("seconds", 0.0) for row in rows.values())
    return {"seconds": taken, "ratio": taken / LONGEST, "bar": 1.0}


def cases() -> dict[str, Callable[[], Row] | Summary]:
    """A row for every claim, and the time of all of them."""
    made: dict[str, Callable[[], Row] | Summary] = {
        f"{name}: {number}": partial(claim_row, name, number)
        for name, experiment in experiments().items()
        for number in experiment.claims
    }
    return made | {WHOLE: Summary(whole)}


CASES = cases()

if __name__ == "__main__":
    if "--claims" in sys.argv:
        judge_again()
    else:
        run("papers", "Experiments of the papers", CASES)
