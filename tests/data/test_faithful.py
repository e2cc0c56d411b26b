"""Readers that once changed or lost samples without a word."""

import io
import json
import shutil
import tarfile

import numpy as np
import pytest

pytest.importorskip("PIL")
pq = pytest.importorskip("pyarrow.parquet")

import pyarrow as pa  # noqa: E402
from PIL import EpsImagePlugin, Image, ImageOps  # noqa: E402

from tests.data.test_sources import encoded, pixels  # noqa: E402
from tradeoff import InvalidInputError  # noqa: E402
from tradeoff._pictures import decode_image  # noqa: E402
from tradeoff.data import Broken, Sample, open_source  # noqa: E402
from tradeoff.data.text import as_value  # noqa: E402
from tradeoff.exceptions import UnreadableError  # noqa: E402
from tradeoff.features.images import Pixels  # noqa: E402


def saved(image, form, **options):
    buffer = io.BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


def tarred(path, files):
    with tarfile.open(path, "w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return path


@pytest.mark.skipif(shutil.which("sh") is None, reason="the stand-in is a shell script")
def test_postscript_does_not_start_ghostscript(tmp_path, monkeypatch):
    program, started = tmp_path / "gs", tmp_path / "started"
    program.write_text(f"#!/bin/sh\ntouch {started}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(EpsImagePlugin, "gs_binary", None)
    with pytest.raises(UnreadableError, match="The file is not an image"):
        decode_image("cat.png", saved(Image.new("RGB", (8, 8)), "EPS"))
    assert not started.exists()


@pytest.mark.parametrize(
    ("pixel", "form", "name"),
    [(np.float32(0.7), "TIFF", "a.tif"), (np.int32(90_000), "TIFF", "a.tiff")],
)
def test_pixels_of_unknown_range_are_refused(pixel, form, name):
    """They were black."""
    deep = saved(Image.fromarray(np.full((4, 4), pixel)), form)
    with pytest.raises(UnreadableError, match="which value is white: convert the image to 8 bits"):
        decode_image(name, deep)


def test_sixteen_bits_are_scaled_in_every_format():
    deep = np.array([[0, 32_768, 65_535]], np.uint16)
    for form, name in (("PNG", "a.png"), ("TIFF", "a.tif")):
        found = decode_image(name, saved(Image.fromarray(deep), form))
        np.testing.assert_array_equal(found[0, :, 0], [0, 128, 255])
    graymap = b"P5 3 1 65535 " + deep.astype(">u2").tobytes()
    np.testing.assert_array_equal(decode_image("a.pgm", graymap)[0, :, 0], [0, 128, 255])


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "TIFF"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation_is_applied(orientation, form):
    exif = Image.Exif()
    exif[0x0112] = orientation
    image = saved(Image.fromarray(pixels()[0]), form, exif=exif)
    expected = np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(image))).convert("RGB"))
    found = decode_image("image", image)
    np.testing.assert_array_equal(found, expected)
    assert found.shape == ((8, 9, 3) if orientation < 5 else (9, 8, 3))


def test_metadata_that_cannot_be_read_say_nothing():
    image = saved(
        Image.fromarray(pixels()[0]), "PNG", exif=b"Exif\x00\x00MM\x00\x2a\xff\xff\xff\xff"
    )
    np.testing.assert_array_equal(decode_image("a.png", image), pixels()[0])


def test_a_line_of_pixels_is_not_blown_up():
    line = Sample("line", np.zeros((1, 50_000, 3), np.uint8))
    with pytest.raises(UnreadableError, match="too long for its width, 50,000 × 1 pixels"):
        Pixels(height=224, width=224, shorter=256).of(line)
    with pytest.raises(UnreadableError, match=r"shape .height, width, 3.. Got .8, 8, 5."):
        Pixels(height=4, width=4).of(Sample("odd", np.zeros((8, 8, 5), np.uint8)))


def test_tar_entries_do_not_vanish(tmp_path):
    images = [encoded(image) for image in pixels()]
    files = {
        "photo.v2.png": images[0],
        "001.cls": b"cat",
        "001.jpg": images[1],
        "001.png": images[2],
        "001.mask.png": images[3],
        "cfg1.5_0.png": images[4],
        "cfg1.5_1.png": images[5],
    }
    found = list(open_source(tarred(tmp_path / "a.tar", files)))
    expected = {name: content for name, content in files.items() if name != "001.cls"}
    assert {sample.id.partition("/")[2]: sample.content for sample in found} == expected
    assert [sample.label for sample in found] == [None, "cat", "cat", "cat", None, None]


def test_labels_of_a_tar(tmp_path):
    image = encoded(pixels()[0])
    files = {
        "./a/0.json": json.dumps({"label": "from json"}).encode(),
        "./a/0.png": image,
        "./a/0.cls": b"from cls",
        "./a/1.PNG": image,
        "./a/1.json": b"[" * 100_000,
        "2.png": image,
        "2.json": b'{"label": "\\ud800"}',
    }
    zero, nested, one, two = open_source(tarred(tmp_path / "a.tar", files))
    assert (zero.label, one.label, two.label) == ("from cls", "a", "\\xed\\xa0\\x80")
    assert one.id == "a.tar/./a/1.PNG"
    assert nested == Broken("a.tar/./a/1.json", "The label is not JSON that can be read.")


def test_links_in_a_tar_are_listed(tmp_path):
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE):
            entry = tarfile.TarInfo("link.png")
            entry.type, entry.linkname = kind, "/etc/passwd"
            archive.addfile(entry)
    found = list(open_source(tmp_path / "a.tar"))
    reason = "The entry is a link or a device, not a file."
    assert found == [Broken("a.tar/link.png", reason)] * 3


def test_an_image_before_the_cut_is_kept(tmp_path):
    """It waited for its label, and was lost with it."""
    image = encoded(pixels()[0])
    path = tarred(tmp_path / "a.tar", {"1.png": image, "1.cls": bytes(5000)})
    whole = path.read_bytes()
    path.write_bytes(whole[: 512 + -(-len(image) // 512) * 512 + 700])
    broken, sample = open_source(path)
    assert broken.reason.startswith("The archive is damaged")
    assert sample.content == image


def test_a_tar_that_ends_with_a_zip_is_a_tar(tmp_path):
    import zipfile

    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("inner.png", b"")
    files = {"1.png": encoded(pixels()[0]), "data.zip": inner.getvalue()}
    (sample,) = open_source(tarred(tmp_path / "a.tar", files))
    assert sample.id == "a.tar/1.png"


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("1_000", "1_000"),
        ("١٢", "١٢"),
        ("0x10", "0x10"),
        ("1e", "1e"),
        (".", "."),
        ("infinite", "infinite"),
        (" 12 ", 12.0),
        ("-.5E-3", -0.0005),
        ("3.", 3.0),
        ("+Infinity", np.inf),
        ("-inf", -np.inf),
        ("", None),
        ("  ", None),
        ("NaN", None),
        ("NA", None),
        ("null", None),
    ],
)
def test_cells_are_numbers_words_or_missing(cell, value):
    assert as_value(cell) == value


def test_csv_tables_read_what_is_written(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\ufeffx,kind\n1_000,01\n2,\n", encoding="utf-8")
    found = list(open_source(path, label="kind"))
    assert [(s.content, s.label) for s in found] == [({"x": "1_000"}, "01"), ({"x": 2.0}, None)]
    path.write_text("x,y,x\n1,2,3\n")
    with pytest.raises(InvalidInputError, match="columns with different names. `x` occurs 2 times"):
        open_source(path)


def test_text_lines_begin_after_the_mark_of_utf8(tmp_path):
    (tmp_path / "a.jsonl").write_text('\ufeff{"text": "A."}\n', encoding="utf-8")
    (tmp_path / "a.txt").write_text("\ufeffA.\n", encoding="utf-8")
    for name in ("a.jsonl", "a.txt"):
        assert [sample.content for sample in open_source(tmp_path / name)] == ["A."]


def test_a_label_that_is_absent_is_none(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "A.", "kind": null}\n{"text": "B."}\n')
    assert [s.label for s in open_source(tmp_path / "a.jsonl", label="kind")] == [None, None]
    pq.write_table(pa.table({"text": ["A."], "kind": pa.nulls(1, pa.string())}), tmp_path / "a.pq")
    assert [s.label for s in open_source(tmp_path / "a.pq", label="kind")] == [None]


@pytest.mark.parametrize(
    "values", [["1", "2"], [1j, 2j], np.array(["2020-01-01"], "M8[D]"), [[1.0], [1.0, 2.0]], [None]]
)
def test_features_that_are_not_numbers_are_broken(values):
    from tradeoff.data.records import Records

    (item,) = Records("f", lambda columns: iter([{"x": values}]), "features", "x")
    assert isinstance(item, Broken)
    assert item.reason.startswith("Features must be numbers")


def test_digests_see_the_whole_of_a_long_array():
    """Of two arrays in a field, only the ends were hashed."""
    one, other = np.zeros(2000), np.zeros(2000)
    other[1000] = 1.0
    assert Sample("a", {"x": one}).digest != Sample("a", {"x": other}).digest
    assert Sample("a", {"x": np.int64(3)}).digest == Sample("a", {"x": 3}).digest
    assert len(Sample("a", "\ud800").digest) == 32
