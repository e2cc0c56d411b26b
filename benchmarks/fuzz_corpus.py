"""Small valid files of every kind that tradeoff reads, each with the function that reads it.

A kind consists of *parts* and of a *pack* function that turns them into files: it builds an archive
from entries, or computes the checksums of a PNG. Damaging the parts tests what is inside a valid
container; damaging the files tests the container.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import struct
import tarfile
import tempfile
import uuid
import zipfile
import zlib
from dataclasses import dataclass, replace
from functools import cache, partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np

from benchmarks import fuzz_actions as act

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.fuzz_damage import Files

__all__ = ["KINDS", "Kind", "donors"]


@dataclass(frozen=True)
class Kind:
    """One kind of file.

    Args:
        parts: Returns contents by name.
        act: Reads the files of a folder; returns "value", or "broken item" if samples are missing.
        pack: Turns parts into files by name; by default the parts are the files.
        specials: Whether files may be replaced by named pipes, devices and links. Only samples are;
            result files and models are read from places that the user controls.
        bits_only: Whether the damage is a single flipped bit.
    """

    parts: Callable[[], Files]
    act: Callable[[Path], str]
    pack: Callable[[Files], Files] = dict
    specials: bool = True
    bits_only: bool = False


def pixels(mode: str = "RGB") -> np.ndarray:
    """Pixels of a small gradient with noise."""
    rng = np.random.default_rng(0)
    ramp = np.add.outer(np.arange(10), np.arange(12)) * 9
    values = ramp[..., None] + rng.integers(0, 20, (10, 12, len(mode)))
    return (values[..., 0] if len(mode) == 1 else values).astype(np.uint8)


@cache
def image(form: str, mode: str = "RGB", **options: Any) -> bytes:
    """Encoded pixels; with `exif`, the orientation is a rotation."""
    from PIL import Image

    buffer = io.BytesIO()
    values = pixels(mode).astype(np.uint16) * 257 if mode == "I" else pixels(mode)
    if "exif" in options:
        exif = Image.Exif()
        exif[0x0112] = 6
        options = {"exif": exif}
    Image.fromarray(values).save(buffer, form, **options)
    return buffer.getvalue()


def _image(suffix: str, *arguments: Any, **options: Any) -> Kind:
    pack = _with_checksums if suffix == ".png" else dict
    names = (f"0{suffix}", f"1{suffix}")
    content = partial(image, *arguments, **options)
    return Kind(lambda: dict.fromkeys(names, content()), act.read_folder, pack)


def _with_checksums(files: Files) -> Files:
    """PNG files with correct checksums of all chunks."""
    return {name: _sealed(content) for name, content in files.items()}


def _sealed(png: bytes) -> bytes:
    found, place = png[:8], 8
    while len(chunk := png[place : place + 12]) == 12:
        end = place + 8 + int.from_bytes(chunk[:4], "big")
        if end > len(png):
            break
        found += png[place:end] + struct.pack(">I", zlib.crc32(png[place + 4 : end]))
        place = end + 4
    return found + png[place:]


def _entries() -> Files:
    """Images and labels in the layout of webdataset."""
    return {
        "cats/001.png": image("PNG"),
        "cats/001.cls": b"0",
        "cats/002.jpg": image("JPEG"),
        "cats/002.json": b'{"label": "cat", "size": [1, 2.5]}',
        "dogs/003.ppm": image("PPM"),
        "dogs/003.txt": b"a dog",
    }


def _zip(name: str, entries: Files) -> Files:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, content in entries.items():
            info = zipfile.ZipInfo(entry.encode("utf-8", "replace").decode())
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return {name: buffer.getvalue()}


def _tar(name: str, compress: Callable[[bytes], bytes], entries: Files) -> Files:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for entry, content in entries.items():
            info = tarfile.TarInfo(entry)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return {name: compress(buffer.getvalue().rstrip(b"\x00") + bytes(1024))}


def _tar_of(compress: Callable[[bytes], bytes], suffix: str) -> dict[str, Kind]:
    """Two kinds: one for damaged entries and archives, one for a damaged tar inside."""
    name = f"a{suffix}"

    def packed(files: Files) -> Files:
        return {name: compress(next(iter(files.values()), b""))}

    return {
        suffix[1:]: Kind(_entries, act.read_file, partial(_tar, name, compress)),
        f"tar in {suffix[1:]}": Kind(lambda: _tar("a", bytes, _entries()), act.read_file, packed),
    }


def _npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def _features() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(12, 3)).round(3)


def _rows(what: str) -> list[dict[str, Any]]:
    words = ["a rose", "two cats", "Ein Löwe", "第三", 'no, "no"'] * 2
    encoded = image("PNG").decode("latin-1")
    row: Callable[[int], dict[str, Any]] = {
        "features": lambda i: {"features": _features()[i].tolist(), "label": i % 2},
        "images": lambda i: {"image": {"bytes": encoded, "path": f"{i}.png"}, "label": i % 2},
        "paths": lambda i: {"image": {"bytes": None, "path": f"{i % 3}.png"}, "label": "a"},
        "texts": lambda i: {"text": words[i], "label": i % 2},
        "table": lambda i: {"age": i * 1.5, "color": words[i % 3], "ok": None, "label": i % 2},
    }[what]
    return [row(i) for i in range(10)]


def _json_rows(what: str) -> Files:
    return {"rows.json": json.dumps(_rows(what)).encode()}


def _arrow_table(files: Files) -> Any:
    """Arrow table from rows in JSON, whose types may have changed."""
    import pyarrow as pa

    rows = json.loads(next(iter(files.values())))
    for row in rows:
        if isinstance(row.get("image"), dict) and isinstance(row["image"].get("bytes"), str):
            row["image"]["bytes"] = row["image"]["bytes"].encode("latin-1")
    return pa.Table.from_pylist(rows)


def _written(name: str, write: Callable[[Any, Any], None], files: Files) -> Files:
    """File with the rows in a format of Arrow, or with the JSON if Arrow refuses the rows."""
    buffer = io.BytesIO()
    try:
        write(_arrow_table(files), buffer)
    except Exception:  # damaged rows may fail anywhere, and are a test as they are
        return {name: next(iter(files.values()), b"")}
    return {name: buffer.getvalue()}


def _parquet(table: Any, buffer: io.BytesIO) -> None:
    import pyarrow.parquet as pq

    pq.write_table(table, buffer, row_group_size=6)


def _ipc(way: str, table: Any, buffer: io.BytesIO) -> None:
    import pyarrow as pa

    with getattr(pa.ipc, way)(buffer, table.schema) as out:
        out.write_table(table, max_chunksize=6)


def _table_kind(name: str, write: Callable[[Any, Any], None], what: str) -> Kind:
    pack = partial(_written, name, write)
    return Kind(partial(_json_rows, what), partial(act.read_file, label="label"), pack)


def _parquet_and_images(files: Files) -> Files:
    images = {f"{i}.png": image("PNG") for i in range(3)}
    return images | _written("a.parquet", _parquet, files)


def _lines(what: str) -> bytes:
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in _rows(what)).encode()


def _csv(what: str) -> bytes:
    rows = _rows(what)
    lines = [",".join(rows[0]), *(",".join(json.dumps(v) for v in row.values()) for row in rows)]
    return "\r\n".join(lines).replace('\\"', '""').encode()


@cache
def _saved(save: Callable[[Path], object]) -> Files:
    """Files that a function writes to a folder; names from `uuid4` are the same in every run."""
    names = [uuid.UUID(int=number, version=4) for number in range(99)]
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch("uuid.uuid4", side_effect=names),
    ):
        save(Path(folder))
        return {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(Path(folder).rglob("*"))
            if path.is_file()
        }


def _saved_kind(save: Callable[[Path], object], load: Callable[[Path], str]) -> Kind:
    return Kind(partial(_saved, save), load, specials=False)


def _dataset(folder: Path) -> None:
    import datasets

    rows = [{"image": {"bytes": image("PNG"), "path": None}, "label": i % 2} for i in range(3)]
    features = datasets.Features({"image": datasets.Image(), "label": datasets.Value("int64")})
    datasets.Dataset.from_list(rows, features=features).save_to_disk(str(folder))


def _nested_dataset(folder: Path) -> None:
    """Images in a list, in a struct and at the top, next to the texts that are the samples."""
    import datasets

    stored = {"bytes": image("PNG"), "path": None}
    row = {"text": "a rose", "many": [stored], "deep": {"inner": stored}, "side": stored}
    rows = [{**row, "label": i % 2} for i in range(3)]
    picture = datasets.Image()
    features = datasets.Features(
        {
            "text": datasets.Value("string"),
            "many": datasets.List(picture),
            "deep": {"inner": picture},
            "side": picture,
            "label": datasets.Value("int64"),
        }
    )
    datasets.Dataset.from_list(rows, features=features).save_to_disk(str(folder))


def _nested_rows() -> Files:
    """Rows in JSON whose images are nested, by bytes, by path and by address."""
    encoded = image("PNG").decode("latin-1")
    places = [None, "0.png", "../canary.png", "/etc/passwd", "https://example.org/x.png"]
    rows = [
        {
            "text": f"text {i}",
            "many": [{"bytes": encoded if i % 2 else None, "path": places[i % len(places)]}],
            "deep": {"inner": {"bytes": None, "path": places[i % len(places)]}},
            "label": i % 2,
        }
        for i in range(10)
    ]
    return {"rows.json": json.dumps(rows).encode()}


def _as_dataset(files: Files) -> Files:
    """A saved data set of the rows, which claims that everything with bytes is an image."""
    packed = _written("data-00000-of-00001.arrow", partial(_ipc, "new_stream"), files)
    claimed = {
        "text": {"dtype": "string", "_type": "Value"},
        "many": {"feature": {"_type": "Image"}, "_type": "List"},
        "deep": {"inner": {"_type": "Image"}},
        "label": {"dtype": "int64", "_type": "Value"},
    }
    state = {"_data_files": [{"filename": "data-00000-of-00001.arrow"}], "_split": None}
    return packed | {
        "dataset_info.json": json.dumps({"features": claimed}).encode(),
        "state.json": json.dumps(state).encode(),
    }


def _sealed_reference(files: Files) -> Files:
    """A reference whose checksums are right again, as an attacker would write them."""
    path = "reference.json"
    try:
        about = json.loads(files[path])
        about["checksums"] = {name: _digest(files[name]) for name in about["checksums"]}
        about.pop("checksum", None)
        about["checksum"] = _digest(json.dumps(about, sort_keys=True).encode())
        return files | {path: json.dumps(about).encode()}
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError):
        return files


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()


def _unzipped(files: Files) -> Files:
    """Arrays of an .npz archive, by name."""
    with zipfile.ZipFile(io.BytesIO(next(iter(files.values())))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _config() -> Files:
    text = """real = "real.npy"
generated = "generated.npy"
metrics = ["knn", "frechet", "copies"]
estimator = "logistic"
encoder = "identity"
broken = "skip"
level = 0.9
folds = 4
k = 3
seed = 7
limit = 30
diagnose = false
"""
    arrays = {"real.npy": _npy(_features()), "generated.npy": _npy(_features() * 2)}
    return {"run.toml": text.encode()} | arrays


KINDS: dict[str, Kind] = {
    "png": _image(".png", "PNG"),
    "png gray 16": _image(".png", "PNG", "I"),
    "jpeg": _image(".jpg", "JPEG", exif=True),
    "webp": _image(".webp", "WEBP"),
    "bmp": _image(".bmp", "BMP"),
    "tiff": _image(".tif", "TIFF"),
    "tiff lzw": _image(".tif", "TIFF", compression="tiff_lzw"),
    "tiff 16": _image(".tif", "TIFF", "I"),
    "gif": _image(".gif", "GIF"),
    "ppm": _image(".ppm", "PPM"),
    "pgm": _image(".pgm", "PPM", "L"),
    "folder": Kind(_entries, act.read_folder),
    "zip": Kind(_entries, act.read_file, partial(_zip, "a.zip")),
    "tar": Kind(_entries, act.read_file, partial(_tar, "a.tar", bytes)),
    **_tar_of(partial(gzip.compress, mtime=0), ".tar.gz"),
    **_tar_of(bz2.compress, ".tar.bz2"),
    **_tar_of(lzma.compress, ".tar.xz"),
    "npy": Kind(lambda: {"a.npy": _npy(_features())}, act.read_file),
    "npy pixels": Kind(lambda: {"a.npy": _npy(pixels()[None])}, act.read_file),
    "npz": Kind(
        lambda: {"arr_0.npy": _npy(_features()), "arr_1.npy": _npy(np.arange(12))},
        act.read_file,
        partial(_zip, "a.npz"),
    ),
    **{
        f"parquet {what}": _table_kind("a.parquet", _parquet, what)
        for what in ("features", "images", "texts", "table")
    },
    "parquet paths": Kind(partial(_json_rows, "paths"), act.read_folder, _parquet_and_images),
    "arrow file": _table_kind("a.arrow", partial(_ipc, "new_file"), "table"),
    "arrow stream": _table_kind("a.arrow", partial(_ipc, "new_stream"), "features"),
    "jsonl": Kind(lambda: {"a.jsonl": _lines("texts")}, partial(act.read_file, label="label")),
    "csv table": Kind(lambda: {"a.csv": _csv("table")}, act.read_file),
    "csv texts": Kind(lambda: {"a.csv": _csv("texts")}, partial(act.read_file, kind="text")),
    "txt": Kind(lambda: {"a.txt": "A rose.\n\nEin Löwe.\n第三\n".encode()}, act.read_file),
    "dataset": Kind(partial(_saved, _dataset), act.read_folder),
    "store": _saved_kind(act.fill_store, act.use_store),
    "store bits": replace(_saved_kind(act.fill_store, act.use_store), bits_only=True),
    "config": Kind(_config, act.evaluate_config, specials=False),
    "curve": _saved_kind(act.save_curve, act.load_curve),
    "result": _saved_kind(act.save_result, act.load_result),
    "comparison": _saved_kind(act.save_comparison, act.load_comparison),
    "reference": _saved_kind(act.save_reference, act.load_reference),
    "nested dataset": Kind(
        partial(_saved, _nested_dataset), partial(act.read_folder, label="label")
    ),
    "nested rows": Kind(_nested_rows, partial(act.read_folder, label="label"), _as_dataset),
    "reference sealed": Kind(
        partial(_saved, act.save_reference),
        act.load_reference,
        _sealed_reference,
        specials=False,
    ),
    "reference bits": replace(
        _saved_kind(act.save_reference, act.load_same_reference), bits_only=True
    ),
    "state": _saved_kind(act.save_state, act.load_state),
    "state arrays": Kind(
        lambda: _unzipped(_saved(act.save_state)),
        act.load_state,
        partial(_zip, "state"),
        specials=False,
    ),
    "ledger": _saved_kind(act.save_ledger, act.use_ledger),
    "ledger bits": replace(_saved_kind(act.save_ledger, act.lose_one_record), bits_only=True),
    "image rows": Kind(
        lambda: {
            "0.png": image("PNG", "RGBA"),
            "1.jpg": image("JPEG", exif=True),
            "2.png": image("PNG", "I"),
            "3.gif": image("GIF"),
            "4.tif": image("TIFF", compression="tiff_lzw"),
        },
        act.read_rows,
        specials=False,
    ),
    "onnx": _saved_kind(act.save_onnx, act.run_onnx),
    "vision model": _saved_kind(act.save_vision, act.run_vision),
    "text model": _saved_kind(act.save_text, act.run_text),
}


@cache
def donors() -> tuple[bytes, ...]:
    """Contents that are mixed into others: valid files, an EPS, and two pickles."""
    names = ("png", "jpeg", "tiff lzw", "gif", "zip", "tar.gz", "npy", "npz", "jsonl", "csv table")
    contents = [data for name in names for data in KINDS[name].pack(KINDS[name].parts()).values()]
    eps = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n%%EOF\n"
    return (*contents, eps, b"cos\nsystem\n(S'true'\ntR.", b"\x80\x04K\x01.")
