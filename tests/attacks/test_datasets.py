"""A data set of others starts no program, leaves its folder nowhere and opens no connection."""

import http.server
import io
import json
import os
import sys
import threading

import pytest

pytest.importorskip("PIL")
datasets = pytest.importorskip("datasets")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from PIL import Image  # noqa: E402

from tradeoff.data import Broken, open_source  # noqa: E402
from tradeoff.exceptions import InvalidInputError  # noqa: E402

EPS = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n%%EOF\n"
STORED = {"bytes": datasets.Value("binary"), "path": datasets.Value("string")}
IMAGE = {"_type": "Image"}
NESTED = {
    "list": ([STORED], [IMAGE], lambda item: [item]),
    "struct": ({"inner": STORED}, {"inner": IMAGE}, lambda item: {"inner": item}),
    "list of structs": (
        [{"inner": STORED}],
        [{"inner": IMAGE}],
        lambda item: [{"inner": item}],
    ),
    "top level": (STORED, IMAGE, lambda item: item),
}


def png(color=(7, 8, 9)):
    content = io.BytesIO()
    Image.new("RGB", (8, 8), color).save(content, "PNG")
    return content.getvalue()


@pytest.fixture
def watch(tmp_path, monkeypatch):
    """Ghostscript that leaves a mark, a file outside and a server; returns what was touched."""
    mark, outside, requests, opened = tmp_path / "started", tmp_path / "outside.png", [], []
    (tmp_path / "bin").mkdir()
    ghostscript = tmp_path / "bin" / "gs"
    ghostscript.write_text(f"#!/bin/sh\ntouch {mark}\necho 10.0\nexit 1\n")
    ghostscript.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    outside.write_bytes(png())

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            requests.append(self.path)
            self.send_response(404)
            self.end_headers()

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    armed = [True]

    def note(event, arguments):
        if armed[0] and event == "open" and str(arguments[0]) == str(outside):
            opened.append(event)

    sys.addaudithook(note)
    address = f"http://127.0.0.1:{server.server_port}/x.png"
    items = {
        "eps": {"bytes": EPS, "path": None},
        "outside": {"bytes": None, "path": str(outside)},
        "address": {"bytes": None, "path": address},
    }
    yield items, lambda: [mark.exists(), bool(opened), bool(requests)]
    armed[0] = False
    server.shutdown()
    server.server_close()


def saved(folder, nested, item, column="extra"):
    """A saved data set whose description claims that a column of bytes and paths holds images."""
    feature, claimed, wrapped = NESTED[nested]
    features = datasets.Features({"text": datasets.Value("string"), column: feature})
    rows = {"text": ["a", "b", "c"], column: [wrapped(item)] * 3}
    datasets.Dataset.from_dict(rows, features=features).save_to_disk(folder)
    info = json.loads((folder / "dataset_info.json").read_text())
    info["features"][column] = claimed
    (folder / "dataset_info.json").write_text(json.dumps(info))
    return folder


@pytest.mark.parametrize("kind", ["eps", "outside", "address"])
@pytest.mark.parametrize("nested", NESTED)
def test_nested_images_are_not_decoded(watch, tmp_path, nested, kind):
    items, touched = watch
    folder = saved(tmp_path / "saved", nested, items[kind])
    assert [item.content for item in open_source(folder)] == ["a", "b", "c"]
    in_memory = datasets.load_from_disk(str(folder))
    assert [item.content for item in open_source(in_memory)] == ["a", "b", "c"]
    streamed = in_memory.to_iterable_dataset()
    assert [item.content for item in open_source(streamed)] == ["a", "b", "c"]
    rows = [item.content for item in open_source(in_memory, kind="table")]
    assert [row["text"] for row in rows] == ["a", "b", "c"]
    assert touched() == [False, False, False]


@pytest.mark.parametrize("kind", ["outside", "address"])
def test_images_by_path_stay_in_the_folder(watch, tmp_path, kind):
    items, touched = watch
    folder = saved(tmp_path / "saved", "top level", items[kind], column="image")
    for source in (folder, datasets.load_from_disk(str(folder))):
        assert all(isinstance(item, Broken) for item in open_source(source))
    assert touched() == [False, False, False]


def test_images_inside_the_folder_are_read(tmp_path):
    folder = saved(tmp_path / "saved", "top level", {"bytes": None, "path": "1.png"}, "image")
    (folder / "1.png").write_bytes(png())
    assert [item.content for item in open_source(folder)] == [png()] * 3


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../secret.arrow", "leads out of the folder"),
        ("/etc/passwd", "leads out of the folder"),
        ("gone.arrow", "No such file"),
    ],
)
def test_files_of_a_saved_data_set_must_lie_in_it(tmp_path, name, why):
    folder = tmp_path / "saved"
    datasets.Dataset.from_dict({"text": ["a"]}).save_to_disk(folder)
    (tmp_path / "secret.arrow").write_bytes((folder / "data-00000-of-00001.arrow").read_bytes())
    state = json.loads((folder / "state.json").read_text())
    state["_data_files"] = [{"filename": name}]
    (folder / "state.json").write_text(json.dumps(state))
    with pytest.raises(InvalidInputError, match=why):
        open_source(folder)


def test_saved_data_sets_need_no_library_and_keep_their_rows(tmp_path, monkeypatch):
    rows = datasets.Dataset.from_dict({"text": [f"text {i}" for i in range(100)]})
    rows.select(range(99, -1, -2)).save_to_disk(tmp_path / "a", num_shards=3)
    monkeypatch.setitem(sys.modules, "datasets", None)
    found = [item.content for item in open_source(tmp_path / "a")]
    assert found == [f"text {i}" for i in range(99, -1, -2)]


def test_rows_in_memory_keep_their_order_and_their_transform():
    rows = datasets.Dataset.from_dict({"text": [f"text {i}" for i in range(10)]})
    chosen = rows.select([7, 1])
    assert [item.content for item in open_source(chosen)] == ["text 7", "text 1"]
    shouting = rows.with_transform(lambda batch: {"text": [t.upper() for t in batch["text"]]})
    assert next(iter(open_source(shouting))).content == "TEXT 0"


def test_only_columns_in_use_are_read(tmp_path):
    """A column that Arrow cannot read does no harm if it holds no samples."""
    table = pa.table({"text": ["a", "b"], "other": [b"\x00" * 100, b"\x01" * 100]})
    pq.write_table(table, tmp_path / "a.parquet", use_dictionary=False, compression="none")
    content = bytearray((tmp_path / "a.parquet").read_bytes())
    place = content.index(b"\x00" * 100)
    content[place - 20 : place + 100] = os.urandom(120)  # the page of the other column
    (tmp_path / "a.parquet").write_bytes(content)
    assert [item.content for item in open_source(tmp_path / "a.parquet")] == ["a", "b"]
