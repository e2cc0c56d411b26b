"""Real images and texts at reduced size; `make data` prepares the features before the tests."""

import numpy as np
import pytest

from benchmarks import datasets, draw_classes
from benchmarks.bench_real import EXPERIMENTS, images, samples_of
from tradeoff import pr_curve

pytestmark = pytest.mark.slow

LOADERS = {"cifar10": datasets.cifar10, "fashion": datasets.fashion_mnist}


def estimate(samples):
    return pr_curve(**samples, seed=0, progress=False).curve


@pytest.fixture(scope="module", params=LOADERS)
def curves(request):
    parts = LOADERS[request.param](datasets.QUICK)
    return {q: estimate(images(parts, datasets.QUICK, q)) for q in (1, 5, 10)}


def test_dropped_classes_cost_recall_and_invented_ones_precision(curves):
    """400 samples see a class dropped or invented, if not to the last percent."""
    assert curves[1].recall(0.4) < 0.55  # the truth is 0.2
    assert curves[5].recall(0.4) > 0.85
    assert curves[5].precision(20.0) > 0.85
    assert curves[10].precision(1.0) < 0.85  # the truth is 0.5


def test_dropped_sources_of_texts_cost_recall():
    found = datasets.texts(datasets.QUICK)
    assert len(np.unique(found.labels)) == 4
    recalls = {}
    for q in (2, 4):
        rows = EXPERIMENTS["texts"].draw(found.labels, datasets.QUICK, q, seed=0)
        assert rows.map(len) == (4 * 200, q * 200)
        recalls[q] = estimate(samples_of(found, rows)).recall(0.4)
    assert recalls[4] > 0.85
    assert recalls[2] < 0.8  # the truth is 0.5


def test_features_are_what_they_say():
    cifar = datasets.cifar10(datasets.QUICK)
    assert cifar.test.features.shape == (datasets.QUICK, 1280)
    assert set(np.unique(cifar.test.labels)) == set(range(5))
    assert set(np.unique(cifar.train.labels)) == set(range(10))
    balanced = datasets.balanced(cifar.train, 3, 100, seed=0)
    assert balanced.shape == (100, 1280)
    with pytest.raises(ValueError, match="3000 samples of 1 classes are asked for"):
        datasets.balanced(cifar.train, 1, 3000, seed=0)


def test_the_picture_is_drawn(tmp_path):
    draw_classes.main(str(tmp_path / "classes.png"), quick=True)
    assert (tmp_path / "classes.png").stat().st_size > 10_000


def test_theory_of_classes():
    curve = draw_classes.theory(2)
    assert curve.max_recall == pytest.approx(0.4)
    assert curve.max_precision == pytest.approx(1.0)
    assert draw_classes.theory(10).max_precision == pytest.approx(0.5)
