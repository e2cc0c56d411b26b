"""Headlines: groups first, guaranteed limits only, and never longer than a phone shows."""

from types import SimpleNamespace

import pytest

from tradeoff.comparison.models import Comparison, Difference
from tradeoff.evaluation import Finding
from tradeoff.evaluation.verdict import Outcome, Verdict
from tradeoff.explain.result import Explanation, Group, GroupedLoss
from tradeoff.inference.losses import Loss
from tradeoff.report.cards import _state
from tradeoff.report.headline import (
    headline_of,
    headline_of_comparison,
    headline_of_sentences,
)

LONGEST = 92


def outcome(at_least=0.0, *groups, **options):
    losses = (Loss(factor=1.5, at_least=at_least),) if at_least else ()
    return Outcome(**({"value": 1 - at_least} | options), losses=losses, groups=groups)


def evaluation(precision=None, recall=None, explanation=None, findings=(), difference=0.2):
    """As much of an evaluation as a headline needs."""
    verdict = Verdict(
        difference=difference, precision=precision or outcome(), recall=recall or outcome()
    )
    return SimpleNamespace(
        verdict=verdict,
        explanation=explanation,
        training=None,
        table=None,
        prompts=None,
        findings=findings,
        settings=SimpleNamespace(level=0.95),
        provenance={},
        scores={},
    )


def test_a_loss_is_told_with_its_groups_first():
    found = headline_of(evaluation(recall=outcome(0.113, "truck", "ship", at_most=0.1)))
    assert found.title == "Misses truck and ship: at least 11% of the real data in all."
    assert not any("Misses at least" in sentence for sentence in found.rest)


def test_the_larger_of_two_losses_comes_first_and_the_other_one_is_told_below():
    found = headline_of(evaluation(outcome(0.3, "foreign"), outcome(0.113, "truck")))
    assert found.title == (
        "Invents foreign: at least 30% of its samples in all; misses truck: at least 11%."
    )
    assert found.rest == ["Misses at least 11% of the real data: truck."]


@pytest.mark.parametrize("length", [10, 30, 60, 120, 1000])
def test_no_headline_is_long_and_nothing_is_lost(length):
    names = [letter * length for letter in "abc"]
    found = headline_of(evaluation(outcome(0.3, *names), outcome(0.2, *names)))
    assert len(found.title) <= LONGEST
    everything = " ".join([found.title, *found.rest])
    assert all(name in everything for name in names)
    found = headline_of_sentences([f"{names[0]} has the largest area.", "More."])
    assert len(found.title) <= LONGEST
    assert names[0] in " ".join([found.title, *found.rest])


def test_of_words_the_first_two_are_enough():
    name = "movie, film, its, films, director"
    group = Group(name=name, kind="words", share=0.2, at_least=0.1, size=100)
    loss = GroupedLoss(kind="recall", factor=5.0, loss=0.2, low=0.1, high=0.3, groups=(group,))
    explanation = Explanation(level=0.95, missed=loss)
    found = headline_of(evaluation(recall=outcome(0.19, name), explanation=explanation))
    assert found.title == "Misses “movie, film”: at least 19% of the real data in all."
    assert f"Misses at least 19% of the real data: {name}." in found.rest


def test_a_group_that_is_not_established_is_called_so():
    group = Group(name="radius > 17", kind="rule", share=0.2, at_least=0.0, size=100)
    loss = GroupedLoss(kind="recall", factor=5.0, loss=0.2, low=0.1, high=0.3, groups=(group,))
    explanation = Explanation(level=0.95, missed=loss)
    found = headline_of(evaluation(recall=outcome(0.19), explanation=explanation))
    assert found.title == "Misses at least 19% of the real data."
    assert found.rest[-1] == "Where to look first, although it is not established: radius > 17."


@pytest.mark.parametrize("difference", [None, 0.02, 0.2, 0.9])
def test_without_a_loss_the_first_sentence_is_the_headline(difference):
    found = headline_of(evaluation(difference=difference))
    assert len(found.title) <= LONGEST
    assert found.title.endswith(".")
    assert found.rest


def test_another_fault_is_not_hidden_behind_nothing_found():
    finding = Finding("memorized", "30% of the generated samples are copies.")
    found = headline_of(evaluation(difference=None, findings=(finding,)))
    assert found.title == finding.sentence
    assert "No difference between the two sets was found." in found.rest


def test_without_a_verdict_the_headline_says_so():
    found = headline_of(
        SimpleNamespace(
            verdict=None, training=None, table=None, prompts=None, findings=(), explanation=None
        )
    )
    assert "no reliable curve" in found.title


def compared(*, clear, names=("first", "second"), value=-0.2, missed=()):
    one = evaluation(recall=outcome(0.1, *missed) if missed else None)
    models = dict.fromkeys(names, evaluation()) | {names[0]: one}
    differences = [
        Difference(
            first=names[0],
            second=name,
            key="curve.overlap",
            value=value,
            low=value - 0.1,
            high=value + 0.1,
            p_value=0.001 if clear else 0.5,
            resolvable=0.1,
        )
        for name in names[1:]
    ]
    return Comparison(models, tuple(differences))


def test_of_two_models_the_better_one_is_named_with_what_the_other_one_misses():
    found = headline_of_comparison(compared(clear=True, missed=("truck", "ship")))
    assert found.title == "second is better than first, which misses truck and ship."
    assert found.rest[0].startswith("second is better than first: a larger overlap, +0.20")
    found = headline_of_comparison(compared(clear=True, value=0.2))
    assert found.title == "first is better than second."


def test_models_that_cannot_be_told_apart_are_not_ranked():
    found = headline_of_comparison(compared(clear=False))
    assert found.title == "first and second cannot be told apart with this many samples."
    assert "would be found nine times in ten" in found.rest[0]
    names = ("a", "b", "c")
    found = headline_of_comparison(compared(clear=False, names=names))
    assert found.title == "No model is shown to be better than another."
    found = headline_of_comparison(compared(clear=True, names=names, value=0.2))
    assert found.title == "a is better than the 2 others."
    found = headline_of_comparison(compared(clear=True, names=names))
    assert found.title == "No model is shown to be better than all others."
    found = headline_of_comparison(compared(clear=True, names=("x" * 200, "y" * 200)))
    assert len(found.title) <= LONGEST


@pytest.mark.parametrize(
    ("precision", "difference", "expected"),
    [
        (outcome(0.1), 0.3, "bad"),
        (outcome(at_most=0.1), None, "good"),
        (outcome(at_most=0.1), 0.02, "good"),
        (outcome(), None, "open"),
        (outcome(at_most=0.1, value=0.5), 0.3, "open"),
    ],
)
def test_a_card_is_good_only_where_a_loss_would_have_been_found(precision, difference, expected):
    verdict = Verdict(difference=difference, precision=precision, recall=outcome(at_most=0.1))
    assert _state(verdict, "precision").name == expected
    signs = {"bad": "✗", "good": "✓", "open": "?"}
    assert _state(verdict, "precision").sign == signs[expected]
    overlap = _state(verdict, "overlap").name
    assert overlap == ("bad" if difference is not None else "good")
