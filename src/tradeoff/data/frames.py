"""DataFrames of pandas and polars, and tables of PyArrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tradeoff._extras import import_extra
from tradeoff.data.items import open_items
from tradeoff.data.records import Records
from tradeoff.exceptions import InvalidInputError, first_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tradeoff.data.base import Kind, Source
    from tradeoff.data.records import Columns

__all__ = ["read_frame"]

_BATCH = 1024


def read_frame(
    frame: Any, name: str, *, kind: Kind | None, column: str | None, label: str | None
) -> Source:
    """Rows of a DataFrame, read like those of a Parquet file; a series is a list of samples."""
    if not hasattr(frame, "columns") and (hasattr(frame, "to_list") or hasattr(frame, "to_pylist")):
        values = frame.to_list() if hasattr(frame, "to_list") else frame.to_pylist()
        return open_items(values, name, kind=kind, column=column, label=label)
    arrow = import_extra("pyarrow", extra="images", purpose="Reading a DataFrame")
    try:
        if hasattr(frame, "iloc"):  # pandas, whose index is not data
            table = arrow.Table.from_pandas(frame, preserve_index=False)
        else:
            table = arrow.table(frame)
    except (arrow.ArrowException, TypeError, ValueError) as error:
        raise InvalidInputError(
            f"`{name}` must have columns of one type each. {first_line(error)}."
        ) from None

    def rows(columns: Columns = None) -> Iterator[Mapping[str, Any]]:
        chosen = table if columns is None else table.select(columns)
        for batch in chosen.to_batches(max_chunksize=_BATCH):
            yield from batch.to_pylist()

    return Records.of(name, rows, list(table.column_names), kind=kind, column=column, label=label)
