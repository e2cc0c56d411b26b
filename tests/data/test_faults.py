"""Files that are not what they should be, each with its sentence."""

import io
import struct
import tarfile
import zipfile
import zlib

import numpy as np
import pytest

pytest.importorskip("PIL")

from PIL import Image

from tests.data.test_sources import encoded, pixels
from tradeoff import InvalidInputError
from tradeoff._pictures import decode_image
from tradeoff.data import Broken, open_source
from tradeoff.exceptions import UnreadableError


def bomb():
    """The head of a PNG that claims 50,000 × 50,000 pixels."""

    def chunk(name, content):
        whole = name + content
        return struct.pack(">I", len(content)) + whole + struct.pack(">I", zlib.crc32(whole))

    head = struct.pack(">IIBBBBB", 50_000, 50_000, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(bytes(100))), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts)


def cut():
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    whole = encoded(noise, "JPEG")
    return whole[: len(whole) // 2]


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.png", b"", "The file is empty"),
        ("a.png", b"hello", "The file is not an image .PNG, JPEG,"),
        ("a.jpg", cut(), "The image is damaged: image file is truncated"),
        ("a.png", encoded(pixels()[0], "GIF"), "The name says .png, but the file is GIF"),
        ("a.png", bomb(), "The image has more than 100,000,000 pixels"),
        ("a.png", b"\x80\x04cos\nsystem\n", "The file is not an image"),
    ],
)
def test_bad_images_get_a_reason(name, content, sentence):
    with pytest.raises(UnreadableError, match=sentence):
        decode_image(name, content)


def saved(image, form="PNG"):
    buffer = io.BytesIO()
    image.save(buffer, form)
    return buffer.getvalue()


def test_unusual_images_become_eight_bits_of_color():
    deep = Image.fromarray(np.array([[0, 32_768, 65_535]], np.uint16))
    np.testing.assert_array_equal(decode_image("a.png", saved(deep))[0, :, 0], [0, 128, 255])
    cmyk = Image.new("CMYK", (2, 2), (0, 0, 0, 0))
    np.testing.assert_array_equal(decode_image("a.jpg", saved(cmyk, "JPEG")), 255)
    clear = Image.new("RGBA", (2, 2), (10, 20, 30, 0))
    np.testing.assert_array_equal(decode_image("a.png", saved(clear)), 255)
    palette = Image.new("P", (2, 2), 1)
    palette.putpalette([0, 0, 0, 10, 20, 30])
    np.testing.assert_array_equal(decode_image("a.png", saved(palette))[0, 0], [10, 20, 30])
    gray = Image.new("L", (2, 2), 77)
    np.testing.assert_array_equal(decode_image("a.png", saved(gray)), 77)


def test_unreadable_files_are_named(tmp_path):
    (tmp_path / "a.png").symlink_to(tmp_path / "gone.png")
    (found,) = open_source(tmp_path)
    assert found == Broken("a.png", "The file cannot be read: No such file or directory.")


def test_names_do_not_lead_out_of_archives(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("../evil.png", encoded(pixels()[0]))
        archive.writestr("good.png", encoded(pixels()[0]))
    broken, good = open_source(tmp_path / "a.zip")
    assert broken == Broken("a.zip/../evil.png", "The name leads out of the archive.")
    assert good.id == "a.zip/good.png"
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for name in ("/etc/evil.png", "good.png"):
            entry = tarfile.TarInfo(name)
            entry.size = 3
            archive.addfile(entry, io.BytesIO(b"abc"))
    broken, good = open_source(tmp_path / "a.tar")
    assert broken.reason == "The name leads out of the archive."
    assert good.id == "a.tar/good.png"


def test_a_cut_archive_is_named(tmp_path):
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        entry = tarfile.TarInfo("big.png")
        entry.size = 5000
        archive.addfile(entry, io.BytesIO(bytes(5000)))
    whole = (tmp_path / "a.tar").read_bytes()
    (tmp_path / "a.tar").write_bytes(whole[:2000])
    (broken,) = open_source(tmp_path / "a.tar")
    assert broken.reason.startswith("The archive is damaged")


def write(path, content):
    path.write_bytes(content)
    return path


def pickled(path):
    np.save(path / "a.npy", np.array([{"a": 1}], object), allow_pickle=True)
    return path / "a.npy"


def statistics(path):
    np.savez(path / "fid.npz", mu=np.zeros(3), sigma=np.eye(3))
    return path / "fid.npz"


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda p: p / "nowhere", "nowhere` does not exist"),
        (lambda p: p, "must hold images .* Got none"),
        (pickled, "holds pickled objects, which could run any code and are not loaded"),
        (statistics, "mean and covariance alone, .* pass the samples or their features"),
        (lambda p: write(p / "a.npy", b"junk"), "must be a NumPy file"),
        (lambda p: write(p / "a.npz", b"junk"), "must be a NumPy file"),
        (lambda p: write(p / "a.parquet", b"junk"), "must be a Parquet file"),
        (lambda p: write(p / "a.arrow", b"junk"), "must be an Arrow file"),
        (lambda p: write(p / "a.csv", b""), "must have a line with the names of its columns"),
        (lambda p: write(p / "a.txt", b"\n\n"), "must hold texts. Got none"),
        (lambda p: write(p / "a.txt", b"\xff\xfe\xfa"), "must be text in UTF-8"),
        (lambda p: write(p / "a.xyz", b"x"), "must be a folder, an archive, or end in .npz"),
        (lambda p: np.zeros((2, 3, 4, 5, 6)), r"Got float64 of shape \(2, 3, 4, 5, 6\)"),
        (lambda p: np.full((2, 3, 4), 2.0), r"as floats from 0 to 1. Got floats from 2 to 2"),
        (lambda p: np.zeros((2, 3, 4, 3), int), r"pixels as uint8 .* Got int64"),
        (
            lambda p: 3,
            "must be a path, an array, a DataFrame, a dataset or a list of samples. Got a int",
        ),
        (lambda p: iter(["a"]), "Pass `kind` to say what the iterator `samples` yields"),
        (lambda p: [], "`samples` must hold samples, got none"),
    ],
)
def test_mistakes_get_a_sentence(make, sentence, tmp_path):
    with pytest.raises(InvalidInputError, match=sentence):
        list(open_source(make(tmp_path)))


def test_columns_are_asked_for_by_name(tmp_path):
    (tmp_path / "a.csv").write_text("body\nhello\n")
    with pytest.raises(InvalidInputError, match="must have a column `text`. Got body"):
        list(open_source(tmp_path / "a.csv", kind="text"))
    assert [s.content for s in open_source(tmp_path / "a.csv", column="body")] == ["hello"]
    with pytest.raises(InvalidInputError, match="`kind` must be one of image, text"):
        open_source(["a"], kind="poem")


def test_faults_do_not_stop_an_evaluation_and_are_named(tmp_path):
    """From the folder to the result: what is broken is left out, the rest is measured."""
    from tradeoff import evaluate

    for side in ("real", "generated"):
        (tmp_path / side).mkdir()
        for i in range(30):
            shade = np.full((8, 8, 3), 8 * i, np.uint8)
            (tmp_path / side / f"{i}.png").write_bytes(encoded(shade))
    faults = {"cut.jpg": cut(), "empty.png": b"", "bomb.png": bomb(), "text.png": b"no image"}
    for name, content in faults.items():
        (tmp_path / "generated" / name).write_bytes(content)
    result = evaluate(
        real=tmp_path / "real",
        generated=tmp_path / "generated",
        encoder=lambda images: [np.asarray(image).mean((0, 1)) for image in images],
        metrics="curve",
        estimator="logistic",
        diagnose=False,
    )
    assert {item.id for item in result.broken["generated"]} == set(faults)
    assert all(item.reason.endswith(".") for item in result.broken["generated"])
    assert result.provenance["samples"]["generated"] == 30


def test_a_row_with_a_cell_too_many(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n3,4,5\n")
    with pytest.raises(InvalidInputError, match="Row 2 of .* as many cells .* 2. It has 3"):
        list(open_source(path))
    path.write_text("a,b\n1,2\n3\n")
    with pytest.raises(InvalidInputError, match="Row 2 of .* as many cells .* 2. It has 1"):
        list(open_source(path))


def test_names_that_are_no_text(tmp_path):
    """The file system may hold any bytes; an id can be printed and stored."""
    import os

    os.mkdir(os.fsencode(tmp_path) + b"/\xff")
    with open(os.fsencode(tmp_path) + b"/\xff/1.png", "wb") as file:
        file.write(encoded(np.zeros((8, 8, 3), np.uint8)))
    (sample,) = open_source(tmp_path)
    assert sample.id == "\\xff/1.png"
    with pytest.raises(InvalidInputError, match="must be a path. Got an empty one"):
        open_source("")
