"""A reference on disk: samples as Parquet, what was derived from them as arrays, checksums."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._decoding import check_types, fits
from tradeoff._extras import import_extra
from tradeoff._files import check_outputs
from tradeoff.data.base import Broken, Kind
from tradeoff.data.records import OWN_METADATA
from tradeoff.exceptions import InvalidInputError, first_line
from tradeoff.features.network import hash_files
from tradeoff.moments.frechet import Moments
from tradeoff.neighbors.support import OwnNeighbors
from tradeoff.samples import Side
from tradeoff.settings import EmbedSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["is_reference", "read_reference", "write_reference"]

_SCHEMA = "tradeoff.Reference"
_VERSION = 1
_TYPES: dict[str, Any] = {
    "kind": Kind,
    "encoder": dict[str, str],
    "settings": dict[str, Any],
    "broken": list[list[str]],
    "table": dict[str, list[Any]] | None,
    "checksums": dict[str, str],
}
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
    folder = Path(folder)
    check_outputs(reference_files(folder), overwrite=overwrite)
    arrow = import_extra("pyarrow", extra="images", purpose="Saving a reference")
    parquet = import_extra("pyarrow.parquet", extra="images", purpose="Saving a reference")
    folder.mkdir(parents=True, exist_ok=True)
    flat = arrow.array(np.ascontiguousarray(side.features).ravel())
    table = arrow.table(
        {
            "id": arrow.array(side.ids, arrow.string()),
            "label": arrow.array(side.labels, arrow.string()),
            "features": arrow.FixedSizeListArray.from_arrays(flat, side.columns),
        },
        metadata=OWN_METADATA,
    )
    parquet.write_table(table, folder / _SAMPLES)
    np.savez(folder / _DERIVED, **_derived(side))
    fields = {
        "schema": _SCHEMA,
        "version": _VERSION,
        "samples": len(side),
        "columns": side.columns,
        **about,
        "checksums": {name: _checksum(folder / name) for name in (_SAMPLES, _DERIVED)},
    }
    text = json.dumps(fields, ensure_ascii=False, indent=1)
    (folder / _ABOUT).write_text(text + "\n", encoding="utf-8")


def read_reference(folder: str | Path) -> tuple[Side, dict[str, Any]]:
    """Samples and description of a reference, every byte of which is checked."""
    folder = Path(folder)
    about = _description(folder)
    for name, checksum in about["checksums"].items():
        if name not in (_SAMPLES, _DERIVED) or _checksum(folder / name) != checksum:
            raise _damaged(folder / name)
    parquet = import_extra("pyarrow.parquet", extra="images", purpose="Loading a reference")
    table = parquet.ParquetFile(folder / _SAMPLES).read()
    features = table.column("features").combine_chunks()
    side = Side(
        name="real",
        features=features.flatten().to_numpy().reshape(len(table), -1),
        ids=tuple(table.column("id").to_pylist()),
        labels=tuple(table.column("label").to_pylist()),
    )
    with np.load(folder / _DERIVED, allow_pickle=False) as arrays:
        _remember(side, dict(arrays))
    return side, about


def _description(folder: Path) -> dict[str, Any]:
    path = folder / _ABOUT
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInputError(
            f"`{folder}` must hold a reference. {error.strerror}: {_ABOUT}."
        ) from None
    except (ValueError, RecursionError):
        raise _damaged(path) from None
    found = (about.get("schema"), about.get("version")) if isinstance(about, dict) else None
    if found != (_SCHEMA, _VERSION):
        raise InvalidInputError(
            f"`{path}` must have the schema {_SCHEMA} version {_VERSION}. Got {found}: create "
            "the reference again."
        )
    try:
        _check(about)
        about["broken"] = [Broken(*item) for item in about["broken"]]
    except (TypeError, KeyError, ValueError) as error:
        raise _damaged(path, f"{type(error).__name__}: {first_line(error)}") from None
    return dict(about)


def _check(about: Mapping[str, Any]) -> None:
    """Check the fields of a description, which has no checksum of its own."""
    for name, hint in _TYPES.items():
        if not fits(about[name], hint):
            raise TypeError(f"`{name}` has the wrong type")
    check_types(EmbedSettings(**about["settings"]))
    missing = {"encoder", "preprocessing", "weights"} - about["encoder"].keys()
    if missing or about["checksums"].keys() != {_SAMPLES, _DERIVED}:
        raise ValueError("an encoder or a checksum is missing")
    if about["table"] is not None and not fits(about["table"]["optional"], list[str]):
        raise TypeError("`optional` of the table has the wrong type")
    for name, mean, deviation in (about["table"] or {"numbers": []})["numbers"]:
        if not (fits(name, str) and fits(mean, float) and fits(deviation, float) and deviation):
            raise TypeError("`numbers` of the table has the wrong type")
    for name, values in (about["table"] or {"categories": []})["categories"]:
        if not (fits(name, str) and fits(values, list[str])):
            raise TypeError("`categories` of the table has the wrong type")


def _damaged(path: Path, reason: str = "") -> InvalidInputError:
    said = f" ({reason})" if reason else ""
    return InvalidInputError(f"`{path}` is damaged{said}: create the reference again.")


def _checksum(path: Path) -> str:
    try:
        return hash_files([path])
    except OSError:
        return ""


def _derived(side: Side) -> dict[str, Any]:
    """What is kept of what was computed: hashes, neighbors and moments."""
    arrays: dict[str, Any] = {"keys": side.keys}
    if (neighbors := side.remembered("neighbors")) is not None:
        arrays |= {"neighbor_squares": neighbors.squares, "neighbor_index": neighbors.index}
    if (moments := side.remembered("moments")) is not None:
        arrays |= {"mean": moments.mean, "scatter": moments.scatter}
    return arrays


def _remember(side: Side, arrays: Mapping[str, Any]) -> None:
    side.remember("keys", lambda: arrays["keys"])
    if "neighbor_squares" in arrays:
        known = OwnNeighbors(arrays["neighbor_squares"], arrays["neighbor_index"])
        side.remember("neighbors", lambda: known)
    if "mean" in arrays:
        moments = Moments(len(side), arrays["mean"], arrays["scatter"])
        side.remember("moments", lambda: moments)
