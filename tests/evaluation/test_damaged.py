"""Results that are damaged are refused with a sentence; what is read can be printed."""

import json

import numpy as np
import pytest

from tradeoff import InvalidInputError, compare
from tradeoff.comparison import Comparison
from tradeoff.evaluation import Evaluation, Reference, SampleValues
from tradeoff.settings import read_config

OPTIONS = {"metrics": ("curve", "frechet"), "estimator": "logistic", "diagnose": False}


@pytest.fixture(scope="module")
def compared():
    rng = np.random.default_rng(0)
    real, one = rng.normal(size=(24, 2)), rng.normal(size=(24, 2))
    return compare(real=real, generated={"a": one, "b": 2 * one}, progress=False, **OPTIONS)


def without(fields, *keys):
    for key in keys[:-1]:
        fields = fields[key]
    del fields[keys[-1]]


def put(fields, *keys):
    *keys, last, value = keys
    for key in keys:
        fields = fields[key]
    fields[last] = value


LOSS = ({"at_least": 0.1}, {"at_least": "much", "factor": 3.0})
EVALUATION_DAMAGES = {
    "a missing field": lambda f: without(f, "verdict"),
    "a verdict that is a text": lambda f: put(f, "verdict", "fine"),
    "a verdict without recall": lambda f: without(f, "verdict", "recall"),
    "a verdict whose level is a text": lambda f: put(f, "verdict", "level", "high"),
    "losses that are a number": lambda f: put(f, "verdict", "recall", "losses", 3),
    "a loss without its factor": lambda f: put(f, "verdict", "recall", "losses", [LOSS[0]]),
    "a loss that is a text": lambda f: put(f, "verdict", "recall", "losses", [LOSS[1]]),
    "an advised size that is a text": lambda f: put(f, "verdict", "recall", "enough", "many"),
    "a missing value of a score": lambda f: without(f, "scores", "curve.recall", "value"),
    "a text as the value of a score": lambda f: put(f, "scores", "curve.recall", "value", "x"),
    "an unknown field of a score": lambda f: put(f, "scores", "curve.recall", "x", 1.0),
    "a whole number beyond floats": lambda f: put(f, "scores", "curve.recall", "low", 10**400),
    "an infinite number": lambda f: put(f, "scores", "curve.recall", "low", np.inf),
    "scores that are a list": lambda f: put(f, "scores", []),
    "half a character": lambda f: put(f, "warnings", ["\ud800"]),
    "provenance without features": lambda f: without(f, "provenance", "encoder"),
    "sizes that are texts": lambda f: put(f, "provenance", "samples", "real", "many"),
    "sizes of one side": lambda f: without(f, "provenance", "samples", "real"),
    "sizes of unknown sides": lambda f: put(f, "provenance", "samples", "reel", 24),
    "a curve that is a number": lambda f: put(f, "provenance", "curve", 1.5),
    "repeats without a side": lambda f: put(
        f, "provenance", "curve", {"repeats": {"real": 0.1, "assumed": "draws"}}
    ),
    "repeats of an unknown kind": lambda f: put(
        f, "provenance", "curve", {"repeats": {"real": 0.1, "generated": 0.1, "assumed": "x"}}
    ),
    "a level that is a text": lambda f: put(f, "settings", "level", "high"),
    "metrics that are a number": lambda f: put(f, "settings", "metrics", 3),
    "an unknown choice": lambda f: put(f, "settings", "broken", "maybe"),
    "a broken item without a reason": lambda f: put(f, "broken", "real", [{"id": "a"}]),
}


@pytest.mark.parametrize("name", EVALUATION_DAMAGES)
def test_damaged_evaluations_are_refused(compared, name):
    fields = json.loads(compared["a"].to_json())
    EVALUATION_DAMAGES[name](fields)
    with pytest.raises(InvalidInputError, match=r"or is damaged \(.*measure again"):
        Evaluation.from_json(json.dumps(fields))


COMPARISON_DAMAGES = {
    "no differences": lambda f: without(f, "differences"),
    "a difference without a name": lambda f: without(f, "differences", 0, "first"),
    "a difference that is a text": lambda f: put(f, "differences", 0, "value", "x"),
    "no models": lambda f: put(f, "evaluations", {}),
    "a damaged evaluation": lambda f: without(f, "evaluations", "a", "scores"),
}


@pytest.mark.parametrize("name", COMPARISON_DAMAGES)
def test_damaged_comparisons_are_refused(compared, name):
    fields = json.loads(compared.to_json())
    COMPARISON_DAMAGES[name](fields)
    with pytest.raises(InvalidInputError, match=r"or is damaged \(.*measure again"):
        Comparison.from_json(json.dumps(fields))


@pytest.mark.parametrize("cls", [Evaluation, Comparison])
def test_deep_json_is_refused(cls):
    with pytest.raises(InvalidInputError, match="must be JSON written by"):
        cls.from_json("[" * 100_000)


def test_a_comparison_survives_json(compared):
    again = Comparison.from_json(compared.to_json())
    assert str(again) == str(compared)
    assert again.to_json() == compared.to_json()


def test_bytes_that_are_not_utf8_are_refused(tmp_path):
    (tmp_path / "evaluation.json").write_bytes(b'{"schema": "\xff"}')
    with pytest.raises(InvalidInputError, match=r"evaluation.json` .* is damaged"):
        Evaluation.load(tmp_path)


@pytest.mark.torch
@pytest.mark.parametrize("damage", ["cut", "no ids", "bytes as ids", "numbers as labels", "lists"])
def test_damaged_values_of_samples_are_refused(tmp_path, damage):
    pa = pytest.importorskip("pyarrow")
    path = tmp_path / "real.parquet"
    ids, labels = pa.array(["a"]), pa.array([None], pa.string())
    columns = {
        "cut": {"id": ids, "label": labels},
        "no ids": {"label": labels},
        "bytes as ids": {"id": pa.array([b"\xff"]), "label": labels},
        "numbers as labels": {"id": ids, "label": pa.array([3])},
        "lists": {"id": ids, "label": labels, "log_ratio": pa.array([[1.0]])},
    }[damage]
    pytest.importorskip("pyarrow.parquet").write_table(pa.table(columns), path)
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InvalidInputError, match=r"real.parquet` .* is damaged"):
        SampleValues.read_parquet(path)


@pytest.mark.parametrize("text", [f"k = {'9' * 5000}", f"k = {'[' * 5000}"])
def test_settings_that_toml_cannot_hold(tmp_path, text):
    (tmp_path / "run.toml").write_text(text)
    with pytest.raises(InvalidInputError, match="must be TOML"):
        read_config(tmp_path / "run.toml")


def test_an_evaluation_that_is_read_can_be_printed(compared):
    again = Evaluation.from_json(compared["a"].to_json())
    assert str(again) == str(compared["a"])


@pytest.mark.torch
@pytest.mark.parametrize(
    "damage",
    [
        lambda f: put(f, "table", "text"),
        lambda f: put(f, "table", "numbers", [["size", 0.0, "x"]]),
        lambda f: put(f, "table", "numbers", [["size", 0.0, 0.0]]),
        lambda f: put(f, "table", "categories", [["color", "red"]]),
        lambda f: without(f, "encoder", "weights"),
        lambda f: put(f, "encoder", []),
        lambda f: put(f, "settings", "limit", "x"),
        lambda f: put(f, "settings", "unknown", 1),
        lambda f: put(f, "kind", "sound"),
    ],
)
def test_damaged_descriptions_of_references_are_refused(tmp_path, damage):
    """They have no checksum of their own."""
    pytest.importorskip("pyarrow")
    rows = [{"size": float(i), "color": "red" if i % 2 else "blue"} for i in range(12)]
    rows += [{"size": 3.0}]  # a column that is missing in some rows
    Reference.make(rows, progress=False).save(tmp_path)
    assert Reference.load(tmp_path).kind == "table"
    fields = json.loads((tmp_path / "reference.json").read_text())
    damage(fields)
    (tmp_path / "reference.json").write_text(json.dumps(fields))
    with pytest.raises(
        InvalidInputError, match=r"reference.json` is damaged .*create the reference again"
    ):
        Reference.load(tmp_path)
