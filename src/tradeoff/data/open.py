"""One entry point to every source: paths, arrays, DataFrames, datasets and iterables."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._files import missing
from tradeoff._remote import Place, Remote, matching, place_of
from tradeoff._validation import check_array, check_choice
from tradeoff.data.archives import ImageArchive
from tradeoff.data.arrays import ArraySource, load_array
from tradeoff.data.images import IMAGE_SUFFIXES, ImageFolder
from tradeoff.data.items import is_dataset, open_items, read_frame
from tradeoff.data.reading import check_regular, reason
from tradeoff.data.records import (
    read_arrow,
    read_csv,
    read_dataset,
    read_parquet,
    read_saved_dataset,
)
from tradeoff.data.text import TextFile
from tradeoff.exceptions import InvalidInputError, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tradeoff.data.base import Kind, Source

__all__ = ["ARCHIVES", "PARQUET", "open_source", "samples_of"]

_KINDS = ("image", "text", "table", "features")
ARCHIVES = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")
PARQUET = (".parquet", ".pq")
_ARRAYS, _ARROW = (".npy", ".npz"), (".arrow", ".feather")
_SAVED = ("dataset_info.json", "dataset_dict.json")


def open_source(
    value: Any,
    *,
    name: str = "samples",
    kind: Kind | None = None,
    column: str | None = None,
    label: str | None = None,
) -> Source:
    """Whatever holds samples, as a source.

    Args:
        value: Path (a folder of images, Parquet files or a saved dataset, an archive, ``.npz``,
            ``.npy``, ``.parquet``, ``.arrow``, ``.jsonl``, ``.csv``, ``.txt``), address of one in
            object storage (``s3://bucket/photos``), pattern with ``*``, an array, a tensor,
            a DataFrame (pandas, polars, PyArrow), a Hugging Face dataset, a PyTorch dataset or data
            loader, a list of samples, or a source.
        name: Prefix of ids, where there is no file to name them after.
        kind: Kind of the samples, where it cannot be told: image, text, table or features.
        column: Field that holds the samples, where there are several.
        label: Field that holds the class.

    Example:
        >>> import numpy as np
        >>> from tradeoff.data import open_source
        >>> open_source(np.zeros((3, 8, 8, 3), np.uint8)).kind
        'image'
        >>> [sample.content for sample in open_source(["A rose.", "Another."])]
        ['A rose.', 'Another.']
    """
    if kind is not None:
        check_choice("kind", kind, _KINDS)
    value = samples_of(value)
    fields: dict[str, Any] = {"kind": kind, "column": column, "label": label}
    source = _open(value, name, fields)
    if kind is not None and source.kind != kind:
        raise InvalidInputError(
            f"`{name}` must hold {kind} samples, as `kind` says. It holds {source.kind} samples."
        )
    return source


def samples_of(value: Any) -> Any:
    """The images of what a pipeline of diffusers returns; anything else as it is."""
    return value.images if type(value).__module__.partition(".")[0] == "diffusers" else value


def _open(value: Any, name: str, fields: dict[str, Any]) -> Source:
    if isinstance(value, str) and not value.strip():
        raise InvalidInputError(f"`{name}` must be a path. Got an empty one.")
    if isinstance(value, (str, PathLike, Remote)):
        address = value if isinstance(value, (str, Remote)) else Path(value)
        return _open_path(place_of(address), fields)
    if type(value).__module__.partition(".")[0] == "datasets":
        return read_dataset(value, name, **fields)
    if isinstance(value, np.ndarray) or hasattr(value, "detach"):
        return _open_array(value, name, fields)
    if hasattr(value, "__arrow_c_stream__") or hasattr(value, "__dataframe__"):
        return read_frame(value, name, **fields)
    if hasattr(value, "kind") and hasattr(value, "__iter__"):
        source: Source = value
        return source
    if isinstance(value, Iterable) or is_dataset(value):
        return open_items(value, name, **fields)
    raise InvalidInputError(
        f"`{name}` must be a path, an array, a DataFrame, a dataset or a list of samples. "
        f"Got a {type(value).__name__}."
    )


def _open_array(value: Any, name: str, fields: dict[str, Any]) -> Source:
    if getattr(value, "ndim", 0) == 1 and getattr(value.dtype, "kind", "") in "OUT":
        return open_items(value.tolist(), name, **fields)  # texts
    is_tensor = hasattr(value, "detach")
    values = check_array(name, value)
    if values.ndim == 3:  # gray images
        values = values[..., None]
    if values.ndim == 4 and (is_tensor or values.dtype.kind == "f"):
        return open_items(values, name, **fields)
    return ArraySource(values, name=name)


def _open_path(path: Place, fields: dict[str, Any]) -> Source:
    if not path.exists():
        if "*" in str(path):
            return _open_matching(str(path), fields)
        raise InvalidInputError(
            missing(path) if isinstance(path, Path) else f"`{path}` does not exist."
        )
    if path.is_dir():
        return _open_folder(path, fields)
    try:
        check_regular(path)  # a pipe or a device may never end
    except (OSError, UnreadableError) as error:
        raise InvalidInputError(f"`{path}` cannot be read: {reason(error)}.") from None
    suffix = path.suffix.lower()
    if path.name.lower().endswith(ARCHIVES):
        return ImageArchive((path,))
    if suffix in PARQUET:
        return read_parquet(path, **fields)
    if suffix == ".csv" and fields["kind"] != "text" and fields["column"] is None:
        return read_csv(path, **fields)
    if suffix in (".csv", ".jsonl", ".txt"):
        return TextFile(path, column=fields["column"] or "text", label=fields["label"])
    if suffix in (*_ARRAYS, *_ARROW) and isinstance(path, Remote):
        raise InvalidInputError(
            f"`{path}` must be on this machine, because {suffix} files are mapped into memory: "
            "copy it, or save it as Parquet."
        )
    if isinstance(path, Path) and suffix in _ARRAYS:
        return load_array(path)
    if isinstance(path, Path) and suffix in _ARROW:
        return read_arrow(path, **fields)
    raise InvalidInputError(
        f"`{path}` must be a folder, an archive, or end in .npz, .npy, .parquet, .arrow, .jsonl, "
        ".csv or .txt."
    )


def _open_matching(pattern: str, fields: dict[str, Any]) -> Source:
    """Archives, Parquet files or images that match a pattern; a single match as it is."""
    places = matching(pattern)
    if not places:
        raise InvalidInputError(f"No file matches `{pattern}`.")
    if len(places) == 1:
        return _open_path(places[0], fields)
    if _all_end_in(places, ARCHIVES):
        return ImageArchive(tuple(places))
    folder = place_of(f"{pattern.partition('*')[0].rpartition('/')[0] or '.'}")
    if _all_end_in(places, PARQUET):
        return read_parquet(folder, files=places, **fields)
    if _all_end_in(places, IMAGE_SUFFIXES):
        return ImageFolder(folder, files=tuple(places))
    raise InvalidInputError(
        f"`{pattern}` must match archives, Parquet files or images, of one kind. It matches "
        f"{len(places)} files, `{places[0].name}` among them."
    )


def _all_end_in(places: Sequence[Place], suffixes: tuple[str, ...]) -> bool:
    return all(place.name.lower().endswith(suffixes) for place in places)


def _open_folder(path: Place, fields: dict[str, Any]) -> Source:
    known = (".parquet", *_SAVED, *ARCHIVES)
    found = sorted(one for one in path.iterdir() if one.name.lower().endswith(known))
    if any(one.name in _SAVED for one in found):
        if isinstance(path, Remote):
            raise InvalidInputError(
                f"`{path}` is a saved Hugging Face dataset, which must be on this machine: copy "
                "it, or save it as Parquet (`to_parquet`)."
            )
        return read_saved_dataset(path, **fields)
    if any(one.name.endswith(".parquet") for one in found):
        return read_parquet(path, **fields)
    shards = tuple(one for one in found if one.name.lower().endswith(ARCHIVES))
    return ImageArchive(shards) if shards else ImageFolder(path)
