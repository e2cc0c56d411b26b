"""One configuration for Python, the command line and TOML: the three cannot drift."""

import dataclasses
import inspect
import json

import numpy as np
import pytest

from tradeoff import Evaluation, InvalidInputError, Settings, evaluate
from tradeoff.cli import evaluate as command
from tradeoff.evaluation.pipeline import evaluate_sources
from tradeoff.ratio import ESTIMATORS, Gaussians, Logistic, Stack
from tradeoff.ratio.registry import estimator_to_fields, find_estimator
from tradeoff.settings import read_config, write_config

NAMES = [field.name for field in dataclasses.fields(Settings)]
CHANGED = Settings(
    kind="image",
    column="x",
    label="y",
    schema="/elsewhere/metadata.json",
    encoder="efficientnet-lite0",
    low_level=False,
    size=64,
    trusted=True,
    device="cpu",
    dtype="bfloat16",
    runtime="torch",
    batch_size=64,
    store="/somewhere",
    limit=10,
    broken="stop",
    metrics=("curve", "knn.density"),
    protocol="adm",
    estimator="fast",
    rule="frozen",
    folds=4,
    repeats="copies",
    explain=True,
    k=3,
    target="z",
    prompt="w",
    diagnose=False,
    level=0.9,
    seed=7,
)


def test_python_and_the_command_line_have_every_setting():
    parameters = inspect.signature(command.run).parameters
    assert set(NAMES) <= set(parameters)
    for name in NAMES:
        assert parameters[name].default is None  # what is not said does not override a file
        help_text = parameters[name].annotation.__metadata__[0].help
        assert len(help_text) > 8, name


def test_every_setting_survives_a_file(tmp_path):
    assert len(CHANGED.to_dict()) == len(NAMES)
    path = tmp_path / "run.toml"
    path.write_text(write_config(CHANGED, real="/a", generated={"x y": "/b", "ü": "/c"}))
    values = read_config(path)
    assert values.pop("real") == "/a"
    assert values.pop("generated") == {"x y": "/b", "ü": "/c"}
    assert Settings.of(values) == CHANGED


def test_odd_characters_survive_a_file(tmp_path):
    path, odd = tmp_path / "run.toml", '/\U0001f600 "quoted" \x7f'
    path.write_text(write_config(Settings(), real=odd, generated={odd: "/b"}), encoding="utf-8")
    assert read_config(path) == {"real": odd, "generated": {odd: "/b"}}
    addresses = {"real": "s3://bucket/real", "generated": {"new": "gs://bucket/new"}}
    path.write_text(write_config(Settings(), **addresses), encoding="utf-8")
    assert read_config(path) == addresses


def test_an_encoder_by_name_is_no_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("efficientnet-lite0", "mine"):
        (tmp_path / name).mkdir()
    (tmp_path / "net.onnx").write_bytes(b"")
    for encoder, written in (
        ("efficientnet-lite0", "efficientnet-lite0"),
        ("mine", str(tmp_path / "mine")),
        (tmp_path / "net.onnx", str(tmp_path / "net.onnx")),
    ):
        settings = Settings(encoder=encoder)
        (tmp_path / "run.toml").write_text(write_config(settings, real="/a", generated="/b"))
        assert read_config(tmp_path / "run.toml")["encoder"] == written


@pytest.mark.parametrize("text", ["real = 3", 'real = ["a"]', "store = true", "metrics = 3"])
def test_values_of_another_kind_are_refused(tmp_path, text):
    path = tmp_path / "run.toml"
    path.write_text(text)
    with pytest.raises(InvalidInputError, match="must be (text|a list of names)"):
        read_config(path)


def test_defaults_are_not_written():
    assert Settings().to_dict() == {}
    assert write_config(Settings(), real=[1], generated=[2]).count("=") == 0


def test_paths_of_a_file_start_from_its_folder(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text('real = "a"\nstore = "s"\n[generated]\nmodel = "b"\n')
    values = read_config(path)
    assert values["real"] == str(tmp_path / "a")
    assert values["store"] == str(tmp_path / "s")
    assert values["generated"] == {"model": str(tmp_path / "b")}


@pytest.mark.parametrize(
    ("text", "message"),
    [("real = ", "must be TOML"), ("\xff", "must be TOML"), (None, "cannot be read: No such file")],
)
def test_files_that_cannot_be_read(tmp_path, text, message):
    path = tmp_path / "run.toml"
    if text is not None:
        path.write_text(text, encoding="latin-1")
    with pytest.raises(InvalidInputError, match=message):
        read_config(path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": "mmd"}, "Did you mean `kernel.distance`"),
        (
            {"metrics": "beauty"},
            "Unknown metric `beauty`. Choose one of curve, frontier, knn",
        ),
        ({"metrics": ()}, "at least one metric"),
        ({"sede": 1}, "Unknown setting `sede`. Did you mean `seed`"),
        ({"protocol": "fid"}, "`protocol` must be one of sajjadi-2018"),
        ({"estimator": "magic"}, "Unknown estimator `magic`. Choose one of logistic, trees"),
        ({"broken": "ignore"}, "`broken` must be one of skip, stop"),
        ({"level": 95}, "`level` must lie strictly between 0 and 1"),
        ({"level": 0.4}, "`level` must be at least 0.5"),
        ({"folds": 2}, "`folds` must be 1, a single split, or at least 3"),
        ({"trusted": "false"}, "`trusted` must be a bool"),
        ({"explain": "no"}, "`explain` must be a bool"),
        ({"diagnose": "false"}, "`diagnose` must be a bool"),
        ({"dtype": "f8"}, "`dtype` must be one of float32, bfloat16"),
        ({"runtime": "tf"}, "`runtime` must be one of auto, torch, onnx"),
        ({"device": 3}, "`device` must be a str"),
        ({"column": 3}, "`column` must be a str"),
        ({"size": "x"}, "`size` must be a number"),
        ({"kind": "sound"}, "`kind` must be one of image, text"),
        ({"metrics": "copies", "explain": True}, "`explain` needs the curve"),
        ({"k": 0}, "`k` must be a whole number"),
        ({"limit": -1}, "`limit` must be a whole number"),
        ({"seed": -1}, "`seed` must be a whole number"),
    ],
)
def test_mistakes_come_to_light_before_anything_is_read(options, message):
    with pytest.raises(InvalidInputError, match=message):
        evaluate_sources("nowhere", "nowhere", Settings.of(options), progress=False)


@pytest.mark.slow
def test_estimators_survive_json_and_toml(tmp_path):
    """They used to come back as their text, which is the name of no estimator."""
    stack = Stack(members=(Logistic(), Gaussians(shrunk=True)))
    for estimator in (stack, Gaussians(shrunk=True), Stack()):
        settings = Settings(estimator=estimator)
        assert Settings.of(json.loads(json.dumps(settings.to_dict()))) == settings
        path = tmp_path / "run.toml"
        path.write_text(write_config(settings, real="/a", generated="/b"))
        values = {k: v for k, v in read_config(path).items() if k not in ("real", "generated")}
        assert Settings.of(values) == settings
    real, generated = np.random.default_rng(0).normal(size=(2, 60, 2))
    options = {"metrics": "curve", "diagnose": False, "progress": False}
    result = evaluate(real=real, generated=generated, estimator=stack, **options)
    again = Evaluation.from_json(result.to_json())
    assert again.settings == result.settings
    repeated = evaluate_sources(real, generated, again.settings, progress=False)
    assert repeated.scores == result.scores


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimator_by_name_is_the_same_by_its_fields(name):
    made = find_estimator(name)
    assert find_estimator({"name": name}) == made
    assert find_estimator(estimator_to_fields(made)) == made


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": "logistic", "penalties": []}, "`penalties` of Logistic must be a tuple"),
        ({"name": "logistic", "penalties": 1.0}, "`penalties` of Logistic must be a tuple"),
        ({"name": "logistic", "penalty": 1.0}, "unknown fields: penalty. The estimator logistic"),
        ({"name": "kernel-logistic", "landmarks": 0}, "`landmarks` must be a whole number"),
        ({"name": "neighbors", "ranks": 5}, "`estimator` has a wrong field"),
        ({"name": "quantized", "clusters": 2.5}, "`clusters` must be a whole number"),
    ],
)
def test_wrong_fields_of_an_estimator_are_told(fields, message):
    with pytest.raises(InvalidInputError, match=message):
        find_estimator(fields)


def test_a_scikit_learn_classifier_is_an_estimator():
    from sklearn.linear_model import LogisticRegression

    from tradeoff.ratio import Classifier

    real, generated = np.random.default_rng(0).normal(size=(2, 60, 2))
    options = {"metrics": "curve", "diagnose": False, "progress": False}
    plain, wrapped = (
        evaluate(real=real, generated=generated, estimator=estimator, **options)
        for estimator in (LogisticRegression(), Classifier(LogisticRegression()))
    )
    assert plain.scores == wrapped.scores
