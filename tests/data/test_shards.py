"""Shards hold every row once, and say in a sentence what is wrong with a file."""

import os

import numpy as np
import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa
import pyarrow.parquet as pq

from tradeoff.counting.shards import ShardReader, list_shards
from tradeoff.exceptions import InvalidInputError, UnreadableError

ROWS = np.arange(600, dtype=np.float32).reshape(200, 3)


def write(path, rows=ROWS, fixed=True, **columns):
    flat = pa.array(np.asarray(rows).ravel())
    values = (
        pa.FixedSizeListArray.from_arrays(flat, rows.shape[1]) if fixed else pa.array(list(rows))
    )
    pq.write_table(
        pa.table({"features": values, **columns}), path, row_group_size=50, write_page_checksum=True
    )


def rows_of(shards, reader=None):
    batches = [batch for shard in shards for batch in (reader or ShardReader())(shard)]
    return np.concatenate([batch.features for batch in batches]), batches


@pytest.mark.parametrize("fixed", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int32])
def test_rows_are_read_once_and_in_order(tmp_path, monkeypatch, fixed, dtype):
    monkeypatch.setattr("tradeoff.counting.shards._SHARD_ROWS", 100)
    write(tmp_path / "b.parquet", (ROWS + 1).astype(dtype), fixed=fixed)
    write(tmp_path / "a.parquet", ROWS.astype(dtype), fixed=fixed)
    shards = list_shards(tmp_path)
    assert [shard.rows for shard in shards] == [100] * 4
    assert len({shard.name for shard in shards}) == 4
    found, batches = rows_of(shards)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, np.concatenate((ROWS, ROWS + 1)))
    assert batches[-1].ids[99] == "b.parquet[199]"


def test_batches_change_nothing(tmp_path):
    write(tmp_path / "a.parquet")
    for size in (1, 7, 1000):
        found, _ = rows_of(list_shards(tmp_path), ShardReader(batch_rows=size))
        np.testing.assert_array_equal(found, ROWS)


def test_further_columns(tmp_path):
    numbers = [str(i) for i in range(200)]
    write(tmp_path / "a.parquet", kind=numbers, video=numbers, name=numbers)
    reader = ShardReader(label="kind", group="video", id="name")
    (batch,) = reader(list_shards(tmp_path, reader)[0])
    assert batch.labels[3] == batch.groups[3] == batch.ids[3] == "3"


def test_addresses_of_other_file_systems(tmp_path):
    import fsspec

    system = fsspec.filesystem("memory")
    write(tmp_path / "a.parquet")
    for name in ("a", "b"):
        with system.open(f"/bucket/{name}.parquet", "wb") as file:
            file.write((tmp_path / "a.parquet").read_bytes())
    for address, count in (
        ("memory://bucket", 2),
        ("memory://bucket/*.parquet", 2),
        ("memory://bucket/a.parquet", 1),
        (f"file://{tmp_path}", 1),
        (f"{tmp_path}/*.parquet", 1),
    ):
        found, _ = rows_of(list_shards(address))
        assert len(found) == 200 * count
    system.rm("/bucket", recursive=True)


def test_a_file_that_changed_is_not_read(tmp_path):
    write(tmp_path / "a.parquet")
    (shard,) = list_shards(tmp_path)
    os.utime(tmp_path / "a.parquet", ns=(1, 1))
    with pytest.raises(UnreadableError, match=r"a.parquet` cannot be used: it has changed since"):
        rows_of([shard])


def test_a_damaged_file_is_named(tmp_path):
    write(tmp_path / "a.parquet")
    (shard,) = list_shards(tmp_path)
    content = bytearray((tmp_path / "a.parquet").read_bytes())
    content[60:400] = bytes(340)
    about = (tmp_path / "a.parquet").stat()
    (tmp_path / "a.parquet").write_bytes(content)
    os.utime(tmp_path / "a.parquet", ns=(about.st_atime_ns, about.st_mtime_ns))
    with pytest.raises(UnreadableError, match=r"a.parquet` cannot be"):
        rows_of([shard])


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"features": [[1.0, 2.0], None]}, "a list of numbers in every row"),
        ({"features": [[1.0, 2.0], [1.0]]}, "equally many numbers"),
        ({"features": [[1.0, 2.0], [1.0, 2.0, 3.0, 4.0], [0.0], [1.0]]}, "equally many numbers"),
        ({"features": [["a", "b"], ["c", "d"]]}, "must hold numbers"),
        ({"features": [1.0, 2.0]}, "a list of numbers in every row"),
    ],
)
def test_what_is_not_features_is_refused(tmp_path, table, sentence):
    pq.write_table(pa.table(table), tmp_path / "a.parquet")
    with pytest.raises(UnreadableError, match=sentence):
        rows_of(list_shards(tmp_path))


def test_mistakes_get_a_sentence(tmp_path):
    with pytest.raises(InvalidInputError, match="does not exist"):
        list_shards(tmp_path / "missing")
    with pytest.raises(InvalidInputError, match="must hold Parquet files. Got none"):
        list_shards(tmp_path)
    (tmp_path / "a.parquet").write_text("no Parquet")
    with pytest.raises(InvalidInputError, match="must be a Parquet file"):
        list_shards(tmp_path)
    pq.write_table(pa.table({"x": [1.0]}), tmp_path / "a.parquet")
    with pytest.raises(InvalidInputError, match="pass `column` to say .* Its columns are x"):
        list_shards(tmp_path)
    with pytest.raises(InvalidInputError, match="must have a column `y`. Got x"):
        list_shards(tmp_path, ShardReader(column="y"))
    write(tmp_path / "a.parquet", ROWS[:0])
    with pytest.raises(InvalidInputError, match="must hold rows. Got none"):
        list_shards(tmp_path)
