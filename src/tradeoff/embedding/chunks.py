"""Chunks of prepared samples: threads read and prepare them a little ahead of the network."""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tradeoff.data.base import Broken, Sample
from tradeoff.exceptions import UnreadableError
from tradeoff.features.network import BATCH, BatchedNetwork

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

    from tradeoff.data.base import Kind
    from tradeoff.features.base import Encoder
    from tradeoff.features.store import Shelf

__all__ = ["THREADS", "Chunk", "Lane", "Prepared", "in_background", "prepare_chunks"]

_CHUNK: dict[Kind, int] = {"image": 64, "text": 512, "table": 512, "features": 512}
_CHUNK_BYTES = 64 * 1024 * 1024 * 3  # that many images of one megapixel are a whole chunk
_AHEAD = 2
THREADS = 2
"""Threads that decode samples, unless it is said otherwise."""
_IN_FLIGHT = 2  # samples that wait for each thread
_IN_FLIGHT_BYTES = 64 * 2**20
_NICENESS = 5
T = TypeVar("T")


@dataclass(frozen=True, eq=False, slots=True)
class Prepared(Sample):
    """A sample whose content is dropped once it is prepared; of its content the hash is left.

    For each lane it is ready to be embedded, or None if its features are on the shelf.
    """

    known: str = ""
    ready: tuple[Any, ...] = ()

    @property
    def digest(self) -> str:
        """The hash of the content that was dropped."""
        return self.known


@dataclass(frozen=True)
class Lane:
    """One encoder, and the shelf on which its features are kept; None if they are not."""

    name: str
    encoder: Encoder
    shelf: Shelf | None


@dataclass
class Chunk:
    """Some items in order; those that are to be embedded are prepared."""

    items: list[Prepared | Broken] = field(default_factory=list)
    size: int = 0

    def add(self, item: Prepared | Broken) -> None:
        """Append an item, and count its bytes."""
        self.items.append(item)
        self.size += 0 if isinstance(item, Broken) else sum(map(_size, item.ready))

    def is_full(self, most: int, batch: int) -> bool:
        """By number or by bytes; after a whole batch, if the next one would not fit."""
        fits = self.size < (_CHUNK_BYTES / 2 if len(self.items) == batch else _CHUNK_BYTES)
        return len(self.items) >= most or not fits


def prepare_chunks(
    items: Iterator[Sample | Broken], lanes: Sequence[Lane], threads: int = THREADS
) -> Iterator[Chunk]:
    """Chunks of which all that is not on the shelf of a lane has been prepared for it."""
    keeps = any(lane.shelf is not None for lane in lanes)

    def prepare(item: Sample | Broken) -> Prepared | Broken:
        if isinstance(item, Broken):
            return item
        digest = item.digest if keeps else ""
        try:
            ready = tuple(
                None
                if lane.shelf is not None and digest in lane.shelf
                else lane.encoder.prepare(item)
                for lane in lanes
            )
        except UnreadableError as error:
            return Broken(item.id, str(error))
        return Prepared(item.id, b"", item.label, digest, ready)

    networks = [lane.encoder for lane in lanes if isinstance(lane.encoder, BatchedNetwork)]
    batch = max((one.batch_size for one in networks), default=BATCH)
    most = batch * -(-_CHUNK[lanes[0].encoder.kind] // batch)  # whole batches
    chunk = Chunk()
    with ThreadPoolExecutor(threads, initializer=_step_back) as pool:
        for item in _in_order(pool, prepare, items, _IN_FLIGHT * threads):
            chunk.add(item)
            if chunk.is_full(most, batch):
                yield chunk
                chunk = Chunk()
    if chunk.items:
        yield chunk


def _in_order(
    pool: ThreadPoolExecutor,
    prepare: Callable[[Sample | Broken], Prepared | Broken],
    items: Iterator[Sample | Broken],
    in_flight: int,
) -> Iterator[Prepared | Broken]:
    """Results in the order of the items, of which few and not many bytes are in flight."""
    waiting: deque[tuple[int, Future[Prepared | Broken]]] = deque()
    held = 0
    for item in items:
        size = 0 if isinstance(item, Broken) else _size(item.content)
        while waiting and (len(waiting) >= in_flight or held + size > _IN_FLIGHT_BYTES):
            done, future = waiting.popleft()
            held -= done
            yield future.result()
        waiting.append((size, pool.submit(prepare, item)))
        held += size
    while waiting:
        yield waiting.popleft()[1].result()


def _size(content: Any) -> int:
    """Bytes of pixels, texts and encoded images; everything else is small."""
    if isinstance(content, np.ndarray):
        return content.nbytes
    return len(content) if isinstance(content, (bytes, str)) else 0


def _step_back() -> None:
    """Let the network's threads go first: each that waits makes all of them wait."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)


def in_background(items: Iterator[T]) -> Generator[T]:
    """The same items, from a thread that is a little ahead."""
    ready: queue.Queue[tuple[T | None, BaseException | None]] = queue.Queue(_AHEAD)
    stopped = threading.Event()

    def offer(item: T | None, error: BaseException | None = None) -> bool:
        while not stopped.is_set():
            try:
                ready.put((item, error), timeout=0.1)
            except queue.Full:
                continue
            return True
        return False

    def run() -> None:
        try:
            for item in items:
                if not offer(item):
                    return
            offer(None)
        except BaseException as error:
            offer(None, error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        while True:
            item, error = ready.get()
            if error is not None:
                raise error
            if item is None:
                return
            yield item
    finally:
        stopped.set()
        thread.join()
