"""One machine: samples are read and prepared by threads while the network embeds."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence, Sized
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from tradeoff._progress import Step, track
from tradeoff._result import Result
from tradeoff._validation import check_choice, check_count, check_features
from tradeoff.data.base import Broken
from tradeoff.embedding.chunks import THREADS, Chunk, Lane, Prepared, in_background, prepare_chunks
from tradeoff.exceptions import InvalidInputError
from tradeoff.features.plain import Identity
from tradeoff.features.views import parts_of
from tradeoff.samples import View, views_of

if TYPE_CHECKING:
    from tradeoff.data.base import Kind, Sample, Source
    from tradeoff.features.base import Encoder
    from tradeoff.features.store import FeatureStore

__all__ = ["Embedded", "embed_source", "embedding_steps"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Embedded(Result):
    """Features of a stream of samples, with their ids and labels.

    Args:
        features: Features of each sample, shape (n, d); a read-only view, not a copy.
        ids: Name of each sample.
        labels: Class of each sample, None where the source knows none.
        broken: Items that could not be read, and why.
        reused: Number of samples whose features were in the store.
        provenance: Encoder, preprocessing, weights and sizes.
        views: Columns of each encoder; empty if there is one.

    Example:
        >>> from tradeoff.data import open_source
        >>> from tradeoff.embedding import embed_source
        >>> from tradeoff.features import Function
        >>> lengths = Function(lambda texts: [[len(t)] for t in texts], "length", "text", "1")
        >>> embedded = embed_source(open_source(["A rose.", "Two."], name="poems"), lengths)
        >>> embedded.ids, embedded.features.tolist()
        (('poems[0]', 'poems[1]'), [[7.0], [4.0]])
    """

    _shared = frozenset({"features"})

    features: npt.NDArray[Any]
    ids: tuple[str, ...]
    labels: tuple[str | None, ...]
    broken: tuple[Broken, ...]
    reused: int
    provenance: Mapping[str, Any]
    views: tuple[View, ...] = ()


def embed_source(
    source: Source,
    embedder: Encoder,
    *,
    name: str = "samples",
    store: FeatureStore | None = None,
    limit: int | None = None,
    broken: Literal["skip", "stop"] = "skip",
    seed: int = 0,
    threads: int = THREADS,
    progress: bool = True,
) -> Embedded:
    """Embed all samples of a source, batch by batch; nothing but features is kept.

    The memory in use does not depend on the number of samples, and depends on their size only
    through the largest few: samples are dropped once prepared, and a chunk of prepared ones is
    closed when it holds 192 MiB.

    Args:
        source: Source of samples of the embedder's kind.
        embedder: Encoder of the samples.
        name: Name of the samples in messages.
        store: Store in which features are kept and found again; given features and functions
            without a version are not stored.
        limit: Largest number of samples, chosen at random by their ids; all if not given.
        broken: Whether items that cannot be read are skipped, and named in the result, or end
            the run.
        seed: Seed of that choice.
        threads: Number of threads that decode samples ahead of the network.
        progress: False silences the progress line.

    Example:
        >>> import numpy as np
        >>> from tradeoff.data import open_source
        >>> from tradeoff.embedding import embed_source
        >>> from tradeoff.features.plain import Identity
        >>> embedded = embed_source(open_source([[1.0, 2.0], [np.nan, 0.0]]), Identity())
        >>> embedded.features.tolist(), embedded.broken[0].reason
        ([[1.0, 2.0]], 'The row holds NaN or infinity.')
    """
    check_choice("broken", broken, ("skip", "stop"))
    if source.kind != embedder.kind:
        raise InvalidInputError(
            f"`{name}` must hold {embedder.kind} samples for the encoder `{embedder.name}`. Got "
            f"{source.kind}: choose another encoder."
        )
    chosen = None if limit is None else _choose_by_id(source, check_count("limit", limit), seed)
    lanes = [
        Lane(view, one, store.shelf(one) if store is not None and _is_kept(one) else None)
        for view, one in parts_of(embedder)
    ]
    run = _Run(name=name, lanes=lanes, stops=broken == "stop")
    total = len(source) if isinstance(source, Sized) else None
    with ExitStack() as opened:
        for lane in lanes:
            if lane.shelf is not None:
                opened.enter_context(lane.shelf)
        chunks = in_background(prepare_chunks(_only_chosen(source, chosen), lanes, threads))
        with closing(chunks):
            for chunk in track(
                chunks,
                _label(name, embedder.kind),
                total=total if chosen is None else len(chosen),
                size=lambda chunk: len(chunk.items),
                progress=progress,
            ):
                run.take(chunk)
    return run.result(embedder)


def _is_kept(encoder: Encoder) -> bool:
    """Given features and those of functions without a version are not stored."""
    return not isinstance(encoder, Identity) and getattr(encoder, "version", "") is not None


def embedding_steps(sources: Mapping[str, Source], limit: int | None) -> list[Step]:
    """A step for each source by its name, with its number of samples.

    Args:
        sources: Sources by name.
        limit: Largest number of samples of each.
    """
    sizes = {name: len(one) for name, one in sources.items() if isinstance(one, Sized)}
    if limit is not None:
        sizes = {name: min(size, limit) for name, size in sizes.items()}
    usual = max(sizes.values(), default=1)
    return [
        Step(_label(name, one.kind), "embedding", max(1, sizes.get(name, usual)))
        for name, one in sources.items()
    ]


def _label(name: str, kind: Kind) -> str:
    """What is done with samples of a kind; features are only read."""
    return f"{'reading' if kind == 'features' else 'embedding'} {name}"


@dataclass
class _Run:
    """What grows while a source is embedded."""

    name: str
    lanes: Sequence[Lane]
    stops: bool
    ids: list[str] = field(default_factory=list)
    labels: list[str | None] = field(default_factory=list)
    digests: list[str] = field(default_factory=list)
    features: dict[str, list[npt.NDArray[Any]]] = field(default_factory=dict)
    broken: list[Broken] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    reused: int = 0

    def take(self, chunk: Chunk) -> None:
        samples = [item for item in chunk.items if isinstance(item, Prepared)]
        for number, lane in enumerate(self.lanes):
            self._embed(lane, number, [one for one in samples if one.ready[number] is not None])
        self.reused += sum(all(part is None for part in one.ready) for one in samples)
        for item in chunk.items:
            if isinstance(item, Broken):
                self._refuse(item)
                continue
            self.ids.append(item.id)
            self.labels.append(self._one(item.label))
            self.digests.append(item.digest)

    def _embed(self, lane: Lane, number: int, fresh: list[Prepared]) -> None:
        """Features of what is not on the shelf of a lane."""
        if not fresh:
            return
        features = lane.encoder.embed([item.ready[number] for item in fresh])
        self._check_finite(lane, fresh, features)
        earlier = self.features.setdefault(lane.name, [])
        if earlier and features.shape[1] != earlier[0].shape[1]:
            raise InvalidInputError(
                f"`{self.name}` must have features of one length. Got {earlier[0].shape[1]} and "
                f"{features.shape[1]} columns."
            )
        if lane.shelf is None:
            earlier.append(features)
            return
        earlier[:] = [features[:1]]
        for sample, row in zip(fresh, features, strict=True):
            lane.shelf.add(replace(sample, ready=()), row)

    def _check_finite(self, lane: Lane, fresh: list[Prepared], features: npt.NDArray[Any]) -> None:
        finite = np.isfinite(features).all(1)
        if not finite.all():
            raise InvalidInputError(
                f"The features of `{fresh[int(finite.argmin())].id}` must be finite. Got NaN or "
                f"infinity from `{lane.encoder.name}`: check the encoder, or its precision."
            )

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

    def result(self, embedder: Encoder) -> Embedded:
        if not self.ids:
            first = self.broken[0]
            raise InvalidInputError(
                f"`{self.name}` must hold samples that can be read. All {len(self.broken)} are "
                f"broken, `{first.id}` among them: {first.reason}"
            )
        blocks = {
            lane.name: np.concatenate(self.features[lane.name])
            if lane.shelf is None
            else lane.shelf.read(self.digests)
            for lane in self.lanes
        }
        several = len(blocks) > 1
        features = np.concatenate([*blocks.values()], axis=1) if several else blocks.popitem()[1]
        check_features(**{self.name: features[:1]})
        return Embedded(
            features=features,
            ids=tuple(self.ids),
            labels=tuple(self.labels),
            broken=tuple(self.broken),
            reused=self.reused,
            provenance={
                "encoder": embedder.name,
                "preprocessing": embedder.preprocessing,
                "weights": embedder.weights,
                "dtype": str(features.dtype),
                "samples": len(self.ids),
                "broken": len(self.broken),
                "columns": features.shape[1],
            },
            views=views_of({name: x.shape[1] for name, x in blocks.items()}) if several else (),
        )


def _choose_by_id(source: Source, limit: int, seed: int) -> set[int]:
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


def _only_chosen(source: Source, chosen: set[int] | None) -> Iterator[Sample | Broken]:
    """Items at the given places, or all of them."""
    return (item for i, item in enumerate(source) if chosen is None or i in chosen)
