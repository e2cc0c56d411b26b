"""A reference on disk: samples as Parquet, what was derived from them as arrays, checksums."""

from __future__ import annotations

import json
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._codec import check_types, decode
from tradeoff._extras import import_extra
from tradeoff._files import check_local, check_outputs, replacing_files
from tradeoff._validation import check_views
from tradeoff.data.base import Broken, Kind
from tradeoff.data.reading import read_file
from tradeoff.data.records import OWN_METADATA
from tradeoff.exceptions import (
    InvalidInputError,
    MissingExtraError,
    UnreadableError,
    first_line,
)
from tradeoff.features.network import hash_files
from tradeoff.metrics.moments.frechet import Moments
from tradeoff.metrics.neighbors.nearest import OwnNeighbors
from tradeoff.samples import Side, views_of
from tradeoff.settings import EmbedSettings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["is_reference", "read_reference", "write_reference"]

_SCHEMA = "tradeoff.Reference"
_VERSION = 2


@dataclass(frozen=True)
class _Table:
    """The fields of a `TableEncoder` in JSON."""

    numbers: list[tuple[str, float, float]]
    categories: list[tuple[str, list[str]]]
    optional: list[str]


_TYPES: dict[str, Any] = {
    "samples": int,
    "columns": int,
    "views": list[tuple[str, int]],
    "kind": Kind,
    "encoder": dict[str, str],
    "settings": dict[str, Any],
    "broken": list[tuple[str, str]],
    "table": _Table | None,
    "checksums": dict[str, str],
}
_MOST_ABOUT = 1 << 30  # bytes
_MOST_RANKS = 1000
_ABOUT, _SAMPLES, _DERIVED = "reference.json", "samples.parquet", "derived.npz"


def is_reference(path: Path) -> bool:
    """Whether a folder holds a reference."""
    return (path / _ABOUT).is_file()


def reference_files(folder: Path) -> list[Path]:
    """Files that a reference has in a folder."""
    return [folder / name for name in (_ABOUT, _SAMPLES, _DERIVED)]


def write_reference(
    folder: str | Path, side: Side, about: Mapping[str, Any], *, overwrite: bool
) -> None:
    """Write samples and what was derived from them; the description comes last."""
    folder = check_local("folder", folder)
    check_outputs(reference_files(folder), overwrite=overwrite)
    arrow = import_extra("pyarrow", extra="images", purpose="Saving a reference")
    parquet = import_extra("pyarrow.parquet", extra="images", purpose="Saving a reference")
    flat = arrow.array(np.ascontiguousarray(side.features).ravel())
    table = arrow.table(
        {
            "id": arrow.array(side.ids, arrow.string()),
            "label": arrow.array(side.labels, arrow.string()),
            "features": arrow.FixedSizeListArray.from_arrays(flat, side.columns),
        },
        metadata=OWN_METADATA,
    )
    with replacing_files(folder, (_ABOUT, _SAMPLES, _DERIVED)) as fresh:
        parquet.write_table(table, fresh / _SAMPLES)
        np.savez(fresh / _DERIVED, **_derived(side))
        fields = {
            "schema": _SCHEMA,
            "version": _VERSION,
            "samples": len(side),
            "columns": side.columns,
            "views": [[view.name, view.width] for view in side.views],
            **about,
            "checksums": {name: _checksum(fresh / name) for name in (_SAMPLES, _DERIVED)},
        }
        fields["checksum"] = _checksum_of(fields)
        text = json.dumps(fields, ensure_ascii=False, indent=1)
        (fresh / _ABOUT).write_text(text + "\n", encoding="utf-8")


def read_reference(folder: str | Path) -> tuple[Side, dict[str, Any]]:
    """Samples and description of a reference, every byte of which is checked."""
    folder = Path(folder)
    about = _description(folder)
    for name, checksum in about["checksums"].items():
        if name not in (_SAMPLES, _DERIVED) or _checksum(folder / name) != checksum:
            raise _damaged(folder / name)
    shape = (about["samples"], about["columns"])
    with _readable(folder / _SAMPLES):
        side = _read_side(folder / _SAMPLES, shape, dict(about["views"]))
    with _readable(folder / _DERIVED), np.load(folder / _DERIVED, allow_pickle=False) as file:
        if sum(entry.file_size for entry in file.zip.infolist()) > _most_bytes(*shape):
            raise ValueError("it would fill the memory")
        _remember(side, dict(file))
    return side, about


def _read_side(path: Path, shape: tuple[int, int], views: dict[str, int]) -> Side:
    """Samples with their names, classes and features, which must have the declared shape."""
    parquet = import_extra("pyarrow.parquet", extra="images", purpose="Loading a reference")
    with parquet.ParquetFile(path) as file:
        if file.metadata.num_rows != shape[0] or not shape[0]:
            raise ValueError(f"it has {file.metadata.num_rows} rows")
        table = file.read(["id", "label", "features"])
    table.validate(full=True)
    ids, labels = (tuple(table.column(name).to_pylist()) for name in ("id", "label"))
    decode(list(ids), tuple[str, ...])
    decode(list(labels), tuple[str | None, ...])
    features = table.column("features").combine_chunks()
    values = features.flatten().to_numpy(zero_copy_only=False).reshape(shape)
    if features.null_count or values.dtype.kind != "f" or not np.isfinite(values).all():
        raise ValueError("features must be finite numbers")
    if features.type.num_fields and getattr(features.type, "list_size", None) != shape[1]:
        raise ValueError("features must have one length")
    blocks = views_of(check_views(views, shape[1])) if views else ()
    return Side(name="real", features=values, ids=ids, labels=labels, views=blocks)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn whatever a malformed file raises into one sentence that names it."""
    try:
        yield
    except MissingExtraError:
        raise
    except Exception as error:  # of Python, NumPy and Arrow, one for every way to be malformed
        raise _damaged(path, f"{type(error).__name__}: {first_line(error)}") from None


def _most_bytes(rows: int, columns: int) -> int:
    """Bytes of keys, neighbors up to the largest rank in use, and moments."""
    return rows * (8 + 16 * min(_MOST_RANKS, rows)) + 8 * columns * (columns + 1) + (1 << 20)


def _description(folder: Path) -> dict[str, Any]:
    path = folder / _ABOUT
    try:
        about = json.loads(read_file(path, _MOST_ABOUT).decode("utf-8"))
    except UnreadableError as error:
        told = str(error).rstrip(".")
        raise InvalidInputError(f"`{folder}` must hold a reference. {told}: {_ABOUT}.") from None
    except (ValueError, RecursionError):
        raise _damaged(path) from None
    found = (about.get("schema"), about.get("version")) if isinstance(about, dict) else None
    if found != (_SCHEMA, _VERSION):
        raise InvalidInputError(
            f"`{path}` must have the schema {_SCHEMA} version {_VERSION}. Got {found}: create "
            "the reference again."
        )
    with _readable(path):
        _check(about)
        about["broken"] = [Broken(*item) for item in about["broken"]]
    return dict(about)


def _check(about: Mapping[str, Any]) -> None:
    """Check the fields of a description; those of others may be crafted, not only damaged."""
    if "checksum" not in about:
        warnings.warn(
            "The reference has no checksum of its description, since an early version wrote it: "
            "create it again to be sure that it is intact.",
            stacklevel=2,
        )
    elif about["checksum"] != _checksum_of(about):
        raise ValueError("the checksum does not fit")
    for name, hint in _TYPES.items():
        decode(about[name], hint)
    check_types(about["settings"], EmbedSettings)
    EmbedSettings(**about["settings"])
    missing = {"encoder", "preprocessing", "weights"} - about["encoder"].keys()
    if missing or about["checksums"].keys() != {_SAMPLES, _DERIVED}:
        raise ValueError("an encoder or a checksum is missing")
    if not all(deviation for _, _, deviation in (about["table"] or {"numbers": []})["numbers"]):
        raise ValueError("a column of the table has no deviation")


def _damaged(path: Path, reason: str = "") -> InvalidInputError:
    said = f" ({reason})" if reason else ""
    return InvalidInputError(f"`{path}` is damaged{said}: create the reference again.")


def _checksum(path: Path) -> str:
    try:
        return hash_files([path])
    except OSError:
        return ""


def _checksum_of(about: Mapping[str, Any]) -> str:
    """A hash of all fields of a description but the hash itself, in whatever order."""
    fields = {name: value for name, value in about.items() if name != "checksum"}
    return blake2b(json.dumps(fields, sort_keys=True).encode(), digest_size=16).hexdigest()


def _derived(side: Side) -> dict[str, Any]:
    """What is kept of what was computed: hashes, neighbors and moments."""
    arrays: dict[str, Any] = {"keys": side.keys}
    if (neighbors := side.first.remembered("neighbors")) is not None:
        arrays |= {"neighbor_squares": neighbors.squares, "neighbor_index": neighbors.index}
    if (moments := side.first.remembered("moments")) is not None:
        arrays |= {"mean": moments.mean, "scatter": moments.scatter}
    return arrays


def _remember(side: Side, arrays: Mapping[str, Any]) -> None:
    """Take what was derived, if it has the right form; a ValueError if it has not."""
    n, d = len(side), side.first.columns
    keys = arrays["keys"]
    if keys.shape != (n,) or keys.dtype != np.uint64:
        raise ValueError("`keys` are not those of the samples")
    side.remember("keys", lambda: keys)
    if "neighbor_squares" in arrays:
        known = OwnNeighbors(arrays["neighbor_squares"], arrays["neighbor_index"])
        if len(known.index) != n or known.squares.dtype != np.float64:
            raise ValueError("`neighbors` are not those of the samples")
        side.first.remember("neighbors", lambda: known)
    if "mean" in arrays:
        moments = Moments(n, arrays["mean"], arrays["scatter"])
        if (moments.mean.shape, moments.scatter.shape) != ((d,), (d, d)):
            raise ValueError("moments are not those of the samples")
        side.first.remember("moments", lambda: moments)
