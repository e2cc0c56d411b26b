"""What is declared in one file is found everywhere, without an edit of any other source."""

import csv
import json
from types import SimpleNamespace

import numpy as np
import pytest

from tests.cli.run import tradeoff
from tests.registry.toys import ENCODER, ESTIMATOR, FAMILY, NearestMean
from tradeoff import Evaluation, InvalidInputError, Settings, compare, evaluate, pr_curve
from tradeoff._registry import Registry
from tradeoff.comparison import Comparison
from tradeoff.features.registry import ENCODERS
from tradeoff.metrics.registry import FAMILIES
from tradeoff.ratio.registry import ESTIMATORS

RNG = np.random.default_rng(0)
REAL, NEAR, FAR = (RNG.normal(shift, 1, (300, 2)) for shift in (0.0, 0.1, 2.0))


@pytest.fixture(autouse=True)
def _registered():
    toys = ((FAMILIES, FAMILY), (ESTIMATORS, ESTIMATOR), (ENCODERS, ENCODER))
    for registry, toy in toys:
        registry.register(toy)
    yield
    for registry, toy in toys:
        registry.unregister(toy.name)


def shift(generated):
    return abs(REAL[:, 0].mean() - generated[:, 0].mean())


def test_a_family_in_python_json_and_summary(tmp_path):
    result = evaluate(real=REAL, generated=FAR, metrics="toy", progress=False)
    assert result["toy.shift"].value == pytest.approx(shift(FAR))
    assert result.provenance["toy"] == {"column": 0}
    np.testing.assert_array_equal(result.samples["generated"].values["toy.shift"], FAR[:, 0])
    assert Evaluation.from_json(result.to_json()).scores == result.scores
    (line,) = [line for line in str(result).splitlines() if line.startswith("toy.shift")]
    assert line.endswith("shift of the first column")
    with pytest.raises(InvalidInputError, match=r"Did you mean `toy\.shift`"):
        evaluate(real=REAL, generated=FAR, metrics="toy.shifts")


def test_a_family_in_comparisons():
    models = {"near": NEAR, "far": FAR}
    result = compare(real=REAL, generated=models, metrics="toy", progress=False)
    assert result["far"]["toy.shift"].value > result["near"]["toy.shift"].value
    again = Comparison.from_json(result.to_json())
    assert again["far"].scores == result["far"].scores
    assert "toy.shift" in str(result)


@pytest.mark.slow
def test_everything_in_the_command_line(tmp_path):
    """Options are declared when a command is imported, so another process is asked for help."""
    import subprocess
    import sys

    code = (
        "from tests.registry.toys import ESTIMATOR, FAMILY\n"
        "from tradeoff.metrics.registry import FAMILIES\n"
        "from tradeoff.ratio.registry import ESTIMATORS\n"
        "FAMILIES.register(FAMILY), ESTIMATORS.register(ESTIMATOR)\n"
        "import sys; sys.argv = ['tradeoff', 'evaluate', '--help']\n"
        "from tradeoff.cli import main; main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=_wide()
    )
    assert "training, toy" in done.stdout
    assert "nearest-mean" in "".join(done.stdout.split())  # lines break at hyphens
    for name, x in (("real", REAL), ("far", FAR)):
        np.save(tmp_path / f"{name}.npy", x)
    sources = ("--real", tmp_path / "real.npy", "--generated", tmp_path / "far.npy")
    options = ("--metrics", "toy,curve.recall", "--estimator", "nearest-mean", "--no-diagnose")
    found = json.loads(tradeoff("evaluate", *sources, *options, "--json").stdout)
    assert found["scores"]["toy.shift"]["value"] == pytest.approx(shift(FAR))
    assert found["settings"]["estimator"] == "nearest-mean"


def _wide():
    import os

    return os.environ | {"COLUMNS": "400", "PYTHONPATH": os.pathsep.join(__import__("sys").path)}


def test_an_estimator_in_curves_and_settings():
    named, given = (
        pr_curve(real=REAL, generated=FAR, estimator=estimator, progress=False)
        for estimator in ("nearest-mean", NearestMean())
    )
    assert named.curve.area == given.curve.area
    settings = Settings(estimator=NearestMean(scale=0.5))
    described = json.loads(json.dumps(settings.to_dict()))
    assert described == {"estimator": {"name": "nearest-mean", "scale": 0.5}}
    assert Settings.of(described) == settings


@pytest.mark.slow
@pytest.mark.torch
def test_an_encoder_in_python_and_doctor():
    real, generated = (["A rose. " * i for i in range(1, 40)], ["Two. " * i for i in range(1, 40)])
    result = evaluate(
        real=real,
        generated=generated,
        encoder="text-length",
        metrics="frechet",
        low_level=False,
        progress=False,
    )
    assert result.provenance["encoder"] == "text-length"
    (line,) = [
        line for line in tradeoff("doctor").stdout.splitlines() if line.startswith("text-length")
    ]
    assert "works, 2 features, weights version 1" in line
    with pytest.raises(InvalidInputError, match="Did you mean `text-length`"):
        evaluate(real=real, generated=generated, encoder="text-lenght")


@pytest.mark.torch
def test_a_family_in_torchmetrics():
    torch = pytest.importorskip("torch")
    from tradeoff.integrations.torchmetrics import TradeoffMetric

    metric = TradeoffMetric(metrics=("toy",))
    metric.update(torch.from_numpy(REAL), real=True)
    metric.update(torch.from_numpy(FAR), real=False)
    assert {key: value.item() for key, value in metric.compute().items()} == {
        "toy.shift": pytest.approx(shift(FAR), rel=1e-6)
    }


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore::Warning")  # of Lightning and PyTorch about each other
def test_a_family_in_lightning(tmp_path):
    torch = pytest.importorskip("torch")
    pl = pytest.importorskip("lightning.pytorch")
    from lightning.pytorch.loggers import CSVLogger

    from tests.integrations.test_lightning import Line
    from tradeoff.integrations.lightning import TradeoffCallback

    data = torch.utils.data.DataLoader(torch.tensor(REAL, dtype=torch.float32), batch_size=100)
    callback = TradeoffCallback(real=REAL, generate=lambda _: FAR, metrics=("toy",), workers=0)
    trainer = pl.Trainer(
        max_epochs=1,
        accelerator="cpu",
        logger=CSVLogger(tmp_path, name="csv"),
        callbacks=[callback],
        enable_progress_bar=False,
        enable_model_summary=False,
        enable_checkpointing=False,
    )
    trainer.fit(Line(), data, data)
    (path,) = tmp_path.rglob("metrics.csv")
    (row,) = [row for row in csv.DictReader(path.open()) if row.get("tradeoff/toy.shift")]
    assert float(row["tradeoff/toy.shift"]) == pytest.approx(shift(FAR), rel=1e-5)


def test_everything_in_the_tables_of_the_documentation(monkeypatch):
    import sys
    from pathlib import Path

    monkeypatch.setattr(sys, "path", [str(Path("docs/_ext").absolute()), *sys.path])
    import registry_tables

    for table, name in (
        (registry_tables.metric_table, "toy.shift"),
        (registry_tables.estimator_table, "nearest-mean"),
        (registry_tables.encoder_table, "text-length"),
    ):
        _, rows = table()
        assert len([row for row in rows if name in row[0]]) == 1


def test_names_are_taken_once_and_keys_carry_their_family():
    from tradeoff.metrics import Family, Metric

    with pytest.raises(InvalidInputError, match="There is a metric `toy` already"):
        FAMILIES.register(FAMILY)
    with pytest.raises(InvalidInputError, match=r"must begin with `other\.`, got `toy\.shift`"):
        Family("other", "nowhere:measure", (Metric("toy.shift", "a shift"),))


def test_other_packages_declare_by_entry_point(monkeypatch):
    """As installed packages do, through the metadata that pip writes."""
    from importlib.metadata import EntryPoint, EntryPoints

    from tradeoff import _registry

    entry = EntryPoint("toy", "tests.registry.toys:FAMILY", "tradeoff.metrics")
    monkeypatch.setattr(
        _registry, "entry_points", lambda group: EntryPoints([entry]).select(group=group)
    )
    registry = _registry.Registry("metric", "tradeoff.metrics", ())
    assert registry["toy"] is FAMILY


def test_a_plug_in_neither_replaces_what_there_is_nor_ends_a_command(monkeypatch):
    def broken():
        raise ImportError("no such module")

    named = [("logistic", lambda: ESTIMATORS["logistic"]), ("other", broken)]
    entries = [SimpleNamespace(name=n, value=f"theirs:{n}", load=load) for n, load in named]
    monkeypatch.setattr("tradeoff._registry.entry_points", lambda group: entries)
    registry = Registry("estimator", "theirs", [ESTIMATORS["logistic"]])
    with (
        pytest.warns(UserWarning, match="`other` of theirs:other cannot be loaded: no such"),
        pytest.warns(UserWarning, match="`logistic` of theirs:logistic is ignored"),
    ):
        assert list(registry) == ["logistic"]
