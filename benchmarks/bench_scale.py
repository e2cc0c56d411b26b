"""Counting over millions of rows on a local Ray cluster: time, memory, and what our code costs.

Rows are made by a seeded script, 64 columns in single precision: real ones from a Gaussian,
generated ones from a mixture that lacks a part and invents another. Workers and driver are watched
from outside, by the memory that they share with nobody.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.harness import Row, Summary, run
from tests.known.distributions import PAIRS
from tradeoff import evaluate, pr_curve
from tradeoff.core.counts import BAND_SLOPES
from tradeoff.counting import CountingPlan, CountingState
from tradeoff.counting.run import count_shard
from tradeoff.counting.shards import ShardReader, list_shards
from tradeoff.engines import LocalEngine, RayEngine
from tradeoff.ratio import FrozenRule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

COLUMNS = 64
FILE_ROWS = 200_000
REAL_ROWS = 2_000_000
SIZES = (200_000, 2_000_000, 20_000_000)
FOLDER = Path(os.environ.get("TRADEOFF_SCALE", tempfile.gettempdir())) / "tradeoff-scale"
_SHIFT = 0.35


def make(side: str, rows: int) -> Path:
    """A folder of Parquet files with so many rows, made once."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = FOLDER / f"{side}-{rows}"
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(max(1, rows // FILE_ROWS)):
        path = folder / f"{number:05d}.parquet"
        if path.exists():
            continue
        rng = np.random.default_rng([side == "real", number])
        count = min(rows, FILE_ROWS)
        x = rng.standard_normal((count, COLUMNS), dtype=np.float32)
        if side == "generated":
            x[:, :8] += _SHIFT * (rng.random((count, 1), dtype=np.float32) < 0.5)
        values = pa.FixedSizeListArray.from_arrays(pa.array(x.ravel()), COLUMNS)
        part = path.with_suffix(".part")
        pq.write_table(
            pa.table({"features": values}), part, compression="none", use_dictionary=False
        )
        part.replace(path)
    return folder


class Watch:
    """Largest private memory, in bytes, of this process and of workers of Ray."""

    def __init__(self) -> None:
        self.driver = self.worker = 0
        self._done = threading.Event()

    def __enter__(self) -> Watch:
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.1):
            self.driver = max(self.driver, private_bytes(os.getpid()))
            for pid in _ray_workers():
                self.worker = max(self.worker, private_bytes(pid))


def _ray_workers() -> Iterator[int]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if (entry / "cmdline").read_bytes().startswith(b"ray::"):
                    yield int(entry.name)
            except OSError:
                continue


def private_bytes(pid: int) -> int:
    """Memory that a process shares with nobody; 0 if it is gone."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    kilobytes = [int(line.split()[1]) for line in lines if line.startswith("Private_")]
    return 1024 * sum(kilobytes)


def timed_count(shared: Any, item: Any) -> float:
    """CPU time of a counting task."""
    start = time.process_time()
    count_shard(shared, item)
    return time.process_time() - start


def fixed_plan() -> CountingPlan:
    """A plan that is the same for all sizes: which members a rule keeps depends on its samples."""
    rows = [
        next(ShardReader(batch_rows=40_000)(list_shards(make(side, size))[0])).features
        for side, size in (("real", REAL_ROWS), ("generated", SIZES[0]))
    ]
    return CountingPlan.of(real=rows[0], generated=rows[1], moments=True)


@contextmanager
def cluster() -> Iterator[RayEngine]:
    """A local cluster of two workers, warm."""
    engine = RayEngine(workers=2)
    ray = engine.connect()
    list(engine.run(_import, None, range(4)))
    yield engine
    ray.shutdown()


def _import(_: Any, item: int) -> int:

    return item


def counted(generated_rows: int) -> Row:
    """The whole evaluation, in a process of its own."""
    make("real", REAL_ROWS)
    make("generated", generated_rows)
    command = [
        sys.executable,
        "-m",
        f"benchmarks.{Path(__file__).stem}",
        "--measure",
        str(generated_rows),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def counted_here(generated_rows: int) -> Row:
    """Seconds, CPU of counting, memory of driver and workers."""
    sources = {
        "real": str(make("real", REAL_ROWS)),
        "generated": str(make("generated", generated_rows)),
    }
    with cluster() as engine:
        with Watch() as watch:
            start = time.perf_counter()
            result = evaluate(**sources, rule="frozen", engine=engine, progress=False)
            seconds = time.perf_counter() - start
        items = [(side, shard) for side, path in sources.items() for shard in list_shards(path)]
        shared = (ShardReader(), fixed_plan())
        cpu = sum(found for _, found in engine.run(timed_count, shared, items))
    return {
        "rows": REAL_ROWS + generated_rows,
        "seconds": seconds,
        "CPU of counting": cpu,
        "driver MB": watch.driver / 2**20,
        "worker MB": watch.worker / 2**20,
        "precision at λ = 1": float(result.curve.precision(1.0)) if result.curve else None,
    }


def growth(rows: dict[str, Row]) -> Row:
    """From the smallest to the largest: memory of the driver, and the exponent of CPU time."""
    found = [rows[name_of(size)] for size in SIZES]
    slope = np.polyfit(
        np.log([row["rows"] for row in found]), np.log([row["CPU of counting"] for row in found]), 1
    )[0]
    worker = max(row["worker MB"] for row in found)
    grown = found[-1]["driver MB"] - found[0]["driver MB"]
    parts = [
        grown / 20.0,
        worker / 500.0,
        abs(float(slope) - 1.0) / 0.1,
        found[-1]["seconds"] / 360.0,
    ]
    return {
        "driver MB": grown,
        "worker MB": worker,
        "exponent of CPU": float(slope),
        "seconds": found[-1]["seconds"],
        "ratio": max(parts),
        "bar": 1.0,
    }


def touch(reader: ShardReader, item: Any) -> int:
    """A task that reads a shard and looks at each number."""
    return sum(len(b.features) for b in reader(item) if b.features.sum() is not None)


def reading(rows: int = 2_000_000) -> Row:
    """Read and touch: our engine against bare tasks and Ray Data, in one run."""
    import pyarrow.parquet as pq

    folder = make("generated", rows)
    engine = RayEngine(workers=2)
    ray = engine.connect()
    shards = list_shards(folder)

    @ray.remote
    def bare(path: str) -> int:
        count = 0
        for batch in pq.ParquetFile(path).iter_batches(batch_size=65_536, use_threads=False):
            x = batch.column(0).flatten().to_numpy().reshape(-1, COLUMNS)
            x.sum()
            count += len(x)
        return count

    def ours() -> int:
        return sum(found for _, found in engine.run(touch, ShardReader(), shards))

    def tasks() -> int:
        return sum(ray.get([bare.remote(str(p)) for p in sorted(folder.glob("*.parquet"))]))

    def data() -> int:
        def look(table: Any) -> Any:
            import pyarrow as pa

            x = table.column("features").combine_chunks().flatten().to_numpy()
            x.sum()
            return pa.table({"rows": [table.num_rows]})

        ray.data.DataContext.get_current().enable_progress_bars = False
        found = ray.data.read_parquet(str(folder)).map_batches(
            look, batch_format="pyarrow", batch_size=8192, zero_copy_batch=True
        )
        return int(sum(row["rows"] for row in found.take_all()))

    times: dict[str, list[float]] = {"ours": [], "tasks": [], "data": []}
    for _ in range(3):
        for name, function in (("ours", ours), ("tasks", tasks), ("data", data)):
            start = time.perf_counter()
            assert function() == rows
            times[name].append(time.perf_counter() - start)
    ray.shutdown()
    best = {name: min(values) for name, values in times.items()}
    return {
        "seconds": best["ours"],
        "of bare tasks": best["ours"] / best["tasks"],
        "of Ray Data": best["ours"] / best["data"],
        "ratio": max(best["ours"] / best["tasks"] / 1.3, best["ours"] / best["data"] / 0.25),
        "bar": 1.0,
    }


def speed() -> Row:
    """Rows per second of CPU of the rule alone, 64 columns."""
    rng = np.random.default_rng(0)
    real = rng.standard_normal((20_000, COLUMNS), dtype=np.float32)
    generated = rng.standard_normal((20_000, COLUMNS), dtype=np.float32)
    generated[:, :8] += _SHIFT * (rng.random((20_000, 1)) < 0.5)
    rule = FrozenRule.fit(real=real, generated=generated)
    x = rng.standard_normal((163_840, COLUMNS), dtype=np.float32)
    rule.log_ratio(x[:8192])
    start = time.process_time()
    rule.log_ratio(x)
    rate = len(x) / (time.process_time() - start)
    return {
        "rows per CPU-second": rate,
        "parts": ", ".join(rule.about["parts"]),
        "cost of leaving out": rule.about["cost_of_leaving_out"],
        "ratio": 150_000 / rate,
        "bar": 1.0,
    }


def against_default(name: str, n: int = 5_000) -> Row:
    """The curve of a rule that 20,000 samples fitted, next to the default's band of 5,000."""
    pair = PAIRS[name]()
    default = pr_curve(**pair.draw(n, 500), progress=False)
    state = CountingState(CountingPlan.of(**pair.draw(40_000, 501)))
    for side, x in pair.draw(200_000, 502).items():
        state.update(side, x)
    low, high = default.interval(BAND_SLOPES, simultaneous=True).precision.T
    value, truth = state.result().curve.precision(BAND_SLOPES), pair.precision(BAND_SLOPES)
    found = {"default": default.curve.precision(BAND_SLOPES), "frozen": value}
    errors = {
        f"error, {kind}": float(np.max(np.abs(line - truth) / np.minimum(1, BAND_SLOPES)))
        for kind, line in found.items()
    }
    # The default's band need not hold the truth: below it, the rule is the tighter one.
    above = float(np.max((value - high) / (high - low)))
    return {**errors, "above the band": max(above, 0.0), "ratio": max(above, 0.0), "bar": 0.0}


def engines() -> Row:
    """The same evaluation of 200,000 and 2,000,000 rows by both engines, started anew."""
    sources = {"real": str(make("real", REAL_ROWS)), "generated": str(make("generated", SIZES[0]))}
    found: Row = {}
    results = set()
    for name, engine in (("local", LocalEngine(2)), ("Ray", RayEngine(workers=2))):
        start = time.perf_counter()
        results.add(evaluate(**sources, rule="frozen", engine=engine, progress=False).to_json())
        found[f"{name}, seconds"] = time.perf_counter() - start
    import ray

    ray.shutdown()
    return found | {"different results": len(results) - 1, "ratio": len(results) - 1, "bar": 0}


def name_of(size: int) -> str:
    """Name of the case of a size."""
    return f"{size:,} generated rows"


CASES: dict[str, Callable[[], Row] | Summary] = {
    "speed of the rule": speed,
    **{f"known truth: {name}": (lambda n=name: against_default(n)) for name in PAIRS},
    "read and touch": reading,
    "both engines": engines,
    **{name_of(size): (lambda s=size: counted(s)) for size in SIZES},
    "growth": Summary(growth),
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--measure", type=int)
    if size := parser.parse_args().measure:
        print(json.dumps(counted_here(size)))
    else:
        run("scale", "Counting with a frozen rule, 64 columns", CASES)
        shutil.rmtree(FOLDER, ignore_errors=True)
