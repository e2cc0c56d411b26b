"""What is said of samples and their prompts, where the faults are known."""

import numpy as np
import pytest

from tests.known.prompts import World, answers
from tradeoff._sides import Sides
from tradeoff._text import percent_up
from tradeoff.prompts import Part, PromptReport, Prompts, Share, Variety, compare_prompts
from tradeoff.prompts.estimator import Suggestion
from tradeoff.prompts.variety import variety_of
from tradeoff.samples import Pair


def compared(fault, seed, **sizes):
    pair, prompts = answers(np.random.default_rng(seed), fault=fault, **sizes)
    return compare_prompts(pair, prompts, seed=seed, progress=False)


def test_samples_that_fit_their_prompts_are_not_accused():
    found = compared("none", 1)
    assert (found.prompts, found.shared) == ({"real": 24, "generated": 24}, 24)
    assert not found.of_pairs.differs
    assert found.unfit is None
    assert found.faults == ()
    assert found.sentences[0] == "No samples that do not fit their prompts were found."


def test_shuffled_prompts_leave_the_samples_alone_unharmed():
    found = compared("shuffled", 1)
    assert not found.of_samples.differs
    assert found.of_pairs.overlap_at_most < 0.35
    assert found.unfit > 0.7
    assert [name for name, _ in found.faults] == ["unfit"]
    assert "No loss in the samples alone was found." in found.sentences[0]


def test_some_wrong_prompts_are_estimated_and_listed():
    pair, prompts = answers(np.random.default_rng(2), fault="mismatched", each=20)
    found = compare_prompts(pair, prompts, progress=False)
    assert 0.15 < found.unfit < 0.4  # a third, some of which got their own prompt again
    rows = [int(one.sample.id.removeprefix("generated[").rstrip("]")) for one in found.mismatched]
    origin = np.repeat(np.arange(24), 20)
    wrong = [prompts.names[origin[i]] != prompts.names[prompts.generated[i]] for i in rows]
    assert np.mean(wrong) > 0.9
    better = [
        one.better == prompts.names[origin[i]]
        for one, i in zip(found.mismatched, rows, strict=True)
    ]
    assert np.mean(better) > 0.5


def test_harmed_samples_with_the_right_prompts_are_told_from_wrong_prompts():
    found = compared("shifted", 1)
    assert found.of_samples.differs
    assert found.of_pairs.differs
    assert found.unfit is None
    assert "is not shown" in found.sentences[0]


def test_answers_that_repeat_each_other_lose_variety_within_prompts():
    found = compared("repetitive", 1)
    assert found.variety.within.low < 0.25 < found.variety.within.high  # half the distance
    assert found.variety.within.high < 0.35
    assert found.variety.between.low < 1.0 < found.variety.between.high
    assert len(found.variety.lost) > 12
    assert "variety" in [name for name, _ in found.faults]


def test_prompts_that_differ_are_said_first():
    rng = np.random.default_rng(0)
    world = World(rng, 60)
    world.features[30:, 0] += 6.0
    real = np.repeat(np.arange(30), 10)
    made = np.where(rng.random(300) < 0.6, real, real + 30)
    pair = Pair.of(real=world.samples(real), generated=world.samples(made))
    found = compare_prompts(pair, world.named(real, made), progress=False)
    assert found.of_prompts.overlap_at_most < 0.8
    assert found.compared["real"] == found.compared["generated"] > 100
    assert found.unfit is None
    assert found.sentences[0].startswith("The prompts of the two sides differ")
    assert "30 prompts that both sides have" in found.sentences[0]


def test_without_shared_prompts_nothing_is_said_of_samples():
    rng = np.random.default_rng(0)
    world = World(rng, 80)
    world.features[40:] += 2.0
    numbers = np.repeat(np.arange(40), 5), np.repeat(np.arange(40, 80), 5)
    pair = Pair.of(real=world.samples(numbers[0]), generated=world.samples(numbers[1]))
    found = compare_prompts(pair, world.named(*numbers), progress=False)
    assert found.of_pairs is None
    assert found.shared == 0
    assert found.sentences == (
        "The prompts of the two sides differ: they have at most "
        f"{percent_up(found.of_prompts.overlap_at_most)} in common. Too few samples have a prompt "
        "that is on both sides to compare them.",
    )


def test_few_prompts_are_classes():
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 4, (2, 400))
    x = 3.0 * np.eye(4)[kinds] + rng.normal(size=(2, 400, 4))
    wrong = np.where(rng.random(400) < 0.3, (kinds[1] + 1) % 4, kinds[1])
    names = [[f"class {one}" for one in side] for side in (kinds[0], wrong)]
    prompts = Prompts.of(real=names[0], generated=names[1], embed=None)
    assert prompts.features.shape == (4, 4)
    found = compare_prompts(Pair.of(real=x[0], generated=x[1]), prompts, progress=False)
    assert found.unit == "sample"
    assert 0.1 < found.unfit < 0.35
    assert not found.of_samples.differs


def test_where_samples_stay_together():
    one = Prompts.of(real=["a", "b", "c"], generated=["a", "b", "c"])
    assert one.groups == (None, None)  # each is its own
    several = Prompts.of(real=["a", "a", "b"], generated=["c", "c", "a"])
    assert several.groups == ([0, 0, 1], [2, 2, 0])
    many = Prompts.of(real=["a", "b"] * 10, generated=["b", "a"] * 10)
    assert many.have_answers
    assert many.groups == (None, None)  # one by one


def test_a_suggestion_leaves_out_the_row_that_it_is_about():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 20)), rng.normal(size=(60, 12))  # nothing to learn
    suggest = Suggestion.fit((x, x), (y, y))
    known, told = suggest.of_prompts(y), suggest.of_samples(x)
    joined = suggest.joined(x, y, is_known=True, is_real=True)
    left_out = known - joined[:, -known.shape[1] :]
    seen = np.mean([np.corrcoef(known[:, i], told[:, i])[0, 1] for i in range(known.shape[1])])
    unseen = np.mean(
        [np.corrcoef(known[:, i], left_out[:, i])[0, 1] for i in range(known.shape[1])]
    )
    assert seen > 0.5
    assert unseen < 0.5 * seen  # components are chosen with all rows


def test_limits_of_variety_are_about_prompts_not_about_answers():
    """True shares are 1. Prompts differ in their own variety, so that answers are not independent.

    Of 300 intervals, an exact test at 0.1% accepts 27 that miss.
    """
    rng = np.random.default_rng(0)
    missed = as_if_answers = lost = 0
    for _ in range(300):
        spread = np.exp(rng.normal(0, 0.6, (2, 30, 1, 1)))
        x = spread * rng.normal(size=(2, 30, 20, 4))
        x = x + 2.0 * rng.normal(size=(30, 1, 4))
        numbers = np.repeat(np.arange(30), 20)
        rows = Sides(*(side.reshape(-1, 4) for side in x))
        found = variety_of(rows, Sides(numbers, numbers), [str(i) for i in range(30)], level=0.95)
        missed += not found.within.low <= 1.0 <= found.within.high
        squares = [((side - side.mean(1, keepdims=True)) ** 2).sum(-1).ravel() for side in x]
        error = sum(one.var() / one.size / one.mean() ** 2 for one in squares) ** 0.5
        as_if_answers += abs(np.log(squares[1].mean() / squares[0].mean())) > 1.96 * error
        lost += found.is_lost
    assert missed <= 27
    assert as_if_answers > 100
    assert lost <= 18


def test_no_prompt_is_accused_of_losing_variety_by_chance():
    """In each of 200 runs of 40 equal prompts; an exact test at 0.1% of 5% accepts 21."""
    rng = np.random.default_rng(1)
    numbers = np.repeat(np.arange(40), 8)
    alarms = 0
    for _ in range(200):
        rows = Sides(*rng.standard_t(5, size=(2, 320, 6)))
        found = variety_of(rows, Sides(numbers, numbers), [str(i) for i in range(40)], level=0.95)
        alarms += bool(found.lost)
    assert alarms <= 21


def test_identical_answers_lose_variety_but_not_without_limits():
    rng = np.random.default_rng(2)
    numbers = np.repeat(np.arange(10), 8)
    real = rng.normal(size=(80, 3))
    rows = Sides(real, real[numbers * 8])
    found = variety_of(rows, Sides(numbers, numbers), [str(i) for i in range(10)], level=0.95)
    assert found.within.value < 1e-12
    assert all(one.high > 0.0 for one in found.prompts)
    assert len(found.lost) > 5


def test_the_sentence_on_pairs_that_differ_for_an_unknown_reason():
    report = PromptReport(
        prompts={"real": 9, "generated": 9},
        shared=9,
        of_pairs=Part(overlap=0.8, overlap_at_most=0.9),
        variety=Variety(within=Share(value=0.5, low=0.4, high=0.6)),
    )
    assert "cannot be told from so few samples" in report.sentences[0]
    assert report.sentences[1] == (
        "Within prompts, generated samples have 50% (40% to 60%) of the variety of real ones."
    )
    assert report.without_values().variety.prompts == ()


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["none", "one each", "shifted"])
def test_right_prompts_are_not_accused(fault):
    """More than three of ten false alarms have a chance of 1 in 1,000 at 5%."""
    runs = [compared(fault, 100 + seed, each=8) for seed in range(10)]
    assert sum(one.unfit is not None for one in runs) <= 3
    if fault != "shifted":
        assert sum(one.of_samples.differs for one in runs) <= 3
        assert sum(one.of_pairs.differs for one in runs) <= 3


@pytest.mark.slow
def test_samples_alone_stay_honest_where_prompts_are_shuffled():
    runs = [compared("shuffled", 200 + seed, each=8) for seed in range(6)]
    assert not any(one.of_samples.differs for one in runs)
    assert max(one.of_pairs.overlap_at_most for one in runs) < 0.4
    assert min(one.unfit or 0.0 for one in runs) > 0.6
