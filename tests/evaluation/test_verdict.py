"""The verdict: its sentences, what they round, how it survives a file, and what contradicts it."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from tests.known.headline import KEYS, contradictions
from tradeoff import CurveEstimate, Evaluation, HeldOutLogRatios, evaluate
from tradeoff.core.counts import BUCKETS, HeldOutCounts, count_errors
from tradeoff.curves.counted import CountedCurve
from tradeoff.curves.estimate import HeldOut
from tradeoff.evaluation.findings import findings_of
from tradeoff.evaluation.verdict import Outcome, Verdict, verdict_of
from tradeoff.inference.losses import Balance, Loss, Losses
from tradeoff.metrics.curve import curve_scores
from tradeoff.metrics.family import MeasuredCurve
from tradeoff.metrics.score import Score

RNG = np.random.default_rng(0)
REAL = RNG.normal(size=(400, 3))
QUICK = {"estimator": "logistic", "diagnose": False, "progress": False}

UNCLEAR = "Whether samples are missing or invented cannot be told from so few samples."
NOT_TESTED = "It was not tested which losses would have been found."


def lost(*losses, groups=()):
    found = tuple(Loss(factor=f, at_least=share) for f, share in losses)
    return Outcome(value=1.0 - found[0].at_least, losses=found, groups=groups)


VERDICTS = {
    "precision, and nothing known of recall": (
        Verdict(difference=0.31, precision=lost((3.0, 0.31))),
        "loss",
        "At least 31% of the generated samples are not realistic.",
    ),
    "precision, and recall is bounded": (
        Verdict(difference=0.31, precision=lost((3.0, 0.31)), recall=Outcome(at_most=0.1)),
        "loss",
        "At least 31% of the generated samples are not realistic.",
        "Misses nothing that we could find; 10% or more would have been found four times in five.",
    ),
    "recall, and too few samples to tell precision": (
        Verdict(
            difference=0.12,
            recall=lost((3.0, 0.1299)),
            precision=Outcome(enough=1300, is_minimum=True),
        ),
        "loss",
        "Misses at least 12% of the real data.",
        "Whether it invents samples cannot be told from so few: finding 10% of them takes more "
        "than 1,300 samples on each side.",
    ),
    "recall, and precision is bounded": (
        Verdict(difference=0.12, recall=lost((3.0, 0.1299)), precision=Outcome(at_most=0.12)),
        "loss",
        "Misses at least 12% of the real data.",
        "Invents nothing that we could find; 12% or more would have been found four times in five.",
    ),
    "both, the larger first": (
        Verdict(difference=0.4, precision=lost((3.0, 0.2)), recall=lost((3.0, 0.062))),
        "loss",
        "At least 20% of the generated samples are not realistic.",
        "Misses at least 6.2% of the real data.",
    ),
    "no overlap, of unknown kind": (
        Verdict(difference=0.921),
        "no overlap",
        "The two sets hardly overlap: they have at most 7.9% in common.",
        UNCLEAR,
    ),
    "no overlap, of established kinds": (
        Verdict(difference=0.985, precision=lost((3.0, 0.97)), recall=lost((3.0, 0.98))),
        "no overlap",
        "The two sets hardly overlap: they have at most 1.5% in common.",
        "Misses at least 98% of the real data.",
        "At least 97% of the generated samples are not realistic.",
    ),
    "no overlap, of one established kind": (
        Verdict(difference=0.7, recall=lost((3.0, 0.6)), precision=Outcome(at_most=0.1)),
        "no overlap",
        "The two sets hardly overlap: they have at most 30% in common.",
        "Misses at least 60% of the real data.",
    ),
    "proportions": (
        Verdict(difference=0.184, precision=Outcome(value=0.97), recall=Outcome(value=0.96)),
        "proportions",
        "Makes the right kinds of samples in the wrong proportions: the two sets have at most 82% "
        "in common.",
        "Nothing is shown to be missing or invented.",
    ),
    "a difference": (
        Verdict(difference=0.061, precision=Outcome(value=0.97), recall=Outcome(value=0.9)),
        "difference",
        "The two sets differ: they have at most 94% in common. Whether samples are missing, "
        "invented, or only in the wrong proportions cannot be told from so few samples.",
    ),
    "nothing found, and both bounded": (
        Verdict(precision=Outcome(at_most=0.12), recall=Outcome(at_most=0.12, enough=700)),
        "nothing found",
        "No difference between the two sets was found.",
        "Missing or invented groups of 12% or more would have been found four times in five.",
    ),
    "nothing found, and too few samples": (
        Verdict(precision=Outcome(enough=1900), recall=Outcome(enough=1900)),
        "nothing found",
        "No difference between the two sets was found.",
        "Too few samples to rule a loss out: finding one of 10% takes about 1,900 samples on each "
        "side.",
    ),
    "nothing found, and far too few samples": (
        Verdict(recall=Outcome(enough=1900, is_minimum=True)),
        "nothing found",
        "No difference between the two sets was found.",
        "Too few samples to rule a loss out: finding one of 10% takes more than 1,900 samples on "
        "each side.",
    ),
    "nothing found, and nothing tested": (
        Verdict(),
        "nothing found",
        "No difference between the two sets was found.",
        NOT_TESTED,
    ),
}


@pytest.mark.parametrize("which", VERDICTS)
def test_names_and_sentences(which):
    verdict, name, *sentences = VERDICTS[which]
    assert verdict.name == name
    assert list(verdict.sentences) == sentences
    lines = str(verdict).splitlines()
    assert max(map(len, lines)) <= 92
    assert " ".join(lines) == " ".join(sentences)
    # A layperson reads no slope and no confidence; both are in the exact statements.
    assert "λ" not in str(verdict)
    assert "confidence" not in str(verdict)


@pytest.mark.parametrize(
    ("share", "name"), [(0.66, "proportions"), (0.67, "no overlap"), (0.667, "no overlap")]
)
def test_below_a_third_there_is_no_overlap(share, name):
    assert Verdict(difference=share).name == name


@pytest.mark.parametrize(
    ("precision", "recall", "name"),
    [(0.95, 0.95, "proportions"), (0.949, 1.0, "difference"), (1.0, 0.949, "difference")],
)
def test_only_the_right_kinds_are_called_wrong_proportions(precision, recall, name):
    verdict = Verdict(
        difference=0.2, precision=Outcome(value=precision), recall=Outcome(value=recall)
    )
    assert verdict.name == name


def test_what_is_missed_and_invented_is_named_largest_first_and_three_at_most():
    verdict = Verdict(difference=0.4, precision=lost((3.0, 0.2)), recall=lost((3.0, 0.31)))
    missed, invented = ["ships", "trucks", "cats", "dogs"], ["noise"]
    named = verdict.named({"recall": missed, "precision": invented})
    assert named.sentences == (
        "Misses at least 31% of the real data: ships, trucks, cats.",
        "At least 20% of the generated samples are not realistic: noise.",
    )
    assert [found.sentence for found in findings_of(named, {})] == list(named.sentences)
    assert verdict.named({"recall": ["ships"]}).sentences[1] == verdict.sentences[1]
    assert verdict.named({"recall": [], "precision": []}).sentences == verdict.sentences
    # What was not established is not named.
    nothing = Verdict().named({"recall": missed, "precision": invented})
    assert nothing.sentences == Verdict().sentences


def test_exact_statements_have_their_confidence_and_factors():
    balance = Balance(lam=2.0, low=1.0, high=4.0)
    verdict = Verdict(
        level=0.9,
        difference=0.419,
        balance=balance,
        precision=lost((6.0, 0.31), (20.0, 0.125)),
        recall=lost((1.55, 0.062), (5.0, 0.032)),
    )
    assert verdict.exact == (
        "Overlap (λ = 1): with 90% confidence, the total variation distance is at least 41%.",
        "Precision: with 90% confidence, at least 31% of the generated samples come from regions "
        "where real data is more than 6 times rarer than generated data.",
        "Precision: with 90% confidence, at least 12% of the generated samples come from regions "
        "where real data is more than 20 times rarer than generated data.",
        "Recall: with 90% confidence, at least 6.2% of the real data comes from regions where "
        "generated data is more than 1.5 times rarer than real data.",
        "Recall: with 90% confidence, at least 3.2% of the real data comes from regions where "
        "generated data is more than 5 times rarer than real data.",
        "The balanced slope is λ = 2: precision is read at 3 and recall at 1.3.",
    )


def test_an_exact_statement_below_a_factor_of_one():
    """Of a model that is spread over half of the data, every density is too high or 0."""
    recall = Verdict(difference=0.7, recall=lost((0.5, 0.7))).exact[1]
    assert recall.endswith("generated data is less than 2 times as frequent as real data.")
    equal = Verdict(difference=0.7, recall=lost((1.0, 0.7))).exact[1]
    assert equal.endswith("generated data is rarer than real data.")


def test_an_exact_statement_is_made_where_nothing_is_found():
    assert Verdict().exact == (
        "The balanced slope is λ = 1: precision is read at 1.5 and recall at 0.67.",
    )


@pytest.mark.parametrize(
    ("precision", "recall", "order"),
    [(0.3, 0.2, ["precision", "recall"]), (0.001, 0.11, ["recall", "precision"])],
)
def test_of_two_losses_the_larger_one_is_first_and_nothing_is_open(precision, recall, order):
    verdict = Verdict(difference=0.2, precision=lost((3.0, precision)), recall=lost((3.0, recall)))
    assert list(verdict.lost) == order
    assert verdict.sentences == tuple(verdict.lost.values())
    assert [found.name.split()[0] for found in findings_of(verdict, {})] == order


@pytest.mark.parametrize(
    ("precision", "recall", "is_advised"),
    [(0.001, 0.11, False), (0.3, 0.0, True), (0.97, 0.2, False), (0.97, 0.97, False)],
)
def test_a_filter_is_advised_where_it_can_help(precision, recall, is_advised):
    """Not for a loss so small that it would discard more than it repairs, nor for nearly all."""
    found = {"difference": 0.3, "precision": lost((3.0, precision))} | (
        {"recall": lost((3.0, recall))} if recall else {}
    )
    advice = " ".join(one.advice for one in findings_of(Verdict(**found), {}))
    assert ("tradeoff filter" in advice) == is_advised


def test_a_fault_of_all_samples_is_not_taken_for_missing_kinds():
    verdict = Verdict(difference=0.5, precision=lost((75.0, 0.71)), recall=lost((75.0, 0.57)))
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
        Verdict(difference=0.5, precision=lost((3.0, share))),
        Verdict(difference=0.5, recall=lost((3.0, share))),
    ):
        assert f"at least {text} of" in verdict.sentences[0].replace("At", "at")
        assert f"at least {text} of" in verdict.exact[1]
    assert f"at least {text}." in Verdict(difference=share).exact[0]


@pytest.mark.parametrize(
    ("share", "text"), [(0.2101, "79%"), (0.2, "80%"), (0.921, "7.9%"), (0.9215, "7.9%")]
)
def test_upper_limits_of_what_is_common_are_rounded_up(share, text):
    assert f" at most {text} in common" in Verdict(difference=share).sentences[0]


def test_a_tiny_limit_is_not_called_zero():
    assert "0.0%" not in Verdict(difference=0.0004).exact[0]


@pytest.mark.parametrize("share", [0.001, 0.003, 0.0099])
def test_what_differs_is_not_said_to_have_everything_in_common(share):
    assert "100%" not in Verdict(difference=share).sentences[0]


def test_how_often_the_model_should_is_not_rounded_down():
    """More than 75 times rarer is established, and more than 76 times is not."""
    text = Verdict(difference=0.5, recall=lost((75.9, 0.28))).exact[1]
    assert "more than 75 times rarer" in text


def measured(losses, *, smallest=None, count=None, diagnosed=True, headline=None):
    diagnosis = SimpleNamespace(smallest_reliable=smallest, decisive_count=count)
    values = headline or {"curve.precision": 1.0, "curve.recall": 1.0}
    return SimpleNamespace(
        estimate=SimpleNamespace(headline=values),
        losses=losses,
        diagnosis=diagnosis if diagnosed else None,
        views=(),
    )


AT_ONE = Balance(lam=1.0, low=1.0, high=1.0)
NONE = Losses(balance=AT_ONE)
SIZES = {"real": 5000, "generated": 1000}


def test_without_a_loss_that_would_be_found_the_advice_is_a_minimum():
    found = verdict_of(measured(NONE, count=187.3), SIZES)
    assert found.recall.is_minimum
    assert "takes more than 1,900 samples on each side" in found.sentences[-1]
    bounded = verdict_of(measured(NONE, smallest=0.12, count=187.3), SIZES)
    assert not bounded.recall.is_minimum
    assert "groups of 12% or more would have been found" in bounded.sentences[-1]


def test_a_verdict_is_made_of_losses_and_controls():
    balance = Balance(lam=2.0, low=1.5, high=2.5)
    losses = Losses(
        balance=balance, level=0.9, difference=0.2, precision=(Loss(factor=3.0, at_least=0.2),)
    )
    headline = {"curve.precision": 0.75, "curve.recall": 0.98}
    curve = measured(losses, smallest=0.12, count=187.3, headline=headline)
    found = verdict_of(curve, SIZES)
    assert (found.level, found.difference, found.balance) == (0.9, 0.2, balance)
    known = {"at_most": 0.12, "enough": 1900}  # a control with both sides exchanged is an invention
    assert found.precision == Outcome(value=0.75, losses=losses.precision, **known)
    assert found.recall == Outcome(value=0.98, **known)
    plain = verdict_of(measured(losses, diagnosed=False), SIZES)
    assert (plain.recall.at_most, plain.recall.enough) == (None, None)


def test_advice_is_never_to_take_fewer_samples_than_there_are():
    """The smaller side counts, and the advice is rounded up to two digits."""
    advised = [
        verdict_of(measured(NONE, count=count), SIZES).recall.enough
        for count in (100.0, 100.1, 43.0, 12345.0)
    ]
    assert advised == [None, 1100, None, 130_000]
    assert verdict_of(measured(NONE, count=None), SIZES).recall.enough is None


def _normal(rng, n, sign):
    return sign * rng.uniform(0, 3) + rng.uniform(0.1, 3) * rng.normal(size=n)


def _atoms(rng, n, sign):
    return rng.choice(rng.normal(sign * rng.uniform(0, 2), 2, rng.integers(1, 6)), n)


def _parted(rng, n, sign):
    """A share that the other side lacks, and a rest that is told apart, too."""
    share = rng.uniform(0, 0.95)
    return sign * np.where(rng.random(n) < share, rng.uniform(1, 40), np.log1p(-share))


def _tied(rng, n, sign):
    return np.round(sign * rng.uniform(0, 2) + 2 * rng.normal(size=n))


def _heavy(rng, n, sign):
    return sign * rng.uniform(0, 1) + 2 * rng.standard_cauchy(n)


def _infinite(rng, n, sign):
    return np.where(rng.random(n) < rng.random(), sign * np.inf, rng.normal(size=n))


def _misled(rng, n, sign):
    return -sign * rng.uniform(0, 1) + rng.normal(size=n)


SHAPES = (_normal, _atoms, _parted, _tied, _heavy, _infinite, _misled)


def judged(seed, *, counted):
    """The verdict and scores of random log-ratios, or of counts of them."""
    rng = np.random.default_rng(seed)
    shapes = rng.integers(0, len(SHAPES), 2)
    shapes[1] = shapes[0] if rng.random() < 0.6 else shapes[1]
    sizes = rng.integers(20, 301, 2)
    real, generated = (
        SHAPES[which](rng, n, sign) for which, n, sign in zip(shapes, sizes, (1, -1), strict=True)
    )
    if counted:
        errors = [count_errors(x, np.arange(x.size) % BUCKETS) for x in (real, generated)]
        estimate = CountedCurve.of(HeldOutCounts(real=errors[0], generated=errors[1]))
    else:
        raw = HeldOutLogRatios(real=real, generated=generated).curve()
        sides = [HeldOut(log_ratios=x, folds=np.arange(x.size) % 5) for x in (real, generated)]
        estimate = CurveEstimate(
            raw=raw,
            curve=raw.clipped(),
            real=sides[0],
            generated=sides[1],
            provenance={
                "folds": 5,
                "samples": dict(zip(("real", "generated"), sizes, strict=True)),
            },
        )
    curve = MeasuredCurve.of(estimate)
    verdict = verdict_of(curve, {"real": int(sizes[0]), "generated": int(sizes[1])})
    return verdict, curve_scores(KEYS, curve)


@pytest.mark.parametrize("counted", [False, True], ids=["samples", "counts"])
@pytest.mark.parametrize("first", range(0, 200, 50))
def test_no_statement_contradicts_another_whatever_the_log_ratios(first, counted):
    found = {}
    for seed in range(first, first + 50):
        if wrong := contradictions(*judged(seed, counted=counted)):
            found[seed] = wrong
    assert found == {}


def test_a_value_of_one_is_not_shown_of_what_is_lost():
    """Log-ratios that mislead make a curve that falls; what is shown must not hide the loss."""
    real, generated = np.repeat([3.0, -1.0], 100), np.repeat([-3.0, 1.0], [180, 20])
    raw = HeldOutLogRatios(real=real, generated=generated).curve()
    sides = [HeldOut(log_ratios=x, folds=np.arange(x.size) % 5) for x in (real, generated)]
    estimate = CurveEstimate(
        raw=raw, curve=raw.clipped(), real=sides[0], generated=sides[1], provenance={"folds": 5}
    )
    curve = MeasuredCurve.of(estimate)
    verdict = verdict_of(curve, {"real": 200, "generated": 200})
    assert contradictions(verdict, curve_scores(KEYS, curve)) == []


def test_random_log_ratios_have_verdicts_of_every_name():
    """Or the test before this one would look at few of them."""
    names = {judged(seed, counted=True)[0].name for seed in range(200)}
    assert names == {"no overlap", "loss", "proportions", "difference", "nothing found"}


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
    agreed = Verdict(difference=0.2, recall=lost((3.0, 0.2)))
    assert [f.name for f in findings_of(agreed, low)] == ["recall lost"]
    other = findings_of(Verdict(difference=0.2, precision=lost((3.0, 0.2))), low)
    assert [f.name for f in other] == ["precision lost", "contradiction"]
    # The curve of a few repeated values cannot be contradicted.
    assert [f.name for f in findings_of(None, low)] == ["recall lost"]
