"""What workers cost and save: the start of Ray, counting of few and many rows, neighbors.

Every figure is the time of a whole call in a process of its own, start of workers included.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.bench_scale import make
from benchmarks.harness import Row, Summary, run
from tradeoff import evaluate
from tradeoff.engines import open_engine
from tradeoff.metrics.neighbors import support_metrics

if TYPE_CHECKING:
    from collections.abc import Callable

REAL_ROWS = 200_000
SIZES = (200_000, 1_000_000, 5_000_000)
ENGINES = ("one process", "two processes", "Ray, two workers")
REFERENCE, MODEL, COLUMNS = 50_000, 1_000_000, 64
_FASTER = 0.75  # two workers on two cores, of the time of one


def seconds_of(task: str, engine: str, rows: int) -> float:
    """Time of a call in a new process, without its imports."""
    command = [sys.executable, "-m", f"benchmarks.{Path(__file__).stem}", task, engine, str(rows)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def count(engine: str, rows: int) -> float:
    """Evaluation with a frozen rule, here."""
    sources = {"real": str(make("real", REAL_ROWS)), "generated": str(make("generated", rows))}
    start = time.perf_counter()
    evaluate(**sources, rule="frozen", engine=_engine(engine), progress=False)
    return time.perf_counter() - start


def neighbors(engine: str, rows: int) -> float:
    """Precision, density and coverage of mapped arrays, here."""
    with tempfile.TemporaryDirectory() as folder:
        rng = np.random.default_rng(0)
        sides = {}
        for side, size in (("real", REFERENCE), ("generated", rows)):
            path = Path(folder) / f"{side}.npy"
            np.save(path, rng.standard_normal((size, COLUMNS), dtype=np.float32))
            sides[side] = np.load(path, mmap_mode="r")
        start = time.perf_counter()
        names = ("precision", "density", "coverage")
        support_metrics(**sides, metrics=names, engine=_engine(engine), progress=False)
        return time.perf_counter() - start


def _engine(name: str) -> object:
    kind = "ray" if name.startswith("Ray") else "local"
    return open_engine(kind, workers=1 if name == "one process" else 2)


def counted(rows: int) -> Row:
    """Every engine on the same rows."""
    make("real", REAL_ROWS)
    make("generated", rows)
    return {"rows": REAL_ROWS + rows} | {
        f"{engine}, s": seconds_of("count", engine, rows) for engine in ENGINES
    }


def break_even(rows: dict[str, Row]) -> Row:
    """Rows from which on two workers of Ray are faster than one process."""
    found = [rows[name_of(size)] for size in SIZES]
    size = [row["rows"] for row in found]
    lines = [np.polyfit(size, [row[f"{engine}, s"] for row in found], 1) for engine in ENGINES]
    one, _, ray = lines
    return {"rows": float((ray[1] - one[1]) / (one[0] - ray[0]))}


def all_pairs() -> Row:
    """A million generated samples against 50,000 real ones: one worker, two, and Ray."""
    row: Row = {f"{engine}, s": seconds_of("neighbors", engine, MODEL) for engine in ENGINES}
    two = row["two processes, s"] / row["one process, s"]
    return row | {"two of one": two, "ratio": two, "bar": _FASTER}


def name_of(size: int) -> str:
    """Name of the case of a size."""
    return f"counting, {REAL_ROWS:,} real and {size:,} generated rows"


CASES: dict[str, Callable[[], Row] | Summary] = {
    **{name_of(size): (lambda s=size: counted(s)) for size in SIZES},
    "counting, as fast as one process": Summary(break_even),
    f"neighbors, {REFERENCE:,} real and {MODEL:,} generated rows": all_pairs,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("task", nargs="?", choices=("count", "neighbors"))
    parser.add_argument("engine", nargs="?", choices=ENGINES)
    parser.add_argument("rows", nargs="?", type=int)
    given = parser.parse_args()
    if given.task:
        measure = {"count": count, "neighbors": neighbors}[given.task]
        print(json.dumps(measure(given.engine, given.rows)))
    else:
        run("workers", "Time with workers and without, 64 columns, seconds", CASES)
