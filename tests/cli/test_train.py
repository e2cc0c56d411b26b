"""`--train`: whether a model copies, from the command line."""

import json

import numpy as np
import pytest

from tests.cli.run import tradeoff

pytest.importorskip("torch")

pytestmark = pytest.mark.torch

QUICK = ("--estimator", "gaussians", "--no-diagnose", "--metrics", "copies")


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    root = tmp_path_factory.mktemp("copies")
    train, held_out, made = np.random.default_rng(0).normal(size=(3, 300, 12))
    made[:40] = train[:40]
    for name, x in (("train", train), ("held-out", held_out), ("generated", made)):
        np.save(root / f"{name}.npy", x)
    return root


def test_copies_are_told_and_kept(sources, tmp_path):
    given = (sources / "held-out.npy", sources / "generated.npy", "--train", sources / "train.npy")
    done = tradeoff("evaluate", *given, *QUICK, "--out", tmp_path / "out", "--verbose")
    assert (done.exit_code, done.stderr.count("Traceback")) == (0, 0)
    assert done.stdout.startswith("Copies: at least ")
    assert "300 training samples" in done.stdout
    assert "permutations of the labels" in done.stdout
    assert len(json.loads((tmp_path / "out" / "copied.json").read_text())["pairs"]) == 40
    again = tradeoff("evaluate", "--config", tmp_path / "out" / "run.toml", "--json")
    assert json.loads(again.stdout)["training"]["state"] == "copies"


def test_a_gate_on_copies_needs_the_training_set(sources):
    given = (sources / "held-out.npy", sources / "generated.npy", *QUICK)
    gate = ("--fail-over", "copies.owed_to_training=0.01")
    assert (
        "gate failed"
        in tradeoff("evaluate", *given, "--train", sources / "train.npy", *gate).stderr
    )
    assert "A gate must name a score of this run" in tradeoff("evaluate", *given, *gate).stderr
