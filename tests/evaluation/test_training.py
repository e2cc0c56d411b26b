"""Evaluations with a training set: copies, dependence and mistakes, told in sentences."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from tradeoff import Evaluation, InvalidInputError, compare, evaluate, load, pr_curve
from tradeoff.curves.estimate import estimate_curve
from tradeoff.curves.overlaps import overlap_difference
from tradeoff.evaluation import Reference
from tradeoff.evaluation.training import TrainingOutcome
from tradeoff.inference.randomization import Owed
from tradeoff.metrics import Request
from tradeoff.metrics.family import measure
from tradeoff.ratio.ranked import for_tables
from tradeoff.samples import Pair

pytest.importorskip("torch")

pytestmark = pytest.mark.torch

QUICK = {"estimator": "gaussians", "diagnose": False, "progress": False}
COPIES = QUICK | {"metrics": "copies"}
NONE = Owed(value=0.0, at_least=0.0, p_value=0.6, detectable=0.012)
SOME = Owed(value=0.05, at_least=0.031, p_value=0.001, detectable=0.01)


def parts(n=400, columns=16, seed=0):
    """A training set and held-out data."""
    return np.random.default_rng(seed).normal(size=(2, n, columns))


def with_copies(train, share, seed=1):
    """Near-copies among samples of a model that is also shifted."""
    rng = np.random.default_rng(seed)
    made = 0.5 + rng.normal(size=train.shape)
    copies = round(share * len(train))
    made[:copies] = train[:copies] + 0.02 * rng.normal(size=(copies, train.shape[1]))
    return made


def test_copies_are_found_and_shown_although_the_rest_is_bad():
    train, held_out = parts()
    result = evaluate(held_out, with_copies(train, 0.1), train=train, **COPIES)
    assert result.training.state == "copies"
    assert 0.05 < result.training.close.at_least <= 0.1
    assert result["copies.near_training"].value == 0.1
    assert [finding.name for finding in result.findings] == ["copies"]
    assert str(result).startswith("Copies: at least ")
    found = {(pair.generated.id, pair.training.id) for pair in result.copied_pairs}
    assert found == {(f"generated[{i}]", f"train[{i}]") for i in range(40)}
    assert all(pair.to_held_out > 3 * pair.distance for pair in result.copied_pairs)


def test_nothing_is_said_of_a_model_that_does_not_depend_on_its_training_set():
    train, held_out = parts()
    result = evaluate(held_out, with_copies(train, 0.0), train=train, **COPIES)
    assert result.training.state == "nothing found"
    assert result.findings == ()
    assert 0.005 < result.training.owed.detectable < 0.1
    assert "would have been found four times in five" in " ".join(str(result).split())


def test_a_gaussian_that_was_fitted_to_few_samples_depends_on_them_and_copies_none():
    train, held_out = parts(n=200, columns=64)
    made = np.random.default_rng(2).multivariate_normal(train.mean(0), np.cov(train.T), 400)
    result = evaluate(held_out, made, train=train, **COPIES)
    assert result.training.state == "depends"
    assert str(result).startswith("Depends on its training set: at least ")


def test_parts_of_different_sources_are_not_compared():
    train, held_out = parts()
    result = evaluate(held_out, with_copies(train, 0.1), train=train + 1, **COPIES)
    assert result.training.state == "not comparable"
    assert "not two random parts of one set" in str(result)
    assert (result.findings, result["copies.owed_to_training"].low) == ((), None)


def test_one_sample_that_is_copied_often_is_told_and_not_tested():
    train, held_out = parts()
    made = with_copies(train, 0.0)
    made[:50] = train[0] + 0.01 * np.random.default_rng(0).normal(size=(50, 16))
    result = evaluate(held_out, made, train=train, **COPIES)
    assert (result.training.state, result.training.often) == ("nothing found", 50)
    assert result.copied.often[0].votes == 50
    assert "One training sample has 50" in result.summary(exact=True)


def test_duplicates_between_both_parts_are_told():
    train, held_out = parts()
    held_out = held_out.copy()
    held_out[:40] = train[:40]
    result = evaluate(held_out, with_copies(train, 0.0), train=train, **COPIES)
    assert result.training.duplicates == 0.1
    assert any("near-duplicates of a training sample" in one for one in result.warnings)


def test_a_training_set_in_place_of_held_out_data_tests_nothing():
    train, _ = parts()
    result = evaluate(train, with_copies(train, 0.2), train=train, **COPIES)
    assert (result.training.state, result.findings) == ("not comparable", ())
    (sentence,) = result.training.sentences
    assert sentence.startswith("Whether the model copies cannot be tested: 100% of the held-out")


def test_categories_that_repeat_everywhere_are_held_out():
    train, held_out = np.random.default_rng(0).integers(0, 3, (2, 300, 4)).astype(float)
    result = evaluate(held_out, held_out[::-1], train=train, **COPIES)
    assert (result.training.state, result.training.duplicates) == ("nothing found", 0.0)
    assert result.warnings == ()


def test_permuted_rows_change_nothing():
    train, held_out = np.random.default_rng(0).integers(0, 3, (2, 300, 4)).astype(float)
    made = np.concatenate((train[:60], np.random.default_rng(1).integers(0, 3, (200, 4))))
    rng = np.random.default_rng(2)
    first, second = (
        evaluate(
            held_out[rng.permutation(300)],
            made[rng.permutation(260)],
            train=train[rng.permutation(300)],
            **COPIES,
        )
        for _ in range(2)
    )
    assert first.training.owed == second.training.owed
    assert first["copies.near_training"] == second["copies.near_training"]


def test_groups_of_real_samples_are_permuted_together():
    """Copies of one video are one observation, and a video lies in one part."""
    train, held_out = parts()
    made = with_copies(train, 0.1)
    request = Request(keys=("copies.owed_to_training",))
    groups = np.arange(400)
    groups[:40] = 0
    sides = {"real": held_out, "generated": made, "train": train}
    alone = measure(Pair.of(**sides), request)
    together = measure(
        Pair.of(**sides, train_groups=groups, real_groups=1000 + np.arange(400)), request
    )
    assert alone.training.owed.is_established
    assert not together.training.owed.is_established
    with pytest.raises(InvalidInputError, match="A group must belong to the training set or"):
        measure(Pair.of(**sides, train_groups=groups, real_groups=np.arange(400)), request)


def test_a_result_keeps_what_was_found(tmp_path):
    train, held_out = parts()
    reference = Reference.make(held_out, progress=False)
    result = evaluate(reference, with_copies(train, 0.1), train=train, **COPIES)
    result.save(tmp_path / "result")
    again = load(tmp_path / "result")
    assert (again.training, again.copied) == (result.training, result.copied)
    read = Evaluation.from_json(result.to_json())
    assert read.training == result.training
    assert read.to_dict()["training"]["sentences"] == list(result.training.sentences)
    result.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "Closest training samples" in page
    assert "--generated GENERATED --train TRAIN" in re.sub("<[^>]*>", "", page)
    assert "train[0]" in page
    result.report(tmp_path / "private.html", samples=False)
    assert "train[0]" not in (tmp_path / "private.html").read_text()


def test_models_that_are_compared_share_the_training_set():
    train, held_out = parts()
    models = {"copies": with_copies(train, 0.1), "new": with_copies(train, 0.0)}
    result = compare(real=held_out, generated=models, train=train, **COPIES)
    assert [result[name].training.state for name in models] == ["copies", "nothing found"]


def test_measures_of_the_literature_see_a_memorizer():
    train, held_out = parts()
    options = QUICK | {"metrics": "training"}
    keys = ("c_t", "authenticity", "fld_gap", "distance", "protection")
    memorized, new = (
        {key: result[f"training.{key}"].value for key in keys}
        for made in (train + 0.01, np.random.default_rng(1).normal(size=(400, 16)))
        for result in [evaluate(held_out, made, train=train, **options)]
    )
    assert memorized["c_t"] < -5 < -3 < new["c_t"]
    assert memorized["authenticity"] == 0.0
    assert abs(new["authenticity"] - 0.7) < 0.1
    assert memorized["fld_gap"] < 3 * new["fld_gap"] < 0
    assert memorized["distance"] == pytest.approx(0.04)
    assert (memorized["protection"], new["protection"] > 0.85) == (0.0, True)


def test_more_overlap_with_the_training_set_is_overfitting():
    """A model of the empirical mean and covariance, seen by the estimator that looks at these."""
    train, held_out = parts(n=300, columns=32)
    made = np.random.default_rng(2).multivariate_normal(train.mean(0), np.cov(train.T), 300)
    result = evaluate(held_out, made, train=train, **QUICK | {"metrics": ("copies", "curve")})
    assert result.training.gain > 0.02
    assert "overfits" in [finding.name for finding in result.findings]
    assert "Overfits: the generated samples have at least " in " ".join(str(result).split())


def test_the_same_overlap_is_rarely_called_overfitting():
    alarms = 0
    for seed in range(30):
        train, held_out, made = np.random.default_rng(seed).normal(size=(3, 150, 4))
        estimates = (
            pr_curve(real=real, generated=made, estimator="gaussians", progress=False)
            for real in (train, held_out)
        )
        value, error = overlap_difference(*estimates, shared=["generated"], inflation=2**0.5)
        alarms += value > 1.645 * error
    assert alarms <= binom.ppf(0.9995, 30, 0.05)


def test_sentences_of_every_state():
    made = {
        "copies": TrainingOutcome(samples=9, owed=SOME, close=SOME),
        "copies and more": TrainingOutcome(samples=9, owed=replace(SOME, at_least=0.8), close=SOME),
        "depends": TrainingOutcome(samples=9, owed=SOME, close=NONE),
        "overfits": TrainingOutcome(samples=9, owed=NONE, close=NONE, gain=0.0478),
        "nothing": TrainingOutcome(samples=9, owed=NONE, close=NONE),
        "few": TrainingOutcome(
            samples=9, owed=Owed(value=0, at_least=0, p_value=1, detectable=None), close=NONE
        ),
    }
    told = {name: " ".join(one.sentences) for name, one in made.items()}
    assert told["copies"].startswith("Copies: at least 3.1% of the generated samples owe")
    assert told["copies and more"].endswith("At any distance, at least 80% do.")
    assert told["depends"].startswith("Depends on its training set: at least 3.1% of")
    assert told["overfits"].startswith("Overfits: the generated samples have at least 4.7% more")
    assert told["nothing"].endswith(
        "; 1.2% or more would have been found four times in five. This does not guarantee privacy."
    )
    assert told["few"].startswith("Too few samples to tell whether the model copies")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": "copies.owed_to_training"}, "pass `train` \\(--train PATH\\)"),
        ({"metrics": "training"}, "pass `train` \\(--train PATH\\)"),
        ({"train": "other", "metrics": "curve"}, "add copies to the metrics"),
        (
            {"train": "other", "rule": "frozen", "metrics": "curve"},
            "`train` cannot be combined with `rule`",
        ),
        ({"train": "few"}, "`train` must hold at least 20 samples"),
        ({"train": "wide"}, "columns"),
    ],
)
def test_mistakes_are_one_sentence(options, message):
    train, held_out = parts(n=60)
    given = {"other": train, "few": train[:5], "wide": np.zeros((60, 3))}
    found = {**options, "train": given[options["train"]]} if "train" in options else options
    with pytest.raises(InvalidInputError, match=message):
        evaluate(held_out, held_out, **{**COPIES, **found})


def test_curves_of_a_table_that_are_compared_have_one_estimator(monkeypatch):
    """A member that only one of them has would look like overfitting."""
    seen = []

    def recorded(*args, **options):
        seen.append(str(options["estimator"]))
        return estimate_curve(*args, **options)

    monkeypatch.setattr("tradeoff.evaluation.training.estimate_curve", recorded)
    train, held_out, made = np.random.default_rng(0).normal(size=(3, 60, 2))
    tables = [[{"a": float(a), "b": float(b)} for a, b in x] for x in (train, held_out, made)]
    options = {"metrics": "curve,copies", "diagnose": False, "progress": False}
    result = evaluate(tables[1], tables[2], train=tables[0], **options)
    assert len(seen) == 2
    assert set(seen) == {str(for_tables("stack"))}
    assert result.provenance["curve"]["estimator"] == repr(for_tables("stack"))
