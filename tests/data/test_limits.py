"""What is not opened, and how much is read: bombs, pipes, loops, and paths that lead out."""

import bz2
import io
import os
import socket
import subprocess
import sys
import tarfile
import zipfile

import numpy as np
import pytest

pytest.importorskip("PIL")
pq = pytest.importorskip("pyarrow.parquet")
datasets = pytest.importorskip("datasets")

import pyarrow as pa  # noqa: E402

from tests.data.test_sources import encoded, pixels  # noqa: E402
from tradeoff import InvalidInputError  # noqa: E402
from tradeoff.data import Broken, open_source  # noqa: E402
from tradeoff.data.archives import ImageArchive  # noqa: E402
from tradeoff.data.images import ImageFolder  # noqa: E402
from tradeoff.data.reading import read_stream  # noqa: E402
from tradeoff.data.records import Records  # noqa: E402

IMAGE = encoded(pixels()[0])
TOO_LARGE = "The content has 5,000 bytes, more than the limit of 1,000 (`most_bytes`)."


def entry(archive, name, size, content=None):
    header = tarfile.TarInfo(name)
    header.size = size
    archive.addfile(header, io.BytesIO(bytes(size) if content is None else content))


def make_folder(path):
    (path / "big.png").write_bytes(bytes(5000))
    (path / "small.png").write_bytes(IMAGE)
    return ImageFolder(path, most_bytes=1000)


def make_zip(path):
    with zipfile.ZipFile(path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("big.png", bytes(5000))
        archive.writestr("small.png", IMAGE)
    return ImageArchive((path / "a.zip",), most_bytes=1000)


def make_tar(path):
    with tarfile.open(path / "a.tar.xz", "w:xz") as archive:
        entry(archive, "big.png", 5000)
        entry(archive, "small.png", len(IMAGE), IMAGE)
    return ImageArchive((path / "a.tar.xz",), most_bytes=1000)


def make_records(path):
    (path / "big.png").write_bytes(bytes(5000))
    rows = [{"image": bytes(5000)}, {"image": {"bytes": None, "path": "big.png"}}, {"image": IMAGE}]
    return Records("r", lambda columns: iter(rows), "image", "image", folder=path, most_bytes=1000)


@pytest.mark.parametrize("make", [make_folder, make_zip, make_tar, make_records])
def test_what_is_too_large_is_broken(make, tmp_path):
    *large, small = make(tmp_path)
    assert large
    assert all(item == Broken(item.id, TOO_LARGE) for item in large)
    assert small.content == IMAGE


def peak_mb(path):
    script = f"""
import resource, sys
from tradeoff.data import open_source
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for item in open_source({str(path)!r}):
    print(item.reason)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    *reasons, peak = done.stdout.splitlines()
    return reasons, int(peak)


def zip_bomb(path, method):
    with (
        zipfile.ZipFile(path, "w", method) as archive,
        archive.open("bomb.png", "w", force_zip64=True) as file,
    ):
        for _ in range(400):
            file.write(bytes(2**20))


def lying_zip(path):
    """It declares less than the limit, in the entry and in the directory."""
    zip_bomb(path, zipfile.ZIP_DEFLATED)
    claimed, false = (size.to_bytes(4, "little") for size in (400 * 2**20, 2**20))
    assert path.read_bytes().count(claimed) == 2
    path.write_bytes(path.read_bytes().replace(claimed, false))


def tar_bomb(path):
    header = tarfile.TarInfo("bomb.png")
    header.size = 400 * 2**20
    with tarfile.open(path, "w:bz2") as archive, open("/dev/zero", "rb") as zeros:
        archive.addfile(header, zeros)


def tar_with_a_name_of_a_gigabyte(path):
    header = tarfile.TarInfo("long")
    header.type, header.size = tarfile.GNUTYPE_LONGNAME, 400 * 2**20
    with bz2.open(path, "wb") as file:
        file.write(header.tobuf())
        for _ in range(400):
            file.write(bytes(2**20))


BOMBS = {
    "deflated.zip": lambda path: zip_bomb(path, zipfile.ZIP_DEFLATED),
    "bzipped.zip": lambda path: zip_bomb(path, zipfile.ZIP_BZIP2),
    "lying.zip": lying_zip,
    "bomb.tar.bz2": tar_bomb,
    "name.tar.bz2": tar_with_a_name_of_a_gigabyte,
}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="peaks are in kilobytes on Linux")
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_does_not_take_the_memory(name, tmp_path):
    """400 MB of zeros in a kilobyte; the limit is 256 MiB, and decompressors need a bit."""
    BOMBS[name](tmp_path / name)
    reasons, peak = peak_mb(tmp_path / name)
    assert len(reasons) == 1
    assert peak < 300


def test_only_files_and_folders_are_opened(tmp_path):
    (tmp_path / "0.png").write_bytes(IMAGE)
    os.mkfifo(tmp_path / "1.png")
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(tmp_path / "2.png"))
    (tmp_path / "3.png").symlink_to("/dev/zero")
    (tmp_path / "4.png").symlink_to("4.png")
    (tmp_path / "5").symlink_to("gone")
    os.mkfifo(tmp_path / "6")
    (tmp_path / "7").symlink_to("7")
    source = ImageFolder(tmp_path)
    image, *broken = source
    assert image.content == IMAGE
    assert len(source) == 8
    assert [(item.id, item.reason.rpartition(" and this is ")[2]) for item in broken] == [
        ("1.png", "a named pipe."),
        ("2.png", "a socket."),
        ("3.png", "a device."),
        ("4.png", "The file cannot be read: Too many levels of symbolic links."),
        ("5", "The file cannot be read: No such file or directory."),
        ("6", "a named pipe."),
        ("7", "The file cannot be read: Too many levels of symbolic links."),
    ]
    listening.close()


def test_loops_of_folders_end(tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.png").write_bytes(IMAGE)
        (tmp_path / name / "up").symlink_to(tmp_path)
        for other in "ab":
            (tmp_path / name / f"to-{other}").symlink_to(tmp_path / other)
    items = list(ImageFolder(tmp_path))
    images = [item.id for item in items if not isinstance(item, Broken)]
    assert images == ["a/1.png", "a/to-b/1.png"]
    assert {item.id for item in items if isinstance(item, Broken)} >= {"a/up", "a/to-a", "b"}
    assert all(
        item.reason == "The folder is not read: it has been read under another name."
        for item in items
        if isinstance(item, Broken)
    )


@pytest.fixture
def deep(tmp_path):
    """An image below 1200 folders, which are removed without the recursion of pytest."""
    names = ["d"] * 1200
    here = os.getcwd()
    os.chdir(tmp_path)
    for name in names:
        os.mkdir(name)
        os.chdir(name)
    with open("1.png", "wb") as file:
        file.write(IMAGE)
    os.chdir(here)
    yield tmp_path
    path = tmp_path.joinpath(*names)
    (path / "1.png").unlink()
    for folder in (path, *path.parents[: len(names) - 1]):
        folder.rmdir()


def test_folders_may_be_nested_deeply(deep):
    (item,) = ImageFolder(deep)
    assert item.content == IMAGE
    assert item.id == "d/" * 1200 + "1.png"


def test_folders_that_cannot_be_read_are_listed(tmp_path, monkeypatch):
    (tmp_path / "open").mkdir()
    (tmp_path / "open" / "1.png").write_bytes(IMAGE)
    (tmp_path / "secret").mkdir()
    scan = os.scandir

    def refuse(path):
        if str(path).endswith("secret"):
            raise PermissionError(13, "Permission denied")
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    image, broken = ImageFolder(tmp_path)
    assert image.id == "open/1.png"
    assert broken == Broken("secret", "The folder is not read: Permission denied.")
    with pytest.raises(InvalidInputError, match="must be a folder that can be read. Permission"):
        list(ImageFolder(tmp_path / "secret"))
    with pytest.raises(InvalidInputError, match="must be a folder that can be read. Not a dir"):
        len(ImageFolder(tmp_path / "open" / "1.png"))


@pytest.fixture
def named(tmp_path):
    """A data set that names files inside and outside of its folder."""
    inside, outside = tmp_path / "data", tmp_path / "elsewhere"
    inside.mkdir()
    outside.mkdir()
    for folder in (inside, outside):
        (folder / "1.png").write_bytes(IMAGE)
    (inside / "link.png").symlink_to(outside / "1.png")
    (inside / "loop.png").symlink_to("loop.png")
    return inside, [
        ("1.png", None),
        (str(inside / "1.png"), None),
        ("../elsewhere/1.png", "leads out of the folder of the data set."),
        (str(outside / "1.png"), "leads out of the folder of the data set."),
        ("link.png", "leads out of the folder of the data set."),
        ("loop.png", "cannot be"),
        ("a\x00b", "cannot be"),
        ("gone.png", "No such file or directory."),
        (".", "this is a folder."),
    ]


def test_paths_stay_in_the_folder_of_a_data_set(named):
    inside, cases = named
    table = pa.table({"image": [{"bytes": None, "path": path} for path, _ in cases]})
    pq.write_table(table, inside / "images.parquet")
    with (
        pa.OSFile(str(inside / "i.arrow"), "wb") as sink,
        pa.ipc.new_file(sink, table.schema) as out,
    ):
        out.write_table(table)
    for source in (inside / "images.parquet", inside / "i.arrow", inside):
        found = list(open_source(source))
        assert len(found) == len(cases)
        for item, (_, reason) in zip(found, cases, strict=True):
            if reason is None:
                assert item.content == IMAGE
            else:
                assert reason in item.reason
                assert "\x00" not in item.reason


def test_paths_of_data_sets_in_memory_are_not_followed(named):
    inside, _ = named
    rows = {"image": [{"bytes": None, "path": str(inside / "1.png")}]}
    features = datasets.Features({"image": datasets.Image()})
    dataset = datasets.Dataset.from_dict(rows, features=features)
    (item,) = open_source(dataset)
    assert "only the path" in item.reason
    assert "save the data set" in item.reason
    dataset.save_to_disk(str(inside / "saved"))  # as the sentence says
    (sample,) = open_source(inside / "saved")
    assert sample.content == IMAGE


@pytest.mark.slow
@pytest.mark.parametrize("dictionary", [True, False])
def test_large_rows_are_read_few_at_a_time(dictionary, tmp_path, monkeypatch):
    """1024 rows at once held 1024 images; a dictionary hides their size from the metadata."""
    image = pa.array([bytes(2**20 if dictionary else 2**22)] * 100, pa.binary())
    table = pa.table({"image": image})
    pq.write_table(table, tmp_path / "a.parquet", compression="zstd", use_dictionary=dictionary)
    sizes = []
    found = pq.ParquetFile.iter_batches

    def watch(self, **options):
        for batch in found(self, **options):
            sizes.append(batch.nbytes)
            yield batch

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", watch)
    assert sum(1 for _ in open_source(tmp_path / "a.parquet")) == 100
    assert max(sizes) < 80 * 2**20


def test_a_number_is_not_bytes():
    """Python makes a billion zeros of `bytes(10**9)`."""
    rows = [{"image": {"bytes": 10**9}}, {"image": "1.png"}, {"image": np.zeros(3)}, {"other": 1}]
    found = list(Records("r", lambda columns: iter(rows), "image", "image"))
    assert all(isinstance(item, Broken) for item in found)
    assert found[3].reason == "The row has no column `image`."


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".csv", ".txt", ".jsonl", ".zip", ".parquet"])
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_pipes_and_devices_are_refused_as_sources(tmp_path, suffix, kind):
    """They would be read forever."""
    path = tmp_path / f"a{suffix}"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    with pytest.raises(InvalidInputError, match=f"cannot be read.*{kind}"):
        list(open_source(path))


def test_a_pipe_in_a_saved_dataset_is_refused(tmp_path):
    """The library that reads it would wait for ever."""
    datasets = pytest.importorskip("datasets")
    datasets.Dataset.from_dict({"text": ["A rose."]}).save_to_disk(str(tmp_path / "saved"))
    (tmp_path / "saved" / "state.json").unlink()
    os.mkfifo(tmp_path / "saved" / "state.json")
    with pytest.raises(InvalidInputError, match="must be a saved Hugging Face dataset. .*pipe"):
        open_source(tmp_path / "saved")


class Recorded(io.BytesIO):
    """A stream that records the number of bytes it is asked for."""

    def __init__(self, content):
        super().__init__(content)
        self.asked = []

    def read(self, size):
        self.asked.append(size)
        return super().read(size)


@pytest.mark.parametrize("expected", [0, 999, 1000, 1001, 2**30])
def test_a_stream_is_read_to_its_end_whatever_size_is_stated(expected):
    content = os.urandom(1000)
    assert read_stream(Recorded(content), 2000, expected=expected) == content
    assert read_stream(Recorded(content), 2000, expected=expected, step=7) == content


def test_small_files_are_read_into_buffers_of_their_size():
    # Buffers of a whole step, shrunk afterwards, made the memory grow with the number of files.
    stream = Recorded(bytes(1000))
    read_stream(stream, 2000, expected=1000)
    assert stream.asked == [1001]
