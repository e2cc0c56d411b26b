"""One machine: samples are read and prepared by threads while the network embeds."""

from __future__ import annotations

import heapq
import os
import queue
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from tradeoff._progress import track
from tradeoff._validation import check_choice, check_count, check_features
from tradeoff.data.base import Broken, Sample
from tradeoff.exceptions import InvalidInputError, UnreadableError
from tradeoff.features.network import BATCH
from tradeoff.features.plain import Identity

if TYPE_CHECKING:
    import numpy.typing as npt

    from tradeoff.data.base import Kind, Source
    from tradeoff.features.base import Embedder
    from tradeoff.features.store import FeatureStore, Shelf

__all__ = ["Embedded", "embed_source"]

_CHUNK: dict[Kind, int] = {"image": 64, "text": 512, "table": 512, "features": 512}
_CHUNK_BYTES = 64 * 1024 * 1024 * 3  # that many images of one megapixel are a whole chunk
_AHEAD = 2
_THREADS = 2
_IN_FLIGHT = 2 * _THREADS
_IN_FLIGHT_BYTES = 64 * 2**20
_NICENESS = 5
T = TypeVar("T")


@dataclass(frozen=True, eq=False, kw_only=True)
class Embedded:
    """Features of a stream of samples, and what is known of each.

    Args:
        features: shape (n, d).
        ids: name of each sample.
        labels: class of each sample, None where the source knows none.
        broken: items that could not be read, and why.
        reused: number of samples whose features were in the store.
        provenance: features, preprocessing, weights and sizes.

    Example:
        >>> from tradeoff.data import open_source
        >>> from tradeoff.engine import embed_source
        >>> from tradeoff.features import Function
        >>> lengths = Function(lambda texts: [[len(t)] for t in texts], "length", "text", "1")
        >>> embedded = embed_source(open_source(["A rose.", "Two."], name="poems"), lengths)
        >>> embedded.ids, embedded.features.tolist()
        (('poems[0]', 'poems[1]'), [[7.0], [4.0]])
    """

    features: npt.NDArray[Any]
    ids: tuple[str, ...]
    labels: tuple[str | None, ...]
    broken: tuple[Broken, ...]
    reused: int
    provenance: Mapping[str, Any]


def embed_source(
    source: Source,
    embedder: Embedder,
    *,
    name: str = "samples",
    store: FeatureStore | None = None,
    limit: int | None = None,
    broken: Literal["skip", "stop"] = "skip",
    seed: int = 0,
    progress: bool = True,
) -> Embedded:
    """Embed all samples of a source, batch by batch; nothing but features is kept.

    The memory in use does not depend on the number of samples, and depends on their size only
    through the largest few: samples are dropped once prepared, and a chunk of prepared ones is
    closed when it holds 192 MiB.

    Args:
        source: of samples of the embedder's kind.
        embedder: what makes features of them.
        name: of the samples, in messages.
        store: where features are looked up and kept; given features and functions without a
            version are not stored.
        limit: number of samples, at most, chosen at random by their ids; all if not given.
        broken: whether items that cannot be read are skipped, and named in the result, or end
            the run.
        seed: of the choice.
        progress: False silences the progress line.

    Example:
        >>> import numpy as np
        >>> from tradeoff.data import open_source
        >>> from tradeoff.engine import embed_source
        >>> from tradeoff.features import Identity
        >>> embedded = embed_source(open_source([[1.0, 2.0], [np.nan, 0.0]]), Identity())
        >>> embedded.features.tolist(), embedded.broken[0].reason
        ([[1.0, 2.0]], 'The row holds NaN or infinity.')
    """
    check_choice("broken", broken, ("skip", "stop"))
    if source.kind != embedder.kind:
        raise InvalidInputError(
            f"`{name}` holds {source.kind} samples, and `{embedder.name}` embeds {embedder.kind}."
        )
    chosen = None if limit is None else _chosen(source, check_count("limit", limit), seed)
    keeps = not isinstance(embedder, Identity) and getattr(embedder, "version", "") is not None
    shelf = store.shelf(embedder) if store is not None and keeps else None
    run = _Run(name=name, embedder=embedder, shelf=shelf, stops=broken == "stop")
    total = len(source) if isinstance(source, Sized) else None
    with nullcontext() if shelf is None else shelf:
        chunks = _in_background(_prepared(_only(source, chosen), embedder, shelf))
        with closing(chunks):
            for chunk in track(
                chunks,
                f"embedding {name}",
                total=total if chosen is None else len(chosen),
                size=lambda chunk: len(chunk.items),
                progress=progress,
            ):
                run.take(chunk)
    return run.result()


@dataclass(frozen=True, eq=False, slots=True)
class _Prepared(Sample):
    """A sample whose content is dropped once it is prepared; of its content the hash is left."""

    known: str = ""
    ready: Any = None
    fresh: bool = False

    @property
    def digest(self) -> str:
        """The hash of the content that was dropped."""
        return self.known


@dataclass
class _Chunk:
    """Some items in order; those that are to be embedded are prepared."""

    items: list[_Prepared | Broken] = field(default_factory=list)
    size: int = 0

    def add(self, item: _Prepared | Broken) -> None:
        self.items.append(item)
        self.size += 0 if isinstance(item, Broken) else _size(item.ready)

    def is_full(self, most: int) -> bool:
        """By number or by bytes; after a whole batch, if the next one would not fit."""
        fits = self.size < (_CHUNK_BYTES / 2 if len(self.items) == BATCH else _CHUNK_BYTES)
        return len(self.items) >= most or not fits


@dataclass
class _Run:
    """What grows while a source is embedded."""

    name: str
    embedder: Embedder
    shelf: Shelf | None
    stops: bool
    ids: list[str] = field(default_factory=list)
    labels: list[str | None] = field(default_factory=list)
    digests: list[str] = field(default_factory=list)
    features: list[npt.NDArray[Any]] = field(default_factory=list)
    broken: list[Broken] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    embedded: int = 0
    columns: int = 0

    def take(self, chunk: _Chunk) -> None:
        fresh = [item for item in chunk.items if isinstance(item, _Prepared) and item.fresh]
        if fresh:
            features = self.embedder.embed([item.ready for item in fresh])
            self.columns = self.columns or features.shape[1]
            if features.shape[1] != self.columns:
                raise InvalidInputError(
                    f"`{self.name}` must have features of one length. Got {self.columns} and "
                    f"{features.shape[1]} columns."
                )
            self.embedded += len(features)
            if self.shelf is None:
                self.features.append(features)
            else:
                for sample, row in zip(fresh, features, strict=True):
                    self.shelf.add(replace(sample, ready=None), row)
        for item in chunk.items:
            if isinstance(item, Broken):
                self._refuse(item)
                continue
            self.ids.append(item.id)
            self.labels.append(self._one(item.label))
            if self.shelf is not None:
                self.digests.append(item.digest)

    def _one(self, label: str | None) -> str | None:
        """The same string for the same label, of which there are many."""
        return None if label is None else self.names.setdefault(label, label)

    def _refuse(self, item: Broken) -> None:
        if self.stops:
            raise InvalidInputError(
                f"`{item.id}` of {self.name} is broken: {item.reason} Repair or remove it, "
                'or pass broken="skip" (--broken skip).'
            )
        self.broken.append(item)

    def result(self) -> Embedded:
        if not self.ids:
            first = self.broken[0]
            raise InvalidInputError(
                f"`{self.name}` must hold samples that can be read. All {len(self.broken)} are "
                f"broken, `{first.id}` among them: {first.reason}"
            )
        if self.shelf is None:
            features = np.concatenate(self.features)
        else:
            features = self.shelf.read(self.digests)
        check_features(**{self.name: features[:1]})
        return Embedded(
            features=features,
            ids=tuple(self.ids),
            labels=tuple(self.labels),
            broken=tuple(self.broken),
            reused=len(self.ids) - self.embedded,
            provenance={
                "features": self.embedder.name,
                "preprocessing": self.embedder.preprocessing,
                "weights": self.embedder.weights,
                "dtype": str(features.dtype),
                "samples": len(self.ids),
                "broken": len(self.broken),
                "columns": features.shape[1],
            },
        )


def _prepared(
    items: Iterator[Sample | Broken], embedder: Embedder, shelf: Shelf | None
) -> Iterator[_Chunk]:
    """Chunks of which all that is not on the shelf has been prepared."""

    def prepare(item: Sample | Broken) -> _Prepared | Broken:
        if isinstance(item, Broken):
            return item
        digest = "" if shelf is None else item.digest
        if shelf is not None and digest in shelf:
            return _Prepared(item.id, b"", item.label, digest)
        try:
            ready = embedder.prepare(item)
        except UnreadableError as error:
            return Broken(item.id, str(error))
        return _Prepared(item.id, b"", item.label, digest, ready, fresh=True)

    chunk = _Chunk()
    with ThreadPoolExecutor(_THREADS, initializer=_step_back) as pool:
        for item in _in_order(pool, prepare, items):
            chunk.add(item)
            if chunk.is_full(_CHUNK[embedder.kind]):
                yield chunk
                chunk = _Chunk()
    if chunk.items:
        yield chunk


def _in_order(
    pool: ThreadPoolExecutor,
    prepare: Callable[[Sample | Broken], _Prepared | Broken],
    items: Iterator[Sample | Broken],
) -> Iterator[_Prepared | Broken]:
    """Results in the order of the items, of which few and not many bytes are in flight."""
    waiting: deque[tuple[int, Future[_Prepared | Broken]]] = deque()
    held = 0
    for item in items:
        size = 0 if isinstance(item, Broken) else _size(item.content)
        while waiting and (len(waiting) >= _IN_FLIGHT or held + size > _IN_FLIGHT_BYTES):
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


def _in_background(items: Iterator[T]) -> Generator[T]:
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


def _chosen(source: Source, limit: int, seed: int) -> set[int]:
    """Places of the samples that a seeded hash of their ids puts first."""
    if isinstance(getattr(source, "values", None), Iterator):
        raise InvalidInputError(
            "`limit` chooses among all samples, and an iterator can be read only once: pass a list."
        )
    key = seed.to_bytes(8, "little")

    ranks = (
        (blake2b(item.id.encode(errors="surrogatepass"), digest_size=16, key=key).digest(), place)
        for place, item in enumerate(source)
    )
    return {place for _, place in heapq.nsmallest(limit, ranks)}


def _only(source: Source, chosen: set[int] | None) -> Iterator[Sample | Broken]:
    return (item for i, item in enumerate(source) if chosen is None or i in chosen)
