"""Samples at any address: the same samples, limits and sentences as on disk."""

import io
import json
import sys
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

fsspec = pytest.importorskip("fsspec")
pytest.importorskip("PIL")
pa = pytest.importorskip("pyarrow")

import pyarrow.parquet as pq  # noqa: E402
from PIL import Image  # noqa: E402

from tradeoff import InvalidInputError  # noqa: E402
from tradeoff._remote import Remote  # noqa: E402
from tradeoff.data import Broken, open_source  # noqa: E402
from tradeoff.data.archives import ImageArchive  # noqa: E402
from tradeoff.data.parts import list_parts, open_part  # noqa: E402
from tradeoff.exceptions import UnavailableError  # noqa: E402

RNG = np.random.default_rng(0)


def png(size=9):
    encoded = io.BytesIO()
    Image.fromarray(RNG.integers(0, 256, (size, size, 3), dtype=np.uint8)).save(encoded, "PNG")
    return encoded.getvalue()


IMAGES = {f"{folder}/{i}.png": png() for folder in ("a", "b") for i in range(4)}


def tar_of(files, path, mode="w"):
    with tarfile.open(path, mode) as archive:
        for name, content in files.items():
            header = tarfile.TarInfo(name)
            header.size = len(content)
            archive.addfile(header, io.BytesIO(content))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Samples of each kind that can be read from anywhere."""
    root = tmp_path_factory.mktemp("samples")
    for name, content in IMAGES.items():
        path = root / "images" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (root / "images" / "notes.txt").write_text("no image")
    for name in ("tars", "rows", "texts"):
        (root / name).mkdir()
    labeled = {f"{i}.png": IMAGES[f"a/{i}.png"] for i in range(4)}
    labeled |= {f"{i}.cls": str(i % 2).encode() for i in range(4)}
    tar_of(dict(sorted(labeled.items())), root / "tars" / "0.tar")
    tar_of(IMAGES, root / "tars" / "1.tar.gz", "w:gz")
    with zipfile.ZipFile(root / "all.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in IMAGES.items():
            archive.writestr(name, content)
    images = [{"bytes": content} for content in IMAGES.values()]
    for i, rows in enumerate((images[:5], images[5:])):
        table = pa.table({"image": rows, "label": [str(i)] * len(rows)})
        pq.write_table(table, root / "rows" / f"{i}.parquet", row_group_size=2)
    lines = [json.dumps({"text": f"A rose, {i}."}) for i in range(5)]
    (root / "texts" / "poems.jsonl").write_text("\n".join(lines))
    (root / "texts" / "poems.txt").write_text("A rose.\nAnother.\n")
    (root / "table.csv").write_text("age,color\n3,red\n5,\n")
    return root


@pytest.fixture(scope="module")
def remote(folder):
    system = fsspec.filesystem("memory")
    system.put(str(folder), "memory://bucket", recursive=True)
    yield "memory://bucket"
    system.rm("/bucket", recursive=True)


def facts(source):
    """What a reader makes of a source, without its own name."""
    return [
        (item.id, item.reason)
        if isinstance(item, Broken)
        else (item.id, item.label, str(item.content))
        for item in source
    ]


KINDS = {
    "images": {},
    "tars": {},
    "tars/0.tar": {},
    "tars/1.tar.gz": {},
    "tars/*.tar*": {},
    "all.zip": {},
    "rows": {"label": "label"},
    "rows/1.parquet": {"label": "label"},
    "rows/*.parquet": {},
    "images/a/*.png": {},
    "images/**/*.png": {},
    "texts/poems.jsonl": {},
    "texts/poems.txt": {},
    "texts/*.txt": {},
    "table.csv": {},
}


@pytest.mark.parametrize("path", KINDS)
def test_the_same_samples_as_on_disk(path, folder, remote):
    options = KINDS[path]
    expected = facts(open_source(f"{folder}/{path}", **options))
    assert expected
    assert facts(open_source(f"{remote}/{path}", **options)) == expected
    assert facts(open_source(f"file://{folder}/{path}", **options)) == expected
    assert facts(open_source(Remote(f"{remote}/{path}"), **options)) == expected


@pytest.mark.parametrize("path", KINDS)
def test_parts_hold_every_sample_once(path, folder, remote, monkeypatch):
    if path.startswith("images/"):
        with pytest.raises(InvalidInputError, match="matches single images"):
            list_parts(f"{remote}/{path}")
        return
    monkeypatch.setattr("tradeoff.data.parts._PART_BYTES", 700)
    for root in (folder, remote):
        parts = list_parts(f"{root}/{path}")
        found = [fact for part in parts for fact in facts(open_part(part, **KINDS[path]))]
        whole = facts(open_source(f"{root}/{path}", **KINDS[path]))
        assert sorted(fact[1:] for fact in found) == sorted(fact[1:] for fact in whole)
        assert len({fact[0] for fact in found}) == len(found)
        assert len({part.name for part in parts}) == len(parts)
        assert parts == list_parts(f"{root}/{path}")
        assert path.partition("/")[0].partition("*")[0] in str(parts[0])


def test_parts_of_loose_images_have_equal_bytes(folder, remote, monkeypatch):
    total = sum(map(len, IMAGES.values()))
    monkeypatch.setattr("tradeoff.data.parts._PART_BYTES", total // 4 + 1)
    for root in (folder, remote):
        parts = list_parts(f"{root}/images")
        sizes = [sum(len(IMAGES[name]) for name in part.files) for part in parts]
        assert len(sizes) == 4
        assert max(sizes) <= total / 4 + max(map(len, IMAGES.values()))


def test_large_parquet_files_are_divided_by_groups_of_rows(folder, monkeypatch):
    monkeypatch.setattr("tradeoff.data.parts._PART_BYTES", 700)
    parts = list_parts(f"{folder}/rows/0.parquet")
    assert [(part.groups, part.first) for part in parts] == [((0,), 0), ((1,), 2), ((2,), 4)]
    assert [item.id for item in open_part(parts[1])] == ["0.parquet[2]", "0.parquet[3]"]


def test_a_changed_file_has_another_version(folder, tmp_path):
    for address in (str(tmp_path / "x.png"), "memory://changed/x.png"):
        root = address.rpartition("/")[0]
        versions = set()
        for content in (IMAGES["a/0.png"], IMAGES["a/1.png"] + b"longer"):
            with fsspec.open(address, "wb") as file:
                file.write(content)
            (part,) = list_parts(root)
            versions.add(part.version)
        assert len(versions) == 2


def test_limits_of_readers_hold_everywhere(remote):
    archive = ImageArchive((Remote(f"{remote}/all.zip"),), most_bytes=50)
    reasons = [item.reason for item in archive]
    assert len(reasons) == len(IMAGES)
    assert all("more than the limit of 50" in reason for reason in reasons)
    tar = facts(ImageArchive((Remote(f"{remote}/tars/1.tar.gz"),), most_bytes=50))
    assert all("more than the limit of 50" in reason for _, reason in tar)


def test_damage_is_a_broken_item_as_on_disk(folder, tmp_path):
    content = (folder / "tars" / "1.tar.gz").read_bytes()
    half = content[: len(content) // 2]
    (tmp_path / "half.tar.gz").write_bytes(half)
    with fsspec.open("memory://damaged/half.tar.gz", "wb") as file:
        file.write(half)
    expected = facts(open_source(tmp_path / "half.tar.gz"))
    assert "The archive is damaged" in expected[-1][1]
    assert facts(open_source("memory://damaged/half.tar.gz")) == expected


def test_paths_in_a_remote_data_set_are_not_followed(tmp_path):
    secret = tmp_path / "secret.png"
    secret.write_bytes(png())
    for path in (str(secret), "secret.png", "memory://bucket/images/a/0.png", "../../secret.png"):
        rows = pa.table({"image": [{"bytes": None, "path": path}]})
        with fsspec.open("memory://paths/rows.parquet", "wb") as file:
            pq.write_table(rows, file)
        (item,) = open_source("memory://paths")
        assert "paths are followed on this machine alone" in item.reason


@pytest.mark.parametrize("path", ["tars/0.tar", "tars/1.tar.gz", "all.zip", "rows/0.parquet"])
def test_a_failing_server_ends_the_run_and_breaks_no_sample(path, remote, monkeypatch):
    from fsspec.implementations.memory import MemoryFile

    read, left = MemoryFile.read, [len(IMAGES["a/0.png"])]

    def failing(file, size=-1):
        left[0] -= 100
        if left[0] <= 0:
            raise ConnectionResetError("the server hung up")
        return read(file, min(size, 100))

    monkeypatch.setattr(MemoryFile, "read", failing)
    with pytest.raises(UnavailableError, match=r"cannot be read now: the server hung up\. Check"):
        list(open_source(f"{remote}/{path}"))


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("memory://nothing/here", "`memory://nothing/here` does not exist"),
        ("memory://nothing/*.tar", r"No file matches `memory://nothing/\*\.tar`"),
        ("memory://bucket/x.npy", "must be on this machine, because .npy files are mapped"),
        ("nosuch://bucket/x", "`nosuch://bucket/x` cannot be opened: Protocol not known"),
        ("memory://bucket/images/**/*", "must match archives, Parquet files or images, of one"),
    ],
)
def test_mistakes_are_told_in_a_sentence(address, sentence, remote):
    with fsspec.open("memory://bucket/x.npy", "wb") as file:
        np.save(file, np.eye(2))
    with pytest.raises(InvalidInputError, match=sentence):
        open_source(address)


@pytest.mark.parametrize(
    ("address", "package"), [("s3://bucket/x.tar", "s3fs"), ("gs://bucket/x.tar", "gcsfs")]
)
def test_the_missing_package_is_named(address, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    known = sys.modules["fsspec.registry"]._registry
    monkeypatch.delitem(known, address.partition(":")[0], raising=False)
    with pytest.raises(InvalidInputError, match=f"requires a package .* (?i:install) {package}"):
        open_source(address)


def test_the_rest_of_a_path():
    place = Remote("memory://bucket/photos/cat.png")
    assert (place.name, place.suffix, str(place.parent)) == (
        "cat.png",
        ".png",
        "memory:///bucket/photos",
    )
    assert str(Remote("memory://bucket/photos/") / "dog.png") == "memory://bucket/photos/dog.png"
    assert Path("x") != place
