"""Peak memory of neighbor metrics, and time that grows with each side.

Every measurement runs in a process of its own on memory-mapped files and reports the peak of its
private memory: pages of the mapped files are the inputs' own. Where a reference is stored, real
samples come in tight groups of seven, so that everybody's six nearest are known beforehand.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.harness import Row, run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tradeoff.metrics.neighbors import OwnNeighbors

BAR_GIGABYTES = 1.5
BAR_SLOPE = 0.1
GROUP = 7
FOUR = ("precision", "recall", "density", "coverage")
ALL = (*FOUR, "clipped_density", "clipped_coverage", "cover_precision", "cover_recall")
ALL += ("realism", "authenticity")
_BLOCK = 70_000
_RANKS = 6


def write_samples(path: Path, n: int, d: int, seed: int, *, grouped: bool) -> None:
    """Gaussian features in single precision, written block by block."""
    rng = np.random.default_rng(seed)
    array = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n, d))
    for start in range(0, n, _BLOCK):
        rows = min(_BLOCK, n - start)
        block = rng.normal(size=(rows, d))
        if grouped:
            centers = rng.normal(size=(-(-rows // GROUP), d))
            block = np.repeat(centers, GROUP, axis=0)[:rows] + 0.3 * block
        array[start : start + rows] = block
    array.flush()


def measure(n: int, m: int, d: int, metrics: Sequence[str], *, stored: bool = False) -> Row:
    """One call in a fresh process: seconds, and gigabytes at the peak."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder) / f"{name}.npy") for name in ("real", "generated")]
        for seed, (path, size) in enumerate(zip(paths, (n, m), strict=True)):
            write_samples(Path(path), size, d, seed, grouped=stored and seed == 0)
        order = json.dumps({"paths": paths, "metrics": metrics, "stored": stored})
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.bench_memory", "--measure", order],
            capture_output=True,
            text=True,
            check=True,
        )
    return json.loads(done.stdout.splitlines()[-1])


def measure_here(order: dict[str, Any]) -> Row:
    """The call itself, watched."""
    import torch

    from tradeoff import support_metrics

    real, generated = (np.load(path, mmap_mode="r") for path in order["paths"])
    torch.mm(torch.ones(64, 64), torch.ones(64, 64))  # memory of the libraries is not counted
    known = stored_neighbors(real) if order["stored"] else None
    before, done, peak = private_bytes(), Event(), [0]

    def watch() -> None:
        while not done.wait(0.02):
            peak[0] = max(peak[0], private_bytes())

    watcher = Thread(target=watch)
    watcher.start()
    start = time.perf_counter()
    support_metrics(
        real=real,
        generated=generated,
        metrics=order["metrics"],
        real_neighbors=known,
        progress=False,
    )
    seconds = time.perf_counter() - start
    done.set()
    watcher.join()
    return {"seconds": seconds, "gigabytes": (peak[0] - before) / 1e9}


def stored_neighbors(real: np.ndarray) -> OwnNeighbors:
    """The six others of everybody's group, nearest first."""
    import torch

    from tradeoff.metrics.neighbors import OwnNeighbors
    from tradeoff.metrics.neighbors.points import exact_squares, points_of

    (points,) = points_of(samples=real)
    rows = torch.arange(len(points))
    steps = torch.arange(1, GROUP)[:, None]
    index = rows - rows % GROUP + (rows % GROUP + steps) % GROUP
    squares = torch.stack([exact_squares(points, rows, points, other) for other in index])
    squares, order = squares.sort(0)
    return OwnNeighbors(squares.T.numpy(), index.gather(0, order).T.numpy())


def private_bytes() -> int:
    """Resident memory that no file backs."""
    for line in Path("/proc/self/smaps_rollup").read_text().splitlines():
        if line.startswith("Anonymous:"):
            return 1024 * int(line.split()[1])
    raise OSError("This system does not tell private memory.")


def peak(n: int, m: int, d: int, metrics: Sequence[str], *, stored: bool = False) -> Row:
    """Memory of one call against the bar."""
    found = measure(n, m, d, metrics, stored=stored)
    return found | {"ratio": found["gigabytes"], "bar": BAR_GIGABYTES}


def slope(sizes: Sequence[tuple[int, int]], d: int) -> Row:
    """How fast the time of a sweep against a stored reference grows with one side."""
    found = [measure(n, m, d, ("precision", "density", "coverage"), stored=True) for n, m in sizes]
    grown = [n if sizes[0][0] != sizes[-1][0] else m for n, m in sizes]
    row = _growth(grown, found)
    return row | {"ratio": abs(row["slope"] - 1.0), "bar": BAR_SLOPE}


def own_slope(sizes: Sequence[int], d: int) -> Row:
    """How fast the time of finding radii in one's own set grows; a square is expected."""
    return _growth(sizes, [measure(n, 100, d, ("precision",)) for n in sizes])


def _growth(sizes: Sequence[int], found: Sequence[Row]) -> Row:
    seconds = [one["seconds"] for one in found]
    return {
        "seconds": seconds[-1],
        "gigabytes": max(one["gigabytes"] for one in found),
        "slope": float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0]),
        "sizes": list(sizes),
        "times": [round(second, 2) for second in seconds],
    }


def _whole(n: int) -> int:
    return n // GROUP * GROUP


CASES: dict[str, Callable[[], Row]] = {
    "50,000 + 50,000, 2,048 columns, four metrics": lambda: peak(50_000, 50_000, 2048, FOUR),
    "200,000 + 20,000, 64 columns, all metrics": lambda: peak(200_000, 20_000, 64, ALL),
    "1,000,000 + 20,000, 64 columns, stored reference": lambda: peak(
        _whole(1_000_006), 20_000, 64, ("precision", "density", "coverage"), stored=True
    ),
    "time against real samples, 250,000 to 1,000,000": lambda: slope(
        [(_whole(n), 20_000) for n in (250_000, 500_000, 1_000_006)], 64
    ),
    "time against generated samples, 10,000 to 40,000": lambda: slope(
        [(_whole(500_000), m) for m in (10_000, 20_000, 40_000)], 64
    ),
    "time of radii in one's own set, 25,000 to 100,000": lambda: own_slope(
        (25_000, 50_000, 100_000), 64
    ),
}

if __name__ == "__main__":
    if "--measure" in sys.argv:
        print(json.dumps(measure_here(json.loads(sys.argv[-1]))))
    else:
        run("memory", "Peak memory of neighbor metrics, and how time grows", CASES)
