"""References of others: damage is noticed, and none says where anything is written."""

import json
import shutil
import warnings
from hashlib import blake2b

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("torch")

from tradeoff import evaluate  # noqa: E402
from tradeoff.evaluation import Reference  # noqa: E402
from tradeoff.exceptions import InvalidInputError  # noqa: E402

pytestmark = pytest.mark.torch

ROWS = [{"a": float(i % 17), "b": str(i % 3)} for i in range(200)]
OPTIONS = {"metrics": ("knn.precision", "frechet"), "progress": False}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reference") / "r"
    reference = Reference.make(ROWS, progress=False)
    reference.prepare(progress=False)
    reference.save(folder)
    return folder


@pytest.fixture
def copied(saved, tmp_path):
    shutil.copytree(saved, tmp_path / "r")
    return tmp_path / "r"


def digest(content):
    return blake2b(content, digest_size=16).hexdigest()


def crafted(folder, change=lambda about: None):
    """Change the description, and make all checksums right again, as an attacker would."""
    path = folder / "reference.json"
    about = json.loads(path.read_text())
    change(about)
    about["checksums"] = {n: digest((folder / n).read_bytes()) for n in about["checksums"]}
    about.pop("checksum", None)
    about["checksum"] = digest(json.dumps(about, sort_keys=True).encode())
    path.write_text(json.dumps(about))


def test_every_flipped_bit_of_the_description_is_noticed(copied):
    """Or the description says the same, as after a change of white space."""
    path = copied / "reference.json"
    content, rng = path.read_bytes(), np.random.default_rng(0)
    whole = Reference.load(copied)
    warned = 0
    for bit in rng.choice(8 * len(content), 300, replace=False).tolist():
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        try:
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                found = Reference.load(copied)
        except InvalidInputError:
            continue
        warned += bool(told)
        assert told or (found.table, found.settings) == (whole.table, whole.settings)
    assert warned < 20  # where the name of the checksum itself is hit


def test_a_reference_without_a_checksum_loads_with_a_warning(copied):
    path = copied / "reference.json"
    about = json.loads(path.read_text())
    del about["checksum"]
    path.write_text(json.dumps(about))
    with pytest.warns(UserWarning, match="has no checksum of its description"):
        Reference.load(copied)


def test_a_reference_does_not_say_where_features_are_written(copied, tmp_path):
    place = tmp_path / "home" / "config"
    crafted(copied, lambda about: about["settings"].update(store=str(place)))
    evaluate(real=copied, generated=ROWS[:100], metrics="knn.precision", progress=False)
    assert not place.exists()


def test_the_store_of_its_maker_is_not_saved(tmp_path):
    texts = ["a", "bb", "ccc"] * 5
    from tradeoff.features import Function

    lengths = Function(lambda x: [[float(len(t))] for t in x], "length", "text", "1")
    made = Reference.make(texts, encoder=lengths, store=tmp_path / "store", progress=False)
    made.save(tmp_path / "r")
    assert "store" not in json.loads((tmp_path / "r" / "reference.json").read_text())["settings"]


def table(change):
    def edit(folder):
        path = folder / "samples.parquet"
        pq.write_table(change(pq.read_table(path)), path)

    return edit


def ragged(rows):
    width = len(rows["features"][0])
    values = pa.array([[1.0] * width] * (len(rows) - 1) + [[1.0]])
    return rows.set_column(2, "features", values)


def features(value):
    def change(rows):
        width = len(rows["features"][0])
        return rows.set_column(2, "features", pa.array([[value] * width] * len(rows)))

    return change


def arrays(**changes):
    def edit(folder):
        path = folder / "derived.npz"
        found = {**np.load(path), **changes}
        np.savez(path, **{name: value for name, value in found.items() if value is not None})

    return edit


def bomb(folder):
    with (folder / "derived.npz").open("wb") as file:
        np.savez_compressed(file, keys=np.zeros(200, np.uint64), other=np.zeros(40_000_000))


MALFORMED = {
    "no features": table(lambda rows: rows.drop_columns("features")),
    "no ids": table(lambda rows: rows.drop_columns("id")),
    "ids that are numbers": table(lambda rows: rows.set_column(0, "id", pa.array(range(200)))),
    "no rows": table(lambda rows: rows.slice(0, 0)),
    "fewer rows": table(lambda rows: rows.slice(0, 100)),
    "ragged": table(ragged),
    "texts as features": table(features("x")),
    "NaN": table(features(float("nan"))),
    "missing numbers": table(features(None)),
    "not Parquet": lambda folder: (folder / "samples.parquet").write_bytes(b"hello"),
    "empty": lambda folder: (folder / "samples.parquet").write_bytes(b""),
    "derived not a zip": lambda folder: (folder / "derived.npz").write_bytes(b"hello"),
    "derived pickled": arrays(keys=np.array([{}], dtype=object)),
    "derived lacks keys": arrays(keys=None),
    "keys of another length": arrays(keys=np.zeros(3, np.uint64)),
    "keys of another type": arrays(keys=np.zeros(200)),
    "neighbors of another length": arrays(
        neighbor_squares=np.zeros((3, 2)), neighbor_index=np.zeros((3, 2), np.int64)
    ),
    "neighbors without index": arrays(neighbor_index=None),
    "neighbors out of range": arrays(neighbor_index=np.full((200, 6), 900)),
    "moments of other columns": arrays(mean=np.zeros(9), scatter=np.zeros((9, 9))),
    "a bomb": bomb,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_reference_is_a_sentence(copied, name):
    MALFORMED[name](copied)
    crafted(copied)
    with pytest.raises(InvalidInputError, match="is damaged") as told:
        Reference.load(copied)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    "change",
    [
        lambda about: about.update(samples=100),
        lambda about: about.update(columns=0),
        lambda about: about.update(columns="4"),
        lambda about: about.update(samples=True),
        lambda about: about.update(kind="sound"),
        lambda about: about.pop("encoder"),
        lambda about: about["settings"].update(level=3),
        lambda about: about["settings"].update(limit="x"),
        lambda about: about["table"]["numbers"].append(["a", 1.0, 0.0]),
        lambda about: about["table"].update(optional=[3]),
        lambda about: about.update(broken=[["a"]]),
        lambda about: about.update(broken=[["a", "b", "c"]]),
    ],
)
def test_a_crafted_description_is_a_sentence(copied, change):
    crafted(copied, change)
    with pytest.raises(InvalidInputError, match="is damaged"):
        Reference.load(copied)
