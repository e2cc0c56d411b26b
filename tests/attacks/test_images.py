"""One function reads an image, wherever it comes from; files are not left out without a word."""

import io
import os
import time
import warnings

import numpy as np
import pytest

pytest.importorskip("PIL")

from PIL import Image

from tradeoff._pictures import pixels_of
from tradeoff.data import Broken, GrowingFolder, open_source
from tradeoff.exceptions import UnreadableError
from tradeoff.features.images import color_image

TAG = 0x0112


def turned(orientation):
    picture = Image.fromarray(np.arange(288, dtype=np.uint8).reshape(8, 12, 3))
    exif = picture.getexif()
    exif[TAG] = orientation
    content = io.BytesIO()
    picture.save(content, "PNG", exif=exif)
    return Image.open(io.BytesIO(content.getvalue()))


def transparent(mode):
    pixels = np.zeros((8, 8, 4), np.uint8)
    pixels[2:5, 2:5] = (200, 30, 30, 255)
    return Image.fromarray(pixels).convert(mode)


def palette():
    picture = Image.fromarray(np.arange(64, dtype=np.uint8).reshape(8, 8) % 4).convert("P")
    picture.info["transparency"] = 0
    return picture


PICTURES = {
    "plain": lambda: Image.fromarray(np.arange(192, dtype=np.uint8).reshape(8, 8, 3)),
    "gray": lambda: Image.fromarray(np.arange(64, dtype=np.uint8).reshape(8, 8)),
    "one bit": lambda: Image.fromarray(np.eye(8, dtype=bool)),
    "transparent": lambda: transparent("RGBA"),
    "gray and transparent": lambda: transparent("LA"),
    "palette with transparency": palette,
    "cmyk": lambda: Image.new("CMYK", (8, 8), (10, 20, 30, 40)),
    "16 bits": lambda: Image.fromarray((np.arange(64).reshape(8, 8) * 1000).astype(np.uint16)),
    "fractions": lambda: Image.fromarray(np.linspace(0, 1, 64, dtype=np.float32).reshape(8, 8)),
    "32 bits": lambda: Image.fromarray(np.arange(64, dtype=np.int32).reshape(8, 8) * 10**6),
    **{f"turned {i}": lambda i=i: turned(i) for i in range(1, 9)},
}
SUFFIX = {"cmyk": "tiff", "fractions": "tiff", "32 bits": "tiff"}


def seen(source):
    """Pixels that a network would see, or None if the sample is broken."""
    (item,) = open_source(source)
    if isinstance(item, Broken):
        return None
    try:
        return np.asarray(color_image(item))
    except UnreadableError:
        return None


@pytest.mark.parametrize("name", PICTURES)
def test_an_image_is_the_same_wherever_it_comes_from(tmp_path, name):
    picture = PICTURES[name]()
    exif = {"exif": picture.getexif()} if name.startswith("turned") else {}
    picture.save(tmp_path / f"x.{SUFFIX.get(name, 'png')}", **exif)
    expected = seen(tmp_path)
    assert (expected is None) == (name in ("fractions", "32 bits"))
    rows = {
        "row": [{"image": picture, "y": 1}],
        "list": [picture],
        "pair": [(picture, 3)],
    }
    for source in rows.values():
        found = seen(source)
        assert (found is None) == (expected is None)
        if expected is not None:
            np.testing.assert_array_equal(found, expected)


def test_an_unread_file_of_another_format_is_refused(tmp_path):
    """Pillow would start Ghostscript."""
    content = io.BytesIO()
    Image.new("RGB", (8, 8)).save(content, "EPS")
    lazy = Image.open(io.BytesIO(content.getvalue()))
    assert isinstance(next(iter(open_source([lazy]))), Broken)
    assert isinstance(next(iter(open_source([{"image": lazy}]))), Broken)
    with pytest.raises(UnreadableError, match="This one is EPS"):
        pixels_of(lazy)


def test_broken_images_in_memory_are_listed():
    content = io.BytesIO()
    Image.fromarray(np.zeros((64, 64, 3), np.uint8)).save(content, "PNG")
    cut = Image.open(io.BytesIO(content.getvalue()[:-40]))
    fine = Image.new("RGB", (8, 8))
    found = list(open_source([fine, cut]))
    assert [isinstance(item, Broken) for item in found] == [False, True]


@pytest.mark.slow
def test_files_dated_in_the_future_are_told(tmp_path):
    now = time.time()
    for i in range(6):
        path = tmp_path / f"{i}.png"
        Image.new("RGB", (8, 8), (i, i, i)).save(path)
        os.utime(path, (now, now - 10 + 3610 * (i % 2)))
    with pytest.warns(UserWarning, match="3 files .* are left out.* dated in the future"):
        assert len(GrowingFolder(tmp_path, wait=0.5, settle=0.1)(6)) == 3
    for path in tmp_path.iterdir():
        os.utime(path, (now, now - 10))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(GrowingFolder(tmp_path, wait=0.5, settle=0.1)(6)) == 6


def test_many_columns_are_checked_in_linear_time(tmp_path):
    """Work is counted, not timed: each name is compared with each other one in quadratic time."""

    class Name(str):
        compared = 0
        __slots__ = ()

        def __eq__(self, other):
            Name.compared += 1
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    from tradeoff.data.base import check_distinct
    from tradeoff.data.records import Records

    names = [Name(f"c{i}") for i in range(3000)]
    check_distinct("x", names)
    Records.of("x", lambda columns: iter(()), names, kind=None, column=None, label=None)
    assert Name.compared < 30 * len(names)
    (tmp_path / "a.csv").write_text(",".join(names) + "\n" + ",".join("1" * 3000) + "\n")
    assert len(next(iter(open_source(tmp_path / "a.csv"))).content) == 3000
