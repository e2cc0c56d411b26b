"""Samples from Python objects: lists, PyTorch and Hugging Face data sets, DataFrames, tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._extras import import_extra
from tradeoff._pictures import pixels_of
from tradeoff._validation import check_array
from tradeoff.data.base import Broken, Kind, Sample
from tradeoff.data.records import Columns, Records
from tradeoff.exceptions import InvalidInputError, UnreadableError, first_line

if TYPE_CHECKING:
    from tradeoff.data.base import Kind, Source
    from tradeoff.data.records import Columns

__all__ = ["Items", "open_items", "read_frame"]


_CHANNELS = (1, 3, 4)


@dataclass(frozen=True, eq=False)
class Items:
    """Samples of an iterable: texts, encoded images, arrays, tensors or Pillow images.

    Each item is a sample, a pair of an id and a sample, or a pair of a sample and a label. Pairs of
    texts, which can be both, are refused. An iterator is consumed, and cannot be read again.

    Args:
        values: The samples.
        name: Prefix of the ids of samples without one.
        kind: What the samples are: image, text or features.

    Example:
        >>> from tradeoff.data.items import Items
        >>> poems = Items([("A rose.", 1), "Another."], "poems", "text")
        >>> [(sample.id, sample.label) for sample in poems]
        [('poems[0]', '1'), ('poems[1]', None)]
    """

    values: Iterable[Any]
    name: str
    kind: Kind

    def __iter__(self) -> Iterator[Sample | Broken]:
        number = -1
        for number, value in enumerate(_items(self.values)):
            key, content, label = _parts(value)
            key = f"{self.name}[{number}]" if key is None else key
            try:
                yield Sample(key, _plain(key, content, self.kind), label)
            except UnreadableError as error:
                yield Broken(key, str(error))
        if number < 0:
            again = isinstance(self.values, Iterator)
            raise InvalidInputError(
                f"`{self.name}` must hold samples, got none"
                + (": an iterator can be read only once." if again else ".")
            )


def open_items(
    values: Any, name: str, *, kind: Kind | None, column: str | None, label: str | None
) -> Items | Records:
    """Samples of an iterable, whose kind is that of the first one unless it is given."""
    if isinstance(values, (Mapping, set, frozenset, bytes, bytearray)):
        raise InvalidInputError(
            f"`{name}` must be a list of samples, got a {type(values).__name__}: pass a list, and "
            "the rows of a table as a list of dictionaries or a DataFrame."
        )

    def rows(_: Columns = None) -> Iterator[Any]:
        for row in _items(values):
            part = _parts(row)[1]
            is_row = isinstance(part, Mapping)
            yield {k: _scalar(v) for k, v in part.items()} if is_row else part

    if isinstance(values, Iterator):
        if kind is None:
            raise InvalidInputError(f"Pass `kind` to say what the iterator `{name}` yields.")
        is_table = kind == "table"
        return Records(name, rows, kind, None, label) if is_table else Items(values, name, kind)
    first = next(_items(values), None)
    if first is None:
        raise InvalidInputError(f"`{name}` must hold samples, got none.")
    sample = _parts(first)[1]
    if isinstance(sample, Mapping):
        return Records.of(name, rows, list(sample), kind=kind, column=column, label=label)
    return Items(values, name, _kind_of(name, sample) if kind is None else kind)


def _items(values: Any) -> Iterator[Any]:
    """Items one by one; a data loader's batches are taken apart."""
    if is_loader(values):
        for batch in values:
            yield from _unbatched(batch)
    elif isinstance(values, Iterable):
        yield from values
    else:  # a PyTorch dataset has a length and items by number, and need not say where it ends
        yield from (values[i] for i in range(len(values)))


def is_loader(values: Any) -> bool:
    """Whether this is a PyTorch data loader, which yields batches."""
    return hasattr(values, "dataset") and hasattr(values, "batch_size")


def is_dataset(values: Any) -> bool:
    """Whether this has samples by number and a length, like a PyTorch dataset."""
    return hasattr(values, "__getitem__") and hasattr(values, "__len__")


def _unbatched(batch: Any) -> Iterator[Any]:
    if isinstance(batch, Mapping):
        columns = [list(column) for column in batch.values()]
        yield from (dict(zip(batch, row, strict=True)) for row in zip(*columns, strict=True))
    elif isinstance(batch, (list, tuple)) and not all(isinstance(part, str) for part in batch):
        yield from zip(*batch, strict=True) if len(batch) > 1 else batch[0]
    else:
        yield from batch


def _parts(value: Any) -> tuple[str | None, Any, str | None]:
    """Id, content and label of an item, which is a sample or a tuple with one."""
    if not isinstance(value, tuple) or not any(_is_content(part) for part in value):
        return None, value, None
    if len(value) == 1:
        return None, value[0], None
    first, second = value if len(value) == 2 else (None, None)
    if _is_content(first) and _is_label(second):
        return None, first, str(_scalar(second))
    if isinstance(first, str) and isinstance(second, str):
        raise InvalidInputError(
            "A pair of texts can be (id, text) or (text, label): pass dictionaries such as "
            '{"text": …, "class": …}, and label="class" if there are labels.'
        )
    if isinstance(first, str):
        return first, second, None
    if _is_content(first) and isinstance(second, str):
        return None, first, second
    raise InvalidInputError(
        "An item must be a sample, (id, sample) or (sample, label), where a label is text or a "
        f"whole number. Got a tuple of {', '.join(type(_scalar(part)).__name__ for part in value)}."
    )


def _scalar(value: Any) -> Any:
    """A Python number in place of an array or tensor without dimensions."""
    return value.item() if getattr(value, "ndim", None) == 0 else value


def _is_label(value: Any) -> bool:
    """A whole number, also as a tensor or array without dimensions."""
    return isinstance(_scalar(value), Integral)


def _is_content(value: Any) -> bool:
    """What can be a sample by itself, unlike a number."""
    return (
        isinstance(value, (str, bytes, Mapping))
        or hasattr(value, "convert")
        or getattr(value, "ndim", 0) > 0
    )


def _kind_of(name: str, sample: Any) -> Kind:
    if isinstance(sample, str):
        return "text"
    if isinstance(sample, bytes) or hasattr(sample, "convert"):
        return "image"
    dimensions = check_array(f"{name}[0]", sample).ndim
    if dimensions == 0:
        raise InvalidInputError(
            f"`{name}` must hold samples, got single numbers: pass features of shape (n, d)."
        )
    return "features" if dimensions == 1 else "image"


def _plain(key: str, content: Any, kind: Kind) -> Any:
    """Texts and bytes as they are, Pillow images and tensors as arrays."""
    if isinstance(content, str) and not content.strip():
        raise UnreadableError("The text is empty.")
    if isinstance(content, (str, bytes)):
        return content
    if hasattr(content, "convert"):
        return pixels_of(content)
    values = check_array(key, content)
    if kind == "image" and values.ndim == 2:  # a gray image
        values = values[..., None]
    return _pixels_of_tensor(key, values) if kind == "image" and values.ndim == 3 else values


def _pixels_of_tensor(key: str, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Pixels as uint8 of shape (height, width, channels), from the layouts of PyTorch too."""
    if values.shape[2] not in _CHANNELS and values.shape[0] in _CHANNELS:
        values = values.transpose(1, 2, 0)
    if values.dtype.kind != "f":
        return values
    if not (values.min() >= 0 and values.max() <= 1):
        raise InvalidInputError(
            f"`{key}` must hold pixels as uint8, or as floats from 0 to 1. Got floats from "
            f"{values.min():.3g} to {values.max():.3g}: leave out the normalization, since the "
            "encoder has its own."
        )
    return np.round(values * 255).astype(np.uint8)


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
