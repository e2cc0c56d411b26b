"""Capitals of bets: fair at the true mean, bounded from below, and right at any time."""

from itertools import product
from math import factorial

import numpy as np
import pytest

from tests.known import sequential
from tradeoff.inference.betting import ONE_MODEL, TWO_MODELS, BettingTest, log_factors

SHARES = {ONE_MODEL: (0.35, 0.65), TWO_MODELS: (0.2, 0.5, 0.3)}


def outcomes(shares, n):
    """All counts of n samples with their probabilities."""
    for counts in product(range(n + 1), repeat=len(shares)):
        if sum(counts) == n:
            ways = factorial(n) / np.prod([factorial(c) for c in counts])
            yield np.array(counts, float), ways * np.prod(np.power(shares, counts))


@pytest.mark.parametrize("values", [ONE_MODEL, TWO_MODELS])
def test_capital_is_one_in_the_mean_at_the_true_mean(values):
    """Exactly, over all outcomes of six samples, for every bet of a test."""
    shares = SHARES[values]
    mean = np.array([np.dot(values, shares)])
    test = BettingTest(1.0, values, real=[50] * len(values), spread=(0.5, 0.5), looks=(1, 6))
    for bets in (test.bets, -test.bets, test.real_bets, -test.real_bets):
        factors = log_factors(np.array(values), bets, mean)
        expected = sum(p * np.exp(factors @ counts)[:, 0] for counts, p in outcomes(shares, 6))
        np.testing.assert_allclose(expected, 1.0, rtol=1e-12)


@pytest.mark.parametrize("lam", [0.4, 1.0, 20.0])
@pytest.mark.parametrize("values", [ONE_MODEL, TWO_MODELS])
def test_the_bound_is_below_the_capital_everywhere_and_close_to_its_minimum(values, lam):
    rng = np.random.default_rng(0)
    shares = SHARES[values]
    real = rng.multinomial(3000, shares)
    test = BettingTest(lam, values, real=real, spread=(0.5, 0.5), looks=(50, 4000))
    x = np.array(values)
    means = np.union1d(np.linspace(x[0], x[-1], 20_001), test.cells[0])
    both = np.concatenate((test.real_bets, -test.real_bets))
    of_real = np.exp(log_factors(x, both, means) @ real).mean(0)
    for n, gap in product((50, 1000), (-0.3, -0.05, 0.05, 0.3)):
        counts = rng.multinomial(n, shares)
        bar = (1 + lam) * float(np.dot(values, shares)) - gap
        for sign, bound in zip((1.0, -1.0), test.log_capitals(counts, bar), strict=True):
            argument = bar - lam * means
            possible = argument >= x[0] if sign > 0 else argument <= x[-1]
            argument = np.clip(argument[possible], x[0], x[-1])
            made = np.exp(log_factors(x, sign * test.bets, argument) @ counts).mean(0)
            smallest = np.log((of_real[possible] * made).min())
            assert bound <= smallest + 1e-9
            for wanted in (smallest - 0.05, smallest + 0.05):
                sharper = test.log_capitals(counts, bar, wanted=wanted)[0 if sign > 0 else 1]
                assert bound <= sharper <= smallest + 1e-9
                assert (sharper >= wanted) == (wanted < smallest)


def test_limits_hold_the_estimate_shrink_and_answer_like_the_capitals():
    widths = []
    for n in (300, 3000, 30_000):
        test = BettingTest(
            1.0, ONE_MODEL, real=[13_000, 7_000], spread=(0.5, 0.5), looks=(300, 30_000)
        )
        counts = np.array([0.65, 0.35]) * n
        low, high = test.limits(counts, error=0.05)
        assert low < 0.7 < high
        widths.append(high - low)
        threshold = np.log(2 / 0.05)
        for bar, side in ((low - 1e-6, 0), (high + 1e-6, 1)):
            assert test.log_capitals(counts, bar)[side] >= threshold
        for bar, side in ((low + 1e-3, 0), (high - 1e-3, 1)):  # a sharper bound rejects little more
            assert test.log_capitals(counts, bar, wanted=threshold)[side] < threshold
    assert widths == sorted(widths, reverse=True)


def test_what_the_real_side_hides_is_never_established():
    """Not even by a hundred million generated samples, and twice that gap is."""
    test = BettingTest(20.0, ONE_MODEL, real=[1990, 10], spread=(0.07, 0.5), looks=(100, 10**8))
    above, below = test.resolvable(error=0.05)
    assert 0.05 < above < 0.2
    assert 0.05 < below < 0.3
    counts = np.array([0.3, 0.7]) * 1e8
    truth = 20 * 0.005 + 0.7
    threshold = np.log(2 / 0.05)
    for factor in (0.9, 1.3):
        bars = truth - factor * above, truth + factor * below
        for side, bar in enumerate(bars):
            capital = test.log_capitals(counts, bar, wanted=threshold)[side]
            assert (capital >= threshold) == (factor > 1)


@pytest.mark.slow
@pytest.mark.parametrize("question", sequential.QUESTIONS[::3], ids=lambda one: one.name)
def test_ties_are_rarely_broken_and_gaps_are_answered_soon(question):
    """At 5%, 40 runs break at most 7 ties, but for once in 1,400."""
    ties = [sequential.simulate(question, 0.0, seed)[0.05] for seed in range(40)]
    assert sum(answer != 0 for answer, _ in ties) <= 7
    for gap in (0.05, -0.05):
        found = [sequential.simulate(question, gap, seed)[0.05] for seed in range(40)]
        assert all(answer == np.sign(gap) for answer, _ in found)
        assert np.mean([n for _, n in found]) < 1.6 * sequential.fixed_size(question, gap, 0.05)
