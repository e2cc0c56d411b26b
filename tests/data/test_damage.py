"""Damaged files end in broken items or one sentence, never in another library's exception."""

import csv
import zipfile

import numpy as np
import pytest

pytest.importorskip("PIL")
pq = pytest.importorskip("pyarrow.parquet")

import pyarrow as pa  # noqa: E402

from tests.data.test_faithful import tarred  # noqa: E402
from tests.data.test_sources import (  # noqa: E402
    arrow,
    encoded,
    parquet,
    pixels,
    saved_dataset,
    stream,
    write_text,
    zipped,
)
from tests.data.test_sources import tarred as tarred_images  # noqa: E402
from tradeoff import InvalidInputError  # noqa: E402
from tradeoff._pictures import decode_image  # noqa: E402
from tradeoff.data import Broken, Sample, open_source  # noqa: E402
from tradeoff.embedding import embed_source  # noqa: E402
from tradeoff.exceptions import UnreadableError  # noqa: E402
from tradeoff.features import Function  # noqa: E402


def test_a_damaged_shard_does_not_end_the_others(tmp_path):
    tarred(tmp_path / "0.tar", {"1.png": encoded(pixels()[0])})
    (tmp_path / "1.zip").write_bytes(b"PK\x03\x04" + bytes(100))
    (tmp_path / "2.tar.gz").write_bytes(b"\x1f\x8b\x08\x00" + bytes(range(100)))
    (tmp_path / "3.tar.xz").write_bytes(b"\xfd7zXZ\x00" + bytes(range(100)))
    (tmp_path / "4.tar.bz2").write_bytes(b"BZh91AY&SY" + bytes(range(100)))
    (tmp_path / "5.tar").mkdir()
    good, *broken = open_source(tmp_path)
    assert good.id == "0.tar/1.png"
    assert [item.id for item in broken] == ["1.zip", "2.tar.gz", "3.tar.xz", "4.tar.bz2", "5.tar"]
    assert all(item.reason.startswith("The archive ") for item in broken)


def test_a_damaged_entry_does_not_end_the_others(tmp_path):
    noise = np.random.default_rng(0).integers(0, 256, 2000, dtype=np.uint8).tobytes()
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("1.png", noise + bytes(2000))
        archive.writestr("2.png", encoded(pixels()[0]))
    content = bytearray((tmp_path / "a.zip").read_bytes())
    content[40:60] = bytes(20)
    (tmp_path / "a.zip").write_bytes(content)
    broken, good = open_source(tmp_path / "a.zip")
    assert broken.id == "a.zip/1.png"
    assert broken.reason.startswith("The archive is damaged here")
    assert good.id == "a.zip/2.png"


def test_a_tar_of_nothing_but_headers(tmp_path):
    """`tarfile` calls itself for each of them."""
    import tarfile

    header = tarfile.TarInfo("x")
    header.type = tarfile.GNUTYPE_LONGNAME
    (tmp_path / "a.tar").write_bytes(header.tobuf() * 5000)
    (broken,) = open_source(tmp_path / "a.tar")
    assert broken.reason.startswith("The archive is damaged")


def test_an_entry_without_a_name(tmp_path):
    source = open_source(tarred(tmp_path / "a.tar", {"": b"abc", ".": b"abc", ".png": b"abc"}))
    assert [item.id for item in source] == ["a.tar/.png"]


def test_an_entry_of_a_zip_without_a_name(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("1.png", encoded(pixels()[0]))
        archive.writestr("x", b"content")
    content = (tmp_path / "a.zip").read_bytes()
    place = content.rindex(b"PK\x01\x02") + 28  # lengths of the name and of the extra field
    damaged = content[:place] + b"\0\0\1\0" + content[place + 4 :]
    (tmp_path / "a.zip").write_bytes(damaged)
    (only,) = open_source(tmp_path / "a.zip")
    assert only.id.endswith("1.png")


def test_cells_that_are_too_long(tmp_path):
    with (tmp_path / "a.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["text"], ["short"], ["x" * 200_000]])
    for kind in ("text", "table"):
        with pytest.raises(InvalidInputError, match="Row 2 .* cells of at most 131,072 characters"):
            list(open_source(tmp_path / "a.csv", kind=kind))
    assert csv.field_size_limit() == 131_072


def test_tables_must_be_utf8(tmp_path):
    (tmp_path / "a.csv").write_bytes("größe\n1\n".encode("latin-1"))
    with pytest.raises(InvalidInputError, match="must be text in UTF-8"):
        open_source(tmp_path / "a.csv")


def test_deep_json_and_half_characters_are_broken(tmp_path):
    lines = ['{"text": "A."}', "[" * 100_000, '{"text": "\\ud800"}', '{"text": ' + "1" * 5000 + "}"]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    good, deep, half, long = open_source(tmp_path / "a.jsonl")
    assert good.content == "A."
    assert deep == Broken("a.jsonl:2", "The line is nested too deeply.")
    assert half.reason.startswith("The text is not valid Unicode")
    assert isinstance(long, Broken)


def test_files_that_must_not_be_read(tmp_path, monkeypatch):
    from pathlib import Path

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    for name, content in (("a.txt", "A."), ("a.jsonl", "{}"), ("a.csv", "x\n1\n")):
        (tmp_path / name).write_text(content)
    monkeypatch.setattr(Path, "open", refuse)
    for name in ("a.txt", "a.jsonl", "a.csv"):
        with pytest.raises(InvalidInputError, match="cannot be read: Permission denied"):
            list(open_source(tmp_path / name))


def test_parquet_that_is_damaged_in_the_middle(tmp_path):
    path = tmp_path / "a.parquet"
    table = pa.table({"text": [f"text {i}" for i in range(300)]})
    options = {"compression": "none", "use_dictionary": False, "write_page_checksum": True}
    pq.write_table(table, path, row_group_size=100, **options)
    content = bytearray(path.read_bytes())
    place = content.index(b"text 150")
    content[place - 20 : place] = b"\xff" * 20
    path.write_bytes(content)
    items = list(open_source(path))
    texts = [item.content for item in items if isinstance(item, Sample)]
    (broken,) = (item for item in items if isinstance(item, Broken))
    assert texts == [f"text {i}" for i in range(300) if not 100 <= i < 200]
    assert broken.id == "a.parquet, row group 1"
    assert broken.reason.startswith("The file is damaged, and rows are missing from here")


def test_folders_of_parquet_must_have_one_schema(tmp_path):
    pq.write_table(pa.table({"x": [1], "y": [2]}), tmp_path / "0.parquet")
    pq.write_table(pa.table({"x": [1]}), tmp_path / "1.parquet")
    with pytest.raises(InvalidInputError, match=r"`1.parquet` has no column `y`"):
        open_source(tmp_path)
    pq.write_table(pa.table({"x": [1], "y": [2], "z": [3]}), tmp_path / "1.parquet")
    with pytest.raises(InvalidInputError, match=r"Only `1.parquet` has a column `z`"):
        open_source(tmp_path)
    pq.write_table(pa.table({"text": ["A."], "a": [1]}), tmp_path / "0.parquet")
    pq.write_table(pa.table({"text": ["B."], "b": [1]}), tmp_path / "1.parquet")
    assert [sample.content for sample in open_source(tmp_path)] == ["A.", "B."]


def test_a_damaged_file_in_a_folder_of_parquet(tmp_path):
    (tmp_path / "0.parquet").write_bytes(b"PAR1 junk PAR1")
    pq.write_table(pa.table({"text": ["A."]}), tmp_path / "1.parquet")
    broken, good = open_source(tmp_path)
    assert broken.id == "0.parquet"
    assert broken.reason.startswith("The file cannot be read")
    assert good.content == "A."


def test_columns_of_one_name_are_refused(tmp_path):
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["x", "x"])
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(InvalidInputError, match="columns with different names. `x` occurs 2 times"):
        open_source(tmp_path / "a.parquet")


def image_file(form):
    def write(path):
        (path / f"a.{form.lower()}").write_bytes(encoded(pixels()[0], form))
        return path / f"a.{form.lower()}"

    return write


SEEDS = {
    "zip": zipped,
    "tar": tarred_images,
    "tar.gz": lambda path: tarred_images(path, "tar.gz"),
    "parquet": parquet,
    "arrow": arrow,
    "stream": stream,
    "csv": lambda path: write_text(path, "csv"),
    "jsonl": lambda path: write_text(path, "jsonl"),
    "dataset": lambda path: next(saved_dataset(path).glob("*.arrow")),
    **{form: image_file(form) for form in ("PNG", "JPEG", "GIF", "TIFF", "BMP", "WEBP", "PPM")},
}


def mutated(content, rng):
    """Flipped bits, a cut, a hole or a doubled piece."""
    content = bytearray(content)
    start, stop = sorted(int(i) for i in rng.integers(0, len(content), 2))
    way = rng.integers(5)
    if way < 2:
        for place in rng.integers(0, len(content), 1 + 7 * way):
            content[place] ^= 1 << rng.integers(8)
    elif way == 2:
        del content[start:]
    elif way == 3:
        content[start:stop] = bytes(stop - start)
    else:
        content[start:start] = content[start:stop]
    return bytes(content)


def mean(values):
    return [[float(len(str(value)))] for value in values]


def end_of(path, way, content):
    """A sentence, or None if there is a value; everything else comes through."""
    try:
        if way.isupper():
            assert decode_image(path.name, content).dtype == np.uint8
            return None
        path.write_bytes(content)
        source = open_source(path if way != "dataset" else path.parent)
        function = Function(mean, "mean", source.kind, None)
        embedded = embed_source(source, function, broken="skip", progress=False)
    except (InvalidInputError, UnreadableError) as error:
        return str(error)
    assert len(embedded.ids) == len(embedded.features) > 0
    return None


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Pillow warns of what it finds odd
@pytest.mark.parametrize("way", SEEDS)
def test_mutations_end_in_values_broken_items_or_sentences(way, tmp_path):
    seed = SEEDS[way](tmp_path)
    whole, rng = seed.read_bytes(), np.random.default_rng(0)
    ends = [end_of(seed, way, mutated(whole, rng)) for _ in range(40)]
    assert all(end is None or end.endswith(".") for end in ends)
    assert any(ends) or way in ("PPM", "BMP")
