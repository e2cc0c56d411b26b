"""Embedding from and to a bucket: what it costs over a bare loop, and runs whose workers die.

The bucket is served over HTTP by a process of its own (moto), in the environment of `make
test-bucket`. 20 tar archives hold 10,000 images of two sides, which two workers of Ray embed by
EfficientNet-Lite0 and evaluate. Throughput is that of a task in one process over that of a bare
loop on the same cores, each the fastest of eight turns. Faults must not change a byte of features,
of records of the ledger, or of the result.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.harness import Row, run
from tests.known.bucket import (
    BUCKET,
    contents_of,
    has_features,
    images_of,
    kill_a_worker,
    serving,
    write_tars,
)
from tradeoff.engines import RayEngine

if TYPE_CHECKING:
    from collections.abc import Callable

TARS, IMAGES = 10, 5_000  # of each side
SIZE = 32  # pixels that the network sees
COST_IMAGES, COST_SIZE, TURNS = 1_000, 128, 8
FEW, MANY, SHARD = 2_000, 20_000, 500  # of the growth of memory, in archives of so many
SETTINGS = {"encoder": "efficientnet-lite0", "low_level": False}


@cache
def system() -> Any:
    """The bucket with both sides, served until this process ends."""
    server = contextlib.ExitStack()
    atexit.register(server.close)
    found = server.enter_context(serving())
    for side in ("real", "generated"):
        write_tars(found, side, images_of(side, IMAGES), TARS)
    return found


def throughput() -> Row:
    """Images per second of a task over those of a loop that reads, decodes and embeds."""
    write_tars(system(), "cost", images_of("real", COST_IMAGES), 1)
    write_tars(system(), "warm", images_of("real", 64), 1)
    turns = [[measured(way) for way in ("loop", "task")] for _ in range(TURNS)]
    seconds = dict(zip(("loop", "task"), np.min(turns, axis=0).tolist(), strict=True))
    share = seconds["loop"] / seconds["task"]
    return {
        "ms an image": 1000 * seconds["task"] / COST_IMAGES,
        "bare loop": 1000 * seconds["loop"] / COST_IMAGES,
        "throughput over a bare loop": share,
        "ratio": 1 / share,
        "bar": 1 / 0.9,
    }


def measured(*arguments: object) -> float:
    """What a task of this file prints, in a process of its own."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.bench_remote"]
    command += map(str, arguments)
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(done.stdout.split()[-1])


def loop() -> float:
    """Seconds of a bare loop over an archive, once packages and network are loaded."""
    encoder = _encoder(COST_SIZE)
    _bare("warm/000.tar", encoder)
    start = time.perf_counter()
    assert _bare("cost/000.tar", encoder) == COST_IMAGES
    return time.perf_counter() - start


def _bare(name: str, encoder: Any) -> int:
    from PIL import Image

    with tarfile.open(None, "r", _storage().open(f"{BUCKET}/{name}")) as archive:
        rows, batch = [], []
        for entry in archive:
            content: Any = archive.extractfile(entry)
            image = Image.open(io.BytesIO(content.read())).convert("RGB")
            resized = image.resize((COST_SIZE, COST_SIZE), Image.Resampling.BICUBIC)
            batch.append(np.asarray(resized))
            if len(batch) == 32:
                rows.append(encoder.embed(batch))
                batch = []
        if batch:
            rows.append(encoder.embed(batch))
    return len(np.concatenate(rows))


def task() -> float:
    """Seconds of a task of a worker for the same archive, which also writes its features."""
    from threadpoolctl import threadpool_limits

    encoder = _encoder(COST_SIZE)
    with threadpool_limits(1):
        _embedded("warm/000.tar", encoder)
        start = time.perf_counter()
        assert _embedded("cost/000.tar", encoder) == COST_IMAGES
    return time.perf_counter() - start


def _encoder(size: int) -> Any:
    """The encoder, loaded and warm."""
    from tradeoff.features.offline import EfficientNetLite0

    encoder = EfficientNetLite0(size=size)
    encoder.embed([np.zeros((size, size, 3), np.uint8)])
    return encoder


def _storage() -> Any:
    import s3fs

    return s3fs.S3FileSystem()


def _embedded(name: str, encoder: Any) -> int:
    from tradeoff.data.parts import list_parts
    from tradeoff.embedding.files import Shared, embed_part
    from tradeoff.embedding.sources import identity_of
    from tradeoff.settings import EmbedSettings

    (part,) = list_parts(f"{BUCKET}/{name}")
    target = f"{BUCKET}/features/{name.replace('/', '-')}.parquet"
    return embed_part(
        Shared(encoder, identity_of(encoder), EmbedSettings(**SETTINGS)), (part, target)
    )


def memory() -> Row:
    """Peak memory of a worker that embeds many archives, over that with few."""
    for number, images in enumerate(np.split(images_of("real", MANY), MANY // SHARD)):
        write_tars(system(), f"memory/{number:03d}", images, 1)
    few, many = (measured("peak", count // SHARD) for count in (FEW, MANY))
    return {"MB": many, "with few": few, "ratio": many / few, "bar": 1.1}


def peak(archives: int) -> float:
    """Peak memory in MB of this process after so many archives."""
    from resource import RUSAGE_SELF, getrusage

    encoder = _encoder(32)
    for number in range(archives):
        assert _embedded(f"memory/{number:03d}/000.tar", encoder) == SHARD
    return getrusage(RUSAGE_SELF).ru_maxrss / 1024


def command(name: str, out: Path) -> list[str]:
    """The one command, with a folder in the bucket for features and ledger."""
    arguments = ["evaluate", "--real", f"{BUCKET}/real", "--generated", f"{BUCKET}/generated"]
    arguments += ["--ledger", f"{BUCKET}/{name}", "--out", str(out), "--quiet"]
    arguments += ["--engine", "ray", "--workers", "2", "--size", str(SIZE), "--no-low-level"]
    return [sys.executable, "-W", "ignore", "-m", "tradeoff", *arguments, *ENCODER]


ENCODER = ("--encoder", "efficientnet-lite0", "--estimator", "logistic")


@cache
def without_faults() -> tuple[Any, float]:
    """Features, records and result of a run, and its seconds."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        subprocess.run(command("whole", Path(folder)), check=True, stdout=sys.stderr)
        return outcome("whole", Path(folder)), time.perf_counter() - start


def outcome(name: str, out: Path) -> Any:
    """Features, records of the ledger and the result of a run."""
    features, records = contents_of(system(), f"{BUCKET}/{name}")
    return features, records, (out / "evaluation.json").read_bytes()


def whole() -> Row:
    """A run without faults."""
    system()
    (features, records, result), seconds = without_faults()
    words = json.loads(result)["verdict"]["sentences"]
    return {"seconds": seconds, "features": len(features), "records": len(records)} | {
        "verdict": words[0]
    }


def faulty(inflict: Callable[[Path], str]) -> Row:
    """What differs after a fault; nothing should."""
    system()
    wanted, _ = without_faults()
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        name = inflict(Path(folder))
        found = outcome(name, Path(folder))
    parts = ("features", "records", "result")
    differing = [part for part, a, b in zip(parts, wanted, found, strict=True) if a != b]
    return {"seconds": time.perf_counter() - start, "differs": ", ".join(differing) or "nothing"}


def killed_worker(out: Path) -> str:
    """One of the workers is killed as soon as there are features."""
    driver = subprocess.Popen(command("killed", out), stdout=sys.stderr)
    with kill_a_worker(system(), f"{BUCKET}/killed", below=driver.pid) as killer:
        assert driver.wait() == 0
    assert killer.killed
    return "killed"


def killed_driver(out: Path) -> str:
    """The driver is killed as soon as there are features, and the command repeated."""
    driver = subprocess.Popen(command("resumed", out), stdout=sys.stderr)
    while not has_features(system(), f"{BUCKET}/resumed"):
        assert driver.poll() is None
        time.sleep(0.05)
    os.kill(driver.pid, signal.SIGKILL)
    driver.wait()
    subprocess.run(command("resumed", out), check=True, stdout=sys.stderr)
    return "resumed"


class _LosesNode(RayEngine):
    """Stops a node of the cluster after the first part that was embedded."""

    def __init__(self, cluster: Any, node: Any) -> None:
        super().__init__(address=cluster.address)
        object.__setattr__(self, "cluster", cluster)
        object.__setattr__(self, "node", node)

    def run(self, task: Any, shared: Any, items: Any, *, stays: bool = False) -> Any:
        """The same, on fewer and fewer nodes."""
        for number, found in enumerate(super().run(task, shared, items, stays=stays)):
            if stays and number == 0:
                vars(self)["cluster"].remove_node(vars(self)["node"], allow_graceful=False)
            yield found


def lost_node(out: Path) -> str:
    """One of two nodes, with one worker each, is removed while the other one works."""
    import ray
    from ray import cluster_utils

    from tradeoff import evaluate

    head = {"num_cpus": 1, "include_dashboard": False}
    cluster = cluster_utils.Cluster(initialize_head=True, head_node_args=head)
    engine = _LosesNode(cluster, cluster.add_node(num_cpus=1))
    try:
        evaluate(
            f"{BUCKET}/real",
            f"{BUCKET}/generated",
            engine=engine,
            ledger=f"{BUCKET}/lost",
            rule="frozen",
            size=SIZE,
            estimator="logistic",
            **SETTINGS,
        ).save(out)
    finally:
        ray.shutdown()
        cluster.shutdown()
    return "lost"


CASES: dict[str, Callable[[], Row]] = {
    "throughput of a task": throughput,
    "without faults": whole,
    "a worker is killed": partial(faulty, killed_worker),
    "the driver is killed and resumed": partial(faulty, killed_driver),
    "a node is removed": partial(faulty, lost_node),
    "memory": memory,
}

TASKS = {"loop": loop, "task": task, "peak": peak}

if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(TASKS[sys.argv[1]](*map(int, sys.argv[2:])))
    else:
        run("remote", "Embedding from and to a bucket: throughput, faults, memory", CASES)
