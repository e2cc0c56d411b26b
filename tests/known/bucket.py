"""A bucket of images, in a local server of S3's protocol; and workers that are killed."""

from __future__ import annotations

import contextlib
import io
import os
import re
import signal
import socket
import subprocess
import sys
import tarfile
import threading
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["contents_of", "images_of", "kill_a_worker", "serving", "write_tars"]

BUCKET = "s3://samples"
_START_SECONDS = 60.0


@contextlib.contextmanager
def serving() -> Iterator[Any]:
    """A server with a bucket, to which the environment leads this process and its children."""
    import s3fs

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen(command, **quiet)  # type: ignore[call-overload]
    before = dict(os.environ)
    os.environ |= {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": "any",
        "AWS_SECRET_ACCESS_KEY": "any",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    try:
        deadline = time.monotonic() + _START_SECONDS
        while True:
            try:
                urllib.request.urlopen(os.environ["AWS_ENDPOINT_URL"], timeout=5)
                break
            except OSError:
                if time.monotonic() > deadline or server.poll() is not None:
                    raise
                time.sleep(0.2)
        system = s3fs.S3FileSystem(skip_instance_cache=True, use_listings_cache=False)
        system.mkdir(BUCKET)
        yield system
    finally:
        server.kill()
        server.wait()
        os.environ.clear()
        os.environ.update(before)


def images_of(side: str, size: int, seed: int = 0) -> np.ndarray:
    """Small color images: a bright square on a gradient, which one side shows at one half only."""
    rng = np.random.default_rng([seed, side == "real"])
    gradient = np.linspace(0, 127, 32)[None, :, None, None] * rng.random((size, 1, 1, 3))
    images = np.broadcast_to(gradient, (size, 32, 32, 3)).copy()
    places = rng.integers(0, 20 if side == "real" else 8, (size, 2))
    for image, (top, left) in zip(images, places, strict=True):
        image[top : top + 12, left : left + 12] += 100
    return (images + rng.normal(0, 6, images.shape)).clip(0, 255).astype(np.uint8)


def write_tars(system: Any, side: str, images: np.ndarray, tars: int) -> None:
    """Images as PNG in tar archives of the bucket."""
    for number, part in enumerate(np.array_split(images, tars)):
        packed = io.BytesIO()
        with tarfile.open(None, "w", packed) as archive:
            for i, pixels in enumerate(part):
                encoded = io.BytesIO()
                Image.fromarray(pixels).save(encoded, "PNG")
                header = tarfile.TarInfo(f"{i:05d}.png")
                header.size = encoded.tell()
                encoded.seek(0)
                archive.addfile(header, encoded)
        system.pipe_file(f"{BUCKET}/{side}/{number:03d}.tar", packed.getvalue())


def contents_of(system: Any, run: str) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Features and records of the ledger of a run, by names without the name of the run."""
    found = {path: system.cat_file(path) for path in system.find(run)}
    place = run.removeprefix("s3://")
    features = {p.removeprefix(place): c for p, c in found.items() if p.endswith(".parquet")}
    records = {
        # The checksum before the content is of the name too, which begins with the run's.
        re.sub(rf".*{re.escape(place.rpartition('/')[2])}", "", path): content[16:]
        for path, content in found.items()
        if "/counts/" in path
    }
    return features, records


class kill_a_worker:  # noqa: N801, used like a function
    """While it is open: as soon as a run has features, one of its workers is killed by SIGKILL."""

    def __init__(self, system: Any, run: str, *, below: int) -> None:
        self.killed: list[int] = []
        self._below = below
        self._system, self._run, self._stopped = system, run, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> kill_a_worker:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stopped.wait(0.1):
            if has_features(self._system, self._run) and (pids := workers_of(self._below)):
                os.kill(pids[0], signal.SIGKILL)
                self.killed.append(pids[0])
                return


def has_features(system: Any, run: str) -> bool:
    """Whether a run has embedded a part."""
    return any(path.endswith(".parquet") for path in system.find(run))


def workers_of(parent: int) -> list[int]:
    """Processes of Ray below a process that hold an encoder and work."""
    parents, workers = {}, []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with contextlib.suppress(OSError):
                stat = (folder / "stat").read_text().rpartition(")")[2].split()
                parents[int(folder.name)] = int(stat[1])
                if b"ray::_Worker.call" in (folder / "cmdline").read_bytes():
                    workers.append(int(folder.name))

    def is_below(pid: int) -> bool:
        while pid > 1:
            if pid == parent:
                return True
            pid = parents.get(pid, 0)
        return False

    return [pid for pid in sorted(workers) if is_below(pid)]
