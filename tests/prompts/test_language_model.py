"""Answers of a real language model at temperatures 1.0 and 0.7, whose true overlap is known."""

from functools import cache

import numpy as np
import pytest

from tests.known.answered import OF_EACH, answers
from tradeoff import HeldOutLogRatios
from tradeoff.prompts import Prompts, compare_prompts
from tradeoff.samples import Pair

pytestmark = pytest.mark.slow


def true_overlap(tokens):
    (at_one, colder), _ = answers()
    ratios = {"real": at_one.log_ratio(tokens), "generated": colder.log_ratio(tokens)}
    return float(HeldOutLogRatios(**ratios).curve().precision(1.0))


def pair_of(sides, views):
    """Views of some of the answers of both sides."""
    features = [
        {"meaning": one.meaning, "surface": one.surface, "surprisal": one.surprisal()}
        for one, _ in sides
    ]
    x = [
        np.hstack([found[name].astype(float)[rows] for name in views])
        for found, (_, rows) in zip(features, sides, strict=True)
    ]
    widths = {name: features[0][name].shape[1] for name in views}
    return Pair.of(real=x[0], generated=x[1], views=widths)


def asked(real, generated):
    _, features = answers()
    names = [[f"{number:02d}" for number in side] for side in (real, generated)]
    return Prompts.of(
        real=names[0],
        generated=names[1],
        embed=lambda found: features[[int(name) for name in found]],
    )


@cache
def of_temperatures(*views):
    sides = [(one, slice(None)) for one in answers()[0]]
    questions = [one.question for one, _ in sides]
    return compare_prompts(pair_of(sides, views), asked(*questions), progress=False)


def test_the_truth_falls_with_every_token():
    found = [true_overlap(tokens) for tokens in (1, 4, 8, 16, 32)]
    assert found == sorted(found, reverse=True)
    assert found[0] > 0.6
    assert found[-1] < 0.2


def test_a_loss_that_meaning_hides_is_seen_by_surprisal():
    truth = true_overlap(32)
    hidden = of_temperatures("meaning").of_pairs.overlap
    seen = of_temperatures("meaning", "surface", "surprisal").of_pairs
    error = (2 * 0.25 / 480) ** 0.5
    assert truth - 3.3 * error < seen.overlap < hidden - 0.1
    assert seen.overlap_at_most < 0.5


def test_a_colder_model_is_not_said_to_answer_other_questions():
    found = of_temperatures("meaning", "surface", "surprisal")
    assert found.unfit is None
    assert found.variety.within.high < 1.0
    assert "variety" in [name for name, _ in found.faults]


def test_answers_to_shuffled_questions_do_not_fit_and_are_unharmed_themselves():
    (at_one, _), _ = answers()
    rows = np.arange(len(at_one.question)).reshape(-1, OF_EACH)
    halves = rows[:, : OF_EACH // 2].ravel(), rows[:, OF_EACH // 2 :].ravel()
    told = at_one.question[halves[0]]
    wrong = np.random.default_rng(0).permutation(told)
    pair = pair_of([(at_one, half) for half in halves], ("meaning", "surprisal"))
    found = compare_prompts(pair, asked(told, wrong), progress=False)
    assert not found.of_samples.differs
    assert found.of_pairs.overlap_at_most < 0.6
    assert found.unfit > 0.4
