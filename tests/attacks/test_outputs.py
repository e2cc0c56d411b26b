"""Outputs never replace inputs, and an earlier output stays until its successor is on disk."""

import contextlib
import os
import resource
import signal
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("pyarrow")

from tests.cli.run import tradeoff as command
from tradeoff import evaluate
from tradeoff._files import check_outputs, local_path, replacing, replacing_files
from tradeoff.comparison import Comparison, compare
from tradeoff.evaluation import Evaluation, Reference
from tradeoff.exceptions import InvalidInputError, MissingExtraError
from tradeoff.report import PRCurveDisplay

OPTIONS = {"metrics": "curve", "estimator": "logistic", "diagnose": False, "progress": False}


def sides(seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(300, 3)), rng.normal(0.5, 1, (300, 3))


def evaluated(seed=0):
    real, generated = sides(seed)
    return evaluate(real=real, generated=generated, **OPTIONS)


@pytest.fixture
def inputs(tmp_path, monkeypatch):
    import pyarrow as pa
    import pyarrow.parquet as pq

    monkeypatch.chdir(tmp_path)
    for name, x in zip(("real", "generated"), sides(), strict=True):
        flat = pa.array(x.astype("f4").ravel())
        table = pa.table({"features": pa.FixedSizeListArray.from_arrays(flat, 3)})
        pq.write_table(table, tmp_path / f"{name}.parquet")
    return tmp_path


@pytest.mark.parametrize(
    "form", ["{}.parquet", "{}*.parquet", "*{}.parquet", "file://{folder}/{}.parquet", "file://{}*"]
)
def test_inputs_by_pattern_or_address_are_not_overwritten(inputs, form):
    before = {path.name: path.read_bytes() for path in inputs.iterdir()}
    given = [form.format(name, folder=inputs) for name in ("real", "generated")]
    found = command(
        *("evaluate", "--real", given[0], "--generated", given[1], "--rule", "frozen"),
        *("--engine", "local", "--workers", "1", "--estimator", "logistic", "--metrics", "curve"),
        *("-q", "--out", ".", "--overwrite"),
    )
    assert found.exit_code != 0
    assert "would be written over or into the input" in found.stderr
    assert {path.name: path.read_bytes() for path in inputs.iterdir()} == before


def test_what_a_pattern_will_match_is_an_input(tmp_path):
    """A file that does not exist yet would be read as an input by the next run."""
    with pytest.raises(InvalidInputError, match="over or into the input"):
        check_outputs([tmp_path / "new.parquet"], inputs=[f"{tmp_path}/*.parquet"])
    check_outputs([tmp_path / "new.json"], inputs=[f"{tmp_path}/*.parquet"])
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.parquet").touch()
    (tmp_path / "link").symlink_to(tmp_path / "sub" / "a.parquet")
    with pytest.raises(InvalidInputError, match="over or into the input"):
        check_outputs([tmp_path / "link"], inputs=[f"{tmp_path}/sub/*.parquet"], overwrite=True)


def test_addresses():
    assert [str(local_path(a)) for a in ("a::b/c", "file:///x/y", "local://x", "s3://b/k")] == [
        *("a::b/c", "/x/y", "x", "None")
    ]
    assert str(local_path("simplecache::file:///x/y")) == "/x/y"
    assert local_path("file:///x::s3://b/k") is None


@contextlib.contextmanager
def full_disk(size):
    """No file may grow beyond a size, which stands for a full disk."""
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)


def contents(folder):
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def save_evaluation(folder):
    evaluated(1).save(folder, overwrite=True)


def save_comparison(folder):
    real, generated = sides(1)
    models = {"one": generated, "other": generated + 1.0}
    compare(real=real, generated=models, **OPTIONS).save(folder, overwrite=True)


def save_reference(folder):
    Reference.make(sides(1)[0], progress=False).save(folder, overwrite=True)


def save_page(folder):
    evaluated(1).report(folder / "page.html", overwrite=True)


def save_picture(folder):
    PRCurveDisplay(evaluated(1).curve).save(folder / "curve.png")


@pytest.mark.slow
@pytest.mark.parametrize(
    "save", [save_evaluation, save_comparison, save_reference, save_page, save_picture]
)
def test_a_full_disk_leaves_the_earlier_output(save, tmp_path):
    (tmp_path / "own.txt").write_text("not ours")
    save(tmp_path)
    before = contents(tmp_path)
    for size in (0, 2000):
        with full_disk(size), pytest.raises((OSError, InvalidInputError)):
            save(tmp_path)
        assert contents(tmp_path) == before
    save(tmp_path)
    assert contents(tmp_path).keys() == before.keys()


@pytest.mark.slow
def test_results_are_read_again_after_they_were_replaced(tmp_path):
    save_evaluation(tmp_path / "a")
    save_comparison(tmp_path / "a")
    assert set(Comparison.load(tmp_path / "a").evaluations) == {"one", "other"}
    save_evaluation(tmp_path / "a")
    assert Evaluation.load(tmp_path / "a").samples
    assert not (tmp_path / "a" / "comparison.json").exists()


def test_files_are_replaced_all_or_none(tmp_path, monkeypatch):
    for name in ("a", "b"):
        (tmp_path / name).write_text("old")

    def fail(*_):
        raise OSError("no more")

    moved = []
    replace = type(tmp_path).replace

    def fail_at_the_third(self, target):
        moved.append(target)
        return fail() if len(moved) == 3 else replace(self, target)

    monkeypatch.setattr(type(tmp_path), "replace", fail_at_the_third)

    def replace_both():
        with replacing_files(tmp_path, ("a", "b")) as fresh:
            for name in ("a", "b"):
                (fresh / name).write_text("new")

    with pytest.raises(OSError, match="no more"):
        replace_both()
    assert contents(tmp_path) == {"a": b"old", "b": b"old"}


def test_a_link_is_written_through(tmp_path):
    (tmp_path / "target.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("target.txt")
    with replacing(tmp_path / "link.txt") as fresh:
        fresh.write_text("new")
    assert (tmp_path / "link.txt").is_symlink()
    assert contents(tmp_path)["target.txt"] == b"new"


@pytest.mark.parametrize("save", [save_evaluation, save_reference])
def test_an_address_is_no_place_for_outputs(save, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for address in ("s3://bucket/folder", "gs://bucket/folder"):
        with pytest.raises(InvalidInputError, match="must be a path on this machine"):
            save(address)
    assert not list(tmp_path.iterdir())


def test_stores_and_outputs_at_an_address_are_refused_before_the_work(inputs):
    before = contents(inputs)
    needed = "must be a path on this machine"
    for option, told in (
        (("--ledger", "s3://bucket/x"), "requires a package for its kind of storage"),
        (("--out", "s3://bucket/x"), needed),
    ):
        found = command(
            *("evaluate", "--real", "real.parquet", "--generated", "generated.parquet"),
            *("--rule", "frozen", "--engine", "local", "--workers", "1", *option),
        )
        assert found.exit_code != 0
        assert told in found.stderr
    real, _ = sides()
    with pytest.raises(InvalidInputError, match=f"`store` {needed}"):
        Reference.make(real, store="s3://bucket/x")
    assert contents(inputs) == before


def test_storage_without_its_package_is_a_sentence(monkeypatch):
    pytest.importorskip("fsspec")
    monkeypatch.setitem(sys.modules, "s3fs", None)
    for address, told in (("s3://b/k", "s3fs"), ("nonsense://b/k", "cannot be opened")):
        with pytest.raises((InvalidInputError, MissingExtraError), match=told):
            evaluate(real=address, generated=address, rule="frozen", engine="local", progress=False)


@pytest.mark.slow
def test_a_killed_process_leaves_one_result_or_the_other(tmp_path):
    """Saved again and again, and killed at a random moment: what is there is whole."""
    code = (
        "import sys; from tests.attacks.test_outputs import evaluated\n"
        "results = [evaluated(seed) for seed in (1, 2)]\n"
        "print('ready', flush=True)\n"
        "while True:\n    for one in results: one.save(sys.argv[1], overwrite=True)\n"
    )
    expected = {evaluated(seed).to_json() for seed in (1, 2)}
    rng = np.random.default_rng(0)
    for trial in range(5):
        folder = tmp_path / str(trial)
        run = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", code, str(folder)],
            stdout=subprocess.PIPE,
            cwd=os.getcwd(),
        )
        run.stdout.readline()
        with contextlib.suppress(subprocess.TimeoutExpired):
            run.wait(0.2 + rng.random())
        run.kill()
        run.wait()
        run.stdout.close()
        if (folder / "evaluation.json").exists():  # else the moment was between two renames
            found = Evaluation.load(folder)
            assert found.to_json() in expected
            assert len(found.samples) == 2
