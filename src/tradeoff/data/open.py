"""One door to every source: paths, arrays, tensors, datasets and iterables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tradeoff._validation import check_choice
from tradeoff.data.archives import ImageArchive
from tradeoff.data.arrays import ArraySource, load_array
from tradeoff.data.base import Broken, Kind, Sample, Source
from tradeoff.data.images import ImageFolder
from tradeoff.data.records import Records, read_arrow, read_csv, read_dataset, read_parquet
from tradeoff.data.text import TextFile
from tradeoff.exceptions import InvalidInputError

__all__ = ["Items", "open_source"]

_KINDS = ("image", "text", "table", "features")
_ARCHIVES = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")


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
        value: a path (a folder of images, Parquet files or a saved dataset, an archive, ``.npz``,
            ``.npy``, ``.parquet``, ``.arrow``, ``.jsonl``, ``.csv``, ``.txt``), an array, a tensor,
            a Hugging Face dataset, an iterable of samples, or a source.
        name: which ids begin with, where there is no file to name them after.
        kind: image, text, table or features, where it cannot be told.
        column: field that holds the samples, where there are several.
        label: field that holds the class.

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
    fields: dict[str, Any] = {"kind": kind, "column": column, "label": label}
    if isinstance(value, str) and not value.strip():
        raise InvalidInputError(f"`{name}` must be a path. Got an empty one.")
    if isinstance(value, (str, Path)):
        return _open_path(Path(value), fields)
    if isinstance(value, np.ndarray):
        return ArraySource(value, name=name)
    if hasattr(value, "detach"):
        return ArraySource(value.detach().cpu().numpy(), name=name)
    if type(value).__module__.partition(".")[0] == "datasets":
        return read_dataset(value, name, **fields)
    if hasattr(value, "kind") and hasattr(value, "__iter__"):
        source: Source = value
        return source
    if isinstance(value, Iterable):
        return Items.of(value, name, kind)
    raise InvalidInputError(
        f"`{name}` must be a path, an array, a dataset or an iterable. "
        f"Got a {type(value).__name__}."
    )


def _open_path(path: Path, fields: dict[str, Any]) -> Source:
    if not path.exists():
        raise InvalidInputError(f"`{path}` does not exist.")
    if path.is_dir():
        return _open_folder(path, fields)
    suffix = path.suffix.lower()
    if path.name.lower().endswith(_ARCHIVES):
        return ImageArchive((path,))
    if suffix in (".npy", ".npz"):
        return load_array(path)
    if suffix in (".parquet", ".pq"):
        return read_parquet(path, **fields)
    if suffix in (".arrow", ".feather"):
        return read_arrow(path, **fields)
    if suffix == ".csv" and fields["kind"] != "text" and fields["column"] is None:
        return read_csv(path, **fields)
    if suffix in (".csv", ".jsonl", ".txt"):
        return TextFile(path, column=fields["column"] or "text", label=fields["label"])
    raise InvalidInputError(
        f"`{path}` must be a folder, an archive, or end in .npz, .npy, .parquet, .arrow, .jsonl, "
        ".csv or .txt."
    )


def _open_folder(path: Path, fields: dict[str, Any]) -> Source:
    if (path / "dataset_info.json").exists() or (path / "dataset_dict.json").exists():
        return read_dataset(path, path.name, **fields)
    if any(path.glob("*.parquet")):
        return read_parquet(path, **fields)
    shards = sorted(entry for entry in path.iterdir() if entry.name.lower().endswith(_ARCHIVES))
    return ImageArchive(tuple(shards)) if shards else ImageFolder(path)


@dataclass(frozen=True, eq=False)
class Items:
    """Samples of an iterable: texts, encoded images, arrays, or pictures of Pillow.

    An iterator is consumed, and cannot be read a second time.

    Args:
        values: the samples; a pair of a string and a sample has its own id.
        name: which other ids begin with.
        kind: what they are.

    Example:
        >>> from tradeoff.data import Items
        >>> [sample.id for sample in Items([("a", "A rose."), "Another."], "poems", "text")]
        ['a', 'poems[1]']
    """

    values: Iterable[Any]
    name: str
    kind: Kind

    @classmethod
    def of(cls, values: Iterable[Any], name: str, kind: Kind | None) -> Items | Records:
        """Tell the kind from the first sample of a sequence."""
        if kind is None:
            if isinstance(values, Iterator) or not hasattr(values, "__getitem__"):
                raise InvalidInputError(f"`kind` must say what `{name}` yields.")
            first = next(iter(values), None)
            if first is None:
                raise InvalidInputError(f"`{name}` must hold samples. Got none.")
            kind = _kind_of(first[1] if _is_named(first) else first)
        if kind == "table":
            return Records(name, lambda: iter(values), "table")
        return cls(values, name, kind)

    def __iter__(self) -> Iterator[Sample | Broken]:
        number = -1
        for number, value in enumerate(self.values):
            key, content = value if _is_named(value) else (f"{self.name}[{number}]", value)
            if hasattr(content, "convert"):  # a picture of Pillow
                content = np.asarray(content.convert("RGB"))
            elif not isinstance(content, (str, bytes)):
                content = np.asarray(content)
            yield Sample(key, content)
        if number < 0:
            again = isinstance(self.values, Iterator)
            raise InvalidInputError(
                f"`{self.name}` must hold samples. Got none"
                + (": an iterator can be read only once." if again else ".")
            )


def _is_named(value: object) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str)


def _kind_of(sample: object) -> Kind:
    if isinstance(sample, str):
        return "text"
    if isinstance(sample, dict):
        return "table"
    if isinstance(sample, bytes) or hasattr(sample, "convert"):
        return "image"
    return "features" if np.ndim(np.asarray(sample)) == 1 else "image"
