"""Samples in many files, embedded by tasks of an engine, file by file."""

from __future__ import annotations

import glob
import json
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradeoff._extras import import_extra
from tradeoff._files import replacing
from tradeoff._progress import track
from tradeoff._sides import Sides
from tradeoff.data.base import Broken
from tradeoff.embedding.embed import embed_source
from tradeoff.embedding.schema import Schema
from tradeoff.embedding.sources import identity_of, open_as_set
from tradeoff.engines import Engine, Failure
from tradeoff.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tradeoff.settings import EmbedSettings

__all__ = ["embed_files"]

_ARCHIVES = (".tar", ".tgz", ".tar.gz", ".zip")


def embed_files(
    both: Sides[str],
    embedder: Any,
    settings: EmbedSettings,
    engine: Engine,
    place: Path,
    *,
    progress: bool,
) -> tuple[Sides[str], dict[str, tuple[Broken, ...]]]:
    """Folders of features of both sides as Parquet files, and items that are broken.

    Each archive of a folder is embedded by one task.

    Args:
        both: Paths of both sides.
        embedder: Encoder of the samples.
        settings: Settings of reading and embedding.
        engine: Where tasks run.
        place: Folder in which features are kept, so that an interrupted run goes on.
        progress: Whether to show a progress line.
    """
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
            raise InvalidInputError(
                f"`{place}` belongs to another run, which embedded files that are not among those "
                f"of this one, such as `{others[0].name}`: choose another folder."
            )
    todo = [item for item in items if not Path(item[1]).exists()]
    schema = None if settings.schema is None else Schema.of(settings.schema).to_dict()
    shared = (embedder, replace(settings, store=None, schema=schema))  # of no place of this machine
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
    source = open_as_set(part, part, settings)
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
