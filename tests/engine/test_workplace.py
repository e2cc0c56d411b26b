"""A run in object storage: locked by one run at a time, its records and plan whole or absent."""

import threading
import time

import numpy as np
import pytest

fsspec = pytest.importorskip("fsspec")
pa = pytest.importorskip("pyarrow")

import pyarrow.parquet as pq  # noqa: E402

from tradeoff import evaluate  # noqa: E402
from tradeoff._remote import Remote  # noqa: E402
from tradeoff.counting import CountingPlan, workplace  # noqa: E402
from tradeoff.counting.workplace import (  # noqa: E402
    ObjectLedger,
    load_plan,
    save_plan,
    working_place,
)
from tradeoff.engines import LocalEngine  # noqa: E402
from tradeoff.exceptions import InvalidInputError, UnavailableError  # noqa: E402

RUN = "memory://runs/one"


@pytest.fixture(autouse=True)
def storage(monkeypatch):
    monkeypatch.setattr(workplace, "_BEAT", 0.02)
    monkeypatch.setattr(workplace, "_PATIENCE", 0.2)
    system = fsspec.filesystem("memory")
    yield system
    for folder in ("/runs", "/samples"):
        if system.exists(folder):
            system.rm(folder, recursive=True)


def test_one_run_at_a_time_and_the_next_one_after_it():
    for _ in range(3):
        with working_place(RUN):
            started = time.monotonic()
            refused = pytest.raises(InvalidInputError, match=f"`{RUN}` is in use by another run")
            with refused, working_place(RUN):
                pytest.fail("two runs")
            assert time.monotonic() - started >= 0.2
    assert len((Remote(RUN) / "lock").names()) == 1


def test_the_lock_of_a_dead_run_is_taken_over(monkeypatch):
    monkeypatch.setattr(workplace, "_beat", lambda lock, ended: None)
    dead = workplace._locked(Remote(RUN))
    dead.__enter__()
    with working_place(RUN):
        assert (Remote(RUN) / "lock").names() == ["2"]


def test_of_many_runs_that_take_over_one_wins(monkeypatch):
    (Remote(RUN) / "lock" / "7").write(b"3")
    inside, refused = [], []

    def run():
        try:
            with working_place(RUN):
                inside.append(1)
                time.sleep(0.5)
        except InvalidInputError:
            refused.append(1)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(inside), len(refused)) == (1, 3)


def test_an_error_releases_the_lock():
    with pytest.raises(RuntimeError), working_place(RUN):
        raise RuntimeError
    started = time.monotonic()
    with working_place(RUN):
        assert time.monotonic() - started < 0.2


def test_records_are_found_again_and_written_once():
    names = ["real s3://b/x.parquet#0-1@a b", "a/../b", "ü%2F"]
    ledger = ObjectLedger(Remote(f"{RUN}/counts"), plan="p")
    for name in names:
        ledger.add(name, name.encode())
    with pytest.raises(InvalidInputError, match="already"):
        ledger.add(names[0], b"again")
    again = ObjectLedger(Remote(f"{RUN}/counts"), plan="p")
    assert sorted(again) == sorted(names)
    assert list(again.values()) == [name.encode() for name in sorted(names)]
    slow = ObjectLedger(Remote(f"{RUN}/counts"), plan="p")
    again.add("late", b"first")
    slow.add("late", b"first")  # a run that lost its lock computed the same
    assert list(slow.values()) == list(again.values())


def test_a_damaged_record_is_removed(storage):
    ledger = ObjectLedger(Remote(f"{RUN}/counts"), plan="p")
    ledger.add("a", b"content")
    (path,) = storage.find("/runs/one/counts")
    storage.pipe_file(path, storage.cat_file(path)[:-1] + b"!")
    with pytest.raises(UnavailableError, match="is damaged, and was removed: run again"):
        list(ledger.values())
    assert "a" not in ObjectLedger(Remote(f"{RUN}/counts"), plan="p")
    for other, name in (("q", "a"), ("p", "b")):  # of another plan, or under another name
        ledger = ObjectLedger(Remote(f"{RUN}/counts"), plan="p")
        ledger.add("a", b"content")
        storage.mv(path, path.removesuffix("a") + name)
        moved = ObjectLedger(Remote(f"{RUN}/counts"), plan=other)
        with pytest.raises(UnavailableError, match="damaged"):
            list(moved.values())


def test_a_plan_is_kept():
    rng = np.random.default_rng(0)
    real, generated = rng.normal(0, 1, (500, 2)), rng.normal(1, 1, (500, 2))
    plan = CountingPlan.of(real=real, generated=generated, estimator="gaussians", moments=True)
    assert load_plan(Remote(RUN)) is None
    save_plan(plan, Remote(RUN))
    assert load_plan(Remote(RUN)).digest == plan.digest


OPTIONS = {
    "rule": "frozen",
    "estimator": "gaussians",
    "encoder": "surface",
    "column": "text",
    "kind": "text",
    "progress": False,
}


@pytest.fixture
def texts():
    """Texts of both sides in Parquet files of object storage."""
    for side, word in (("real", "Rose"), ("generated", "ROSE")):
        for i in range(3):
            rows = [f"{word} {j % 7}, {'a' * (j % 5)} {j}." for j in range(i, 600, 3)]
            with fsspec.open(f"memory://samples/{side}/{i}.parquet", "wb") as file:
                pq.write_table(pa.table({"text": rows}), file)
    return {side: f"memory://samples/{side}" for side in ("real", "generated")}


def content_of(storage):
    return {
        path: storage.cat_file(path) for path in storage.find("/runs/one") if "/lock/" not in path
    }


def test_a_run_from_and_to_object_storage_goes_on_where_it_stopped(texts, storage, monkeypatch):
    engine = LocalEngine(1)
    wanted = evaluate(**texts, engine=engine, ledger=RUN, **OPTIONS)
    content = content_of(storage)
    assert sum(path.endswith(".parquet") for path in content) == 6
    assert sum("/counts/" in path for path in content) == 6
    with pytest.raises(InvalidInputError, match="would be written over or into the input"):
        evaluate(**texts, engine=engine, ledger=f"{texts['real']}/run", **OPTIONS)
    counts = [path for path in content if "/counts/" in path]
    features = [path for path in content if path.endswith(".parquet")]
    plan = [path for path in content if path.endswith("plan.json")]
    for lost in (counts[:2], [*counts, *plan, *features[1:3]]):  # while counting, and embedding
        for path in lost:
            storage.rm_file(path)
        again = evaluate(**texts, engine=engine, ledger=RUN, **OPTIONS)
        assert again.to_json() == wanted.to_json()
        assert {p: content_of(storage)[p] for p in features} == {p: content[p] for p in features}
        assert sum("/counts/" in path for path in content_of(storage)) == 6
    monkeypatch.setattr("tradeoff.embedding.files.embed_source", pytest.fail)
    evaluate(**texts, engine=engine, ledger=RUN, **OPTIONS)


def test_a_failing_server_stops_the_run_and_leaves_no_file_out(texts, monkeypatch):
    from fsspec.implementations.memory import MemoryFile

    read = MemoryFile.read

    def failing(file, size=-1):
        if "features" in file.path:
            raise ConnectionResetError("the server hung up")
        return read(file, size)

    wanted = evaluate(**texts, engine=LocalEngine(1), **OPTIONS)
    with monkeypatch.context() as patch:
        patch.setattr(MemoryFile, "read", failing)
        with pytest.raises(UnavailableError, match="cannot be read now: the server hung up"):
            evaluate(**texts, engine=LocalEngine(1), ledger=RUN, **OPTIONS)
    again = evaluate(**texts, engine=LocalEngine(1), ledger=RUN, **OPTIONS)
    assert again.to_json() == wanted.to_json()


def test_features_are_the_same_bytes_on_disk_and_in_storage(texts, storage, tmp_path):
    evaluate(**texts, engine=LocalEngine(1), ledger=RUN, **OPTIONS)
    evaluate(**texts, engine=LocalEngine(1), ledger=tmp_path / "run", **OPTIONS)
    local = {path.name: path.read_bytes() for path in tmp_path.rglob("features/*/*.parquet")}
    there = {
        path.rpartition("/")[2]: content
        for path, content in content_of(storage).items()
        if path.endswith(".parquet")
    }
    assert local == there


def test_a_worker_with_another_encoder_is_refused(texts):
    from tradeoff.data.parts import list_parts
    from tradeoff.embedding.files import Shared, embed_part
    from tradeoff.embedding.sources import identity_of
    from tradeoff.features.surface import SurfaceStatistics
    from tradeoff.settings import EmbedSettings

    encoder, part = SurfaceStatistics(), list_parts(texts["real"])[0]
    settings = EmbedSettings(kind="text", column="text")
    target = f"{RUN}/features.parquet"
    embed_part(Shared(encoder, identity_of(encoder), settings), (part, target))
    with fsspec.open(target) as file:
        metadata = pq.ParquetFile(file).schema_arrow.metadata
    assert metadata[b"tradeoff.preprocessing"].decode() == encoder.preprocessing
    other = identity_of(encoder) | {"weights": "others"}
    with pytest.raises(InvalidInputError, match="Workers must have the encoder of this machine"):
        embed_part(Shared(encoder, other, settings), (part, target))
