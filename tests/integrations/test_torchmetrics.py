"""The metric of torchmetrics: the numbers of the library, in one process and in two."""

import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torchmetrics")

from tradeoff import (  # noqa: E402
    InvalidInputError,
    UndefinedError,
    pr_curve,
    support_metrics,
)
from tradeoff.integrations.torchmetrics import TradeoffMetric  # noqa: E402

pytestmark = pytest.mark.torch


def features(side, collapsed=False, size=600):
    rng = torch.Generator().manual_seed(0 if side == "real" else 1)
    x = torch.randn(size, 3, generator=rng)
    return x.abs() if collapsed else x  # one octant of eight


def filled(metric, rank=0, processes=1, **options):
    """Each process takes its rows, in batches of uneven sizes."""
    for side in ("real", "generated"):
        x = features(side, **(options if side == "generated" else {}))[rank::processes]
        for part in x.split(170):
            metric.update(part, real=side == "real")
    return metric


def in_process(rank, processes, store, results):
    """One of two processes, over gloo."""
    torch.set_num_threads(1)
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{store}", rank=rank, world_size=processes
    )
    found = filled(TradeoffMetric(), rank, processes).compute()
    torch.save(found, f"{results}.{rank}")
    torch.distributed.destroy_process_group()


@pytest.mark.slow
def test_two_processes_give_the_numbers_of_one(tmp_path):
    torch.multiprocessing.spawn(in_process, (2, tmp_path / "store", tmp_path / "out"), nprocs=2)
    alone = filled(TradeoffMetric()).compute()
    for rank in range(2):
        found = torch.load(f"{tmp_path / 'out'}.{rank}")
        assert found.keys() == alone.keys()
        for name in alone:
            assert found[name].item() == pytest.approx(alone[name].item(), abs=1e-12), name


def test_the_numbers_are_those_of_the_library():
    found = filled(TradeoffMetric(k=4, estimator="gaussians"), collapsed=True).compute()
    sides = {
        "real": features("real").double().numpy(),
        "generated": features("generated", collapsed=True).double().numpy(),
    }
    support = support_metrics(**sides, k=4, progress=False)
    headline = pr_curve(**sides, estimator="gaussians", progress=False).headline
    assert found["knn.coverage"].item() == pytest.approx(support.coverage, rel=1e-6)
    assert found["knn.recall"].item() == pytest.approx(support.recall, rel=1e-6)
    for key in ("curve.precision", "curve.recall"):
        assert found[key].item() == pytest.approx(headline[key], rel=1e-6)


def test_a_batch_has_no_precision():
    with pytest.raises(UndefinedError, match="call `update` for batches of both sides"):
        TradeoffMetric()(features("real"), real=True)


@pytest.mark.slow
def test_it_survives_pickling_and_merges():
    whole = filled(TradeoffMetric(estimator="gaussians")).compute()
    parts = [filled(TradeoffMetric(estimator="gaussians"), rank, 2) for rank in range(2)]
    first = pickle.loads(pickle.dumps(parts[0]))
    first.merge_state(parts[1])
    for name, value in first.compute().items():
        assert value.item() == pytest.approx(whole[name].item(), abs=1e-12), name


def test_a_module_encodes_in_evaluation_mode():
    encoder = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Dropout(0.5))
    metric = TradeoffMetric(encoder)
    metric.train()
    metric.update(torch.ones(4, 1, 3), real=True)
    assert (metric.real[0] == 1).all()


def test_a_collapsed_generator_is_precise_and_forgetful():
    found = filled(TradeoffMetric(estimator="trees"), collapsed=True).compute()
    assert found["knn.precision"] > 0.95
    assert found["knn.recall"] < 0.3
    assert found["curve.precision"] > 0.9
    assert found["curve.recall"] < 0.5


@pytest.mark.slow
def test_reset_forgets_what_it_should():
    metric = filled(TradeoffMetric(reset_real=False, estimator="gaussians"))
    before = metric.compute()
    metric.reset()
    assert metric.generated == []
    for part in features("generated").split(100):
        metric.update(part, real=False)
    assert metric.compute() == before
    metric = filled(TradeoffMetric())
    metric.reset()
    metric.update(features("generated"), real=False)
    with pytest.raises(InvalidInputError, match="no real samples: call `update` with `real=True`"):
        metric.compute()


def test_an_encoder_maps_samples_to_features():
    metric = TradeoffMetric(lambda x: x.flatten(1), estimator="gaussians")
    rng = np.random.default_rng(0)
    for real in (True, False):
        metric.update(torch.tensor(rng.normal(size=(100, 1, 2, 2))), real=real)
    assert metric.compute()["knn.precision"] > 0.8
    with pytest.raises(InvalidInputError, match="must be a tensor of shape .n, d.. Got .*encoder"):
        TradeoffMetric().update(torch.zeros(3, 1, 2, 2), real=True)


def test_a_training_set_is_tested_for_copies():
    train = torch.randn(600, 3, generator=torch.Generator().manual_seed(2))
    metric = TradeoffMetric(train=train, metrics="copies")
    metric.update(features("real"), real=True)
    metric.update(train[:200] + 0.001, real=False)
    found = metric.compute()
    assert found["copies.owed_to_training"] > 0.9
    assert metric.last.training.state == "copies"


@pytest.mark.slow
def test_an_encoder_by_its_name_and_batches_of_any_form():
    pytest.importorskip("efficientnet_lite_pytorch")
    rng = np.random.default_rng(0)
    pixels = torch.tensor(rng.integers(0, 256, (60, 3, 16, 16)), dtype=torch.uint8)
    metric = TradeoffMetric(encoder="efficientnet-lite0", metrics="knn", k=3)
    metric.update(pixels[:30], real=True)
    metric.update(pixels[30:].float() / 255, real=False)
    assert metric.real[0].shape == (30, 1280)
    found = metric.compute()
    plain = TradeoffMetric(metrics="knn", k=3)
    for real, part in ((True, metric.real[0]), (False, metric.generated[0])):
        plain.update(part, real=real)
    assert plain.compute() == found
    assert pickle.loads(pickle.dumps(metric)).encoder == metric.encoder
    with pytest.raises(InvalidInputError, match="Did you mean `efficientnet-lite0`"):
        TradeoffMetric(encoder="efficientnet-lite1").update(pixels, real=True)


@pytest.mark.filterwarnings("ignore::Warning")  # of Matplotlib about its backend
def test_scores_are_drawn_in_the_way_of_torchmetrics():
    import matplotlib as mpl

    mpl.use("agg")
    metric = filled(TradeoffMetric(metrics=("knn",)))
    figure, axes = metric.plot()
    assert figure is axes.figure
    figure, axes = metric.plot([metric.compute(), metric.compute()])
    assert {text.get_text() for text in axes.get_legend().get_texts()} >= {"knn.precision"}
