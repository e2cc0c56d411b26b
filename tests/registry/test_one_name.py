"""Each quantity has one key, and one value under it, wherever it is found."""

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torchmetrics")
pytest.importorskip("lightning")

from tradeoff import Evaluation, compare, evaluate, frechet_distance, pr_curve  # noqa: E402
from tradeoff.evaluation import Reference  # noqa: E402
from tradeoff.evaluation.pipeline import evaluate_sources  # noqa: E402
from tradeoff.integrations import LOGGED  # noqa: E402
from tradeoff.integrations.lightning import TradeoffCallback  # noqa: E402
from tradeoff.integrations.torchmetrics import TradeoffMetric  # noqa: E402
from tradeoff.metrics.neighbors import support_metrics  # noqa: E402
from tradeoff.metrics.neighbors.metrics import METRIC_KEYS, METRICS  # noqa: E402
from tradeoff.metrics.registry import all_metrics, resolve_keys  # noqa: E402
from tradeoff.sampling import plan_budget  # noqa: E402

pytestmark = pytest.mark.torch
RNG = np.random.default_rng(0)
REAL, OTHER = RNG.normal(size=(400, 2)), np.abs(RNG.normal(size=(400, 2)))
TRAIN = RNG.normal(size=(300, 2))
OPTIONS = {"estimator": "gaussians", "diagnose": False, "progress": False}


@pytest.fixture(scope="module")
def result():
    return evaluate(
        real=REAL, generated=OTHER, train=TRAIN, metrics=tuple(all_metrics()), **OPTIONS
    )


def test_results_hold_the_keys_of_the_registry(result):
    assert list(result.scores) == list(all_metrics())
    written = json.loads(result.to_json())
    assert {key: score["value"] for key, score in written["scores"].items()} == values(result)
    assert values(Evaluation.from_json(result.to_json())) == values(result)


def values(evaluation):
    return {key: score.value for key, score in evaluation.scores.items()}


def test_functions_give_the_same_numbers(result):
    estimate = pr_curve(real=REAL, generated=OTHER, estimator="gaussians", progress=False)
    curve, lam = estimate.curve, estimate.balance.lam
    direct = {
        "curve.precision": curve.precision(1.5 * lam),
        "curve.recall": curve.recall(lam / 1.5),
        "curve.overlap": curve.precision(1.0),
        "curve.f_score": curve.f_score(1.0),
        "curve.area": curve.area,
        "frechet.distance": frechet_distance(real=REAL, generated=OTHER),
    }
    headline = {key: direct[key] for key in ("curve.precision", "curve.recall", "curve.overlap")}
    assert estimate.headline == pytest.approx(headline)
    plan = plan_budget(estimate.held_out)
    assert {key: found[0] for key, found in plan.headline.items()} == pytest.approx(headline)
    for name in ("precision", "recall", "overlap"):
        assert getattr(result, name) is result[f"curve.{name}"]
    support = support_metrics(real=REAL, generated=OTHER, metrics=tuple(METRICS), progress=False)
    direct |= {METRIC_KEYS[name]: score.value for name, score in support.scores.items()}
    assert {key: result[key].value for key in direct} == pytest.approx(direct)


@pytest.mark.slow
def test_comparisons_and_references_give_the_same_numbers(result):
    keys = resolve_keys(("curve", "knn", "frechet"))
    found = compare(
        real=Reference.make(REAL), generated={"a": OTHER, "b": REAL}, metrics=keys, **OPTIONS
    )
    assert values(found["a"]) == {key: result[key].value for key in keys}
    assert {difference.key for difference in found.differences} <= set(keys)


def test_integrations_give_the_same_numbers(result):
    metric = TradeoffMetric(estimator="gaussians")
    metric.update(torch.from_numpy(REAL), real=True)
    metric.update(torch.from_numpy(OTHER), real=False)
    assert tuple(metric.compute()) == LOGGED["metrics"]
    callback = TradeoffCallback(real=REAL, generate=lambda _: OTHER, estimator="gaussians")
    tracker = callback.tracker
    last = evaluate_sources(tracker.reference, OTHER, tracker.settings, progress=False)
    for found in (metric.last, last):
        assert values(found) == {key: result[key].value for key in LOGGED["metrics"]}
