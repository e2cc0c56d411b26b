"""The verdict: its sentences, what they round, how it survives a file, and what contradicts it."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from tradeoff import Evaluation, evaluate
from tradeoff.evaluation.findings import findings_of
from tradeoff.evaluation.verdict import Outcome, Verdict, verdict_of
from tradeoff.inference.losses import Loss, Losses
from tradeoff.metrics.score import Score

RNG = np.random.default_rng(0)
REAL = RNG.normal(size=(400, 3))
QUICK = {"estimator": "logistic", "diagnose": False, "progress": False}

NO_GROUP = (
    "no loss was found. If groups that make up more than {} of the real data were missing, this "
    "would have been found (tested by withholding groups of real samples)."
)
UNKNOWN = "no loss was found, but none is ruled out."


def lost(*losses):
    return Outcome(losses=tuple(Loss(factor=f, at_least=share) for f, share in losses))


SENTENCES = {
    "precision at one factor": (
        Verdict(difference=0.31, precision=lost((3.0, 0.31))),
        "Precision is lost: with 95% confidence at least 31% of the generated samples come from "
        "regions where real data is more than 3 times rarer than generated data.",
        f"Recall: {UNKNOWN}",
    ),
    "precision up to 5 is not called invented": (
        Verdict(level=0.9, precision=lost((2.5, 0.4), (5.0, 0.2)), recall=Outcome(at_most=0.1)),
        "Precision is lost: with 90% confidence at least 40% of the generated samples come from "
        "regions where real data is more than 2.5 times rarer than generated data, and at least "
        "20% from regions where it is more than 5 times rarer.",
        f"Recall: {NO_GROUP.format('10%')}",
    ),
    "precision up to 20": (
        Verdict(precision=lost((3.0, 0.31), (5.0, 0.25), (20.0, 0.125))),
        "Precision is lost: with 95% confidence at least 31% of the generated samples come from "
        "regions where real data is more than 3 times rarer than generated data, and at least 12% "
        "look invented (more than 20 times rarer).",
        f"Recall: {UNKNOWN}",
    ),
    "recall at one factor": (
        Verdict(recall=lost((2.0, 0.5))),
        "Recall is lost: with 95% confidence at least 50% of the real data comes from regions that "
        "the model produces less than 50% as often as it should.",
        f"Precision: {UNKNOWN}",
    ),
    "recall at two factors": (
        Verdict(recall=lost((1.6, 0.062), (5.0, 0.032))),
        "Recall is lost: with 95% confidence at least 6.2% of the real data comes from regions "
        "that the model produces less than 62.5% as often as it should, and at least 3.2% is "
        "produced less than 20% as often.",
        f"Precision: {UNKNOWN}",
    ),
    "recall at two factors that are close": (
        Verdict(recall=lost((2.0, 0.5), (3.0, 0.4))),
        "Recall is lost: with 95% confidence at least 50% of the real data comes from regions that "
        "the model produces less than 50% as often as it should.",
        f"Precision: {UNKNOWN}",
    ),
    "recall up to 20": (
        Verdict(recall=lost((2.0, 0.5), (5.0, 0.4), (20.0, 0.3))),
        "Recall is lost: with 95% confidence at least 50% of the real data comes from regions that "
        "the model produces less than 50% as often as it should, and at least 30% is practically "
        "missing (less than 5% as often).",
        f"Precision: {UNKNOWN}",
    ),
    "a difference without a kind": (
        Verdict(difference=0.061, recall=Outcome(enough=1900), precision=Outcome(enough=1900)),
        "The two sets differ: their total variation distance is at least 6.1% with 95% confidence. "
        "It is not established whether precision or recall is lost.",
        "Precision and recall: inconclusive. Detecting a loss of 10% takes about 1,900 samples on "
        "each side.",
    ),
    "bounded": (
        Verdict(precision=Outcome(enough=700), recall=Outcome(at_most=0.2, enough=700)),
        "No difference between the two sets was found.",
        "Precision: inconclusive. Detecting a loss of 10% takes about 700 samples on each side.",
        f"Recall: {NO_GROUP.format('20%')}",
    ),
    "nothing known": (
        Verdict(),
        "No difference between the two sets was found.",
        f"Precision and recall: {UNKNOWN}",
    ),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_sentences(name):
    verdict, *sentences = SENTENCES[name]
    assert list(verdict.sentences) == sentences
    lines = str(verdict).splitlines()
    assert max(map(len, lines)) <= 92
    assert " ".join(lines) == " ".join(sentences)


@pytest.mark.parametrize(
    ("precision", "recall", "order"),
    [(0.3, 0.2, ["Precision", "Recall"]), (0.001, 0.11, ["Recall", "Precision"])],
)
def test_of_two_losses_the_larger_one_is_first_and_nothing_is_open(precision, recall, order):
    verdict = Verdict(precision=lost((3.0, precision)), recall=lost((3.0, recall)))
    assert [sentence.split()[0] for sentence in verdict.sentences] == order
    assert [found.name.split()[0] for found in findings_of(verdict, {})] == [
        kind.lower() for kind in order
    ]


@pytest.mark.parametrize(
    ("precision", "recall", "is_advised"),
    [(0.001, 0.11, False), (0.3, 0.0, True), (0.97, 0.2, False), (0.97, 0.97, False)],
)
def test_a_filter_is_advised_where_it_can_help(precision, recall, is_advised):
    """Not for a loss so small that it would discard more than it repairs, nor for nearly all."""
    found = {"precision": lost((3.0, precision))} | (
        {"recall": lost((3.0, recall))} if recall else {}
    )
    advice = " ".join(one.advice for one in findings_of(Verdict(**found), {}))
    assert ("tradeoff filter" in advice) == is_advised


def test_a_fault_of_all_samples_is_not_taken_for_missing_kinds():
    verdict = Verdict(precision=lost((75.0, 0.71)), recall=lost((75.0, 0.57)))
    first, second = findings_of(verdict, {})
    assert "blur" in first.advice
    assert not second.advice


@pytest.mark.parametrize(
    ("outcome", "state"),
    [
        (Outcome(), "inconclusive"),
        (Outcome(enough=100), "inconclusive"),
        (Outcome(at_most=0.1, enough=100), "bounded"),
        (Outcome(losses=(Loss(factor=2.0, at_least=0.1),), at_most=0.1), "lost"),
    ],
)
def test_states(outcome, state):
    assert outcome.state == state


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.2199, "21%"),
        (0.2999, "29%"),
        (0.1, "10%"),
        (0.0999, "9.9%"),
        (0.0056, "0.5%"),
        (0.999, "99%"),
        (1.0, "100%"),
    ],
)
def test_lower_limits_are_rounded_down(share, text):
    """To the nearest, the sentence would claim more than is established."""
    for verdict in (
        Verdict(difference=share),
        Verdict(precision=lost((3.0, share))),
        Verdict(recall=lost((3.0, share))),
    ):
        assert f"at least {text} " in verdict.sentences[0].replace(",", " ")


def test_a_tiny_limit_is_not_called_zero():
    assert "0.0%" not in Verdict(difference=0.0004).sentences[0]


def test_how_often_the_model_should_is_not_rounded_down():
    """Less than 1.33% as often is established, and less than 1% is not."""
    text = Verdict(recall=lost((75.0, 0.28))).sentences[0]
    assert "less than 1% as often" not in text


def measured(losses, *, smallest=None, count=None, diagnosed=True, controls=()):
    diagnosis = SimpleNamespace(
        smallest_established=smallest, decisive_count=count, controls=controls
    )
    return SimpleNamespace(
        estimate=SimpleNamespace(losses=lambda *, level: losses),
        diagnosis=diagnosis if diagnosed else None,
    )


SIZES = {"real": 5000, "generated": 1000}


def test_what_was_planted_and_not_seen_is_told():
    controls = (SimpleNamespace(share=0.21), SimpleNamespace(share=0.4))
    found = verdict_of(measured(Losses(), count=187.3, controls=controls), SIZES, 0.95)
    assert found.recall.unseen == 0.4
    assert found.sentences[-1] == (
        "Recall: inconclusive. Even a loss of 40%, planted as a test by withholding real samples, "
        "was not detected. Detecting a loss of 10% takes more than 1,900 samples on each side."
    )


def test_a_verdict_is_made_of_losses_and_controls():
    losses = Losses(difference=0.2, precision=(Loss(factor=3.0, at_least=0.2),))
    found = verdict_of(measured(losses, smallest=0.12, count=187.3), SIZES, 0.9)
    assert found.level == 0.9
    assert found.difference == 0.2
    assert found.precision == Outcome(losses=losses.precision, enough=1900)
    assert found.recall == Outcome(at_most=0.12, enough=1900)
    assert found.precision.at_most is None  # nothing that was planted is a loss of precision


def test_advice_is_never_to_take_fewer_samples_than_there_are():
    """The smaller side counts, and the advice is rounded up to two digits."""
    advised = [
        verdict_of(measured(Losses(), count=count), SIZES, 0.95).recall.enough
        for count in (100.0, 100.1, 43.0, 12345.0)
    ]
    assert advised == [None, 1100, None, 130_000]
    assert verdict_of(measured(Losses(), count=None), SIZES, 0.95).recall.enough is None


@pytest.fixture(scope="module")
def foreign():
    made = np.concatenate((RNG.normal(size=(200, 3)), RNG.normal(9, 1, (200, 3))))
    return evaluate(real=REAL, generated=made, metrics="curve", level=0.9, **QUICK)


def test_a_verdict_survives_json(foreign):
    assert foreign.verdict.level == 0.9
    assert foreign.verdict.precision.losses
    fields = json.loads(foreign.to_json())
    assert fields["verdict"]["sentences"] == list(foreign.verdict.sentences)
    again = Evaluation.from_json(foreign.to_json())
    assert again.verdict == foreign.verdict
    assert again.findings == foreign.findings
    assert again.to_json() == foreign.to_json()


def test_half_of_the_samples_from_elsewhere_are_precision_lost(foreign):
    assert [finding.name for finding in foreign.findings] == ["precision lost"]
    assert foreign.findings[0].sentence == foreign.verdict.sentences[0]
    assert all(0.0 < loss.at_least <= 0.5 for loss in foreign.verdict.precision.losses)
    assert 0.3 < foreign.verdict.difference <= 0.5


def test_there_is_no_verdict_without_a_curve():
    result = evaluate(real=REAL, generated=REAL + 1.0, metrics="copies", **QUICK)
    assert result.verdict is None
    assert Evaluation.from_json(result.to_json()).verdict is None
    assert str(result).splitlines()[0].startswith("400 real and 400 generated samples")


@pytest.mark.torch
def test_ten_samples_repeated_are_found_by_neighbors():
    few = np.repeat(REAL[:10], 40, axis=0)
    result = evaluate(real=REAL, generated=few, metrics=("curve", "knn", "copies"), **QUICK)
    assert result.curve is None
    names = [finding.name for finding in result.findings]
    assert names == ["recall lost", "memorized", "repeats itself"]
    assert result.findings[0].sentence.startswith("knn.recall is 0.0")
    assert "the curve shows no loss" not in str(result)


def score(high):
    return Score(value=0.1, low=0.05, high=high, expected=0.8)


def test_neighbors_that_contradict_the_curve_are_a_finding():
    low = {"knn.recall": score(0.2)}
    (found,) = findings_of(Verdict(), low)
    assert found.name == "contradiction"
    assert found.sentence == (
        "knn.recall is 0.100 [0.050, 0.200], where 0.800 is expected, but the curve shows no loss "
        "of recall."
    )
    assert found.advice
    assert findings_of(Verdict(), {"knn.recall": score(0.4)}) == ()
    # They agree, and a loss of the other kind does not excuse.
    assert [f.name for f in findings_of(Verdict(recall=lost((3.0, 0.2))), low)] == ["recall lost"]
    other = findings_of(Verdict(precision=lost((3.0, 0.2))), low)
    assert [f.name for f in other] == ["precision lost", "contradiction"]
    # The curve of a few repeated values cannot be contradicted.
    assert [f.name for f in findings_of(None, low)] == ["recall lost"]
