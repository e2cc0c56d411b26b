"""The labeled oracle on classes whose posteriors are known."""

import numpy as np
import pytest

from benchmarks import bench_real, harness, oracle
from benchmarks.datasets import Labeled
from tradeoff._sides import Sides

CLASSES, COLUMNS, FOLDS = 4, 6, 3
MEANS = 1.5 * np.eye(CLASSES, COLUMNS)


@pytest.fixture(scope="module")
def pool():
    """Gaussian classes of unequal size, 1.5 from the origin on an axis each."""
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat(np.arange(CLASSES), [900, 700, 800, 600]))
    features = MEANS[labels] + rng.normal(size=(len(labels), COLUMNS))
    return Labeled(features.astype(np.float32), labels)


def cross_fitted(pool):
    return oracle.cross_fitted(pool, folds=FOLDS, landmarks=100)


@pytest.fixture(scope="module")
def posteriors(pool):
    return cross_fitted(pool)


@pytest.fixture(scope="module")
def drawn(pool):
    """P is all four classes, Q the first two."""
    counts = Sides(np.full(CLASSES, 250), np.array([350, 350, 0, 0]))
    return bench_real.draw(pool.labels, counts, seed=1)


def true_posteriors(pool):
    shares = np.bincount(pool.labels) / len(pool.labels)
    joint = shares * np.exp(-0.5 * ((pool.features[:, None] - MEANS) ** 2).sum(-1))
    return joint / joint.sum(1, keepdims=True)


def headlines(posteriors, pool, drawn):
    log_ratios = bench_real.oracle_log_ratios(posteriors, pool.labels, drawn)
    return [bench_real.headline(curve(log_ratios)) for curve in (oracle.counted, oracle.plug_in)]


def test_posteriors_are_close_to_the_true_ones(pool, posteriors):
    assert posteriors.sum(1) == pytest.approx(np.ones(len(posteriors)))
    truth = true_posteriors(pool)
    assert np.abs(posteriors - truth).mean() < 0.03
    own = np.arange(len(truth)), pool.labels
    assert -np.log(posteriors[own]).mean() < -np.log(truth[own]).mean() + 0.02


def test_the_log_ratio_is_that_of_the_classes(pool, drawn):
    found = bench_real.oracle_log_ratios(true_posteriors(pool), pool.labels, drawn)
    x = pool.features[drawn.real]
    density = np.exp(-0.5 * ((x[:, None] - MEANS) ** 2).sum(-1))
    truth = np.log(density.mean(1) / density[:, :2].mean(1))
    assert found.real == pytest.approx(truth, abs=1e-6)


def test_the_oracle_reaches_the_truth_and_chance_does_not(pool, posteriors, drawn):
    truth = headlines(true_posteriors(pool), pool, drawn)[1]
    for found in headlines(posteriors, pool, drawn):
        assert found == pytest.approx(truth, abs=0.04)
    shuffled = np.random.default_rng(0).permutation(posteriors)
    counted, _ = headlines(shuffled, pool, drawn)
    assert np.abs(counted - truth).max() > 0.1


def test_no_posterior_depends_on_labels_of_its_own_fold(pool, posteriors):
    own = oracle.fold_of(len(pool.labels), FOLDS) == 1
    labels = pool.labels.copy()
    labels[own] = np.random.default_rng(0).permutation(labels[own])
    found = cross_fitted(Labeled(pool.features, labels))
    assert np.array_equal(found[own], posteriors[own])
    assert np.abs(found[~own] - posteriors[~own]).mean() > 0.01


def test_sides_are_disjoint_and_real_ones_do_not_depend_on_q(pool):
    experiment = bench_real.Experiment(lambda: pool, 2, (1, 2, 3))
    drawn = [experiment.draw(pool.labels, 300, q, seed=0) for q in (1, 3)]
    assert np.array_equal(drawn[0].real, drawn[1].real)
    for rows in drawn:
        assert not set(rows.real) & set(rows.generated)
    assert np.bincount(pool.labels[drawn[0].real]).tolist() == [150, 150]
    assert np.bincount(pool.labels[drawn[1].generated]).tolist() == [100, 100, 100]
    assert not np.array_equal(experiment.draw(pool.labels, 300, 1, seed=1).real, drawn[0].real)
    with pytest.raises(ValueError, match="class 0 has 900 samples, not 1200"):
        experiment.draw(pool.labels, 800, 1, seed=0)


@pytest.fixture
def toy(pool, posteriors, monkeypatch):
    monkeypatch.setitem(
        bench_real.EXPERIMENTS, "toy", bench_real.Experiment(lambda: pool, 2, (1, 2))
    )
    monkeypatch.setattr(bench_real, "SIZES", {"toy, N = 200": ("toy", 200, 0.5)})
    monkeypatch.setattr(oracle, "posteriors", lambda name, load: posteriors)
    bench_real._pool.cache_clear()


@pytest.mark.slow
def test_the_benchmark_at_reduced_size(toy, tmp_path):
    made = harness.run(
        "real", "A title", bench_real.cases("logistic"), results=tmp_path, progress=False
    )
    dropped, same, mean = made["rows"]
    assert dropped["true recall, precision"] == "0.50, 1.00"
    assert same["true recall, precision"] == "1.00, 1.00"
    for method in bench_real.METHODS:
        errors = [one[f"{method}: error"] for one in (dropped, same)]
        assert mean[f"{method}: error"] == pytest.approx(np.mean(errors))
    assert mean["ratio"] == mean["ours: error"] < 0.5
    difference = dropped["ours: error"] - dropped["oracle: error"]
    assert dropped["ours − oracle"] == pytest.approx(difference)
    assert 0 < dropped["± (95%)"] < 0.2


def test_estimators_are_compared_on_the_same_samples(toy):
    found = bench_real.compare_estimators(
        ["logistic", "gaussians"], data="toy", size=200, qs=(1,), seeds=range(2)
    )
    assert [(one["seed"], one["estimator"]) for one in found] == [
        (0, "logistic"),
        (0, "gaussians"),
        (1, "logistic"),
        (1, "gaussians"),
    ]
    for one in found:
        errors = one["recall error"], one["precision error"]
        assert one["error"] == pytest.approx(np.mean(errors))
        assert 0 < one["recall error"] < 0.5


def test_half_of_a_t_interval():
    assert bench_real.half_width(np.array([1.0, 2.0, 3.0])) == pytest.approx(
        4.3027 / np.sqrt(3), 1e-4
    )
