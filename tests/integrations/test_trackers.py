"""Weights & Biases and MLflow, which `make test-trackers` installs: what a run shows afterwards."""

import json

import matplotlib as mpl
import mlflow
import numpy as np
import pytest
import wandb
from mlflow.tracking import MlflowClient

from tests.integrations.runs import followed
from tradeoff.integrations.loggers import MlflowLog, WandbLog

mpl.use("agg")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::Warning")]


def test_mlflow_shows_scalars_curves_and_the_page(tmp_path):
    client = MlflowClient(tracking_uri=f"sqlite:///{tmp_path / 'runs.db'}")
    experiment = client.create_experiment("gan", artifact_location=str(tmp_path / "artifacts"))
    run = client.create_run(experiment).info.run_id
    tracker = followed(MlflowLog(client, run))
    scores = client.get_metric_history(run, "tradeoff/f_score")
    assert [(one.step, one.value) for one in scores] == [
        (step.step, pytest.approx(step.f_score)) for step in tracker.steps if step.resolved
    ]
    resolved = client.get_metric_history(run, "tradeoff/resolved")
    assert [one.value for one in resolved] == [1.0, 0.0, 1.0]
    pages = [one.path for one in client.list_artifacts(run)]
    assert "tradeoff.html" in pages
    pictures = [one.path for one in client.list_artifacts(run, "tradeoff")]
    assert pictures == ["tradeoff/curve-00000100.png", "tradeoff/curve-00000300.png"]
    text = (tmp_path / "artifacts" / run / "artifacts" / "tradeoff.html").read_text()
    assert "<html" in text
    assert mlflow.active_run() is None


def test_wandb_shows_scalars_curves_and_the_page(tmp_path, monkeypatch):
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    run = wandb.init(project="gan", dir=str(tmp_path))
    tracker = followed(WandbLog(run))
    summary = dict(run.summary)
    place = run.dir
    run.finish()
    best, last = tracker.best, tracker.steps[-1]
    assert best == last
    assert summary["tradeoff/f_score"] == pytest.approx(last.f_score)
    assert summary["tradeoff/step"] == 300
    assert "tradeoff/curve" in json.dumps(sorted(summary))
    (first, second) = sorted((tmp_path / "wandb").rglob("*curve*.png"))
    assert min(one.stat().st_size for one in (first, second)) > 10_000
    assert str(tmp_path) in place
    assert np.isfinite(summary["tradeoff/knn.precision"])
