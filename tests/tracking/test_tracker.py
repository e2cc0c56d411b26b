"""A training run is followed: which steps are measured, resolved and kept."""

import os
import signal
import time
from dataclasses import dataclass

import numpy as np
import pytest

from tradeoff import Best, InvalidInputError
from tradeoff.evaluation import Reference
from tradeoff.tracking import TrackedStep, Tracker

pytestmark = pytest.mark.torch  # which finds neighbors

SIZE = 1000


def ring(seed, modes=8, width=0.2, size=SIZE):
    rng = np.random.default_rng(seed)
    angles = rng.integers(0, modes, size) * np.pi / 4
    return 3 * np.stack((np.cos(angles), np.sin(angles)), 1) + rng.normal(0, width, (size, 2))


REAL = ring(0)


def untrained(seed=1):
    """Mean and covariance of the ring, and nothing else of it."""
    return np.random.default_rng(seed).multivariate_normal(REAL.mean(0), np.cov(REAL.T), SIZE)


BROKEN = {
    "holds? NaN or infinity": np.where(np.arange(SIZE)[:, None] < 3, np.nan, REAL),
    "samples are equal": np.ones((SIZE, 2)),
    "no generated samples": np.empty((0, 2)),
}


@pytest.fixture(scope="module")
def followed():
    tracker = Tracker(REAL, estimator="trees", workers=0, progress=False)
    far = np.random.default_rng(2).normal(50, 1, (SIZE, 2))
    point = REAL.mean(0) + np.random.default_rng(3).normal(0, 1e-3, (SIZE, 2))
    two = np.repeat(REAL[:2], SIZE // 2, axis=0)
    named = {
        **BROKEN,
        "untrained": untrained(),
        "far": far,
        "point": point,
        "two": two,
        "six": ring(4, modes=6),
        "good": ring(5),
        "half": ring(6, modes=4),
    }
    for i, samples in enumerate(named.values()):
        tracker.update(samples, step=i, checkpoint=list(named)[i])
    return tracker, dict(zip(named, tracker.steps, strict=True))


@pytest.mark.slow
def test_broken_samples_are_rows_with_a_reason(followed):
    _, steps = followed
    for name in [*BROKEN, "two"]:
        assert (steps[name].resolved, steps[name].is_broken) == (False, True), name
        assert steps[name].f_score is None
    assert "3 hold NaN or infinity" in steps["holds? NaN or infinity"].sentence
    assert steps["two"].reason == "The generated samples repeat too few distinct ones."


@pytest.mark.slow
def test_the_best_step_is_kept_with_its_checkpoint(followed):
    tracker, steps = followed
    assert tracker.checkpoint == "good"
    assert tracker.best == steps["good"]
    assert tracker.evaluation["curve.f_score"].value == steps["good"].f_score
    assert steps["untrained"].f_score < 0.3
    assert steps["far"].f_score < 0.05
    assert steps["point"].f_score < 0.05
    assert 0.6 < steps["six"].recall < 0.9
    assert steps["half"].score < steps["six"].score < steps["good"].score
    assert "Kept: step 8." in str(tracker)
    assert TrackedStep.from_json(steps["good"].to_json()) == steps["good"]


@pytest.mark.slow
def test_an_estimator_that_finds_no_planted_fault_chooses_nothing():
    tracker = Tracker(REAL, estimator="gaussians", workers=0, progress=False)
    (step,) = tracker.update(untrained(), step=0)
    assert step.f_score > 0.8  # as an upper bound, right and useless
    assert step.knn_precision < 0.3
    assert "would not find a planted loss" in step.reason
    assert tracker.best is None


@dataclass(frozen=True)
class FirstColumn:
    """Sees where a sample lies on the first axis, and nothing else."""

    def fit(self, *, real, generated, seed):
        edges = np.quantile(np.concatenate((real, generated))[:, 0], np.linspace(0, 1, 41)[1:-1])
        counts = [np.bincount(np.digitize(x[:, 0], edges), minlength=40) for x in (real, generated)]
        shares = [(count + 1) / (count.sum() + 40) for count in counts]
        return Bins(edges, np.log(shares[0] / shares[1]))


@dataclass(frozen=True, eq=False)
class Bins:
    edges: np.ndarray
    log_ratios: np.ndarray

    def log_ratio(self, x):
        return self.log_ratios[np.digitize(x[:, 0], self.edges)]


@pytest.mark.slow
def test_a_score_that_neighbors_contradict_is_not_resolved():
    """The estimator finds the planted loss, but not that the second column is wrong."""
    x, other, third = np.random.default_rng(0).uniform(-5, 5, (3, 2000))
    real = np.stack((x, x), 1) + np.random.default_rng(1).normal(0, 0.1, (2000, 2))
    tracker = Tracker(real, estimator=FirstColumn(), workers=0, progress=False)
    fresh = np.stack((other, other), 1) + np.random.default_rng(2).normal(0, 0.1, (2000, 2))
    (wrong,) = tracker.update(np.stack((fresh[:, 0], third), 1), step=0)
    assert wrong.f_score > 0.9
    assert "nearest neighbors at most" in wrong.reason
    assert tracker.best is None
    (right,) = tracker.update(fresh, step=1)
    assert right.resolved
    assert tracker.best == right


@pytest.mark.slow
def test_a_worker_finds_what_this_process_finds():
    reference = Reference.make(REAL, progress=False)
    steps = [untrained(), np.ones((SIZE, 2)), ring(5)]
    found = []
    for workers in (0, 1):
        dropped = []
        tracker = Tracker(
            reference, estimator="trees", workers=workers, discard=dropped.append, progress=False
        )
        for i, samples in enumerate(steps):
            tracker.update(samples, step=i, checkpoint=i)
            assert workers == 0 or i > 0 or tracker.steps == ()  # it does not wait
        tracker.finish()
        found.append(tracker.steps)
        assert (dropped, tracker.checkpoint) == ([1, 0], 2)
    assert found[0] == found[1]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_worker_that_dies_costs_a_step():
    tracker = Tracker(REAL, estimator="trees", progress=False)
    tracker.update(ring(5), step=0)
    deadline = time.monotonic() + 60
    while not (workers := dict(tracker._background._pool._processes)):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(next(iter(workers)), signal.SIGKILL)
    tracker.finish()
    assert "its worker died" in tracker.steps[0].reason
    tracker.update(ring(5), step=1, wait=True)
    assert tracker.steps[1].resolved
    tracker.finish()


def test_mistakes_are_told_at_once():
    tracker = Tracker(REAL[:200], workers=0, progress=False)
    with pytest.raises(InvalidInputError, match="must have the same number of columns"):
        tracker.update(np.ones((100, 3)) * np.arange(100)[:, None], step=0)
    with pytest.raises(InvalidInputError, match="like the real ones. Got image"):
        tracker.update(np.arange(600, dtype=np.uint8).reshape(2, 10, 10, 3), step=0)
    with pytest.raises(InvalidInputError, match="`goal` must be"):
        Tracker(REAL, goal="f_score")
    with pytest.raises(InvalidInputError, match="has no setting `rule`"):
        Tracker(REAL, rule="frozen")
    with pytest.raises(InvalidInputError, match="Did you mean `seed`"):
        Tracker(REAL, sede=1)
    with pytest.raises(InvalidInputError, match="`workers` must be"):
        Tracker(REAL, workers=-1)
    assert tracker.steps == ()


def test_few_samples_are_not_resolved():
    tracker = Tracker(REAL[:100], goal=Best("precision"), estimator="gaussians", workers=0)
    (step,) = tracker.update(ring(1, size=100), step=0)
    assert "at least 160" in step.reason
    (few,) = tracker.update(ring(1, size=10), step=1)
    assert "`generated` must hold at least 20 samples" in few.reason
    assert tracker.best is None
