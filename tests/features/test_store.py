"""The store: nothing is embedded twice, nothing is lost, whatever happens to the run."""

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
import warnings

import numpy as np
import pytest

pytest.importorskip("pyarrow")

from tradeoff import InvalidInputError
from tradeoff.data import Sample, open_source
from tradeoff.embedding import embed_source
from tradeoff.exceptions import UnavailableError
from tradeoff.features import Function
from tradeoff.features.network import hash_files
from tradeoff.features.plain import Identity
from tradeoff.features.store import FeatureStore

TEXTS = [f"{'a' * (i % 7)}{i}" for i in range(1200)]


class Counting:
    """A function that remembers how many samples it embedded."""

    def __init__(self, version="1", name="letters"):
        self.seen = set()
        self.embedder = Function(self, name, "text", version)

    def __call__(self, texts):
        self.seen.update(texts)
        return [[text.count("a"), len(text)] for text in texts]


def run(counting, texts, path, **options):
    return embed_source(
        open_source(texts, name="t"), counting.embedder, store=FeatureStore(path), **options
    )


def test_nothing_is_embedded_twice(tmp_path):
    first, second = Counting(), Counting()
    one = run(first, TEXTS, tmp_path)
    assert (len(first.seen), one.reused) == (1200, 0)
    two = run(second, TEXTS, tmp_path)
    assert (len(second.seen), two.reused) == (0, 1200)
    np.testing.assert_array_equal(one.features, two.features)
    np.testing.assert_array_equal(one.features, first(TEXTS))


def test_a_changed_sample_is_embedded_anew_and_a_moved_one_is_not(tmp_path):
    run(Counting(), TEXTS, tmp_path)
    changed = ["new", *TEXTS[:0:-1], "another"]
    counting = Counting()
    embedded = run(counting, changed, tmp_path)
    assert counting.seen == {"new", "another"}
    np.testing.assert_array_equal(embedded.features, counting(changed))


@pytest.mark.parametrize("other", [{"version": "2"}, {"name": "other"}])
def test_another_embedder_has_a_shelf_of_its_own(tmp_path, other):
    run(Counting(), TEXTS[:50], tmp_path)
    counting = Counting(**other)
    run(counting, TEXTS[:50], tmp_path)
    assert len(counting.seen) == 50
    contents = FeatureStore(tmp_path).contents()
    assert [shelf["samples"] for shelf in contents] == [50, 50]
    assert all(shelf["bytes"] > 0 and shelf["shards"] == 1 for shelf in contents)


def test_shards_are_parquet_with_ids_and_labels(tmp_path):
    import pyarrow.parquet as parquet

    class Labeled:
        kind = "text"

        def __iter__(self):
            yield Sample("a/1", "aa", "cats")
            yield Sample("a/2", "b", None)

    embed_source(Labeled(), Counting().embedder, store=FeatureStore(tmp_path))
    (shard,) = tmp_path.glob("*/*.parquet")
    rows = parquet.read_table(shard).to_pylist()
    assert [(row["id"], row["label"], row["features"]) for row in rows] == [
        ("a/1", "cats", [2.0, 2.0]),
        ("a/2", None, [0.0, 1.0]),
    ]


def test_what_has_no_version_is_not_stored(tmp_path):
    run(Counting(version=None), TEXTS[:5], tmp_path)
    embed_source(open_source(np.eye(3)), Identity(), store=FeatureStore(tmp_path))
    assert not list(tmp_path.iterdir())


def test_repeated_samples_are_stored_once(tmp_path):
    embedded = run(Counting(), ["a", "b", "a", "a"], tmp_path)
    assert len(embedded.features) == 4
    assert FeatureStore(tmp_path).contents()[0]["samples"] == 2


def damage(shard, content):
    """Write other bytes into a shard, and embed its samples again."""
    shard.write_bytes(content)
    counting = Counting()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        embedded = run(counting, TEXTS[:10], shard.parents[1])
    return embedded.features, counting.seen, [str(warning.message) for warning in caught]


def intact(tmp_path):
    run(Counting(), TEXTS[:10], tmp_path)
    (shard,) = tmp_path.glob("*/*.parquet")
    return shard, shard.read_bytes()


@pytest.mark.slow
def test_every_flipped_bit_is_found_and_its_samples_are_embedded_again(tmp_path):
    """Wherever it is: in features, digests, names, or in the structure of the file."""
    shard, content = intact(tmp_path)
    truth = Counting()(TEXTS[:10])
    generator = np.random.default_rng(0)
    bits, named = generator.choice(8 * len(content), 400, replace=False), 0
    for bit in bits.tolist():
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        features, seen, messages = damage(shard, flipped)
        np.testing.assert_array_equal(features, truth)
        if seen != set(TEXTS[:10]):  # all of them where no digest was left that anyone asks for
            pytest.fail(f"Flipping bit {bit} left {10 - len(seen)} samples in the store.")
        named += any(shard.name in message and "is damaged" in message for message in messages)
    assert named > 0.9 * len(bits)


def test_a_damaged_shard_is_set_aside_once(tmp_path):
    shard, content = intact(tmp_path)
    for broken in (content[:100], b"", content + b"\0", content[::-1]):
        _, seen, messages = damage(shard, broken)
        assert seen == set(TEXTS[:10])
        assert len(messages) == 1
        counting = Counting()
        assert run(counting, TEXTS[:10], tmp_path).reused == 10  # no warning, nothing embedded


@pytest.mark.parametrize("columns", [["digest"], ["id", "label", "features"]])
def test_a_shard_without_a_column_is_set_aside(tmp_path, columns):
    import pyarrow.parquet as parquet

    shard, content = intact(tmp_path)
    parquet.write_table(parquet.read_table(shard, columns=columns), shard.with_suffix(".other"))
    _, seen, messages = damage(shard, shard.with_suffix(".other").read_bytes())
    assert seen == set(TEXTS[:10])
    assert len(messages) == 1
    assert shard.read_bytes() == content


def test_features_of_another_length_end_in_a_sentence(tmp_path):
    run(Counting(), TEXTS[:10], tmp_path)
    longer = Function(lambda texts: [[1.0, 2.0, 3.0]] * len(texts), "letters", "text", "1")
    with pytest.raises(InvalidInputError, match="must hold features of one length. Got . and ."):
        embed_source(open_source(TEXTS[:20]), longer, store=FeatureStore(tmp_path))


def test_a_read_without_a_look_verifies_too(tmp_path):
    shard, content = intact(tmp_path)
    digests = [Sample("", text).digest for text in TEXTS[:10]]
    flipped = bytearray(content)
    flipped[content.index(b"parquet-cpp")] ^= 1  # a comment: the file can still be opened
    shard.write_bytes(flipped)
    shelf = FeatureStore(tmp_path).shelf(Counting().embedder)
    with (
        pytest.warns(UserWarning, match="is damaged"),
        pytest.raises(InvalidInputError, match="Those of 10 are missing or damaged"),
    ):
        shelf.read(digests)
    assert len(shelf) == 0


def test_features_that_are_not_finite_are_neither_written_nor_read(tmp_path):
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    shard, _ = intact(tmp_path)
    shelf = FeatureStore(tmp_path).shelf(Counting().embedder)
    with pytest.raises(InvalidInputError, match="features of `x` must be finite"):
        shelf.add(Sample("x", "new"), np.array([1.0, np.nan]))
    table = parquet.read_table(shard)
    values = np.full(20, np.inf)
    rows = arrow.FixedSizeListArray.from_arrays(arrow.array(values), 2)
    parquet.write_table(table.set_column(3, "features", rows), shard)
    shard.rename(shard.with_stem(hash_files([shard])))  # as if it had been written so
    with pytest.raises(InvalidInputError, match="must hold finite features. Delete it"):
        run(Counting(), TEXTS[:10], tmp_path)


def test_a_shelf_of_another_version_is_left_alone(tmp_path):
    shard, _ = intact(tmp_path)
    about = shard.with_name("embedder.json")
    about.write_text(about.read_text().replace('"schema": 2', '"schema": 1'))
    with pytest.warns(UserWarning, match="written by another version of tradeoff"):
        assert FeatureStore(tmp_path).contents() == []
    for text in ("{", "[" * 100_000):
        about.write_text(text)
        with pytest.raises(InvalidInputError, match="must describe an embedder"):
            FeatureStore(tmp_path).contents()


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_shard_that_may_not_be_read_is_no_damage(tmp_path):
    shard, _ = intact(tmp_path)
    shard.chmod(0)
    with pytest.raises(UnavailableError, match="permission denied"):
        run(Counting(), TEXTS[:10], tmp_path)
    assert shard.exists()


def test_half_written_files_are_passed_over_and_swept_up(tmp_path):
    run(Counting(), TEXTS[:10], tmp_path)
    (folder,) = tmp_path.iterdir()
    young, old = folder / "young.writing", folder / "old.writing"
    for path in (young, old):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 1e6,) * 2)
    assert run(Counting(), TEXTS[:10], tmp_path).reused == 10
    assert young.exists()
    assert not old.exists()


def test_an_error_keeps_what_was_embedded(tmp_path):
    class Failing(Counting):
        def __call__(self, texts):
            if TEXTS[1100] in texts:
                raise ZeroDivisionError
            return super().__call__(texts)

    with pytest.raises(ZeroDivisionError):
        run(Failing(), TEXTS, tmp_path)
    counting = Counting()
    run(counting, TEXTS, tmp_path)
    assert len(counting.seen) == 1200 - 1024  # chunks of 512


SLOW = """
    import sys, time
    import numpy as np
    from tradeoff.data import open_source
    from tradeoff.embedding import embed_source
    from tradeoff.features import Function
    from tradeoff.features.store import FeatureStore

    def slow(texts):
        time.sleep({pause})
        return [[len(text), text.count("1")] for text in texts]

    texts = [str(i) for i in range(3000)]
    embedded = embed_source(
        open_source(texts), Function(slow, "slow", "text", "1"), store=FeatureStore(sys.argv[1])
    )
    np.save(sys.argv[2], embedded.features)
    print(embedded.reused)
"""


def start(store, result, pause=0.0, **options):
    script = textwrap.dedent(SLOW).format(pause=pause)
    return subprocess.Popen(
        [sys.executable, "-c", script, str(store), str(result)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def expected():
    return np.array([[len(str(i)), str(i).count("1")] for i in range(3000)], float)


@pytest.mark.slow
def test_a_killed_run_is_resumed_with_the_same_result(tmp_path):
    store = tmp_path / "store"
    killed = start(store, tmp_path / "never.npy", pause=0.02)
    deadline = time.monotonic() + 60
    while len(list(store.glob("*/*.parquet"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    kept = sum(shelf["samples"] for shelf in FeatureStore(store).contents())
    assert 1024 <= kept < 3000
    resumed = start(store, tmp_path / "features.npy")
    output, errors = resumed.communicate()
    assert (int(output), errors) == (kept, "")
    np.testing.assert_array_equal(np.load(tmp_path / "features.npy"), expected())


@pytest.mark.slow
def test_two_runs_share_one_store(tmp_path):
    store = tmp_path / "store"
    runs = [start(store, tmp_path / f"{i}.npy", pause=0.01) for i in range(2)]
    for i, process in enumerate(runs):
        _, errors = process.communicate()
        assert errors == ""
        np.testing.assert_array_equal(np.load(tmp_path / f"{i}.npy"), expected())
    (shelf,) = FeatureStore(store).contents()
    assert shelf["samples"] == 3000
    assert not list(store.glob("*/*.writing"))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("unshare") is None, reason="takes a namespace of Linux")
def test_a_full_disk_ends_in_a_sentence_and_loses_nothing(tmp_path):
    """A real small file system, in a namespace of its own."""
    script = tmp_path / "run.py"
    script.write_text(
        textwrap.dedent(SLOW).format(pause=0.0)
        + textwrap.dedent("""
            import os, pathlib
            from tradeoff.exceptions import UnavailableError
            disk = pathlib.Path(sys.argv[1]).parent
            rows = Function(
                lambda texts: np.random.default_rng([int(t) for t in texts]).normal(size=(32, 40)),
                "large", "text", "1",
            )
            store = FeatureStore(sys.argv[1])
            try:
                embed_source(open_source(texts), rows, store=store)
            except UnavailableError as error:
                print(error)
            print(sorted(path.suffix for path in disk.glob("store/large*/*")))
            os.system(f"mount -o remount,size=10m {disk}")
            print(embed_source(open_source(texts), rows, store=store).reused)
        """)
    )
    disk = tmp_path / "disk"
    disk.mkdir()
    command = (
        f"mount -t tmpfs -o size=500k tmpfs {disk} && "
        f"{sys.executable} {script} {disk}/store {tmp_path}/small.npy"
    )
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", command], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    _, message, files, reused = done.stdout.splitlines()
    assert "cannot be written: No space left on device. The features of" in message
    assert "samples are safe there" in message
    whole = files.count(".parquet")
    assert whole >= 1
    assert ".writing" not in files
    assert int(reused) == 512 * whole


def test_a_store_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(UnavailableError, match="cannot be written: Not a directory"):
        run(Counting(), TEXTS[:3], tmp_path / "file")


def test_compaction_changes_files_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setattr("tradeoff.features.store._LARGE_ROWS", 1100)
    before = run(Counting(), TEXTS, tmp_path)
    (folder,) = (path.parent for path in tmp_path.glob("*/embedder.json"))
    assert len(list(folder.glob("*.parquet"))) == 3
    FeatureStore(tmp_path).compact()
    assert len(list(folder.glob("*.parquet"))) == 2
    FeatureStore(tmp_path).compact()
    assert len(list(folder.glob("*.parquet"))) == 2
    counting = Counting()
    after = run(counting, TEXTS, tmp_path)
    assert not counting.seen
    np.testing.assert_array_equal(after.features, before.features)
    assert FeatureStore(tmp_path).contents()[0]["samples"] == 1200


def test_compaction_sets_damaged_shards_aside(tmp_path):
    before = run(Counting(), TEXTS, tmp_path)
    (folder,) = (path.parent for path in tmp_path.glob("*/embedder.json"))
    shard = min(folder.glob("*.parquet"))
    content = bytearray(shard.read_bytes())
    content[len(content) // 2] ^= 1
    shard.write_bytes(content)
    with pytest.warns(UserWarning, match="is damaged"):
        FeatureStore(tmp_path).compact()
    counting = Counting()
    after = run(counting, TEXTS, tmp_path)
    assert 0 < len(counting.seen) < 1200
    np.testing.assert_array_equal(after.features, before.features)
