"""The verdict on real data at reduced size, and the counting of the benchmark."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from benchmarks import bench_verdict, datasets, faults
from benchmarks.bench_verdict import Advice, Bar, Case
from benchmarks.datasets import Labeled
from benchmarks.faults import FOREIGN, NONE, Data, Drawn, Run, dropped, invented
from tradeoff.samples import Pair

FILMS, TWEETS = 0, 2
RECALL = frozenset({"recall"})


@pytest.fixture
def numbers():
    """A pool in which a row is its own number, a label per hundred, and negative foreign rows."""
    rows = np.arange(1000.0)[:, None]
    return Data(Labeled(rows, np.arange(1000) // 100), -1 - rows)


def rows_of(drawn):
    return [side.x[:, 0].astype(int) for side in drawn.pair]


@pytest.mark.parametrize("fault", [NONE, dropped(2, 10), invented(2, 10)])
def test_sides_are_disjoint_and_lack_only_what_they_should(numbers, fault):
    drawn = faults.draw(numbers, fault, real=300, generated=400, seed=1)
    real, generated = rows_of(drawn)
    assert len(np.unique(np.concatenate((real, generated)))) == 700
    assert len(np.unique(real // 100)) == 10 - fault.invented
    assert len(np.unique(generated // 100)) == 10 - fault.dropped
    whole, other = (generated, real) if fault.invented else (real, generated)
    alone = np.mean(~np.isin(whole // 100, other // 100))
    assert abs(alone - drawn.share) < 0.1  # five standard deviations
    assert drawn.share == pytest.approx((fault.dropped + fault.invented) / 10)
    assert [int(label) for label in drawn.pair.real.labels] == list(real // 100)


def test_foreign_samples_have_their_share(numbers):
    drawn = faults.draw(numbers, FOREIGN[0.2], real=400, generated=500, seed=1)
    real, generated = rows_of(drawn)
    assert real.min() >= 0
    assert 60 <= np.sum(generated < 0) <= 145  # 100 expected, five standard deviations
    assert drawn.share == 0.2
    assert len(np.unique(generated)) == 500


def test_copies_are_of_ten_real_samples(numbers):
    near, exact = faults.COPIES
    drawn = faults.draw(numbers, exact, real=100, generated=200, seed=1)
    real, generated = rows_of(drawn)
    assert len(set(generated)) == 10
    assert set(generated) <= set(real)
    drawn = faults.draw(numbers, near, real=100, generated=200, seed=1)
    assert drawn.pair.generated.distinct == 200


@pytest.mark.slow
def test_exact_copies_are_not_called_fine():
    exact = faults.COPIES[1]
    case = Case(data="tumors", fault=exact, real=100, runs=2, not_fine=0.9)
    found = [faults.measured(case.draw(seed), exact, seed, False) for seed in range(2)]
    assert all({"memorized", "repeats itself"} <= set(one.findings) for one in found)
    assert case.row(found)["ratio"] == 0.0
    assert case.row([replace(one, findings=()) for one in found])["ratio"] > 1.0


def test_an_exhausted_pool_gives_fewer_samples(numbers):
    drawn = faults.draw(numbers, dropped(5, 10), real=600, generated=600, seed=1)
    real, generated = rows_of(drawn)
    assert len(real) == 600
    assert len(generated) < 300
    assert not set(real) & set(generated)


@pytest.mark.parametrize(("runs", "share"), [(150, 0.05), (40, 0.15), (40, 0.05), (5, 0.05)])
def test_a_bar_is_an_exact_binomial_test(runs, share):
    allowed = Bar("errors", 0, runs, share).allowed
    p_values = [
        binomtest(count, runs, share, alternative="greater").pvalue
        for count in (allowed, allowed + 1)
    ]
    assert p_values[0] > 0.01 >= p_values[1]
    assert Bar("errors", allowed, runs, share).ratio == 1.0
    assert Bar("errors", allowed + 1, runs, share).ratio > 1.0


def test_errors_are_counted_by_kind():
    case = Case(data="images", fault=dropped(2, 10), real=200)
    found = [
        Run(RECALL, 0.2, 0.1, {"recall": 0.1}),
        Run(RECALL, 0.2, 0.25, {"recall": 0.25}),
        Run(RECALL, 0.2, 0.1, {"precision": 0.1}),
        Run(RECALL, 0.2, None, {}, at_most=0.1, controlled=True),
        Run(RECALL, 0.2, None, {}, at_most=0.4, controlled=True),
        Run(RECALL, 0.2, None, {}, enough=900, controlled=True),
    ]
    row = case.row(found)
    assert (row["wrong kind"], row["limit above truth"], row["false bound"]) == (1, 1, 1)
    assert (row["kind"], row["difference"]) == (2 / 6, 3 / 6)
    assert (row["controlled"], row["bounded"], row["advised size, median"]) == (3, 2, 900)


def test_a_case_without_a_fault_counts_alarms_and_bounds():
    found = [Run(frozenset(), 0.0, 0.1 if seed < 2 else None, {}) for seed in range(10)]
    found += [Run(frozenset(), 0.0, None, {}, at_most=x, controlled=True) for x in (0.1, 0.4, None)]
    bars = Case(data="images", fault=NONE, real=200, bounded=0.5).bars(found)
    assert (bars["false alarms"].failures, bars["not bounded"].failures) == (2, 2)


@pytest.mark.parametrize(("hits", "passes"), [(100, False), (80, True), (60, True), (50, False)])
def test_advice_must_be_right_in_65_to_95_percent(hits, passes):
    row = Advice(data="images", fault=dropped(2, 10)).judged([i < hits for i in range(100)])
    assert (row["ratio"] <= row["bar"]) is passes


def test_advice_that_is_too_large_counts_as_too_large(monkeypatch):
    monkeypatch.setattr(bench_verdict, "advised_counts", lambda *_: [1e5] * 19 + [None])
    row = Advice(data="table", fault=dropped(2, 10)).measure()
    assert (row["too large to try"], row["runs"], row["kind"]) == (19, 0, 1.0)
    assert row["ratio"] > row["bar"]


def test_errors_are_pooled_over_cases():
    rows = {
        "one": {"runs": 40, "wrong kind": 3, "bounded": 8, "false bound": 0},
        "two": {"runs": 60, "wrong kind": 8},
        "three": {"runs": 150, "false alarms": 4},
    }
    row = bench_verdict.pooled("wrong kind", rows)
    assert (row["runs"], row["wrong kind"]) == (100, 11)
    assert row["ratio"] == 1.0
    assert bench_verdict.pooled("false bound", rows)["runs"] == 8


def verdicts(data, fault, size, runs):
    for seed in range(runs):
        drawn = faults.draw(data, fault, real=size, generated=size, seed=seed)
        yield faults.measured(drawn, fault, seed, controls=False)


@pytest.mark.slow
def test_false_alarms_are_rare():
    images = Data(datasets.cifar10(datasets.QUICK).train, np.empty((0, 1280)))
    found = [
        *verdicts(faults.texts(datasets.QUICK), NONE, 100, 12),
        *verdicts(images, NONE, 100, 4),
    ]
    alarms = sum(run.difference is not None for run in found)
    assert alarms <= binom.ppf(0.999, len(found), 0.05)


@pytest.mark.slow
def test_half_tweets_instead_of_film_reviews_are_found():
    pool = datasets.texts(datasets.QUICK)
    films, tweets = (pool.features[pool.labels == source] for source in (FILMS, TWEETS))
    data = Data(Labeled(films, np.zeros(len(films), int)), tweets)
    runs = 8
    found = list(verdicts(data, FOREIGN[0.5], 200, runs))
    rare = binom.ppf(0.999, runs, 0.05)
    assert sum("precision" not in run.limits for run in found) <= rare
    assert sum("recall" in run.limits for run in found) <= rare
    assert sum(run.exceeds for run in found) <= rare


def test_a_bound_is_compared_as_it_is_printed():
    assert not Run(RECALL, 0.2, None, {}, at_most=0.196).is_falsely_bounded
    assert Run(RECALL, 0.2, None, {}, at_most=0.194).is_falsely_bounded


@pytest.mark.slow
def test_controls_are_run_where_recall_is_not_lost():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 200, 2))
    pair = Pair.of(real=x[0], generated=x[1])
    with_controls = faults.measured(Drawn(pair, 0.0), NONE, 0, controls=True)
    without = faults.measured(Drawn(pair, 0.0), NONE, 0, controls=False)
    assert (with_controls.controlled, without.controlled) == (True, False)
    assert with_controls.difference == without.difference
