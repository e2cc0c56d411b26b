"""Features in many Parquet files, on disks or in object storage, in parts that are read alone."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from tradeoff._extras import import_extra
from tradeoff._files import missing
from tradeoff._remote import Remote, matching, place_of, version_of
from tradeoff.data.base import Broken
from tradeoff.data.reading import reason
from tradeoff.exceptions import InvalidInputError, UnavailableError, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

__all__ = ["Batch", "Shard", "ShardReader", "list_shards"]

_SHARD_ROWS = 262_144
_BATCH_ROWS = 65_536
_NAMES = ("features", "embedding", "embeddings")


@dataclass(frozen=True)
class Shard:
    """A part of a Parquet file.

    Args:
        uri: Path or address of the file.
        groups: Row groups that belong to the part.
        rows: Number of rows of the part.
        first: Number of its first row in the file.
        etag: What changes when the file changes.
    """

    uri: str
    groups: tuple[int, ...]
    rows: int
    first: int
    etag: str

    @property
    def name(self) -> str:
        """What tells it from all others: file, version of the file, and row groups."""
        return f"{self.uri}#{self.groups[0]}-{self.groups[-1]}@{self.etag}"


class Names(Protocol):
    """Names of rows by number."""

    def __getitem__(self, row: int, /) -> str: ...


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows of a shard.

    Args:
        features: Features in single precision, shape (n, d).
        ids: Name of each row.
        labels: Class of each row; None if there is no such column.
        groups: Group of each row; None if there is no such column.
    """

    features: npt.NDArray[np.float32]
    ids: Names
    labels: list[str | None] | None = None
    groups: list[Any] | None = None


@dataclass(frozen=True)
class ShardReader:
    """How rows of shards are read.

    Args:
        column: Column of the features; the usual names if None.
        label: Column of the class, if there is one.
        group: Column of the group, if there is one.
        id: Column of the name, if there is one; rows are numbered otherwise.
        batch_rows: Number of rows that are read at a time; results do not depend on it.
        columns: Number of features that rows must have; any if None.
    """

    column: str | None = None
    label: str | None = None
    group: str | None = None
    id: str | None = None
    batch_rows: int = _BATCH_ROWS
    columns: int | None = None

    def __call__(self, shard: Shard) -> Iterator[Batch]:
        """Rows in order; what cannot be read is told with the name of the file."""
        try:
            yield from self._read(shard)
        except (InvalidInputError, UnreadableError) as error:
            raise UnreadableError(f"`{shard.uri}` cannot be used: {error}") from None
        except UnavailableError:
            raise
        except Exception as error:  # of Arrow's and of file systems' own kinds
            raise UnreadableError(f"`{shard.uri}` cannot be read: {reason(error)}.") from None

    def _read(self, shard: Shard) -> Iterator[Batch]:
        with _opened(shard.uri) as (file, etag):
            if etag != shard.etag:
                raise UnreadableError("it has changed since the run began. Start a new run.")
            column = self.find_column(file.schema_arrow.names)
            columns = [c for c in (column, self.label, self.group, self.id) if c is not None]
            first = shard.first
            for batch in file.iter_batches(
                batch_size=self.batch_rows,
                row_groups=list(shard.groups),
                columns=columns,
                use_threads=False,
            ):
                features = _matrix(batch.column(column), column)
                if self.columns not in (None, features.shape[1]):
                    raise UnreadableError(
                        f"`{column}` must hold {self.columns} numbers in every row, as in other "
                        f"files. Got {features.shape[1]}."
                    )
                labels, groups, ids = (
                    None if c is None else batch.column(c).to_pylist()
                    for c in (self.label, self.group, self.id)
                )
                yield Batch(
                    features,
                    _Numbered(Path(shard.uri).name, first) if ids is None else ids,
                    None if labels is None else [_text(label) for label in labels],
                    groups,
                )
                first += len(features)

    def find_column(self, names: Sequence[str]) -> str:
        """The column of the features; others that were asked for must be there too."""
        wanted = [c for c in (self.column, self.label, self.group, self.id) if c is not None]
        for name in wanted:
            if name not in names:
                raise UnreadableError(f"it must have a column `{name}`. Got {', '.join(names)}.")
        usual = [name for name in _NAMES if name in names]
        if self.column is None and not usual:
            raise UnreadableError(
                "pass `column` to say which column holds the features. Its columns are "
                f"{', '.join(names)}."
            )
        return self.column or usual[0]


@dataclass(frozen=True)
class _Numbered:
    """Names of rows, made when they are asked for."""

    name: str
    first: int

    def __getitem__(self, row: int) -> str:
        return f"{self.name}[{self.first + int(row)}]"


def list_shards(
    source: str | Path, reader: ShardReader | None = None, *, broken: list[Broken] | None = None
) -> list[Shard]:
    """Parts of all Parquet files of a folder, of one file, or of those that match a pattern.

    Args:
        source: Path or address (``s3://bucket/folder``), with ``*`` for several files.
        reader: How rows are read; whether the columns are there is checked.
        broken: List to which files are added that cannot be opened; if not given, they stop it.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import numpy as np
        >>> import pyarrow as pa
        >>> import pyarrow.parquet as pq
        >>> from tradeoff.counting.shards import ShardReader, list_shards
        >>> folder = Path(tempfile.mkdtemp())
        >>> rows = pa.table({"features": list(np.eye(3))})
        >>> pq.write_table(rows, folder / "0.parquet", row_group_size=2)
        >>> [shard.rows for shard in list_shards(folder)]
        [3]
        >>> next(ShardReader()(list_shards(folder)[0])).features.shape
        (3, 3)
    """
    reader = reader or ShardReader()
    found: list[Shard] = []
    for uri in _files(str(source)):
        try:
            with _opened(uri) as (file, etag):
                reader.find_column(file.schema_arrow.names)
                sizes = [
                    file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)
                ]
        except (InvalidInputError, UnreadableError) as error:
            raise InvalidInputError(f"`{uri}` cannot be used: {error}") from None
        except UnavailableError:
            raise
        except Exception as error:  # of Arrow's and of file systems' own kinds
            wrong = f"must be a Parquet file. {reason(error)}."
            if broken is None:
                raise InvalidInputError(f"`{uri}` {wrong}") from None
            broken.append(Broken(uri, f"It {wrong}"))
            continue
        found += _parts(uri, sizes, etag)
    if not sum(shard.rows for shard in found):
        raise InvalidInputError(f"`{source}` must hold rows. Got none.")
    return found


def _parts(uri: str, sizes: list[int], etag: str) -> Iterator[Shard]:
    """Row groups, as many together as make up a shard."""
    groups: list[int] = []
    first = rows = 0
    for group, size in enumerate(sizes):
        if groups and rows + size > _SHARD_ROWS:
            yield Shard(uri, tuple(groups), rows, first, etag)
            first, rows, groups = first + rows, 0, []
        groups.append(group)
        rows += size
    if groups and rows:
        yield Shard(uri, tuple(groups), rows, first, etag)


def _files(source: str) -> list[str]:
    """Addresses of Parquet files, in alphabetical order."""
    place = place_of(source)
    if isinstance(place, Path) and not place.exists() and "*" not in source:
        raise InvalidInputError(missing(source))
    if "*" in source:
        found = matching(source)
    else:
        found = sorted(place.glob("*.parquet")) if place.is_dir() else [place]
    if not found:
        raise InvalidInputError(f"`{source}` must hold Parquet files. Got none.")
    return list(map(str, found))


@contextmanager
def _opened(uri: str) -> Iterator[tuple[Any, str]]:
    """A Parquet file and what changes when it changes."""
    parquet = import_extra("pyarrow.parquet", extra="images", purpose="Reading Parquet")
    place = place_of(uri)
    version = version_of(place)
    with ExitStack() as opened:
        raw = opened.enter_context(place.open("rb")) if isinstance(place, Remote) else place
        yield (
            opened.enter_context(parquet.ParquetFile(raw, page_checksum_verification=True)),
            version,
        )


def _matrix(column: Any, name: str) -> npt.NDArray[np.float32]:
    """Lists of equally many numbers as rows of a matrix."""
    if column.null_count or not hasattr(column, "flatten"):
        raise UnreadableError(f"`{name}` must hold a list of numbers in every row.")
    flat = column.flatten()
    if flat.null_count or not len(column) or len(flat) % len(column):
        raise UnreadableError(f"`{name}` must hold equally many numbers in every row.")
    values = flat.to_numpy(zero_copy_only=False)
    if values.dtype.kind not in "fiu":
        raise UnreadableError(f"`{name}` must hold numbers. Got {values.dtype}.")
    rows = values.reshape(len(column), -1)
    if hasattr(column, "offsets") and (np.diff(column.offsets) != rows.shape[1]).any():
        raise UnreadableError(f"`{name}` must hold equally many numbers in every row.")
    with np.errstate(over="ignore"):
        found = np.asarray(rows, np.float32)
    if not np.isfinite(found).all():
        raise UnreadableError(f"`{name}` must hold finite numbers. Got NaN or infinity.")
    return found


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
