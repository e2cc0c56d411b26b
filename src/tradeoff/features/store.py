"""Features on disk: Parquet shards, keyed by what was embedded and by what embedded it."""

from __future__ import annotations

import json
import os
import re
import time
import uuid
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._extras import import_extra
from tradeoff.exceptions import InvalidInputError, UnavailableError, first_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    from tradeoff.data.base import Sample
    from tradeoff.features.base import Embedder

__all__ = ["FeatureStore", "Shelf"]

_SCHEMA = 1
_SHARD_ROWS = 512
_MOST_ROWS = 1 << 20
_ABANDONED_SECONDS = 86_400.0


@dataclass(frozen=True)
class FeatureStore:
    """A folder of features that were embedded before.

    Features are found by the content of a sample, whatever its name, and by the name, the
    preprocessing and the weights of the embedder. Any number of runs may share a store.

    Args:
        path: the folder, made when it is needed.

    Example:
        >>> import tempfile
        >>> from tradeoff.data import Sample
        >>> from tradeoff.features import FeatureStore, Function
        >>> store = FeatureStore(tempfile.mkdtemp())
        >>> lengths = Function(lambda texts: [[len(t)] for t in texts], "length", "text", "1")
        >>> sample = Sample("poem", "A rose.")
        >>> with store.shelf(lengths) as shelf:
        ...     shelf.add(sample, lengths.embed([lengths.prepare(sample)])[0])
        >>> store.shelf(lengths).read([sample.digest])
        array([[7.]])
        >>> [(shelf["name"], shelf["samples"]) for shelf in store.contents()]
        [('length', 1)]
    """

    path: str | Path

    def shelf(self, embedder: Embedder) -> Shelf:
        """Where the features of one embedder are."""
        about = {key: getattr(embedder, key) for key in ("name", "preprocessing", "weights")}
        key = blake2b(json.dumps(about, sort_keys=True).encode(), digest_size=8).hexdigest()
        readable = re.sub(r"[^a-z0-9.]+", "-", embedder.name.lower()).strip("-.")
        return Shelf(Path(self.path) / f"{readable}-{key}", about)

    def contents(self) -> list[dict[str, Any]]:
        """What is kept: name, preprocessing and weights of embedders, samples, and bytes."""
        found = []
        for file in sorted(Path(self.path).glob("*/embedder.json")):
            shards = [path.stat().st_size for path in file.parent.glob("*.parquet")]
            about = json.loads(file.read_text(encoding="utf-8"))
            samples = len(Shelf(file.parent, about))
            found.append(about | {"samples": samples, "shards": len(shards), "bytes": sum(shards)})
        return found


class Shelf:
    """The features of one embedder, in shards of which each is whole or absent.

    Args:
        path: its folder.
        about: what embedded the samples.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from tradeoff.features import Shelf
        >>> len(Shelf(Path(tempfile.mkdtemp()), {"name": "nothing yet"}))
        0
    """

    def __init__(self, path: Path, about: dict[str, Any]) -> None:
        self.path, self.about = path, about
        self._parquet = import_extra("pyarrow.parquet", extra="images", purpose="A feature store")
        self._shards: list[str] = []
        self._places: dict[bytes, int] = {}  # number of a shard and of a row in it, as one
        self._waiting: dict[bytes, tuple[Sample, npt.NDArray[Any]]] = {}
        self._look_around()

    def __enter__(self) -> Shelf:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Keep what waits; after an error too, since each sample stands for itself."""
        if kind is None or issubclass(kind, (Exception, KeyboardInterrupt)):
            self.flush()

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, digest: str) -> bool:
        key = bytes.fromhex(digest)
        return key in self._places or key in self._waiting

    def add(self, sample: Sample, features: npt.NDArray[Any]) -> None:
        """Keep the features of a sample; whole shards are written at once."""
        self._waiting.setdefault(bytes.fromhex(sample.digest), (sample, features))
        if len(self._waiting) >= _SHARD_ROWS:
            self.flush()

    def flush(self) -> None:
        """Write what waits as a shard of its own."""
        if not self._waiting:
            return
        arrow = import_extra("pyarrow", extra="images", purpose="A feature store")
        samples, rows = zip(*self._waiting.values(), strict=True)
        values = np.stack(rows)
        flat = arrow.array(np.ascontiguousarray(values).ravel())
        table = arrow.table(
            {
                "digest": arrow.array(list(self._waiting), arrow.binary(16)),
                "id": arrow.array([sample.id for sample in samples], arrow.string()),
                "label": arrow.array([sample.label for sample in samples], arrow.string()),
                "features": arrow.FixedSizeListArray.from_arrays(flat, values.shape[1]),
            },
            metadata={"tradeoff.schema": str(_SCHEMA)},
        )
        self._prepare_folder()
        name = f"{uuid.uuid4().hex}.parquet"
        self._write(name, lambda file: self._parquet.write_table(table, file))
        self._learn(name, list(self._waiting))
        self._waiting.clear()

    def read(self, digests: Sequence[str]) -> npt.NDArray[Any]:
        """Features of samples, in the order of their digests, shape (n, d)."""
        self.flush()
        found = (self._places[bytes.fromhex(digest)] for digest in digests)
        shards, places = np.divmod(np.fromiter(found, np.int64, len(digests)), _MOST_ROWS)
        features: npt.NDArray[Any] | None = None
        for shard in np.unique(shards):
            column = self._column(self._shards[shard], "features").combine_chunks()
            values = column.flatten().to_numpy().reshape(len(column), -1)
            if features is None:
                features = np.empty((len(digests), values.shape[1]), values.dtype)
            if values.shape[1] != features.shape[1]:
                raise InvalidInputError(
                    f"`{self.path}` must hold features of one length. Got {features.shape[1]} and "
                    f"{values.shape[1]} columns: change the version of the embedder."
                )
            rows = np.flatnonzero(shards == shard)
            features[rows] = values[places[rows]]
        if features is None:
            raise InvalidInputError("`digests` must name at least one sample. Got none.")
        return features

    def _look_around(self) -> None:
        """Learn what was stored before; sweep up what a dead run left half-written."""
        for path in self._entries():
            if path.suffix == ".parquet":
                digests = self._column(path.name, "digest")
                self._learn(path.name, digests.to_pylist())
            elif (
                path.suffix == ".writing"
                and time.time() - path.stat().st_mtime > _ABANDONED_SECONDS
            ):
                path.unlink(missing_ok=True)

    def _entries(self) -> Iterator[Path]:
        return iter(sorted(self.path.glob("*"))) if self.path.is_dir() else iter(())

    def _learn(self, shard: str, digests: Sequence[bytes]) -> None:
        first = len(self._shards) * _MOST_ROWS
        self._shards.append(shard)
        for row, key in enumerate(digests):
            self._places.setdefault(key, first + row)

    def _column(self, shard: str, name: str) -> Any:
        try:
            return self._parquet.ParquetFile(self.path / shard).read([name]).column(name)
        except Exception as error:  # of Arrow's own kinds
            raise InvalidInputError(
                f"`{self.path / shard}` must be a shard of features. {first_line(error)}. Delete "
                "it, and its samples are embedded anew."
            ) from None

    def _prepare_folder(self) -> None:
        about = json.dumps(self.about | {"schema": _SCHEMA}, indent=1, ensure_ascii=False)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._unwritable(error) from None
        if not (self.path / "embedder.json").exists():
            self._write("embedder.json", lambda file: file.write(about.encode()))

    def _write(self, name: str, write: Callable[[Any], object]) -> None:
        """Atomically: under another name first, and whole before it gets its own."""
        fresh = self.path / f"{uuid.uuid4().hex}.writing"
        try:
            with fresh.open("wb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self.path / name)
        except OSError as error:
            fresh.unlink(missing_ok=True)
            raise self._unwritable(error) from None

    def _unwritable(self, error: OSError) -> UnavailableError:
        self._waiting.clear()
        reason = os.strerror(error.errno) if error.errno else str(error)
        return UnavailableError(
            f"The store `{self.path}` cannot be written: {reason}. The features of {len(self)} "
            "samples are safe there: mend this and run again to go on from them."
        )
