"""Features on disk: Parquet shards, found by sample content and by encoder.

The name of a shard is a hash of its bytes. A shard is verified before its first features are used;
a damaged one is set aside, and its samples are embedded again.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import threading
import time
import uuid
import warnings
from dataclasses import dataclass
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._extras import import_extra
from tradeoff.exceptions import InvalidInputError, UnavailableError, first_line
from tradeoff.features.network import hash_files

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from tradeoff.data.base import Sample
    from tradeoff.features.base import Encoder

__all__ = ["FeatureStore", "Places", "Shelf"]


_MOST_RECENT = 1 << 16
_NOWHERE = -1


class Places:
    """Numbers by 16-byte keys; the first number that a key was given stays.

    Numbers of many keys are kept in arrays that are sorted by key, those that came last in a
    dictionary.

    Example:
        >>> from tradeoff.features.store import Places
        >>> places = Places()
        >>> places.learn([b"0123456789abcdef"], first=7)
        >>> len(places), places.find([b"0123456789abcdef", bytes(16)])
        (1, array([ 7, -1]))
    """

    def __init__(self) -> None:
        # Keys in order and their numbers; both are replaced at once, while other threads look up.
        self._sorted = np.empty(0, "S16"), np.empty(0, np.int64)
        self._recent: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self._sorted[0]) + len(self._recent)

    def learn(self, keys: Sequence[bytes], *, first: int) -> None:
        """Give keys the numbers that follow `first`, unless they have one."""
        known = self.find(keys)
        for i in np.flatnonzero(known == _NOWHERE).tolist():
            self._recent.setdefault(keys[i], first + i)
        if len(self._recent) > _MOST_RECENT:
            self._settle()

    def learn_many(self, keys: list[npt.NDArray[np.bytes_]], firsts: Sequence[int]) -> None:
        """The same for many parts at once, without an object for each key; empties the list."""
        if not keys:
            return
        numbers = [first + np.arange(len(part)) for part, first in zip(keys, firsts, strict=True)]
        together = np.concatenate(keys)
        keys.clear()  # as large as what was made of it
        self._merge(together, np.concatenate(numbers))

    def find(self, keys: Sequence[bytes]) -> npt.NDArray[np.int64]:
        """Numbers of keys, -1 for those that have none, shape (n,)."""
        wanted = np.array(keys, "S16")
        found = np.full(len(wanted), _NOWHERE)
        known, numbers = self._sorted
        if known.size:
            place = np.minimum(np.searchsorted(known, wanted), known.size - 1)
            found = np.where(known[place] == wanted, numbers[place], _NOWHERE)
        if self._recent:
            for i in np.flatnonzero(found == _NOWHERE).tolist():
                found[i] = self._recent.get(keys[i], _NOWHERE)
        return found

    def forget(self, gone: Callable[[npt.NDArray[np.int64]], npt.NDArray[np.bool_]]) -> None:
        """Drop the keys whose numbers are gone."""
        self._settle()
        keys, numbers = self._sorted
        kept = ~gone(numbers)
        self._sorted = keys[kept], numbers[kept]

    def _settle(self) -> None:
        if self._recent:
            keys = np.array(list(self._recent), "S16")
            self._merge(keys, np.fromiter(self._recent.values(), np.int64, len(keys)))
            self._recent = {}

    def _merge(self, keys: npt.NDArray[np.bytes_], numbers: npt.NDArray[np.int64]) -> None:
        if self._sorted[0].size:
            keys = np.concatenate((self._sorted[0], keys))
            numbers = np.concatenate((self._sorted[1], numbers))
        order = np.argsort(keys, kind="stable")
        keys, numbers = keys[order], numbers[order]
        fresh = np.append(True, keys[1:] != keys[:-1])
        if not fresh.all():
            keys, numbers = keys[fresh], numbers[fresh]
        self._sorted = keys, numbers


_SCHEMA = 2  # 1 had no checksums
_SHARD_ROWS = 512
_LARGE_ROWS = 1 << 16  # of a shard after compaction
_MOST_ROWS = 1 << 20
_ABANDONED_SECONDS = 86_400.0


@dataclass(frozen=True)
class FeatureStore:
    """A folder of features that were embedded before.

    Features are found by the content of a sample, whatever its name, and by the name, the
    preprocessing and the weights of the embedder. Any number of runs may share a store. Features
    that another version of the store's format wrote are left alone and embedded again.

    Args:
        path: Folder of the store, created when the first features are written.

    Example:
        >>> import tempfile
        >>> from tradeoff.data import Sample
        >>> from tradeoff.features import Function
        >>> from tradeoff.features.store import FeatureStore
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

    def shelf(self, embedder: Encoder) -> Shelf:
        """The features of one embedder."""
        about = {key: getattr(embedder, key) for key in ("name", "preprocessing", "weights")}
        identity = json.dumps(about | {"schema": _SCHEMA}, sort_keys=True)
        key = blake2b(identity.encode(), digest_size=8).hexdigest()
        readable = re.sub(r"[^a-z0-9.]+", "-", embedder.name.lower()).strip("-.")
        return Shelf(Path(self.path) / f"{readable}-{key}", about)

    def compact(self) -> None:
        """Replace small shards by large ones; no other run may use the store meanwhile."""
        for file in sorted(Path(self.path).glob("*/embedder.json")):
            about = _read_about(file)
            if about.pop("schema") == _SCHEMA:
                Shelf(file.parent, about).compact()

    def contents(self) -> list[dict[str, Any]]:
        """What is kept: name, preprocessing and weights of embedders, samples, and bytes."""
        found = []
        for file in sorted(Path(self.path).glob("*/embedder.json")):
            about = _read_about(file)
            if about.pop("schema") != _SCHEMA:
                warnings.warn(
                    f"`{file.parent}` was written by another version of tradeoff, and its features "
                    "are not used. Delete it if no other version needs it.",
                    stacklevel=2,
                )
                continue
            samples = len(Shelf(file.parent, about))
            shards = [path.stat().st_size for path in file.parent.glob("*.parquet")]
            found.append(about | {"samples": samples, "shards": len(shards), "bytes": sum(shards)})
        return found


class Shelf:
    """The features of one embedder, in shards that are either complete or absent.

    Args:
        path: Folder of the shelf.
        about: Name, preprocessing and weights of the embedder.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from tradeoff.features.store import Shelf
        >>> len(Shelf(Path(tempfile.mkdtemp()), {"name": "nothing yet"}))
        0
    """

    def __init__(self, path: Path, about: dict[str, Any]) -> None:
        self.path, self.about = path, about
        self._parquet = import_extra("pyarrow.parquet", extra="images", purpose="A feature store")
        self._shards: list[str] = []
        self._whole: dict[int, bool] = {}  # by number of a shard, once its bytes were verified
        self._places = Places()  # number of a shard and of a row in it, as one
        self._waiting: dict[bytes, tuple[Sample, npt.NDArray[Any]]] = {}
        self._lock = threading.Lock()  # samples are looked up by several threads
        self._look_around()

    def __enter__(self) -> Shelf:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Write what waits; after an error too, since the features of each sample are valid."""
        if kind is None or issubclass(kind, (Exception, KeyboardInterrupt, SystemExit)):
            self.flush()

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, digest: str) -> bool:
        """Whether features of a sample are here; verifies the shard that would hold them."""
        key = bytes.fromhex(digest)
        if key in self._waiting:
            return True
        place = int(self._places.find([key])[0])
        return place >= 0 and self._verify(place // _MOST_ROWS)

    def add(self, sample: Sample, features: npt.NDArray[Any]) -> None:
        """Keep the features of a sample; a shard is written as soon as it is full."""
        if not np.isfinite(features).all():
            raise InvalidInputError(
                f"The features of `{sample.id}` must be finite. Got NaN or infinity from "
                f"`{self.about.get('name')}`."
            )
        self._waiting.setdefault(bytes.fromhex(sample.digest), (sample, features))
        if len(self._waiting) >= _SHARD_ROWS:
            self.flush()

    def flush(self) -> None:
        """Write what waits as a shard of its own, named by a hash of its bytes."""
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
        name = self._write_shard(table)
        with self._lock:
            self._whole[len(self._shards)] = True
            self._places.learn(list(self._waiting), first=len(self._shards) * _MOST_ROWS)
            self._shards.append(name)
        self._waiting.clear()

    def compact(self) -> None:
        """Replace small shards by large ones, which open faster and suit object storage.

        No other run may use the shelf meanwhile. Every new shard is complete before the old ones
        are deleted, so an interruption loses nothing.
        """
        arrow = import_extra("pyarrow", extra="images", purpose="A feature store")
        self.flush()
        group: list[str] = []
        tables: list[Any] = []
        for number, name in enumerate([*self._shards, ""]):
            table = None
            if name and self._verify(number):
                with self._parquet.ParquetFile(self.path / name) as file:
                    table = file.read()
            if tables and not _fits(tables, table):
                self._replace(group, arrow.concat_tables(tables))
                group, tables = [], []
            if table is not None:
                group.append(name)
                tables.append(table)
        self._places, self._shards, self._whole = Places(), [], {}
        self._look_around()

    def _replace(self, names: list[str], table: Any) -> None:
        if len(names) > 1:
            fresh = self._write_shard(table)
            for name in names:
                if name != fresh:
                    (self.path / name).unlink(missing_ok=True)

    def _write_shard(self, table: Any) -> str:
        """Write a shard, and return its name, which is a hash of its bytes."""
        buffer = BytesIO()
        # A dictionary of features, nearly all distinct, costs time and disk.
        self._parquet.write_table(table, buffer, use_dictionary=["label"])
        content = buffer.getvalue()
        name = f"{blake2b(content, digest_size=16).hexdigest()}.parquet"
        self._write(name, content)
        return name

    def read(self, digests: Sequence[str]) -> npt.NDArray[Any]:
        """Features of samples, in the order of their digests, shape (n, d)."""
        self.flush()
        if not digests:
            raise InvalidInputError("`digests` must name at least one sample. Got none.")
        shards, places = np.divmod(self._find(digests), _MOST_ROWS)
        features: npt.NDArray[Any] | None = None
        for shard in np.unique(shards).tolist():
            values = self._features(shard)
            if features is None:
                features = np.empty((len(digests), values.shape[1]), values.dtype)
            if values.shape[1] != features.shape[1]:
                raise InvalidInputError(
                    f"`{self.path}` must hold features of one length. Got {features.shape[1]} and "
                    f"{values.shape[1]} columns: change the version of the embedder."
                )
            rows = np.flatnonzero(shards == shard)
            features[rows] = values[places[rows]]
        return np.asarray(features)

    def _find(self, digests: Sequence[str]) -> npt.NDArray[np.int64]:
        """Places of samples, all of them in verified shards."""
        places = self._places.find([bytes.fromhex(digest) for digest in digests])
        shards = places // _MOST_ROWS  # -1 for samples that are unknown
        lost = [n for n in np.unique(shards).tolist() if n < 0 or not self._verify(n)]
        if lost:
            raise InvalidInputError(
                f"`{self.path}` must hold the features of all samples. Those of "
                f"{np.isin(shards, lost).sum()} are missing or damaged: embed them again."
            )
        return places

    def _features(self, shard: int) -> npt.NDArray[Any]:
        path = self.path / self._shards[shard]
        try:
            column = self._column(path, "features").combine_chunks()
        except Exception as error:  # of Arrow's own kinds
            raise InvalidInputError(
                f"`{path}` was changed during the run: {first_line(error)}. Run again, and its "
                "samples are embedded again."
            ) from None
        values: npt.NDArray[Any] = column.flatten().to_numpy().reshape(len(column), -1)
        if not np.isfinite(values).all():
            raise InvalidInputError(
                f"`{path}` must hold finite features. Delete it, and its samples are embedded "
                "again."
            )
        return values

    def _look_around(self) -> None:
        """Learn what was stored before; delete what a dead run left half-written."""
        found: list[tuple[str, npt.NDArray[np.bytes_]]] = []
        for path in sorted(self.path.glob("*")) if self.path.is_dir() else ():
            if path.suffix == ".parquet":
                found += self._open(path)
            elif (
                path.suffix == ".writing"
                and time.time() - path.stat().st_mtime > _ABANDONED_SECONDS
            ):
                path.unlink(missing_ok=True)
        self._shards = [name for name, _ in found]
        keys = [digests for _, digests in found]
        found.clear()
        firsts = [number * _MOST_ROWS for number in range(len(keys))]
        self._places.learn_many(keys, firsts)

    def _open(self, path: Path) -> list[tuple[str, npt.NDArray[np.bytes_]]]:
        """Name of a shard and keys of its rows; nothing if it is gone or damaged."""
        try:
            digests = self._column(path, "digest").combine_chunks()
            keys = np.frombuffer(digests.buffers()[1], "S16", len(digests), 16 * digests.offset)
        except FileNotFoundError:  # another run has just set it aside
            return []
        except Exception as error:  # of Arrow's own kinds
            if _is_whole(path):
                raise UnavailableError(
                    f"`{path}` is intact, but cannot be read: {first_line(error)}."
                ) from None
            self._set_aside(path)
            return []
        return [(path.name, keys.copy())]

    def _verify(self, shard: int) -> bool:
        """Whether a shard has the bytes that were written; if not, forget it and set it aside."""
        with self._lock:
            if shard not in self._whole:
                path = self.path / self._shards[shard]
                self._whole[shard] = _is_whole(path)
                if not self._whole[shard]:
                    self._places.forget(lambda places: places // _MOST_ROWS == shard)
                    self._set_aside(path)
            return self._whole[shard]

    def _set_aside(self, path: Path) -> None:
        with contextlib.suppress(OSError):  # another run was faster, or the store is read-only
            path.replace(path.with_suffix(".damaged"))
        warnings.warn(
            f"The shard `{path}` is damaged: it is renamed to *.damaged, and its samples are "
            "embedded again. Check the disk if this happens more than once.",
            stacklevel=2,
        )

    def _column(self, path: Path, name: str) -> Any:
        with self._parquet.ParquetFile(path) as file:
            return file.read([name]).column(name)

    def _prepare_folder(self) -> None:
        about = json.dumps(self.about | {"schema": _SCHEMA}, indent=1, ensure_ascii=False)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._unwritable(error) from None
        if not (self.path / "embedder.json").exists():
            self._write("embedder.json", about.encode())

    def _write(self, name: str, content: bytes) -> None:
        """Atomically: under another name first, and complete before it gets its own."""
        fresh = self.path / f"{uuid.uuid4().hex}.writing"
        try:
            with fresh.open("wb") as file:
                file.write(content)
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
            "samples are safe there: fix this and run again to continue from them."
        )


def _fits(tables: Sequence[Any], table: Any) -> bool:
    """Whether the table of a shard may join those of others."""
    if table is None or not table.schema.equals(tables[0].schema):
        return False
    return bool(sum(one.num_rows for one in tables) + table.num_rows <= _LARGE_ROWS)


def _is_whole(path: Path) -> bool:
    """Whether a shard has the bytes by which it was named."""
    try:
        return hash_files([path]) == path.stem
    except PermissionError:
        raise UnavailableError(
            f"`{path}` cannot be read: permission denied. Make the store readable, or use another."
        ) from None
    except OSError:  # deleted, or on a part of the disk that is broken
        return False


def _read_about(file: Path) -> dict[str, Any]:
    """Name, preprocessing and weights of an embedder, and the schema of its shards."""
    try:
        about = json.loads(file.read_text(encoding="utf-8"))
        return {key: about[key] for key in ("name", "preprocessing", "weights", "schema")}
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InvalidInputError(
            f"`{file}` must describe an embedder. It cannot be read: {first_line(error)}. Delete "
            "it, and the next run writes it again."
        ) from None
