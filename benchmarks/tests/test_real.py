"""Real images and texts at reduced size; `make data` prepares the features before the tests."""

import numpy as np
import pytest

from benchmarks import datasets, draw_classes
from benchmarks.bench_real import EXPERIMENTS, images, samples_of
from tradeoff import pr_curve

pytestmark = pytest.mark.slow

LOADERS = {"cifar10": datasets.cifar10, "fashion": datasets.fashion_mnist}


def headline(samples):
    found = pr_curve(**samples, seed=0, progress=False).headline
    return found["curve.recall"], found["curve.precision"]


@pytest.fixture(scope="module", params=LOADERS)
def headlines(request):
    parts = LOADERS[request.param](datasets.QUICK)
    return {q: headline(images(parts, datasets.QUICK, q)) for q in (1, 5, 10)}


def test_dropped_classes_cost_recall_and_invented_ones_precision(headlines):
    """400 samples see a class dropped or invented, if not to the last percent."""
    recall, precision = headlines[1]
    assert recall < 0.45  # the truth is 0.2
    assert precision > recall + 0.2
    assert min(headlines[5]) > 0.85
    recall, precision = headlines[10]
    assert precision < 0.85  # the truth is 0.5
    assert recall > precision


def test_dropped_sources_of_texts_cost_recall():
    found = datasets.texts(datasets.QUICK)
    assert len(np.unique(found.labels)) == 4
    recalls = {}
    for q in (2, 4):
        rows = EXPERIMENTS["texts"].draw(found.labels, datasets.QUICK, q, seed=0)
        assert rows.map(len) == (4 * 200, q * 200)
        recalls[q], _ = headline(samples_of(found, rows))
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
