"""Ten snippets that a user of scikit-learn, torchmetrics, pandas or clean-fid writes at first.

Ten were written down before anybody tried them, and all run as guessed. Two image folders and more
guesses were added later. Metrics do not take the sides by position, where swapped ones would swap
precision and recall without a sign.
"""

import inspect
import json
import pydoc

import numpy as np
import pytest

from tradeoff import (
    InvalidInputError,
    compare,
    evaluate,
    frechet_distance,
    kernel_distance,
    pr_curve,
    reproduce,
    support_metrics,
)
from tradeoff.evaluation import Reference

pytestmark = pytest.mark.torch  # the default metrics need it

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 2))
Y = RNG.normal(0.5, 1.0, size=(280, 2))
Z = RNG.normal(2.0, 1.0, size=(260, 2))


@pytest.mark.slow
def test_pandas_data_frames():
    pd = pytest.importorskip("pandas")
    real = pd.DataFrame({"age": X[:, 0], "city": np.where(X[:, 1] > 0, "Bern", "Oslo")})
    generated = pd.DataFrame({"age": Y[:, 0], "city": np.where(Y[:, 1] > 0, "Bern", "Oslo")})
    result = evaluate(real=real, generated=generated)
    assert 0.0 < result["curve.precision"].value <= 1.0


@pytest.mark.slow
def test_a_data_loader_and_a_tensor():
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    loader = DataLoader(TensorDataset(torch.tensor(X)), batch_size=64)
    result = evaluate(real=loader, generated=torch.tensor(Y), estimator="logistic")
    assert (
        result["curve.recall"].value
        == evaluate(real=X, generated=Y, estimator="logistic")["curve.recall"].value
    )


@pytest.mark.slow
def test_a_scikit_learn_classifier_as_estimator():
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(n_estimators=20, random_state=0)
    result = evaluate(real=X, generated=Z, estimator=forest)
    assert result["curve.precision"].value < 0.9


@pytest.mark.slow
def test_a_torchmetrics_loop():
    pytest.importorskip("torchmetrics")
    import torch

    from tradeoff.integrations.torchmetrics import TradeoffMetric

    metric = TradeoffMetric()
    for batch in torch.tensor(X).split(100):
        metric.update(batch, real=True)
    for batch in torch.tensor(Y).split(100):
        metric.update(batch, real=False)
    assert 0.0 < float(metric.compute()["curve.recall"]) <= 1.0


def test_a_score_by_its_name():
    result = evaluate(real=X, generated=Y, metrics=["knn.precision", "frechet.distance"])
    assert result["knn.precision"].value <= 1.0
    assert result["frechet.distance"].value > 0.0


@pytest.mark.slow
def test_models_by_their_names():
    result = compare(real=X, generated={"a": Y, "b": Z}, estimator="logistic")
    assert result["a"]["curve.recall"].value > result["b"]["curve.recall"].value


def test_a_point_of_the_curve():
    curve = pr_curve(real=X, generated=Y, estimator="logistic").curve
    assert curve.precision(1.0) == pytest.approx(curve.recall(1.0))


@pytest.mark.slow
def test_a_reference_on_disk(tmp_path):
    path = tmp_path / "real"
    Reference.make(X).save(path)
    result = evaluate(real=path, generated=Y, estimator="logistic")
    assert (
        result["curve.recall"].value
        == evaluate(real=X, generated=Y, estimator="logistic")["curve.recall"].value
    )


@pytest.mark.slow
def test_two_folders_of_images(tmp_path):
    image = pytest.importorskip("PIL.Image")
    for side, shift in (("real", 0), ("fake", 60)):
        (tmp_path / side).mkdir()
        pixels = RNG.integers(0, 190, (60, 8, 8, 3)) + shift
        for number, each in enumerate(pixels.astype(np.uint8)):
            image.fromarray(each).save(tmp_path / side / f"{number}.png")
    result = evaluate(
        real=str(tmp_path / "real"),
        generated=str(tmp_path / "fake"),
        encoder="efficientnet-lite0",  # the default is downloaded, and tests stay offline
    )
    assert result["frechet.distance"].value > 0.0


def test_fid_by_its_usual_name():
    result = evaluate(real=X, generated=Y, metrics=["fid"])
    assert list(result.scores) == ["frechet.distance"]
    assert (
        result["frechet.distance"].value
        == evaluate(real=X, generated=Y, metrics="frechet")["frechet.distance"].value
    )


@pytest.mark.parametrize(
    "function",
    [support_metrics, frechet_distance, kernel_distance],
    ids=lambda function: function.__name__,
)
def test_sides_by_position_are_refused_with_what_to_write(function):
    with pytest.raises(
        InvalidInputError, match=rf"^Name the two sides: {function.__name__}\(real=.*generated="
    ):
        function(X, Y)


QUICK = {"metrics": "curve, knn", "estimator": "logistic", "diagnose": False, "progress": False}


def test_sides_of_evaluate_by_position_are_real_first():
    by_position, by_name = evaluate(X, Y, **QUICK), evaluate(real=X, generated=Y, **QUICK)
    assert by_position.scores == by_name.scores
    assert by_position.provenance["samples"] == {"real": 300, "generated": 280}
    with pytest.raises(TypeError, match="positional"):
        evaluate(X, Y, "curve")


def test_scores_by_short_names_and_as_numbers():
    result = evaluate(X, Y, **QUICK)
    assert result["precision"] is result["curve.precision"]
    assert float(result["recall"]) == result["curve.recall"].value
    assert result["density"] is result["knn.density"]
    with pytest.raises(InvalidInputError, match=r"`fid` was not measured.*knn.density"):
        result["fid"]


def test_a_result_as_a_dictionary_and_a_data_frame():
    result = evaluate(X, Y, **QUICK)
    assert result.to_dict() == json.loads(result.to_json())
    assert result.to_dict()["scores"]["curve.area"]["value"] == result["area"].value
    frame = result.to_frame()
    assert frame.loc["curve.recall", "value"] == result["recall"].value


def test_pictures_of_results_and_curves():
    result = evaluate(X, Y, **QUICK)
    assert result.plot().ax_.get_xlabel() == "recall"
    ax = result.plot().ax_
    assert result.curve.plot(ax).ax_ is ax
    assert compare(real=X, generated={"a": Y, "b": Z}, **QUICK).plot().ax_.get_ylabel()


def test_sides_after_a_positional_argument_are_refused_too():
    with pytest.raises(InvalidInputError, match=r"reproduce\(\.\.\., real=\.\.\., generated="):
        reproduce("sajjadi-2018", X, Y)


def test_help_shows_the_signature_with_all_settings():
    assert list(inspect.signature(evaluate).parameters)[:2] == ["real", "generated"]
    assert "metrics: " in pydoc.render_doc(evaluate, renderer=pydoc.plaintext)
