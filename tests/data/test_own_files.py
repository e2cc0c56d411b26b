"""Files that tradeoff writes are not taken for samples."""

import numpy as np
import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa
import pyarrow.parquet as pq

from tradeoff import InvalidInputError
from tradeoff.data import Sample, open_source
from tradeoff.evaluation import Reference, SampleValues
from tradeoff.features import Function
from tradeoff.features.store import FeatureStore


def write_values(folder):
    path = folder / "real.parquet"
    SampleValues(("a",), (None,), {"log_ratio": np.zeros(1)}).write_parquet(path)
    return path


def write_reference(folder):
    Reference.make(np.eye(12), progress=False).save(folder)
    return folder / "samples.parquet"


def write_store(folder):
    lengths = Function(lambda texts: [[len(t)] for t in texts], "length", "text", "1")
    with FeatureStore(folder).shelf(lengths) as shelf:
        shelf.add(Sample("a", "b"), np.ones(1))
    return next(folder.rglob("*.parquet"))


@pytest.mark.parametrize("write", [write_values, write_reference, write_store])
def test_own_parquet_files_are_refused_alone_and_skipped_in_folders(tmp_path, write):
    own = tmp_path / "own"
    own.mkdir()
    path = write(own)
    with pytest.raises(InvalidInputError, match="result or a store of tradeoff, not samples"):
        open_source(path)
    (tmp_path / "samples").mkdir()
    pq.write_table(pa.table({"text": ["one", "two"]}), tmp_path / "samples" / "b.parquet")
    path.rename(tmp_path / "samples" / "a.parquet")
    assert [item.content for item in open_source(tmp_path / "samples")] == ["one", "two"]
