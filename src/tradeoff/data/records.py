"""Rows of named fields: Parquet, Arrow, CSV tables and Hugging Face datasets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from tradeoff._extras import import_extra
from tradeoff.data.base import Broken, Kind, Sample, check_columns
from tradeoff.data.cells import as_value, read_cells
from tradeoff.data.reading import (
    MOST_BYTES,
    check_regular,
    check_size,
    read_inside,
    reason,
    valid,
)
from tradeoff.exceptions import InvalidInputError, UnreadableError

__all__ = ["OWN_METADATA", "Records", "read_arrow", "read_csv", "read_dataset", "read_parquet"]

Row = Mapping[str, Any]
_COLUMNS: dict[Kind, tuple[str, ...]] = {
    "image": ("image", "img", "pixels", "jpg", "png"),
    "text": ("text", "sentence", "content"),
    "features": ("features", "embedding", "embeddings"),
    "table": (),
}
OWN_METADATA = {"tradeoff.result": "1"}
"""Metadata of the schema of results in Parquet, by which they are not taken for samples."""
_MOST_ROWS = 64
_MOST_HELD_BYTES = 64 * 2**20


@dataclass(frozen=True, eq=False)
class Records:
    """Rows, one field of which is the sample; or whole rows of a table.

    Args:
        name: Prefix of the ids, followed by the number of the row.
        rows: Function that returns the rows, anew each time; broken items are passed on.
        kind: Kind of the samples.
        column: Field that holds the samples; None for a table.
        label: Field that holds the class, if there is one.
        folder: Folder of the files that rows of images name by their path, as Hugging Face does
            when it stores no bytes. A path that leads out of it, also through a link, is not
            followed, and no path is if the folder is not given: a data set must not choose what
            else of a disk is read.
        most_bytes: Size of an image beyond which it is not read and listed as broken.

    Example:
        >>> from tradeoff.data.records import Records
        >>> rows = [{"age": 3, "color": "red"}, {"age": 5, "color": None}]
        >>> source = Records("cats", lambda: iter(rows), kind="table")
        >>> [sample.id for sample in source]
        ['cats[0]', 'cats[1]']
    """

    name: str
    rows: Callable[[], Iterator[Row | Broken]]
    kind: Kind
    column: str | None = None
    label: str | None = None
    folder: Path | None = None
    most_bytes: int = MOST_BYTES

    @classmethod
    def of(
        cls,
        name: str,
        rows: Callable[[], Iterator[Row | Broken]],
        columns: list[str],
        *,
        kind: Kind | None,
        column: str | None,
        label: str | None,
        folder: Path | None = None,
    ) -> Records:
        """Find out which field is the sample, by the names that are usual."""
        if twice := sorted({c for c in columns if columns.count(c) > 1}):
            raise InvalidInputError(
                f"`{name}` must have columns with different names. `{twice[0]}` occurs several "
                "times: rename them."
            )
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

    def __iter__(self) -> Iterator[Sample | Broken]:
        number, found = 0, False
        for row in self.rows():
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
            value = value.convert("RGB")
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


def read_parquet(path: Path, **options: Any) -> Records:
    """A Parquet file, or a folder of them, of which those that are damaged are listed as broken."""
    parquet = import_extra("pyarrow.parquet", extra="images", purpose="Reading Parquet")
    is_folder = path.is_dir()
    files = sorted(path.glob("*.parquet")) if is_folder else [path]
    columns, first_error = dict[Path, list[str]](), None
    own = set[Path]()
    for file in files:
        try:
            with _open_parquet(parquet, file) as opened:
                if _is_own(opened.schema_arrow.metadata):
                    own.add(file)
                else:
                    columns[file] = list(opened.schema_arrow.names)
        except Exception as error:  # of Arrow's own kinds
            first_error = first_error or error
    files = [file for file in files if file not in own]
    if own and not files:
        raise InvalidInputError(
            f"`{path}` is a result or a store of tradeoff, not samples: pass the samples."
        )
    if not columns:
        why = "it is empty" if first_error is None else reason(first_error)
        raise InvalidInputError(f"`{path}` must be a Parquet file, or a folder of them. {why}.")

    def rows() -> Iterator[Row | Broken]:
        for file in files:
            yield from _parquet_rows(parquet, file)

    folder = path if is_folder else path.parent
    first = next(iter(columns.values()))
    records = Records.of(valid(path.name), rows, first, folder=folder, **options)
    for file, names in columns.items():
        _check_columns(records, file, names, first)
    return records


def _open_parquet(parquet: Any, file: Path) -> Any:
    """With pages read one by one, since a group of rows may hold gigabytes of images."""
    check_regular(file)
    return parquet.ParquetFile(
        file, buffer_size=2**20, pre_buffer=False, page_checksum_verification=True
    )


def _is_own(metadata: Mapping[bytes, bytes] | None) -> bool:
    """Whether tradeoff wrote a file, as a result or into a store of features."""
    return any(mark in (metadata or {}) for mark in (b"tradeoff.result", b"tradeoff.schema"))


def _parquet_rows(parquet: Any, file: Path) -> Iterator[Row | Broken]:
    name = valid(file.name)
    try:
        opened = _open_parquet(parquet, file)
    except Exception as error:  # of Arrow's own kinds
        yield Broken(name, f"The file cannot be read: {reason(error)}.")
        return
    with opened:
        for group in range(opened.num_row_groups):
            try:
                about = opened.metadata.row_group(group)
                few = _few_rows(about.total_byte_size, about.num_rows)
                for batch in opened.iter_batches(batch_size=few, row_groups=[group]):
                    yield from batch.to_pylist()
            except Exception as error:
                yield Broken(
                    f"{name}, row group {group}",
                    f"The file is damaged, and rows are missing from here: {reason(error)}.",
                )


def _few_rows(size: int, rows: int) -> int:
    """Number of rows that are held at a time, so that large images do not fill the memory."""
    return max(1, min(_MOST_ROWS, _MOST_HELD_BYTES * max(rows, 1) // max(size, 1)))


def _check_columns(records: Records, file: Path, names: list[str], first: list[str]) -> None:
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
    arrow = import_extra("pyarrow", extra="images", purpose="Reading Arrow")

    def rows() -> Iterator[Row | Broken]:
        try:
            for batch in islice(_arrow_batches(arrow, path), 1, None):
                batch.validate(full=True)  # else offsets of a damaged file could lead anywhere
                few = _few_rows(batch.nbytes, batch.num_rows)
                for start in range(0, batch.num_rows, few):
                    yield from batch.slice(start, few).to_pylist()
        except Exception as error:  # of Arrow's own kinds
            yield Broken(
                valid(path.name),
                f"The file is damaged, and rows are missing from here: {reason(error)}.",
            )

    try:
        columns = list(next(_arrow_batches(arrow, path)).names)
    except Exception as error:
        raise InvalidInputError(f"`{path}` must be an Arrow file. {reason(error)}.") from None
    return Records.of(valid(path.name), rows, columns, folder=path.parent, **options)


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


def read_csv(path: Path, **options: Any) -> Records:
    """A table in a CSV file; see `as_value` for what is a number and what is missing."""
    label = options.get("label")

    def rows() -> Iterator[Row | Broken]:
        lines = read_cells(path)
        header = next(lines)
        for cells in lines:
            row = zip(header, cells, strict=True)
            yield {key: (cell or None) if key == label else as_value(cell) for key, cell in row}

    return Records.of(valid(path.name), rows, next(read_cells(path)), **options)


def _load_dataset(datasets: Any, folder: Path) -> Any:
    try:
        for path in folder.rglob("*"):
            if not path.is_dir():
                check_regular(path)  # a pipe would never end
        dataset = datasets.load_from_disk(str(folder))
        if isinstance(dataset, datasets.Dataset):
            dataset.data.table.validate(full=True)  # as for Arrow files
    except Exception as error:  # of its own kinds, and of Arrow's
        raise InvalidInputError(
            f"`{folder}` must be a saved Hugging Face dataset. {reason(error)}."
        ) from None
    return dataset


def read_dataset(dataset: Any, name: str, **options: Any) -> Records:
    """A Hugging Face dataset, on disk or in memory; images stay encoded.

    Images that are stored as paths are read from inside the folder of a dataset on disk. A dataset
    in memory has no folder, so its paths are not followed: its rows are listed as broken.
    """
    datasets = import_extra("datasets", extra="datasets", purpose="Reading a Hugging Face dataset")
    folder = dataset if isinstance(dataset, Path) else None
    if isinstance(dataset, Path):
        dataset = _load_dataset(datasets, dataset)
    if isinstance(dataset, (datasets.DatasetDict, datasets.IterableDatasetDict)):
        raise InvalidInputError(
            f"`{name}` holds several splits, {', '.join(dataset)}: pass one of them."
        )
    for column, feature in (dataset.features or {}).items():
        if isinstance(feature, datasets.Image):
            dataset = dataset.cast_column(column, datasets.Image(decode=False))

    def rows() -> Iterator[Row | Broken]:
        try:
            yield from dataset
        except Exception as error:
            yield Broken(
                name, f"The dataset is damaged, and rows are missing from here: {reason(error)}."
            )

    columns = list(dataset.column_names or ())
    return Records.of(name, rows, columns, folder=folder, **options)
