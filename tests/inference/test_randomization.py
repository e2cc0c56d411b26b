"""The test of dependence on a training set: exact with hubs and ties, blind to order."""

import numpy as np
import pytest
from scipy.stats import binom

from tradeoff.inference.randomization import Votes, owed_to_training

RUNS = 300
LESS_THAN_ONCE_IN_1000 = 0.9995


def independent(seed, *, hubs, ties, units=300, training=200, samples=200):
    """Votes that do not depend on the labels: of a few hubs, or shared by several real samples."""
    rng = np.random.default_rng(seed)
    chance = rng.pareto(0.8, units) if hubs else np.ones(units)
    shared = rng.integers(1, 4, samples) if ties else np.ones(samples, int)
    unit = rng.choice(units, shared.sum(), p=chance / chance.sum())
    return Votes(
        closeness=rng.integers(0, 20, samples) / 20 if ties else rng.random(samples),
        sample=np.repeat(np.arange(samples), shared),
        unit=unit,
        weight=np.repeat(1 / shared, shared),
        is_training=rng.permutation(units) < training,
        units=units,
        training=training,
    )


@pytest.mark.parametrize(("hubs", "ties"), [(False, False), (True, False), (True, True)])
def test_p_values_are_those_of_an_exact_test(hubs, ties):
    found = np.array(
        [
            owed_to_training(
                independent(seed, hubs=hubs, ties=ties), permutations=199, seed=seed
            ).p_value
            for seed in range(RUNS)
        ]
    )
    for level in (0.05, 0.2, 0.5):
        assert (found <= level).sum() <= binom.ppf(LESS_THAN_ONCE_IN_1000, RUNS, level)
    if not ties:  # nor is it far too cautious
        assert (found <= 0.5).sum() >= binom.ppf(1 - LESS_THAN_ONCE_IN_1000, RUNS, 0.4)


def with_copies(seed, share, *, units=2000, training=1000, samples=1000):
    """Votes of which the closest are for different training samples, whatever the labels."""
    rng = np.random.default_rng(seed)
    copies = round(share * samples)
    label = rng.permutation(units) < training
    of_copies = rng.choice(np.flatnonzero(label), copies, replace=False)
    return Votes(
        closeness=np.arange(samples, dtype=float),
        sample=np.arange(samples),
        unit=np.concatenate((of_copies, rng.integers(0, units, samples - copies))),
        weight=np.ones(samples),
        is_training=label,
        units=units,
        training=training,
    )


@pytest.mark.parametrize("training", [1000, 1800])
def test_what_is_called_detectable_is_found_four_times_in_five_and_a_third_of_it_is_not(training):
    stated = owed_to_training(with_copies(0, 0.0, training=training)).detectable
    assert 0.004 < stated < 0.2
    found = {
        size: sum(
            owed_to_training(
                with_copies(seed, size, training=training), permutations=399, seed=seed
            ).is_established
            for seed in range(40)
        )
        for size in (stated, stated / 3)
    }
    assert found[stated] >= binom.ppf(1 - LESS_THAN_ONCE_IN_1000, 40, 0.8)
    assert found[stated / 3] <= binom.ppf(LESS_THAN_ONCE_IN_1000, 40, 0.8)


def test_lower_limits_hold_and_are_not_trivial():
    found = [
        owed_to_training(with_copies(seed, 0.05), permutations=399, seed=seed) for seed in range(40)
    ]
    above = sum(one.at_least > 0.05 for one in found)
    assert above <= binom.ppf(LESS_THAN_ONCE_IN_1000, 40, 0.05)
    assert np.mean([one.at_least for one in found]) > 0.02
    assert abs(np.mean([one.value for one in found]) - 0.05) < 0.01


def test_one_hub_with_many_votes_is_one_coin():
    votes = with_copies(0, 0.0)
    unit = votes.unit.copy()
    unit[:300] = int(np.flatnonzero(votes.is_training)[0])  # a single training sample
    found = owed_to_training(
        Votes(**{name: getattr(votes, name) for name in vars(votes) if name != "unit"}, unit=unit)
    )
    assert found.p_value > 0.05


def test_the_order_of_generated_samples_does_not_matter():
    votes = independent(3, hubs=True, ties=True)
    order = np.random.default_rng(0).permutation(votes.closeness.size)
    place = np.argsort(order)
    moved = Votes(
        closeness=votes.closeness[order],
        sample=place[votes.sample],
        unit=votes.unit,
        weight=votes.weight,
        is_training=votes.is_training,
        units=votes.units,
        training=votes.training,
    )
    assert owed_to_training(votes) == owed_to_training(moved)


def test_nothing_to_count_establishes_nothing():
    votes = independent(0, hubs=False, ties=False)
    far = Votes(
        **{name: getattr(votes, name) for name in vars(votes) if name != "closeness"},
        closeness=np.full(votes.closeness.size, np.inf),
    )
    found = owed_to_training(far)
    assert (found.p_value, found.at_least, found.detectable) == (1.0, 0.0, None)
