"""Samples in many files, embedded by tasks of an engine, file by file."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from hashlib import blake2b
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tradeoff._codec import decode, decoding
from tradeoff._extras import import_extra
from tradeoff._progress import track
from tradeoff._remote import Place, Remote, place_of, write_whole
from tradeoff._sides import Sides
from tradeoff.data.base import Broken
from tradeoff.data.parts import list_parts
from tradeoff.embedding.batches import find_batch_sizes, with_batch_sizes
from tradeoff.embedding.chunks import THREADS
from tradeoff.embedding.embed import embed_source
from tradeoff.embedding.schema import Schema
from tradeoff.embedding.sources import identity_of, open_part_as_set
from tradeoff.engines import Engine, Failure, RayEngine
from tradeoff.exceptions import InvalidInputError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tradeoff.data.parts import Part
    from tradeoff.settings import EmbedSettings

__all__ = ["embed_files", "suit_workers"]

_MEASURED = 64  # samples by which the size of batches is found


def embed_files(
    both: Sides[str],
    embedder: Any,
    settings: EmbedSettings,
    engine: Engine,
    place: Place,
    *,
    progress: bool,
) -> tuple[Sides[str], dict[str, tuple[Broken, ...]]]:
    """Folders of features of both sides as Parquet files, and items that are broken.

    Each part of the samples is embedded by one task.

    Args:
        both: Paths or addresses of both sides.
        embedder: Encoder of the samples.
        settings: Settings of reading and embedding.
        engine: Where tasks run.
        place: Folder of the run, which all workers see: features are kept there, so that an
            interrupted run goes on.
        progress: Whether to show a progress line.
    """
    folders = Sides(*(place / "features" / side for side in Sides._fields))
    todo = [
        (part, str(target))
        for address, folder in zip(both, folders, strict=True)
        for part, target in _unfinished(list_parts(address), folder, identity_of(embedder))
    ]
    schema = None if settings.schema is None else Schema.of(settings.schema).to_dict()
    settings = replace(settings, store=None, schema=schema)  # of no place of this machine
    threads = max(THREADS, engine.cpus) if isinstance(engine, RayEngine) else THREADS
    shared = Shared(embedder, identity_of(embedder), settings, threads)
    for i, result in track(
        engine.run(embed_part, shared, todo, stays=True),
        "embedding",
        total=len(todo),
        progress=progress,
    ):
        _check_done(result, todo[i][0])
    broken = {
        side: tuple(
            Broken(*item)
            for name in sorted(_names(folder, ".json"))
            for item in json.loads((folder / name).read_bytes())
        )
        for side, folder in folders._asdict().items()
    }
    return folders.map(str), broken


def suit_workers(
    embedder: Any,
    address: str,
    settings: EmbedSettings,
    engine: Engine,
    place: Place,
    *,
    progress: bool,
) -> Any:
    """An encoder with batches that suit the GPUs of workers; on CPUs, the encoder as it is.

    A worker finds their size once. It is kept in the folder of the run, since features depend on
    it.

    Args:
        embedder: Encoder of the samples.
        address: Path or address of samples.
        settings: Settings of reading and embedding.
        engine: Where tasks run.
        place: Folder of the run.
        progress: Whether to show a progress line.
    """
    if not (isinstance(engine, RayEngine) and engine.gpus > 0) or settings.batch_size is not None:
        return embedder
    kept = place / "batches.json"
    if not kept.exists():
        shared = Shared(embedder, identity_of(embedder), settings)
        found = engine.run(_batch_sizes, shared, list_parts(address)[:1], stays=True)
        for _, sizes in track(found, "measuring batches", total=1, progress=progress):
            _check_done(sizes, address)
            write_whole(kept, json.dumps(sizes).encode())
    with decoding(f"`{kept}`"):
        sizes = decode(json.loads(kept.read_bytes()), dict[str, int])
    return with_batch_sizes(embedder, sizes)


def _batch_sizes(shared: Shared, part: Part) -> dict[str, int]:
    """A task: sizes of batches that suit this worker, by the first samples of a part."""
    source = open_part_as_set(part, replace(shared.settings, store=None))
    samples = (item for item in source if not isinstance(item, Broken))
    return find_batch_sizes(shared.embedder, list(islice(samples, _MEASURED)))


def _check_done(result: Any, what: object) -> None:
    """A task must not have failed."""
    if isinstance(result, Failure):
        kind = UnavailableError if result.lies_outside else InvalidInputError
        raise kind(f"`{what}` cannot be embedded: {result.sentence}")


def _unfinished(
    parts: Sequence[Part], folder: Place, identity: Mapping[str, str]
) -> list[tuple[Part, Place]]:
    """Parts whose features are not in a folder, and where to write them.

    A folder is refused if it has features of other parts, or of earlier content of these: both
    would be counted.
    """
    if isinstance(folder, Path):
        folder.mkdir(parents=True, exist_ok=True)
    there = _names(folder, ".parquet")
    targets = {_target(part, identity): part for part in parts}
    for target, part in targets.items():
        earlier = target.rpartition("-")[0]
        if any(name != target and name.rpartition("-")[0] == earlier for name in there):
            raise InvalidInputError(
                f"`{part}` or its encoder has changed since it was embedded: start again in "
                "another folder."
            )
    if others := sorted(there - targets.keys()):
        raise InvalidInputError(
            f"`{folder.parent.parent}` belongs to another run, which embedded files that are not "
            f"among those of this one, such as `{others[0]}`: choose another folder."
        )
    return [(part, folder / target) for target, part in targets.items() if target not in there]


def _names(folder: Place, ending: str) -> set[str]:
    """Names of files in a folder with an ending."""
    names = folder.names() if isinstance(folder, Remote) else os.listdir(folder)
    return {name for name in names if name.endswith(ending)}


def _target(part: Part, identity: Mapping[str, str]) -> str:
    """Name of the file of the features of a part, with its version and encoder at the end."""
    version = json.dumps([part.version, dict(identity)], sort_keys=True)
    readable = place_of(part.address).name.partition(".")[0]
    return f"{readable}-{_hash(part.name)}-{_hash(version)}.parquet"


def _hash(text: str) -> str:
    return blake2b(text.encode(), digest_size=6).hexdigest()


class Shared(NamedTuple):
    """What all tasks share.

    Args:
        embedder: Encoder of the samples.
        identity: Its name, preprocessing and weights on the machine of the run.
        settings: Settings of reading and embedding.
        threads: Number of threads that decode samples.
    """

    embedder: Any
    identity: Mapping[str, str]
    settings: EmbedSettings
    threads: int = THREADS


def embed_part(shared: Shared, item: tuple[Part, str]) -> int:
    """A task: features of the samples of a file, written to another file; their number."""
    arrow = import_extra("pyarrow", extra="images", purpose="Writing features")
    parquet = import_extra("pyarrow.parquet", extra="images", purpose="Writing features")
    embedder, identity, settings, threads = shared
    part, target = item
    for key, value in identity_of(embedder).items():
        if value != identity[key]:
            raise InvalidInputError(
                f"Workers must have the encoder of this machine. The {key} here is "
                f"{identity[key]!r}, that of a worker {value!r}: install the same packages there."
            )
    source = open_part_as_set(part, settings)
    found = embed_source(
        source, embedder, name=str(part), broken=settings.broken, threads=threads, progress=False
    )
    columns = found.features.shape[1]
    features = arrow.FixedSizeListArray.from_arrays(
        arrow.array(found.features.astype("float32").ravel()), columns
    )
    table = arrow.table(
        {
            "id": list(found.ids),
            "label": arrow.array(found.labels, arrow.string()),
            "features": features,
        },
        metadata={f"tradeoff.{key}": value for key, value in identity.items()},
    )
    if found.broken:
        told = json.dumps([[one.id, one.reason] for one in found.broken])
        write_whole(place_of(f"{target.removesuffix('.parquet')}.json"), told.encode())
    content = BytesIO()
    parquet.write_table(table, content, write_page_checksum=True)
    write_whole(place_of(target), content.getvalue())
    return len(found.ids)
