"""Copies of training samples, measured on samples: alarms, power, ties and threads."""

import numpy as np
import pytest
from scipy.stats import binom

from tradeoff.metrics import Request
from tradeoff.metrics.family import measure
from tradeoff.samples import Pair

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.torch

LESS_THAN_ONCE_IN_1000 = 0.9995
KEYS = ("copies.owed_to_training", "copies.near_training")


def normal(rng, n):
    return rng.normal(size=(n, 48))


def table(rng, n):
    """Rows of four categories in five columns, of which many are equal."""
    return np.eye(4)[rng.choice(4, (n, 5), p=(0.4, 0.3, 0.2, 0.1))].reshape(n, -1)


def measured(train, held_out, made, seed=0, **groups):
    pair = Pair.of(real=held_out, generated=made, train=train, **groups)
    return measure(pair, Request(keys=KEYS, seed=seed))


MODELS = {
    "independent rows of a table": (table, lambda draw, rng, n: draw(rng, n)),
    "a table of few rows": (table, lambda draw, rng, n: draw(rng, 9)[rng.integers(0, 9, n)]),
    "collapsed, so that few samples are near": (normal, lambda draw, rng, n: 0.2 * draw(rng, n)),
    "shifted": (normal, lambda draw, rng, n: 0.6 + draw(rng, n)),
}


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_a_model_that_does_not_depend_on_its_training_set_is_rarely_accused(model):
    draw, make = MODELS[model]
    alarms = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        found = measured(draw(rng, 200), draw(rng, 150), make(draw, rng, 150), seed)
        alarms += found.training.owed.is_established
    assert alarms <= binom.ppf(LESS_THAN_ONCE_IN_1000, 40, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_a_few_near_copies_are_found_and_limits_hold(scale):
    """With a good remainder and with a bad one."""
    found = above = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        train, held_out, made = normal(rng, 300), normal(rng, 300), scale * normal(rng, 300)
        made[:24] = train[:24] + 0.05 * normal(rng, 24)
        close = measured(train, held_out, made, seed).training.close
        found += close.is_established
        above += close.at_least > 24 / 300
    assert found >= binom.ppf(1 - LESS_THAN_ONCE_IN_1000, 20, 0.95)
    assert above <= binom.ppf(LESS_THAN_ONCE_IN_1000, 20, 0.05)


def test_the_order_of_the_votes_does_not_depend_on_the_labels():
    """Exchanging training and held-out samples exchanges their votes, and changes nothing else."""
    rng = np.random.default_rng(0)
    train, held_out, made = table(rng, 200), table(rng, 200), table(rng, 150)
    made[:30] = train[:30]
    first, second = (
        measured(*both, made).training for both in ((train, held_out), (held_out, train))
    )
    np.testing.assert_array_equal(first.nearest.ratio, second.nearest.ratio)
    np.testing.assert_array_equal(first.nearest.weight, second.nearest.weight)
    np.testing.assert_array_equal(first.nearest.train.squares, second.nearest.held_out.squares)
    np.testing.assert_array_equal(first.is_close, second.is_close)


def test_results_do_not_depend_on_threads():
    rng = np.random.default_rng(0)
    given = [rng.normal(size=(n, 40)).astype(np.float32) for n in (700, 500, 600)]
    before = torch.get_num_threads()
    found = []
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            found.append(measured(*given).training)
    finally:
        torch.set_num_threads(before)
    first, second = found
    assert (first.owed, first.close) == (second.owed, second.close)
    for one, other in zip(first.nearest.parts, second.nearest.parts, strict=True):
        np.testing.assert_array_equal(one.squares, other.squares)
        np.testing.assert_array_equal(one.rows, other.rows)
