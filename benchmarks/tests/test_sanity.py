"""Sanity checks mean what they say."""

import numpy as np
import pytest

from benchmarks.bench_sanity import measure
from benchmarks.sanity import bell, checks, falling, flat, rising, settled


def test_rules():
    assert bell(np.array([0.0, 0.5, 1.0, 0.5, 0.0]))
    assert not bell(np.array([0.9, 0.5, 1.0, 0.5, 0.0]))
    assert falling(np.array([1.0, 0.5, 0.0]))
    assert not falling(np.array([0.5, 1.0, 0.0]))
    assert rising(np.array([0.0, 0.5, 1.0]))
    assert flat(np.array([0.5, 0.54]))
    assert not flat(np.array([0.5, 0.56]))
    assert settled(np.array([0.0, 0.9, 0.5, 0.52]))


def test_a_perfect_metric_passes_and_a_blind_one_does_not():
    """Rules applied to the right answers of the mean shift, and to a constant."""
    check = checks(5, 3)[0]
    right = [np.array([0.0, 0.3, 1.0, 0.3, 0.0])] * len(check.scenarios)
    for rules in (check.fidelity, check.diversity):
        assert [rule.passes(right) for rule in rules] == [True, True]
        assert [rule.passes([np.ones(5)] * 3) for rule in rules] == [False, False]


def test_there_are_fifteen_checks_and_every_scenario_draws():
    found = checks(3, 2)
    assert len(found) == 15
    rng = np.random.default_rng(0)
    for check in found:
        for scenario in check.scenarios:
            sides = scenario.draw(rng, scenario.sweep[0]).standardized()
            assert sides.real.shape[1] == sides.generated.shape[1]
            assert np.isfinite(sides.real).all()


def test_cubes_overlap_by_a_fifth():
    cube = checks(3, 2)[7].scenarios[2]
    sides = cube.draw(np.random.default_rng(0), 20_000)
    inside = (sides.generated <= 1).all(1).mean()
    assert inside == pytest.approx(0.2, abs=0.015)


def test_the_runner_averages_over_repeats():
    check = checks(3, 2)[0]
    values = measure(check, lambda sides, seed: (float(len(sides.real)), float(seed)), 3, seed=0)
    assert len(values) == 3
    np.testing.assert_allclose(values[0], [[1000.0, 1.0]] * 3)
