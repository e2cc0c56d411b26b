"""Evaluation of samples in many files, embedded and counted by tasks of an engine."""

from __future__ import annotations

import glob
import json
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradeoff._extras import import_extra
from tradeoff._files import check_local, check_outputs, replacing, working_folder
from tradeoff._progress import track
from tradeoff._sides import Sides
from tradeoff.data import open_source
from tradeoff.data.base import Broken
from tradeoff.data.shards import ShardReader
from tradeoff.engine import embed_source
from tradeoff.engine.tasks import Engine, Failure
from tradeoff.evaluation.counting import Counted, count_shards, other_files
from tradeoff.evaluation.reference import encoder_for, identity_of, open_samples
from tradeoff.exceptions import InvalidInputError
from tradeoff.features import open_encoder
from tradeoff.settings import placed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tradeoff.data.base import Source
    from tradeoff.evaluation.result import Evaluation
    from tradeoff.settings import EmbedSettings, Settings

__all__ = ["evaluate_shards"]

_ARCHIVES = (".tar", ".tgz", ".tar.gz", ".zip")


def evaluate_shards(
    real: Any,
    generated: Any,
    settings: Settings,
    engine: Engine,
    ledger: str | Path | None,
    *,
    progress: bool,
) -> Evaluation:
    """A model whose samples lie in many files, by a frozen rule; see `evaluate`."""
    if settings.limit is not None:
        raise InvalidInputError(
            "`limit` cannot be combined with `engine`, which reads file by file: leave it out."
        )
    both = Sides(*map(_address, ("real", "generated"), (real, generated)))
    if ledger is not None:
        place = check_local("ledger", ledger)
        check_outputs([place / "counts.ledger"], inputs=both, overwrite=True)
    sources = both.map(lambda address: _source_of(address, settings))
    kinds = {"features" if source is None else source.kind for source in sources}
    if len(kinds) > 1:
        found = " and ".join(sorted(kinds))
        raise InvalidInputError(f"Both sides must hold the same kind of samples. Got {found}.")
    with working_folder(ledger) as place:
        broken: dict[str, tuple[Broken, ...]] = {"real": (), "generated": ()}
        reader = ShardReader(settings.column, settings.label)
        embedder = open_encoder(settings.encoder, kind="features") if "features" in kinds else None
        if embedder is None:
            assert sources.real is not None
            embedder = encoder_for(sources.real, settings)
            both, broken = _embedded(both, embedder, settings, engine, place, progress=progress)
            reader = ShardReader("features", "label", id="id")
        state, unread = count_shards(
            both,
            settings,
            engine=engine,
            reader=reader,
            encoder=identity_of(embedder),
            folder=place,
            keeps=ledger is not None,
            progress=progress,
        )
        return Counted(
            state=state,
            settings=settings,
            encoder=identity_of(embedder),
            broken={side: (*broken[side], *unread[side]) for side in broken},
            sources=sources,
            embedder=embedder,
            warnings=_warnings(unread, ledger),
        ).evaluation()


def _address(name: str, value: Any) -> str:
    if not isinstance(value, (str, Path)):
        raise InvalidInputError(
            f"`{name}` must be a path or an address, for an engine to read it. "
            f"Got a {type(value).__name__}."
        )
    return placed(value, Path.cwd())


def _source_of(address: str, settings: EmbedSettings) -> Source | None:
    """The source of samples that are to be embedded; None for features in Parquet files."""
    if "://" in address or "*" in address:
        return None
    source = open_samples(address, address, settings)
    return None if source.kind == "features" else source


def _warnings(unread: Mapping[str, Sequence[Broken]], ledger: Any) -> tuple[str, ...]:
    again = "" if ledger is None else " Repair them, and run again with the same ledger."
    return tuple(
        f"{len(files)} of the files of `{side}` could not be read, `{files[0].id}` among them, and "
        f"are not counted.{again}"
        for side, files in unread.items()
        if files
    )


def _embedded(
    both: Sides[str],
    embedder: Any,
    settings: Settings,
    engine: Engine,
    place: Path,
    *,
    progress: bool,
) -> tuple[Sides[str], dict[str, tuple[Broken, ...]]]:
    """Features of archives as Parquet files, each by one task; and items that are broken."""
    items = [
        (part, str(_target(place / "features" / side, part, identity_of(embedder))))
        for side, address in zip(Sides._fields, both, strict=True)
        for part in _parts(address)
    ]
    targets = {Path(target) for _, target in items}
    for side in Sides._fields:
        folder = place / "features" / side
        folder.mkdir(parents=True, exist_ok=True)
        if others := sorted(set(folder.glob("*.parquet")) - targets):
            raise other_files(place, others[0].name)
    todo = [item for item in items if not Path(item[1]).exists()]
    shared = (embedder, replace(settings, store=None))
    for i, result in track(
        engine.run(embed_part, shared, todo, stays=True),
        "embedding",
        total=len(todo),
        progress=progress,
    ):
        if isinstance(result, Failure):
            raise InvalidInputError(f"`{todo[i][0]}` cannot be embedded: {result.sentence}")
    broken = {
        side: tuple(
            Broken(*item)
            for file in sorted((place / "features" / side).glob("*.json"))
            for item in json.loads(file.read_text())
        )
        for side in Sides._fields
    }
    return Sides(*(str(place / "features" / side) for side in Sides._fields)), broken


def _parts(address: str) -> list[str]:
    """Archives of a folder, each a part; or the folder or file as it is."""
    path = Path(address)
    if not path.is_dir():
        return [address]
    found = sorted(str(p) for p in path.iterdir() if p.name.lower().endswith(_ARCHIVES))
    return found or [address]


def _target(folder: Path, part: str, identity: Mapping[str, str]) -> Path:
    """Where the features of a file are kept; refused if it changed after it was embedded.

    Features of its earlier content are in the folder then, and both would be counted.
    """
    about = Path(part).stat()
    version = [about.st_size, about.st_mtime_ns, dict(identity)]
    name = f"{Path(part).name.partition('.')[0]}-{_hash(part)}"
    target = folder / f"{name}-{_hash(json.dumps(version, sort_keys=True))}.parquet"
    if any(other != target for other in folder.glob(f"{glob.escape(name)}-*.parquet")):
        raise InvalidInputError(
            f"`{part}` or its encoder has changed since it was embedded: start again in another "
            "folder."
        )
    return target


def _hash(text: str) -> str:
    return blake2b(text.encode(), digest_size=6).hexdigest()


def embed_part(shared: tuple[Any, EmbedSettings], item: tuple[str, str]) -> int:
    """A task: features of the samples of a file, written to another file; their number."""
    arrow = import_extra("pyarrow", extra="images", purpose="Writing features")
    parquet = import_extra("pyarrow.parquet", extra="images", purpose="Writing features")
    embedder, settings = shared
    part, target = item
    source = open_source(part, kind=settings.kind, column=settings.column, label=settings.label)
    found = embed_source(source, embedder, broken=settings.broken, progress=False)
    columns = found.features.shape[1]
    features = arrow.FixedSizeListArray.from_arrays(
        arrow.array(found.features.astype("float32").ravel()), columns
    )
    table = arrow.table(
        {
            "id": list(found.ids),
            "label": arrow.array(found.labels, arrow.string()),
            "features": features,
        }
    )
    if found.broken:
        with replacing(Path(target).with_suffix(".json")) as fresh:
            fresh.write_text(json.dumps([[one.id, one.reason] for one in found.broken]))
    with replacing(target) as fresh:
        parquet.write_table(table, fresh, write_page_checksum=True)
    return len(found.ids)
