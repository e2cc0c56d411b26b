"""The gallery of the papers' experiments at full size; also draws the pictures of its page.

A row is a claim of a paper: our number, the limits within which it agrees, how far the number is
from the nearest limit, and what limits us where it does not. `--claims` writes the limits and words
of `examples/papers` into the record and keeps what was measured; `--only NAME` measures experiments
of these names again.
"""

from __future__ import annotations

import argparse
import importlib
import json
import time
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from benchmarks.code_hash import code_of
from benchmarks.harness import RESULTS, Row, Summary, run, write
from examples.papers import MODULES
from examples.papers.gallery import Kind, in_words
from examples.parts.style import neutral

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

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
        "distance": claim.distance(value) if claim.is_tested else None,
        "agrees": claim.verdict(value),
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


def judge_again(only: Collection[str] = ()) -> None:
    """Write present limits and words into the record, after measuring some experiments again."""
    path = RESULTS / "papers.json"
    record = json.loads(path.read_text())
    before = {row["case"]: row for row in record["rows"]}
    code = {"code": code_of("papers")} if only else {}
    rows: dict[str, Row] = {}
    for case, make in CASES.items():
        if isinstance(make, Summary):
            rows[case] = make.of(rows)
        elif case.partition(":")[0].rpartition(" ")[2] in only:
            rows[case] = make() | code
        else:
            kept = {key: before[case][key] for key in ("seconds", "code") if key in before[case]}
            rows[case] = judged(claims()[case], before[case]["ours"]) | kept
    record["rows"] = [{"case": case} | rows[case] for case in CASES]
    write(path, record)


def whole(rows: dict[str, Row]) -> Row:
    """The time of all experiments."""
    taken = sum(row.get("seconds", 0.0) for row in rows.values())
    return {"seconds": taken, "ratio": taken / LONGEST, "bar": 1.0}


def counted(rows: dict[str, Row], kind: str) -> Row:
    """How many statements of a kind agree."""
    names = [name for name, experiment in experiments().items() if experiment.kind == kind]
    verdicts = [row["agrees"] for case, row in rows.items() if case.partition(":")[0] in names]
    agree, shown = verdicts.count("yes"), verdicts.count("shown")
    return {
        "experiments": len(names),
        "statements": len(verdicts),
        "hold": agree,
        "do not hold": len(verdicts) - agree - shown,
        "shown, not tested": shown,
    }


def cases() -> dict[str, Callable[[], Row] | Summary]:
    """A row for every claim, the number of statements of each kind, and the time of all."""
    made: dict[str, Callable[[], Row] | Summary] = {
        f"{name}: {number}": partial(claim_row, name, number)
        for name, experiment in experiments().items()
        for number in experiment.claims
    }
    kinds = {f"kind: {kind}": Summary(partial(counted, kind=kind)) for kind in get_args(Kind)}
    return made | kinds | {WHOLE: Summary(whole)}


CASES = cases()


def main() -> None:
    """Run everything, or judge again what was measured."""
    parser = argparse.ArgumentParser(description="The gallery of the papers' experiments.")
    parser.add_argument("--claims", action="store_true", help="judge the record again")
    parser.add_argument("--only", nargs="+", default=(), help="measure these again before")
    options = parser.parse_args()
    if options.claims or options.only:
        judge_again(options.only)
    else:
        run("papers", "Experiments of the papers", CASES)


if __name__ == "__main__":
    main()
