"""Rows of named fields: Parquet, Arrow, CSV tables and Hugging Face datasets."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tradeoff._extras import import_extra
from tradeoff._pictures import pixels_of
from tradeoff._remote import Place, Remote
from tradeoff.data.base import Broken, Kind, Sample, check_columns, check_distinct
from tradeoff.data.reading import (
    MOST_BYTES,
    check_regular,
    check_size,
    inside,
    read_file,
    read_inside,
    reason,
    valid,
)
from tradeoff.data.text import as_value, read_cells
from tradeoff.exceptions import InvalidInputError, UnavailableError, UnreadableError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "OWN_METADATA",
    "Columns",
    "Records",
    "open_parquet",
    "read_arrow",
    "read_csv",
    "read_dataset",
    "read_parquet",
    "read_saved_dataset",
]

Row = Mapping[str, Any]
Columns = list[str] | None
"""Names of the columns that are read; None for all of them."""
Rows = Callable[[Columns], Iterator[Row | Broken]]
_COLUMNS: dict[Kind, tuple[str, ...]] = {
    "image": ("image", "img", "pixels", "jpg", "png"),
    "text": ("text", "sentence", "content"),
    "features": ("features", "embedding", "embeddings"),
    "table": (),
}
OWN_METADATA = {"tradeoff.result": "1"}
"""Metadata of the schema of results in Parquet, by which they are not taken for samples."""
_MOST_ROWS = 64
_MOST_STATE_BYTES = 64 * 2**20
_MOST_HELD_BYTES = 64 * 2**20


@dataclass(frozen=True, eq=False)
class Records:
    """Rows, one field of which is the sample; or whole rows of a table.

    Args:
        name: Prefix of the ids, followed by the number of the row.
        rows: Function that returns the rows, anew each time, with no more than the columns that it
            is given; broken items are passed on.
        kind: Kind of the samples.
        column: Field that holds the samples; None for a table.
        label: Field that holds the class, if there is one.
        folder: Folder of the files that rows of images name by their path, as Hugging Face does
            when it stores no bytes. A path that leads out of it, also through a link, is not
            followed, and no path is if the folder is not given: a data set must not choose what
            else of a disk is read.
        first: Number of the first row.
        most_bytes: Size of an image beyond which it is not read and listed as broken.

    Example:
        >>> from tradeoff.data.records import Records
        >>> rows = [{"age": 3, "color": "red"}, {"age": 5, "color": None}]
        >>> source = Records("cats", lambda columns: iter(rows), kind="table")
        >>> [sample.id for sample in source]
        ['cats[0]', 'cats[1]']
    """

    name: str
    rows: Rows
    kind: Kind
    column: str | None = None
    label: str | None = None
    folder: Place | None = None
    first: int = 0
    most_bytes: int = MOST_BYTES

    @classmethod
    def of(
        cls,
        name: str,
        rows: Rows,
        columns: list[str],
        *,
        kind: Kind | None,
        column: str | None,
        label: str | None,
        folder: Place | None = None,
    ) -> Records:
        """Find out which field is the sample, by the names that are usual."""
        check_distinct(name, columns)
        check_columns(name, columns, column, label)
        kinds: tuple[Kind, ...] = ("image", "features", "text") if kind is None else (kind,)
        for candidate in kinds:
            for usual in _COLUMNS[candidate] if column is None else ():
                if usual in columns:
                    return cls(name, rows, candidate, usual, label, folder)
        if column is not None and kind is None:
            raise InvalidInputError(
                f"Pass `kind` (image, text or features) to say what column `{column}` of `{name}` "
                "holds."
            )
        if kind in (None, "table"):
            return cls(name, rows, "table", None, label)
        if column is None:
            raise InvalidInputError(
                f"Pass `column` to say which column of `{name}` holds the samples ({kind}). Its "
                f"columns are {', '.join(columns)}."
            )
        return cls(name, rows, kind, column, label, folder)

    @property
    def needed(self) -> Columns:
        """The columns that are read; all of them for a table."""
        return None if self.column is None else [c for c in (self.column, self.label) if c]

    def __iter__(self) -> Iterator[Sample | Broken]:
        number, found = self.first, False
        for row in self.rows(self.needed):
            found = True
            if isinstance(row, Broken):
                yield row
                continue
            name = f"{self.name}[{number}]"
            number += 1
            try:
                yield self._sample(name, row)
            except UnreadableError as error:
                yield Broken(name, str(error))
        if not found:
            raise InvalidInputError(
                f"`{self.name}` must hold rows. Got none (an iterator can be read only once)."
            )

    def _sample(self, name: str, row: Row) -> Sample:
        if not isinstance(row, Mapping):
            raise UnreadableError(f"A row must name its fields. Got a {type(row).__name__}.")
        for wanted in (self.column, self.label):
            if wanted is not None and wanted not in row:
                raise UnreadableError(f"The row has no column `{wanted}`.")
        label = None if self.label is None or row[self.label] is None else str(row[self.label])
        if self.column is None:
            return Sample(name, {k: v for k, v in row.items() if k != self.label}, label)
        value = row[self.column]
        read = {"text": _text, "features": _features, "image": self._image}.get(self.kind)
        content = None if value is None or read is None else read(value)
        if content is None:
            raise UnreadableError(f"The row has no {self.kind} in `{self.column}`.")
        return Sample(name, content, label)

    def _image(self, value: Any) -> bytes | np.ndarray[Any, Any] | None:
        if isinstance(value, Mapping):  # as Hugging Face stores images
            raw = value.get("bytes")
            if not raw:
                path = value.get("path")
                return read_inside(self.folder, path, self.most_bytes) if path else None
            value = raw
        if isinstance(value, (bytes, bytearray, memoryview)):
            check_size(len(value), self.most_bytes)
            return bytes(value)
        if hasattr(value, "convert"):  # a picture of Pillow
            return pixels_of(value)
        pixels = _numbers(value, "An image must be bytes or pixels")
        if pixels.ndim not in (2, 3):
            raise UnreadableError(f"An image must be bytes or pixels. Got shape {pixels.shape}.")
        is_byte = pixels.dtype.kind in "iu" and pixels.min() >= 0 and pixels.max() <= 255
        return pixels.astype(np.uint8) if is_byte else pixels


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _features(value: Any) -> np.ndarray[Any, Any]:
    values = _numbers(value, "Features must be numbers").astype(np.float64)
    if not np.isfinite(values).all():
        raise UnreadableError("The row holds NaN or infinity.")
    return values


def _numbers(value: Any, expected: str) -> np.ndarray[Any, Any]:
    """An array; NumPy would also make numbers of texts, dates and complex values."""
    try:
        values = np.asarray(value)
    except (ValueError, TypeError) as error:  # rows of different lengths
        raise UnreadableError(f"{expected}. {reason(error)}.") from None
    if values.dtype.kind not in "fiub" or not values.size:
        raise UnreadableError(f"{expected}. Got {values.dtype} of shape {values.shape}.")
    return values


def read_parquet(
    path: Place,
    *,
    files: Sequence[Place] | None = None,
    groups: Collection[int] | None = None,
    first: int = 0,
    **options: Any,
) -> Records:
    """A Parquet file, or a folder of them, of which those that are damaged are listed as broken.

    Args:
        path: The file or folder.
        files: Only these of its files; None for all.
        groups: Only these groups of rows of each file; None for all.
        first: Number of the first row.
        **options: Options of `Records.of`.
    """
    is_folder = files is not None or path.is_dir()
    if files is None:
        files = sorted(cast("Any", path).glob("*.parquet")) if is_folder else [path]
    found, first_error = dict[Place, list[str]](), None
    own = set[Place]()
    for file in files:
        try:
            with open_parquet(file) as opened:
                if _is_own(opened.schema_arrow.metadata):
                    own.add(file)
                else:
                    found[file] = list(opened.schema_arrow.names)
        except UnavailableError:
            raise
        except Exception as error:  # of Arrow's own kinds
            first_error = first_error or error
    files = [file for file in files if file not in own]
    if own and not files:
        raise InvalidInputError(
            f"`{path}` is a result or a store of tradeoff, not samples: pass the samples."
        )
    if not found:
        why = "it is empty" if first_error is None else reason(first_error)
        raise InvalidInputError(f"`{path}` must be a Parquet file, or a folder of them. {why}.")

    def rows(columns: Columns) -> Iterator[Row | Broken]:
        for file in files:
            yield from _parquet_rows(file, columns, groups)

    folder = path if is_folder else path.parent
    usual = next(iter(found.values()))
    records = Records.of(valid(path.name), rows, usual, folder=folder, **options)
    for file, names in found.items():
        _check_columns(records, file, names, usual)
    return replace(records, first=first)


@contextlib.contextmanager
def open_parquet(file: Place) -> Iterator[Any]:
    """With pages read one by one, since a group of rows may hold gigabytes of images."""
    parquet = import_extra("pyarrow.parquet", extra="images", purpose="Reading Parquet")
    check_regular(file)
    with contextlib.ExitStack() as opened:
        yield opened.enter_context(
            parquet.ParquetFile(
                opened.enter_context(file.open("rb")) if isinstance(file, Remote) else file,
                buffer_size=2**20,
                pre_buffer=False,
                page_checksum_verification=True,
            )
        )


def _is_own(metadata: Mapping[bytes, bytes] | None) -> bool:
    """Whether tradeoff wrote a file, as a result or into a store of features."""
    return any(mark in (metadata or {}) for mark in (b"tradeoff.result", b"tradeoff.schema"))


def _parquet_rows(
    file: Place, columns: Columns, groups: Collection[int] | None
) -> Iterator[Row | Broken]:
    name = valid(file.name)
    with contextlib.ExitStack() as stack:
        try:
            opened = stack.enter_context(open_parquet(file))
        except UnavailableError:
            raise
        except Exception as error:  # of Arrow's own kinds
            yield Broken(name, f"The file cannot be read: {reason(error)}.")
            return
        for group in range(opened.num_row_groups):
            if groups is not None and group not in groups:
                continue
            try:
                about = opened.metadata.row_group(group)
                few = _few_rows(about.total_byte_size, about.num_rows)
                batches = opened.iter_batches(batch_size=few, row_groups=[group], columns=columns)
                for batch in batches:
                    yield from batch.to_pylist()
            except UnavailableError:
                raise
            except Exception as error:
                yield Broken(
                    f"{name}, row group {group}",
                    f"The file is damaged, and rows are missing from here: {reason(error)}.",
                )


def _few_rows(size: int, rows: int) -> int:
    """Number of rows that are held at a time, so that large images do not fill the memory."""
    return max(1, min(_MOST_ROWS, _MOST_HELD_BYTES * max(rows, 1) // max(size, 1)))


def _check_columns(records: Records, file: Place, names: list[str], first: list[str]) -> None:
    needed = set(first) if records.column is None else {records.column}
    if records.label is not None:
        needed.add(records.label)
    if missing := sorted(needed - set(names)):
        raise InvalidInputError(
            f"All files of `{records.name}` must have the same columns. `{file.name}` has no "
            f"column `{missing[0]}`."
        )
    if records.column is None and (unknown := sorted(set(names) - needed)):
        raise InvalidInputError(
            f"All files of `{records.name}` must have the same columns. Only `{file.name}` has a "
            f"column `{unknown[0]}`."
        )


def read_arrow(path: Path, **options: Any) -> Records:
    """An Arrow file or stream."""
    try:
        return _arrow_records([path], valid(path.name), path.parent, **options)
    except UnreadableError as error:
        raise InvalidInputError(f"`{path}` must be an Arrow file. {error}") from None


def read_saved_dataset(folder: Path, **options: Any) -> Records:
    """A Hugging Face dataset that was saved to disk, read without its library, which would decode.

    Images stay encoded; those that are stored as paths are read from inside the folder.
    """
    name = valid(folder.name)
    if (folder / "dataset_dict.json").exists():
        raise InvalidInputError(
            f"`{name}` holds several splits, {', '.join(_splits(folder))}: pass one of them."
        )
    try:
        state = json.loads(read_file(folder / "state.json", _MOST_STATE_BYTES))
        if state.get("_indices_data_files"):
            raise UnreadableError("An old version wrote it with a list of rows: save it again.")
        files = [_inside(folder, file["filename"]) for file in state["_data_files"]]
        return _arrow_records(files, name, folder, **options)
    except UnreadableError as error:
        why = str(error)
    except OSError as error:
        why = f"{reason(error)}."
    except (ValueError, RecursionError, AttributeError, KeyError, TypeError) as error:
        why = f"Its state.json is damaged: {reason(error)}."
    raise InvalidInputError(f"`{folder}` must be a saved Hugging Face dataset. {why}")


def _splits(folder: Path) -> list[str]:
    return sorted(valid(path.name) for path in folder.iterdir() if path.is_dir())


def _inside(folder: Path, name: str) -> Path:
    """A file that a data set names, which must lie in its folder."""
    path = inside(folder, name)
    check_regular(path)
    return path


def _arrow_records(files: list[Path], name: str, folder: Path, **options: Any) -> Records:
    """Rows of Arrow files with the same columns."""
    arrow = import_extra("pyarrow", extra="images", purpose="Reading Arrow")

    def rows(columns: Columns) -> Iterator[Row | Broken]:
        for file in files:
            try:
                for batch in islice(_arrow_batches(arrow, file), 1, None):
                    chosen = batch if columns is None else batch.select(columns)
                    chosen.validate(full=True)  # else offsets of a damaged file lead anywhere
                    few = _few_rows(chosen.nbytes, chosen.num_rows)
                    for start in range(0, chosen.num_rows, few):
                        yield from chosen.slice(start, few).to_pylist()
            except Exception as error:  # of Arrow's own kinds
                yield Broken(
                    valid(file.name),
                    f"The file is damaged, and rows are missing from here: {reason(error)}.",
                )

    try:
        columns = list(next(_arrow_batches(arrow, files[0])).names)
    except Exception as error:
        raise UnreadableError(f"{reason(error)}.") from None
    return Records.of(name, rows, columns, folder=folder, **options)


def _arrow_batches(arrow: Any, path: Path) -> Iterator[Any]:
    """The schema, then the batches."""
    check_regular(path)
    with arrow.memory_map(str(path)) as source:
        try:
            reader = arrow.ipc.open_file(source)
        except arrow.ArrowInvalid:
            source.seek(0)
            stream = arrow.ipc.open_stream(source)
            yield stream.schema
            yield from stream
        else:
            yield reader.schema
            yield from (reader.get_batch(i) for i in range(reader.num_record_batches))


def read_csv(path: Place, **options: Any) -> Records:
    """A table in a CSV file; see `as_value` for what is a number and what is missing."""
    label = options.get("label")

    def rows(_: Columns) -> Iterator[Row | Broken]:
        lines = read_cells(path)
        header = next(lines)
        for cells in lines:
            row = zip(header, cells, strict=True)
            yield {key: (cell or None) if key == label else as_value(cell) for key, cell in row}

    return Records.of(valid(path.name), rows, next(read_cells(path)), **options)


def read_dataset(dataset: Any, name: str, **options: Any) -> Records:
    """A Hugging Face dataset in memory, of which images stay encoded, however they are nested.

    Images that are stored as paths are not followed, since there is no folder that they must stay
    in: their rows are listed as broken.
    """
    datasets = import_extra("datasets", extra="datasets", purpose="Reading a Hugging Face dataset")
    if isinstance(dataset, (datasets.DatasetDict, datasets.IterableDatasetDict)):
        raise InvalidInputError(
            f"`{name}` holds several splits, {', '.join(dataset)}: pass one of them."
        )

    def rows(columns: Columns) -> Iterator[Row | Broken]:
        try:
            yield from _raw_rows(datasets, dataset, columns)
        except Exception as error:
            yield Broken(
                name, f"The dataset is damaged, and rows are missing from here: {reason(error)}."
            )

    return Records.of(name, rows, list(dataset.column_names or ()), **options)


def _raw_rows(datasets: Any, dataset: Any, columns: Columns) -> Iterator[Row]:
    """Rows as they are stored: decoding would open paths and addresses, and start programs."""
    chosen = dataset if columns is None else dataset.select_columns(columns)
    if isinstance(dataset, datasets.IterableDataset):
        yield from chosen.decode(False) if chosen.features else chosen
    elif dataset.format["type"] == "custom":  # a function of the user makes the rows
        yield from dataset
    else:
        for batch in chosen.with_format("arrow").iter(_MOST_ROWS):
            yield from batch.to_pylist()
