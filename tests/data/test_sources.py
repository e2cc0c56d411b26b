"""Every way of keeping samples gives the same samples, with ids and labels."""

import csv
import io
import json
import tarfile
import zipfile

import numpy as np
import pytest

pytest.importorskip("PIL")
pytest.importorskip("pyarrow")
datasets = pytest.importorskip("datasets")

import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402
from PIL import Image  # noqa: E402

from tradeoff import InvalidInputError  # noqa: E402
from tradeoff._pictures import decode_image  # noqa: E402
from tradeoff.data import Broken, Sample, open_source  # noqa: E402

N = 6


def pixels():
    return np.random.default_rng(0).integers(0, 256, (N, 8, 9, 3), dtype=np.uint8)


def encoded(array, form="PNG"):
    buffer = io.BytesIO()
    Image.fromarray(array).save(buffer, form)
    return buffer.getvalue()


def names():
    return [f"{'cats' if i < 3 else 'dogs'}/{i}.png" for i in range(N)]


def folder(path):
    for name, image in zip(names(), pixels(), strict=True):
        (path / name).parent.mkdir(exist_ok=True)
        (path / name).write_bytes(encoded(image))
    (path / "notes.txt").write_text("not an image")
    return path


def zipped(path):
    with zipfile.ZipFile(path / "images.zip", "w") as archive:
        for name, image in zip(names(), pixels(), strict=True):
            archive.writestr(name, encoded(image))
    return path / "images.zip"


def tarred(path, suffix="tar", labels=False):
    target = path / f"shard-0.{suffix}"
    with tarfile.open(target, "w:gz" if suffix.endswith("gz") else "w") as archive:
        for i, image in enumerate(pixels()):
            files = {f"{i:03}.png": encoded(image)}
            if labels:
                files[f"{i:03}.cls"] = b"cats" if i < 3 else b"dogs"
            for name, content in files.items():
                entry = tarfile.TarInfo(name if labels else names()[i])
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
    return target


def shards(path):
    tarred(path, labels=True)
    return path


def npz(path):
    np.savez(path / "samples.npz", pixels(), np.repeat(["cats", "dogs"], 3))
    return path / "samples.npz"


def npy(path):
    np.save(path / "samples.npy", pixels())
    return path / "samples.npy"


def rows():
    return {
        "image": [encoded(image) for image in pixels()],
        "kind": ["cats"] * 3 + ["dogs"] * 3,
    }


def parquet(path):
    pq.write_table(pa.table(rows()), path / "images.parquet", row_group_size=4)
    return path / "images.parquet"


def arrow(path):
    table = pa.table(rows())
    with pa.OSFile(str(path / "i.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as out:
        out.write_table(table)
    return path / "i.arrow"


def stream(path):
    table = pa.table(rows())
    with (
        pa.OSFile(str(path / "s.arrow"), "wb") as sink,
        pa.ipc.new_stream(sink, table.schema) as out,
    ):
        out.write_table(table)
    return path / "s.arrow"


def dataset(_):
    table = {"image": [{"bytes": b, "path": None} for b in rows()["image"]], "kind": rows()["kind"]}
    features = datasets.Features({"image": datasets.Image(), "kind": datasets.Value("string")})
    return datasets.Dataset.from_dict(table, features=features)


def saved_dataset(path):
    dataset(path).save_to_disk(str(path / "saved"))
    return path / "saved"


def tensor(_):
    import torch

    return torch.from_numpy(pixels())


def pictures(_):
    return [Image.fromarray(image) for image in pixels()]


LABELED = {
    "folder": folder,
    "zip": zipped,
    "tar": tarred,
    "tar.gz": lambda path: tarred(path, "tar.gz"),
    "webdataset": shards,
    "npz": npz,
    "parquet": parquet,
    "arrow file": arrow,
    "arrow stream": stream,
    "dataset": dataset,
    "dataset on disk": saved_dataset,
}
PLAIN = {"npy": npy, "tensor": tensor, "pictures": pictures, "array": lambda _: pixels()}


def decoded(sample):
    if isinstance(sample.content, np.ndarray):
        return sample.content
    return decode_image(sample.id, sample.content)


WAYS = [pytest.param(w, marks=pytest.mark.torch if w == "tensor" else ()) for w in LABELED | PLAIN]


@pytest.mark.parametrize("way", WAYS)
def test_images_are_the_same_in_every_way(way, tmp_path):
    value = (LABELED | PLAIN)[way](tmp_path)
    label = "kind" if way.startswith(("parquet", "arrow", "dataset")) else None
    source = open_source(value, label=label)
    assert source.kind == "image"
    samples = list(source)
    np.testing.assert_array_equal([decoded(sample) for sample in samples], pixels())
    assert len({sample.id for sample in samples}) == N
    if way in LABELED:
        assert [sample.label for sample in samples] == rows()["kind"]
    again = list(source)
    assert [(s.id, s.digest) for s in again] == [(s.id, s.digest) for s in samples]


TEXTS = ["A rose.", "Ein Löwe, brüllend.", "第三"]


def write_text(path, way):
    if way == "txt":
        (path / "t.txt").write_text("\n\n".join(TEXTS) + "\n", encoding="utf-8")
    elif way == "jsonl":
        lines = [json.dumps({"text": text, "n": i}) for i, text in enumerate(TEXTS)]
        (path / "t.jsonl").write_text("\n".join(lines), encoding="utf-8")
    elif way == "csv":
        with (path / "t.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([["n", "text"], *([i, t] for i, t in enumerate(TEXTS))])
    else:
        pq.write_table(pa.table({"text": TEXTS}), path / "t.parquet")
    return path / f"t.{way}"


@pytest.mark.parametrize("way", ["txt", "jsonl", "csv", "parquet"])
def test_texts_are_the_same_in_every_way(way, tmp_path):
    source = open_source(write_text(tmp_path, way), kind="text")
    assert [sample.content for sample in source] == TEXTS
    assert source.kind == "text"


def test_tables_keep_numbers_and_words(tmp_path):
    (tmp_path / "cats.csv").write_text("age,color,kind\n3,red,cat\n,blue,cat\n")
    expected = [{"age": 3.0, "color": "red"}, {"age": None, "color": "blue"}]
    source = open_source(tmp_path / "cats.csv", label="kind")
    assert source.kind == "table"
    assert [(s.content, s.label) for s in source] == [(row, "cat") for row in expected]
    pq.write_table(pa.Table.from_pylist(expected), tmp_path / "cats.parquet")
    assert [s.content for s in open_source(tmp_path / "cats.parquet")] == expected
    assert [s.content for s in open_source(expected)] == expected


def test_features_come_as_rows(tmp_path):
    features = np.random.default_rng(0).normal(size=(4, 3))
    pq.write_table(pa.table({"features": list(features)}), tmp_path / "f.parquet")
    for value in (features, tmp_path / "f.parquet", list(features)):
        source = open_source(value)
        assert source.kind == "features"
        np.testing.assert_array_equal([sample.content for sample in source], features)


def test_ids_of_iterables_can_be_given():
    found = list(open_source([("a", np.zeros(2)), ("b", np.ones(2))]))
    assert [(s.id, s.content.tolist()) for s in found] == [("a", [0.0, 0.0]), ("b", [1.0, 1.0])]
    lazy = open_source(iter(["One."]), kind="text")
    assert [s.content for s in lazy] == ["One."]
    with pytest.raises(InvalidInputError, match="an iterator can be read only once"):
        list(lazy)


def test_digests_follow_content_and_nothing_else():
    one, two = Sample("a", b"x"), Sample("b", b"x", "label")
    assert one.digest == two.digest
    others = [Sample("a", "x"), Sample("a", b"y"), Sample("a", np.zeros(1)), Sample("a", {"x": 1})]
    assert len({one.digest, *(other.digest for other in others)}) == 5
    assert Sample("a", {"x": 1, "y": 2}).digest == Sample("a", {"y": 2, "x": 1}).digest
    assert Sample("", np.zeros((2, 3))).digest != Sample("", np.zeros((3, 2))).digest


def test_broken_rows_are_named(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"text": "A."}\nnot json\n{"text": 3}\n')
    found = list(open_source(tmp_path / "t.jsonl"))
    assert [type(item) for item in found] == [Sample, Broken, Broken]
    assert found[1] == Broken("t.jsonl:2", "The line is not JSON.")
    features = np.array([[1.0, 2.0], [np.nan, 0.0]])
    assert list(open_source(features))[1] == Broken("samples[1]", "The row holds NaN or infinity.")
