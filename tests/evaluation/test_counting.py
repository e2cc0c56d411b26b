"""Counting part by part gives the same result everywhere, after whatever interruption."""

import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa
import pyarrow.parquet as pq

from tests.cli.run import tradeoff
from tests.known.real import image_features
from tests.known.real import images as real_images
from tradeoff import evaluate
from tradeoff._sides import Sides
from tradeoff.counting import CountingPlan, CountingState
from tradeoff.counting.ledger import Ledger
from tradeoff.counting.run import CountedRun, count_files
from tradeoff.counting.shards import ShardReader, list_shards
from tradeoff.data.parts import list_parts
from tradeoff.embedding.files import _unfinished
from tradeoff.engines import Failure, LocalEngine, RayEngine
from tradeoff.exceptions import InvalidInputError

OPTIONS = {"rule": "frozen", "estimator": "gaussians", "progress": False}
RUN = CountedRun(
    estimator="gaussians", moments=False, seed=0, about={"encoder": "identity", "column": ""}
)
FILES = 6


def write(folder, side, shift, rows=500, files=FILES, columns=8):
    (folder / side).mkdir()
    for i in range(files):
        rng = np.random.default_rng([int(shift * 10), i])
        x = rng.normal(shift, 1, (rows, columns)).astype(np.float32)
        values = pa.FixedSizeListArray.from_arrays(pa.array(x.ravel()), columns)
        labels = pa.array(rng.choice(["cat", "dog"], rows))
        table = pa.table({"features": values, "label": labels})
        path = folder / side / f"{i}.parquet"
        pq.write_table(table, path, row_group_size=200, write_page_checksum=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shards")
    write(folder, "real", 0.0)
    write(folder, "generated", 0.3)
    return folder


def sources(folder):
    return {side: str(folder / side) for side in ("real", "generated")}


@pytest.fixture(scope="module")
def result(folder):
    return evaluate(**sources(folder), **OPTIONS)


def state_of(folder, place, engine, batch=65_536, run=RUN):
    place.mkdir(exist_ok=True)
    state, unread = count_files(
        Sides(**sources(folder)),
        run,
        engine=engine,
        reader=ShardReader(label="label", batch_rows=batch),
        folder=place,
        progress=False,
    )
    return state, unread


NEEDS_RAY = [pytest.mark.slow, pytest.mark.ray]
RAY = pytest.param(RayEngine, 2, marks=NEEDS_RAY)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "workers"), [(LocalEngine, 1), (LocalEngine, 2), RAY])
def test_the_result_is_that_of_one_machine(folder, result, kind, workers):
    found = evaluate(**sources(folder), engine=kind(workers=workers), **OPTIONS)
    assert found.to_json() == result.to_json()
    kept, wanted = (one.samples["real"].values["log_ratio"] for one in (found, result))
    np.testing.assert_array_equal(kept, wanted)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [LocalEngine, pytest.param(RayEngine, marks=NEEDS_RAY)])
def test_states_are_the_same_bytes(folder, tmp_path, kind):
    wanted = state_of(folder, tmp_path / "1", LocalEngine(1))[0].to_bytes()
    for number, (workers, batch) in enumerate([(2, 64), (4, 333)]):
        found, _ = state_of(folder, tmp_path / f"{kind} {number}", kind(workers=workers), batch)
        assert found.to_bytes() == wanted


class Backwards(LocalEngine):
    """An engine that takes items from the end."""

    def run(self, task, shared, items, *, stays=False):
        for i in reversed(range(len(items))):
            for _, result in super().run(task, shared, items[i : i + 1], stays=stays):
                yield i, result


class Interrupted(LocalEngine):
    """An engine that dies after some results."""

    def run(self, task, shared, items, *, stays=False):
        counting = len(items) == 2 * FILES and "count" in task.__name__
        for number, found in enumerate(super().run(task, shared, items, stays=stays)):
            if counting and number == 3:
                raise KeyboardInterrupt
            yield found


@pytest.mark.slow
def test_neither_order_nor_interruption_changes_anything(folder, tmp_path):
    wanted = state_of(folder, tmp_path / "1", LocalEngine(1))[0].to_bytes()
    assert state_of(folder, tmp_path / "2", Backwards(1))[0].to_bytes() == wanted
    with pytest.raises(KeyboardInterrupt):
        state_of(folder, tmp_path / "3", Interrupted(1))
    digest = CountingPlan.load(tmp_path / "3").digest
    with Ledger(tmp_path / "3" / "counts.ledger", plan=digest) as ledger:
        assert len(ledger) == 3
    assert state_of(folder, tmp_path / "3", LocalEngine(1))[0].to_bytes() == wanted
    # All is counted: a third run has nothing to do.
    assert state_of(folder, tmp_path / "3", LocalEngine(1))[0].to_bytes() == wanted


def test_more_files_are_added_later(folder, tmp_path):
    few = tmp_path / "few"
    shutil.copytree(folder, few)
    late = [few / side / "5.parquet" for side in ("real", "generated")]
    contents = [(path, path.read_bytes()) for path in late]
    for path in late:
        path.unlink()
    first, _ = state_of(few, tmp_path / "ledger", LocalEngine(1))
    for path, content in contents:
        path.write_bytes(content)
    both, _ = state_of(few, tmp_path / "ledger", LocalEngine(1))
    assert first.sizes == {"real": 2500, "generated": 2500}
    assert both.sizes == {"real": 3000, "generated": 3000}
    assert both.plan.digest == first.plan.digest
    os.utime(late[0], ns=(1, 1))
    with pytest.raises(InvalidInputError, match="has changed since it was counted"):
        state_of(few, tmp_path / "ledger", LocalEngine(1))


@pytest.mark.slow
def test_a_ledger_belongs_to_its_files_however_they_are_named(folder, tmp_path, monkeypatch):
    shutil.copytree(folder / "generated", tmp_path / "generated")
    options = OPTIONS | {"engine": LocalEngine(1), "ledger": tmp_path / "ledger"}
    first = evaluate(**sources(folder), **options)
    monkeypatch.chdir(folder)
    again = evaluate(real="real", generated="generated", **options)
    assert again.to_json() == first.to_json()
    with pytest.raises(InvalidInputError, match="counted files that are not among those of this"):
        evaluate(real="real", generated=tmp_path / "generated", **options)
    state_of(folder, tmp_path / "other", LocalEngine(1))
    with pytest.raises(InvalidInputError, match="another encoder, estimator, seed, column"):
        state_of(
            folder,
            tmp_path / "other",
            LocalEngine(1),
            run=replace(RUN, about={**RUN.about, "column": "values"}),
        )


@pytest.mark.slow
@pytest.mark.parametrize(("file", "keeps"), [("2", 2300), ("2", -1), ("0", -1)])
def test_a_broken_file_is_named_and_can_be_repaired(folder, tmp_path, file, keeps):
    """Damaged within, or cut short so that even its size is unknown, the first file too."""
    damaged = tmp_path / "damaged"
    shutil.copytree(folder, damaged)
    path = damaged / "generated" / f"{file}.parquet"
    good = path.read_bytes()
    path.write_bytes(good[:300] + bytes(2000) + good[keeps:] if keeps > 0 else good[:300])
    options = OPTIONS | {"engine": LocalEngine(1), "ledger": tmp_path / "ledger"}
    found = evaluate(**sources(damaged), **options)
    assert found.broken["generated"][0].id == str(path)
    assert found.provenance["samples"]["generated"] == 2500
    assert "1 of the files of `generated` could not be read" in " ".join(found.warnings)
    with pytest.raises(
        InvalidInputError, match=r"\d.parquet` (cannot be .* Repair|must be a Parquet)"
    ):
        state_of_stopping(damaged, tmp_path / "other")
    path.write_bytes(good)
    again = evaluate(**sources(damaged), **options)
    assert again.provenance["samples"]["generated"] == 3000
    assert not again.broken["generated"]


def state_of_stopping(folder, place, engine=LocalEngine(1)):  # noqa: B008, it is frozen
    place.mkdir()
    return count_files(
        Sides(**sources(folder)),
        RUN,
        skips=False,
        engine=engine,
        reader=ShardReader(),
        folder=place,
        progress=False,
    )


@pytest.mark.slow
def test_a_killed_driver_goes_on_where_it_stopped(folder, result, tmp_path):
    """A process that is killed while it counts, and started again, ends with the same result."""
    command = [sys.executable, "-m", "tradeoff", "evaluate", "--engine", "local", "--workers", "1"]
    command += ["--estimator", "gaussians", "--ledger", str(tmp_path / "ledger"), "--json"]
    for side, path in sources(folder).items():
        command += [f"--{side}", path]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    ledger = tmp_path / "ledger" / "counts.ledger"
    deadline = time.monotonic() + 120
    while not (ledger.exists() and ledger.stat().st_size > 1000) and time.monotonic() < deadline:
        time.sleep(0.002)
    running.send_signal(signal.SIGKILL)
    running.wait()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    wanted = json.loads(result.to_json(curves=False))
    assert json.loads(done.stdout) == wanted


@pytest.mark.ray
@pytest.mark.slow
def test_a_worker_and_a_node_may_die(folder, result):
    """On a real cluster of two nodes, of which one is stopped while it counts."""
    import ray
    from ray import cluster_utils

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.shutdown()
    cluster = cluster_utils.Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
    )
    second = cluster.add_node(num_cpus=1)
    try:
        engine = StopsNode(address=cluster.address, cluster=cluster, node=second)
        found = evaluate(**sources(folder), engine=engine, **OPTIONS)
        assert found.to_json() == result.to_json()
        deadline = time.monotonic() + 60  # the cluster takes a while to notice
        while sum(node["Alive"] for node in ray.nodes()) == 2 and time.monotonic() < deadline:
            time.sleep(0.5)
        assert sum(node["Alive"] for node in ray.nodes()) == 1
    finally:
        ray.shutdown()
        cluster.shutdown()


class StopsNode(RayEngine):
    """Stops a node of the cluster after the first counted shard."""

    def __init__(self, *, address, cluster, node):
        super().__init__(address=address)
        object.__setattr__(self, "cluster", cluster)
        object.__setattr__(self, "node", node)

    def run(self, task, shared, items, *, stays=False):
        for number, found in enumerate(super().run(task, shared, items, stays=stays)):
            if "count" in task.__name__ and number == 0:
                self.cluster.remove_node(self.node, allow_graceful=False)
            yield found


def merge_in_a_process(rank, port, files, plan_folder, results):
    import torch.distributed as dist

    from tradeoff.integrations.distributed import merge_across_processes

    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    dist.init_process_group("gloo", rank=rank, world_size=2)
    plan = CountingPlan.load(plan_folder)
    state = CountingState(plan)
    for side, folder in files.items():
        for i, shard in enumerate(list_shards(folder)):
            if i % 2 == rank:
                for batch in ShardReader(label="label")(shard):
                    state.update(side, batch.features, ids=batch.ids, labels=batch.labels)
    results.put((rank, merge_across_processes(state).to_bytes()))
    dist.destroy_process_group()


@pytest.mark.torch
@pytest.mark.slow
def test_processes_of_torch_distributed_have_the_same_state(folder, tmp_path):
    wanted = state_of(folder, tmp_path / "1", LocalEngine(1))[0].to_bytes()
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    port = 20_000 + os.getpid() % 20_000
    workers = [
        context.Process(
            target=merge_in_a_process,
            args=(rank, port, sources(folder), str(tmp_path / "1"), results),
        )
        for rank in range(2)
    ]
    for worker in workers:
        worker.start()
    found = dict(results.get(timeout=120) for _ in workers)
    for worker in workers:
        worker.join()
    assert found[0] == found[1] == wanted


@pytest.mark.slow
def test_real_features_give_the_same_result(tmp_path):
    """CIFAR-10, half of which plays the model without two classes."""
    x, labels = image_features()
    half = np.arange(len(x)) % 2 == 0
    parts = {"real": x[half], "generated": x[~half & (labels > 1)]}
    for side, rows in parts.items():
        (tmp_path / side).mkdir()
        for i, some in enumerate(np.array_split(rows.astype(np.float32), 3)):
            values = pa.FixedSizeListArray.from_arrays(pa.array(some.ravel()), rows.shape[1])
            pq.write_table(pa.table({"features": values}), tmp_path / side / f"{i}.parquet")
    options = OPTIONS | {"estimator": "logistic"}
    whole = evaluate(**{s: r.astype(np.float32) for s, r in parts.items()}, **options)
    found = evaluate(**sources(tmp_path), engine=LocalEngine(2), **options)
    assert found.to_json() == whole.to_json()
    assert found.curve.precision(1.0) < 1.0


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.ray
def test_images_in_archives_give_the_result_of_the_folder(tmp_path):
    """PNG files in tar shards, a real encoder; and a page that shows samples."""
    from PIL import Image

    from tradeoff.features.offline import EfficientNetLite0

    pixels, labels = real_images()
    mirrored = pixels[:, :, ::-1]  # two classes are dropped
    for side, images in {"real": pixels[:350], "generated": mirrored[labels > 1]}.items():
        (tmp_path / "plain" / side).mkdir(parents=True)
        (tmp_path / "tar" / side).mkdir(parents=True)
        for i, image in enumerate(images):
            Image.fromarray(image).save(tmp_path / "plain" / side / f"{i:04d}.png")
        files = sorted((tmp_path / "plain" / side).iterdir())
        for number, part in enumerate(np.array_split(np.array(files, dtype=object), 3)):
            with tarfile.open(tmp_path / "tar" / side / f"{number}.tar", "w") as archive:
                for file in part:
                    archive.add(file, file.name)
    encoder = EfficientNetLite0(size=64)
    options = OPTIONS | {"encoder": encoder, "estimator": "logistic", "explain": True}
    folder = evaluate(**sources(tmp_path / "plain"), **options)
    archives = evaluate(**sources(tmp_path / "tar"), engine=RayEngine(workers=2), **options)
    assert archives.to_json() == folder.to_json()
    assert archives.explanation is not None
    archives.report(tmp_path / "page.html")
    assert "data:image" in (tmp_path / "page.html").read_text()


@pytest.mark.slow
def test_an_explanation_is_made_of_the_kept_samples_and_says_nothing_else(folder):
    found = evaluate(**sources(folder), engine=LocalEngine(1), explain=True, **OPTIONS)
    assert found.explanation is not None
    assert not [warning for warning in found.warnings if "explanation was skipped" in warning]
    few = [np.random.default_rng(i).normal(size=(200, 2)) for i in range(2)]
    found = evaluate(real=few[0], generated=few[1], explain=True, **OPTIONS)
    assert found.explanation is None
    assert [warning for warning in found.warnings if "explanation was skipped" in warning]


class Dying(LocalEngine):
    """An engine whose workers die while they count."""

    def run(self, task, shared, items, *, stays=False):
        for i, found in super().run(task, shared, items, stays=stays):
            yield i, Failure("its worker died 3 times.") if "count" in task.__name__ else found


def test_a_file_whose_workers_died_is_named(folder, tmp_path):
    with pytest.raises(InvalidInputError, match=r"0.parquet` was not counted: its worker died"):
        state_of_stopping(folder, tmp_path / "ledger", Dying(1))


def test_a_ledger_is_not_written_into_an_input(folder):
    for ledger in (folder / "real", folder / "generated" / "run"):
        with pytest.raises(InvalidInputError, match="would be written over or into the input"):
            evaluate(**sources(folder), engine=LocalEngine(1), ledger=ledger, **OPTIONS)
        assert not (folder / "generated" / "run").exists()


def test_an_archive_that_changed_is_not_counted_twice(tmp_path):
    archive, features = tmp_path / "a.tar", tmp_path / "features"
    features.mkdir()
    archive.write_bytes(b"1")

    def unfinished(*paths):
        parts = [part for path in paths for part in list_parts(str(path))]
        return [target for _, target in _unfinished(parts, features, {"encoder": "e"})]

    (first,) = unfinished(archive)
    first.touch()
    assert unfinished(archive) == []
    (tmp_path / "b.tar").write_bytes(b"1")
    (other,) = unfinished(archive, tmp_path / "b.tar")
    assert other.parent == features
    with pytest.raises(InvalidInputError, match="belongs to another run"):
        unfinished(tmp_path / "b.tar")
    archive.write_bytes(b"22")
    with pytest.raises(InvalidInputError, match="has changed since it was embedded"):
        unfinished(archive)


@pytest.mark.slow
def test_the_command(folder, tmp_path, result):
    arguments = ["evaluate", "--engine", "local", "--workers", "1", "--estimator", "gaussians"]
    arguments += ["--ledger", str(tmp_path / "ledger"), "--json"]
    for side, path in sources(folder).items():
        arguments += [f"--{side}", path]
    done = tradeoff(*arguments)
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout) == json.loads(result.to_json(curves=False))


def test_mistakes_get_a_sentence(folder, tmp_path):
    both = sources(folder)
    for mistake, sentence in (
        ({"engine": "local"}, 'pass rule="frozen"'),
        ({"ledger": tmp_path}, "pass `engine` too"),
        ({"rule": "frozen", "metrics": "knn"}, "`knn.precision` needs all samples at once"),
        (
            {"rule": "frozen", "protocol": "sajjadi-2018"},
            "`rule` cannot be combined with `protocol`",
        ),
        ({"rule": "melted"}, "`rule` must be one of cross-fitted, frozen"),
        ({"rule": "frozen", "engine": "spark"}, "`engine` must be local, ray"),
    ):
        with pytest.raises(InvalidInputError, match=sentence):
            evaluate(**both, **mistake)
    with pytest.raises(InvalidInputError, match="`real` must be a path or an address"):
        evaluate(real=np.zeros((30, 2)), generated=both["generated"], engine="local", rule="frozen")
    options = OPTIONS | {"engine": LocalEngine(1), "ledger": tmp_path / "ledger"}
    evaluate(**both, **options)
    with pytest.raises(InvalidInputError, match="belongs to another run"):
        evaluate(**both, **(options | {"seed": 1}))
