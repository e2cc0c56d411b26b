"""Rows of named fields: Parquet, Arrow, CSV tables and Hugging Face datasets."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tradeoff._extras import import_extra
from tradeoff.data.base import Broken, Kind, Sample
from tradeoff.exceptions import InvalidInputError

__all__ = ["Records", "read_arrow", "read_csv", "read_dataset", "read_parquet"]

Row = Mapping[str, Any]
_COLUMNS: dict[Kind, tuple[str, ...]] = {
    "image": ("image", "img", "pixels", "jpg", "png"),
    "text": ("text", "sentence", "content"),
    "features": ("features", "embedding", "embeddings"),
    "table": (),
}


@dataclass(frozen=True, eq=False)
class Records:
    """Rows, one field of which is the sample; or whole rows of a table.

    Args:
        name: which the ids begin with, followed by the number of the row.
        rows: gives the rows, anew each time.
        kind: what the samples are.
        column: field that holds them; of a table, None.
        label: field that holds the class, if there is one.

    Example:
        >>> from tradeoff.data import Records
        >>> rows = [{"age": 3, "color": "red"}, {"age": 5, "color": None}]
        >>> source = Records("cats", lambda: iter(rows), kind="table")
        >>> [sample.id for sample in source]
        ['cats[0]', 'cats[1]']
    """

    name: str
    rows: Callable[[], Iterator[Row]]
    kind: Kind
    column: str | None = None
    label: str | None = None

    @classmethod
    def of(
        cls,
        name: str,
        rows: Callable[[], Iterator[Row]],
        columns: list[str],
        *,
        kind: Kind | None,
        column: str | None,
        label: str | None,
    ) -> Records:
        """Find out which field is the sample, by the names that are usual."""
        for wanted in (column, label):
            if wanted is not None and wanted not in columns:
                raise InvalidInputError(
                    f"`{name}` must have a column `{wanted}`. Got {', '.join(columns)}."
                )
        kinds: tuple[Kind, ...] = ("image", "features", "text") if kind is None else (kind,)
        for candidate in kinds:
            for usual in _COLUMNS[candidate] if column is None else ():
                if usual in columns:
                    return cls(name, rows, candidate, usual, label)
        if column is not None and kind is None:
            raise InvalidInputError(f"`kind` must say what `{column}` of `{name}` holds.")
        if kind in (None, "table"):
            return cls(name, rows, "table", None, label)
        if column is None:
            raise InvalidInputError(
                f"`column` must name the {kind} of `{name}`. Its columns are {', '.join(columns)}."
            )
        return cls(name, rows, kind, column, label)

    def __iter__(self) -> Iterator[Sample | Broken]:
        number = -1
        for number, row in enumerate(self.rows()):
            name = f"{self.name}[{number}]"
            label = None if self.label is None else str(row[self.label])
            if self.column is None:
                fields = {key: value for key, value in row.items() if key != self.label}
                yield Sample(name, fields, label)
                continue
            content = self._content(row[self.column])
            if content is None:
                yield Broken(name, f"The row has no {self.kind} in `{self.column}`.")
            elif self.kind == "features" and not np.isfinite(content).all():
                yield Broken(name, "The row holds NaN or infinity.")
            else:
                yield Sample(name, content, label)
        if number < 0:
            raise InvalidInputError(
                f"`{self.name}` must hold rows. Got none (an iterator can be read only once)."
            )

    def _content(self, value: Any) -> Any:
        if self.kind == "text":
            return value if isinstance(value, str) and value.strip() else None
        if self.kind == "features":
            return None if value is None else np.asarray(value, dtype=np.float64)
        if isinstance(value, Mapping):  # as Hugging Face stores images
            if value.get("bytes"):
                return bytes(value["bytes"])
            return Path(value["path"]).read_bytes() if value.get("path") else None
        if isinstance(value, (bytes, bytearray, memoryview)):
            return bytes(value)
        return None if value is None else np.asarray(value)


def read_parquet(path: Path, **options: Any) -> Records:
    """A Parquet file, or a folder of them."""
    parquet = import_extra("pyarrow.parquet", extra="images", purpose="Reading Parquet")
    files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]

    def rows() -> Iterator[Row]:
        for file in files:
            for batch in parquet.ParquetFile(file).iter_batches(batch_size=1024):
                yield from batch.to_pylist()

    try:
        columns = list(parquet.ParquetFile(files[0]).schema_arrow.names)
    except Exception as error:
        raise InvalidInputError(f"`{path}` must be a Parquet file. {error}.") from None
    return Records.of(path.name, rows, columns, **options)


def read_arrow(path: Path, **options: Any) -> Records:
    """An Arrow file or stream."""
    arrow = import_extra("pyarrow", extra="images", purpose="Reading Arrow")

    def batches() -> Iterator[Any]:
        with arrow.memory_map(str(path)) as source:
            try:
                reader = arrow.ipc.open_file(source)
                yield from (reader.get_batch(i) for i in range(reader.num_record_batches))
            except arrow.ArrowInvalid:
                source.seek(0)
                yield from arrow.ipc.open_stream(source)

    def rows() -> Iterator[Row]:
        for batch in batches():
            yield from batch.to_pylist()

    try:
        columns = list(next(batches()).schema.names)
    except Exception as error:
        raise InvalidInputError(f"`{path}` must be an Arrow file. {error}.") from None
    return Records.of(path.name, rows, columns, **options)


def read_csv(path: Path, **options: Any) -> Records:
    """A table in a CSV file; what looks like a number is one, and nothing is None."""

    def rows() -> Iterator[Row]:
        with path.open(encoding="utf-8", newline="") as lines:
            for number, row in enumerate(csv.DictReader(lines), 1):
                if None in row:
                    raise InvalidInputError(
                        f"Row {number} of `{path}` must have as many cells as there are columns. "
                        "It has more."
                    )
                yield {key: _number(value) for key, value in row.items()}

    with path.open(encoding="utf-8", newline="") as lines:
        columns = list(csv.DictReader(lines).fieldnames or ())
    if not columns:
        raise InvalidInputError(f"`{path}` must have a line with the names of its columns.")
    return Records.of(path.name, rows, columns, **options)


def read_dataset(dataset: Any, name: str, **options: Any) -> Records:
    """A Hugging Face dataset, on disk or in memory; images stay encoded."""
    datasets = import_extra("datasets", extra="datasets", purpose="Reading a Hugging Face dataset")
    if isinstance(dataset, Path):
        dataset = datasets.load_from_disk(str(dataset))
    if isinstance(dataset, (datasets.DatasetDict, datasets.IterableDatasetDict)):
        raise InvalidInputError(
            f"`{name}` holds several splits, {', '.join(dataset)}: pass one of them."
        )
    for column, feature in (dataset.features or {}).items():
        if isinstance(feature, datasets.Image):
            dataset = dataset.cast_column(column, datasets.Image(decode=False))
    return Records.of(name, lambda: iter(dataset), list(dataset.column_names), **options)


def _number(value: str | None) -> str | float | None:
    if value is None or not value.strip():
        return None
    try:
        return float(value)
    except ValueError:
        return value
