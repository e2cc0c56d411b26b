"""A store of five million entries: memory of a process that opens it and reads features."""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.harness import Row, run
from tradeoff.features.store import Shelf

if TYPE_CHECKING:
    from collections.abc import Callable

ENTRIES = 5_000_000
COLUMNS = 64
SHARD = 1 << 16
READ = 200_000
ABOUT = {"name": "synthetic", "preprocessing": "", "weights": ""}


def keys(number: int, rows: int) -> list[bytes]:
    """Keys of the entries of a shard, different from all others."""
    raw = np.random.default_rng(number).bytes(16 * rows)
    return [raw[i : i + 16] for i in range(0, len(raw), 16)]


def write(folder: Path, entries: int) -> None:
    """A shelf whose shards are as large as after compaction."""
    import pyarrow as pa

    shelf = Shelf(folder, ABOUT)
    shelf._prepare_folder()
    for number, first in enumerate(range(0, entries, SHARD)):
        rows = min(SHARD, entries - first)
        x = np.random.default_rng([1, number]).standard_normal((rows, COLUMNS), dtype=np.float32)
        found = keys(number, rows)
        shelf._write_shard(
            pa.table(
                {
                    "digest": pa.array(found, pa.binary(16)),
                    "id": pa.array([f"{first + i}" for i in range(rows)]),
                    "label": pa.array([None] * rows, pa.string()),
                    "features": pa.FixedSizeListArray.from_arrays(pa.array(x.ravel()), COLUMNS),
                },
                metadata={"tradeoff.schema": "2"},
            )
        )


def read_here(folder: Path, entries: int) -> Row:
    """Open the shelf and read features of every shard; peak memory of the process."""
    start = time.perf_counter()
    shelf = Shelf(folder, ABOUT)
    opened = time.perf_counter() - start
    assert len(shelf) == entries
    start = time.perf_counter()
    shards = -(-entries // SHARD)
    wanted = [
        key.hex() for number in range(shards) for key in keys(number, SHARD)[: READ // shards]
    ]
    found = shelf.read(wanted)
    first = np.random.default_rng([1, 0]).standard_normal((SHARD, COLUMNS), dtype=np.float32)
    assert (found[: READ // shards] == first[: READ // shards]).all()
    return {
        "seconds to open": opened,
        "seconds to read": time.perf_counter() - start,
        "read": len(wanted),
        "MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def store(entries: int = ENTRIES) -> Row:
    """A process of its own opens and reads a shelf."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), entries)
        module = f"benchmarks.{Path(__file__).stem}"
        command = [sys.executable, "-m", module, "--read", folder, str(entries)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    row: Row = json.loads(done.stdout.splitlines()[-1])
    return row | {"ratio": row["MB"] / 500, "bar": 1.0}


CASES: dict[str, Callable[[], Row]] = {f"{ENTRIES:,} entries, {COLUMNS} columns": store}

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--read", nargs=2)
    if given := parser.parse_args().read:
        print(json.dumps(read_here(Path(given[0]), int(given[1]))))
    else:
        run("store", "A store of many features, opened and read", CASES)
