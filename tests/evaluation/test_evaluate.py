"""From sources to a result: scores, findings, warnings, and a result that loses nothing."""

import json
from unittest import mock

import numpy as np
import pytest

from tradeoff import Evaluation, InvalidInputError, compare, evaluate
from tradeoff.comparison import Comparison
from tradeoff.comparison.models import Difference, _corrected
from tradeoff.evaluation import Reference
from tradeoff.evaluation.findings import findings_of, warnings_of
from tradeoff.evaluation.verdict import Outcome, Verdict
from tradeoff.inference.losses import Balance, Loss, Losses
from tradeoff.metrics import Measured
from tradeoff.metrics.registry import FAMILIES, all_metrics, resolve_keys
from tradeoff.metrics.score import Score
from tradeoff.report.text import leaderboard_of
from tradeoff.samples import Pair
from tradeoff.settings import Settings

QUICK = {"estimator": "logistic", "diagnose": False, "progress": False}
RNG = np.random.default_rng(0)
REAL = RNG.normal(size=(600, 3))
HALF = np.abs(RNG.normal(size=(600, 3)))


@pytest.fixture(scope="module")
def curve_only():
    return evaluate(real=REAL, generated=HALF, metrics="curve", **QUICK)


def test_families_and_keys():
    assert resolve_keys(("curve",)) == (
        *("curve.precision", "curve.recall", "curve.overlap", "curve.f_score", "curve.area"),
    )
    assert resolve_keys(("knn.realism", "frechet")) == ("knn.realism", "frechet.distance")
    families = {key.partition(".")[0] for key in all_metrics()}
    assert set(resolve_keys(families, train=True)) == set(all_metrics()) - {"knn.realism"}
    assert resolve_keys(("copies",)) == ("copies.of_real", "copies.within")


def test_scores_are_those_of_the_functions_behind_them(curve_only):
    from tradeoff import pr_curve

    estimate = pr_curve(real=REAL, generated=HALF, estimator="logistic", progress=False)
    lam, losses = estimate.balance.lam, estimate.losses()
    assert curve_only.precision.value == estimate.curve.precision(1.5 * lam)
    assert curve_only.recall.value == estimate.curve.recall(lam / 1.5)
    assert curve_only.overlap.value == estimate.curve.precision(1.0)
    assert curve_only.recall.high == 1.0 - losses.recall[0].at_least
    assert curve_only.overlap.high == 1.0 - losses.difference
    assert curve_only["curve.area"].high == estimate.with_band().upper.area
    for score in curve_only.scores.values():
        assert score.low is None  # a held-out curve lies above the true one in the mean
        assert score.value <= score.high < 1.0
        assert f"(at most {score.high:.2f}"[:-1] in score.text
    np.testing.assert_array_equal(
        curve_only.samples["real"].values["log_ratio"], estimate.real.log_ratios
    )


@pytest.mark.slow
@pytest.mark.torch
def test_every_metric_is_measured_and_kept_by_id(tmp_path):
    every = (*FAMILIES, "knn.realism")
    result = evaluate(real=REAL, generated=HALF, train=REAL[::2] + 0.01, metrics=every, **QUICK)
    assert list(result.scores) == list(all_metrics())
    from tradeoff import frechet_distance, support_metrics

    metrics = support_metrics(real=REAL, generated=HALF, progress=False)
    for name in ("precision", "recall", "density", "coverage"):
        assert result[f"knn.{name}"].value == metrics[name].value
        assert (result[f"knn.{name}"].low, result[f"knn.{name}"].high) == metrics[name].interval()
    assert result["frechet.distance"].value == frechet_distance(real=REAL, generated=HALF)
    real, made = result.samples["real"], result.samples["generated"]
    assert real.ids[:2] == ("real[0]", "real[1]")
    for key, metric in all_metrics().items():
        if metric.side is not None:
            side = real if metric.side == "real" else made
            assert len(side.values[key]) == len(side.ids), key
    assert made.values["knn.precision"].mean() == metrics.precision
    nearest = int(np.argmin(((REAL - HALF[0]) ** 2).sum(1)))
    assert made.values["nearest_real"][0] == f"real[{nearest}]"
    _assert_survives(result, tmp_path)


def _assert_survives(result, folder):
    again = Evaluation.from_json(result.to_json())
    assert again.to_json() == result.to_json()
    assert again.scores == result.scores
    assert again.findings == result.findings
    assert again.settings == result.settings
    assert again.samples is None
    result.save(folder / "result")
    loaded = Evaluation.load(folder / "result")
    assert loaded.to_json() == result.to_json()
    for side, values in result.samples.items():
        assert loaded.samples[side].ids == values.ids
        assert loaded.samples[side].labels == values.labels
        assert loaded.samples[side].values.keys() == values.values.keys()
        for key, column in values.values.items():
            np.testing.assert_array_equal(loaded.samples[side].values[key], column)


@pytest.mark.torch
def test_a_result_survives_json_and_parquet(tmp_path, curve_only):
    _assert_survives(curve_only, tmp_path)
    np.testing.assert_array_equal(
        Evaluation.from_json(curve_only.to_json()).curve.intercepts, curve_only.curve.intercepts
    )


@pytest.mark.slow
def test_nothing_of_an_earlier_result_is_left_in_its_folder(tmp_path, curve_only):
    pytest.importorskip("pyarrow")
    explained = evaluate(real=REAL, generated=HALF, metrics="curve", explain=True, **QUICK)
    explained.save(tmp_path)
    curve_only.save(tmp_path, overwrite=True)
    assert Evaluation.load(tmp_path).explanation is None


def test_a_folder_holds_one_result(tmp_path, curve_only):
    pytest.importorskip("pyarrow")
    both = Comparison({"a": curve_only, "b": curve_only}, ())
    for result, other in ((both, curve_only), (curve_only, both)):
        result.save(tmp_path, overwrite=True)
        with pytest.raises(InvalidInputError, match="exists already"):
            other.save(tmp_path)
        other.save(tmp_path, overwrite=True)
        with pytest.raises(InvalidInputError, match="must hold"):
            type(result).load(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "must be JSON written by"),
        ("[]", "must have the schema tradeoff.Evaluation version 9"),
        ('{"schema": "tradeoff.Evaluation", "version": 10}', "must have the schema"),
    ],
)
def test_json_that_is_no_result(text, message):
    with pytest.raises(InvalidInputError, match=message):
        Evaluation.from_json(text)


def test_there_is_no_result_in_an_empty_folder(tmp_path):
    with pytest.raises(InvalidInputError, match="must hold an evaluation"):
        Evaluation.load(tmp_path)


def test_the_summary_fits_a_screen_begins_with_the_verdict_and_ends_with_advice(curve_only):
    text = str(curve_only)
    lines = text.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 110
    assert lines[0].startswith("Misses at least ")
    assert lines[1].startswith("At least ")
    assert lines[1].endswith("of the generated samples are not realistic.")
    title = "600 real and 600 generated samples, encoder identity, estimator logistic"
    assert lines.index(title) == lines.index("") + 1
    assert "λ" not in text
    limit = curve_only.recall.interval_text
    assert limit.startswith("at most 0.")
    (row,) = [line for line in lines if line.startswith("curve.recall ↑")]
    assert row.split()[2:6] == [curve_only.recall.value_text, *limit.split()]
    assert text.count("at most: guaranteed with 95% confidence") == 1
    after = lines[lines.index("Next:") + 1 :]
    assert after[0].startswith(
        "  recall lost: look at the real samples that the model misses (--report page.html)"
    )
    assert after[1].startswith("  precision lost: look at the invented samples")


@pytest.mark.slow
def test_a_diagnosis_adds_what_was_planted_and_a_certificate():
    far = RNG.normal(3, 1, (400, 3))
    options = {"metrics": "curve", "estimator": "logistic", "progress": False}
    result = evaluate(real=REAL, generated=far, **options)
    assert result["curve.precision"].expected == 1.0
    assert result.overlap.high < result.certificate.precision(1.0) < 1.0
    assert result.verdict.precision.state == result.verdict.recall.state == "lost"
    certified = " ".join(str(result).partition("certified: ")[2].split())
    assert "the overlap is at most" in certified
    alone = evaluate(real=REAL, generated=far, diagnose=False, **options)
    assert alone.certificate is None
    assert alone.scores == result.scores
    assert alone.verdict.recall.losses == result.verdict.recall.losses
    assert (alone.verdict.recall.enough, alone.verdict.recall.at_most) == (None, None)
    assert result.verdict.recall.enough is not None


def test_sides_must_be_alike():
    with pytest.raises(InvalidInputError, match="must hold features samples, like the real ones"):
        evaluate(real=REAL, generated=["text"] * 30, metrics="curve", **QUICK)
    with pytest.raises(InvalidInputError, match="Got 3 in `real` and 2 in `generated`"):
        evaluate(real=REAL, generated=HALF[:, :2], metrics="curve", **QUICK)


def test_broken_rows_are_counted_and_named():
    holes = HALF.copy()
    holes[[3, 7], 0] = np.nan
    result = evaluate(real=REAL, generated=holes, metrics="curve", **QUICK)
    assert [item.id for item in result.broken["generated"]] == ["generated[3]", "generated[7]"]
    assert result.provenance["samples"]["generated"] == 598
    assert "broken: 2 generated samples could not be read and are left out" in str(result)
    with pytest.raises(InvalidInputError, match=r"`generated\[3\]` of generated is broken"):
        evaluate(
            real=Reference.make(REAL, broken="stop"), generated=holes, metrics="curve", **QUICK
        )


def test_given_functions_embed(tmp_path):
    texts = [f"{'a' * i} {'b' * (i % 3)}" for i in range(60)]
    result = evaluate(
        real=texts,
        generated=texts[::-1],
        encoder=lambda batch: [[len(t), t.count("b"), hash(len(t)) % 3] for t in batch],
        metrics="curve",
        **QUICK,
    )
    assert result.provenance["encoder"].endswith("<lambda>")
    json.loads(result.to_json())


@pytest.mark.slow
def test_protocols_end_to_end():
    result = evaluate(real=REAL, generated=HALF, protocol="sajjadi-2018", progress=False)
    from tradeoff import reproduce

    expected = reproduce("sajjadi-2018", real=REAL, generated=HALF, progress=False)
    assert {key: score.value for key, score in result.scores.items()} == expected.scores
    assert any("use features of inception-2015-12-05.pt" in text for text in result.warnings)
    assert "encoder identity, protocol sajjadi-2018" in str(result)
    assert result.verdict is None
    pixels = np.zeros((30, 8, 8, 3), np.uint8)
    with pytest.raises(InvalidInputError, match="`encoder` must be given for adm, whose numbers"):
        evaluate(real=pixels, generated=pixels, protocol="adm")


def score(value, low=None, high=None, expected=None, expected_high=None):
    return Score(value=value, low=low, high=high, expected=expected, expected_high=expected_high)


LOST = Outcome(losses=(Loss(factor=3.0, at_least=0.31),))
FINE = Verdict()


@pytest.mark.parametrize(
    ("verdict", "scores", "names"),
    [
        (FINE, {}, []),
        (None, {}, []),
        (Verdict(difference=0.31, precision=LOST), {}, ["precision lost"]),
        (Verdict(difference=0.31, recall=LOST), {}, ["recall lost"]),
        (
            Verdict(difference=0.31, precision=LOST, recall=LOST),
            {},
            ["precision lost", "recall lost"],
        ),
        (Verdict(difference=0.02, recall=Outcome(value=0.9)), {}, ["difference"]),
        (Verdict(difference=0.02), {}, ["proportions"]),
        (Verdict(difference=0.9), {}, ["no overlap"]),
        (
            Verdict(difference=0.9, precision=LOST, recall=LOST),
            {},
            ["no overlap", "precision lost", "recall lost"],
        ),
        # Scores are not judged a second time.
        (FINE, {"curve.precision": score(0.9, 0.85, 0.95, 1.0)}, []),
        (None, {"knn.recall": score(0.1, 0.05, 0.2, 0.8)}, ["recall lost"]),
        (None, {"knn.recall": score(0.4, 0.3, 0.5, 0.8)}, []),
        (None, {"knn.precision": score(0.1, 0.05, 0.2, 0.8)}, ["precision lost"]),
        (FINE, {"knn.precision": score(0.1, 0.05, 0.2, 0.8)}, ["contradiction"]),
        (
            Verdict(difference=0.31, recall=LOST),
            {"knn.recall": score(0.1, 0.05, 0.2, 0.8)},
            ["recall lost"],
        ),
        (FINE, {"copies.of_real": score(0.5, 0.4, 0.6, 0.0)}, ["memorized"]),
        (FINE, {"copies.of_real": score(0.5, 0.4, 0.6, 0.45)}, []),
        (FINE, {"copies.of_real": score(0.5, 0.47, 0.53, 0.45, 0.48)}, []),
        (FINE, {"copies.within": score(0.5, 0.4, 0.6, 0.1)}, ["repeats itself"]),
        (FINE, {"copies.within": score(0.1, 0.05, 0.15, 0.1)}, []),
    ],
)
def test_findings(verdict, scores, names):
    found = findings_of(verdict, scores)
    assert [finding.name for finding in found] == names
    # What the two sets hardly have in common is not told three times.
    told = found[:1] if "no overlap" in names else found
    assert all(finding.advice.endswith(".") for finding in told)


def test_each_finding_has_the_sentence_of_its_loss():
    both = Verdict(difference=0.31, precision=LOST, recall=LOST)
    precision, recall = findings_of(both, {})
    assert precision.sentence.startswith("At least 31% of the generated samples")
    assert recall.sentence.startswith("Misses at least 31% of the real data")
    only = findings_of(Verdict(difference=0.31, recall=LOST), {})
    assert [one.sentence for one in only] == [recall.sentence]
    unclear = Verdict(difference=0.02, recall=Outcome(value=0.9, enough=1900))
    (difference,) = findings_of(unclear, {})
    assert difference.sentence.startswith("The two sets differ")
    assert difference.advice == "use about 1,900 samples on each side."


def warnings(scores, real=1000, generated=1000, columns=10, diagnosis=None, **options):
    pair = Pair.of(real=np.ones((real, columns)), generated=np.ones((generated, columns)))
    curve = mock.Mock(diagnosis=diagnosis)
    measured = Measured(scores=scores, curve=curve)
    return " ".join(warnings_of(measured, Settings(**options), pair.sizes, pair.columns))


def test_warnings_name_the_sizes_that_would_do():
    assert warnings({"curve.recall": score(0.5, 0.4, 0.6)}) == ""  # the verdict names a size
    few = warnings({"curve.recall": score(0.5)}, real=100)
    assert few.startswith("The check of which losses would be detected was skipped")
    assert few.endswith("at least 160 samples on each side, and the smaller side has 100.")
    assert warnings({"curve.recall": score(0.5)}, real=100, diagnose=False) == ""
    unequal = warnings({"knn.coverage": score(0.3, expected=0.38)}, real=5000, generated=500)
    assert "a perfect model has a knn.coverage of 0.380: use 5,000 samples on each side" in unequal
    singular = warnings({"frechet.distance": score(9.0)}, columns=2048)
    assert singular.endswith(
        "is biased upward, because 1,000 samples are too few for 2,048 feature dimensions. Use "
        "20,480 samples on each side."
    )


def baseline(difference):
    found = mock.Mock()
    balance = Balance(lam=1.0, low=1.0, high=1.0)
    found.baseline.losses.return_value = Losses(balance=balance, difference=difference)
    return found


def test_real_data_that_differs_from_itself_is_a_warning():
    assert warnings({}, diagnosis=baseline(None)) == ""
    told = warnings({}, diagnosis=baseline(0.123))
    assert told.startswith("Two random parts of the real data seem to differ by at least 12")
    assert "another seed" in told


def test_the_lower_limit_of_that_warning_is_rounded_down():
    assert "at least 9.9%" in warnings({}, diagnosis=baseline(0.0996))


def test_a_few_values_repeated_are_not_taken_for_many_samples():
    """Ten samples a hundred times each: the interval of the curve says that nothing is known."""
    few = np.repeat(REAL[:10], 60, axis=0)
    options = QUICK | {"diagnose": True}
    result = evaluate(real=REAL, generated=few, metrics=("curve", "copies"), **options)
    assert (result["curve.recall"].low, result["curve.recall"].high) == (0.0, 1.0)
    assert result.curve is None
    assert result.certificate is None
    assert {finding.name for finding in result.findings} == {"memorized", "repeats itself"}
    told = "A side consists mostly of repeats of a few distinct samples"
    assert [w for w in result.warnings if w.startswith(told)]
    for advice in ("Detecting a loss", "to detect a loss"):
        assert advice not in str(result)  # more of them would not help
    assert "would have been found" not in str(result)


@pytest.mark.parametrize("distinct", [1, 4])
def test_a_model_that_makes_one_sample_is_a_finding(distinct):
    few = np.repeat(REAL[:distinct] + 0.5, 300, axis=0)
    result = evaluate(real=REAL, generated=few, metrics=("curve", "copies"), **QUICK)
    assert [finding.name for finding in result.findings] == ["repeats itself"]
    assert not result["curve.recall"].is_known


def test_models_keep_the_order_in_which_they_were_given():
    few = np.repeat(REAL[:6], 60, axis=0)
    models = {"collapsed": few, "half": HALF}
    for order in (("collapsed", "half"), ("half", "collapsed")):
        given = {name: models[name] for name in order}
        result = compare(real=REAL, generated=given, metrics="curve", **QUICK)
        header, _ = leaderboard_of(result)
        assert header[2:] == order
        assert leaderboard_of(Comparison.from_json(result.to_json()))[0] == header


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (HALF[:, :2], "same number of columns. Got 3 in `real` and 2 in `c`"),
        (HALF[:15], "`c` must hold at least 20 samples"),
    ],
)
def test_a_mistake_in_the_last_model_is_told_before_the_first_is_measured(wrong, message):
    with (
        mock.patch("tradeoff.evaluation.pipeline.measure") as measure,
        pytest.raises(InvalidInputError, match=message),
    ):
        compare(real=REAL, generated={"a": HALF, "b": HALF, "c": wrong}, metrics="curve", **QUICK)
    assert not measure.called


def test_columns_of_tables_that_cannot_be_compared_are_warned_of():
    real, made = ([{"x": float(x[0]), "ok": word} for x in REAL] for word in ("yes", "Yes"))
    result = evaluate(real=real, generated=made, metrics="curve", **QUICK)
    assert [w for w in result.warnings if "values of the column `ok` do not occur" in w]


def test_a_few_values_repeated_are_not_called_fine():
    few = np.repeat(REAL[:10], 60, axis=0)
    result = evaluate(real=REAL, generated=few, metrics=("curve", "copies"), **QUICK)
    assert "No difference between the two sets was found" not in str(result)


def test_a_single_copy_changes_little():
    """Also among few samples."""
    other = RNG.normal(0.5, 1, (120, 3))
    twice = other.copy()
    twice[1] = twice[0]
    once, again = (
        evaluate(real=REAL[:120], generated=x, metrics="curve", **QUICK).overlap
        for x in (other, twice)
    )
    assert once.high < 1.0
    assert again.high == pytest.approx(once.high, abs=0.1)


@pytest.mark.slow
def test_there_is_no_certificate_of_copies():
    """It counts independent samples."""
    options = QUICK | {"diagnose": True}
    other = RNG.normal(size=(300, 3))
    for x, is_there in ((other, True), (np.repeat(other, 2, axis=0), False)):
        result = evaluate(real=REAL, generated=x, metrics="curve", **options)
        assert (result.certificate is not None) == is_there


@pytest.mark.slow
@pytest.mark.parametrize(("real", "generated"), [(1000, 1000), (300, 3000), (2000, 400)])
def test_a_perfect_model_of_a_discrete_law_neither_memorizes_nor_repeats(real, generated):
    """Draws from a thousand atoms coincide, among real samples as well."""
    atoms = RNG.normal(size=(1000, 2))
    for seed in range(10):
        rng = np.random.default_rng(seed)
        result = evaluate(
            real=atoms[rng.integers(0, 1000, real)],
            generated=atoms[rng.integers(0, 1000, generated)],
            metrics="copies",
            seed=seed,
            progress=False,
        )
        assert result["copies.of_real"].value > 0.2
        assert result.findings == ()


def test_a_model_that_shrinks_does_not_memorize():
    """Samples nearer to the middle are near to real ones, and copies of none."""
    real, made = RNG.normal(size=(500, 32)), 0.6 * RNG.normal(size=(500, 32))
    result = evaluate(real=real, generated=made, metrics="copies", **QUICK)
    assert result.findings == ()


def test_copies_widen_intervals():
    """Each sample twice is no more information than once."""
    other = RNG.normal(0.5, 1, (400, 3))
    curves = [
        evaluate(real=REAL, generated=x, metrics="curve", **QUICK).curve
        for x in (other, np.repeat(other, 2, axis=0))
    ]
    once, twice = (c.upper.precision(1.0) - c.lower.precision(1.0) for c in curves)
    assert twice == pytest.approx(once, rel=0.15)  # 0.75 of it if copies counted twice


@pytest.mark.slow
def test_models_are_compared_in_pairs_with_corrected_tests():
    models = {"same": RNG.normal(size=(600, 3)), "half": HALF, "again": RNG.normal(size=(600, 3))}
    result = compare(real=REAL, generated=models, metrics="curve", **QUICK)
    assert list(result.evaluations) == ["same", "half", "again"]
    pairs = {(d.first, d.second) for d in result.differences}
    assert pairs == {("same", "half"), ("same", "again"), ("half", "again")}
    # Precision and recall are read at each model's own slope, and not ranked.
    assert {d.key for d in result.differences} == {"curve.overlap", "curve.f_score", "curve.area"}
    overlap = {(d.first, d.second): d for d in result.differences if d.key == "curve.overlap"}
    assert overlap["same", "half"].low > 0.3
    assert overlap["half", "again"].high < -0.3
    assert overlap["same", "again"].p_value > 0.05
    same_half, same_again, half_again = result.verdicts
    assert same_half.startswith("same is better than half: a larger overlap, +0.")
    assert half_again.startswith("again is better than half: a larger overlap, +0.")
    resolvable = overlap["same", "again"].resolvable
    assert same_again == (
        "same and again cannot be told apart with this many samples; a difference in overlap above "
        f"{resolvable:.2g} would be found nine times in ten."
    )
    title = "600 real and 600 generated samples, encoder identity, estimator logistic"
    lines = str(result).splitlines()
    assert title in lines
    assert result.verdicts[0].startswith(lines[0])
    header, *rows = lines[lines.index(title) + 2 :]
    assert header.split() == ["score", "expected", "same", "half", "again"]
    assert rows[0].split()[:3] == ["curve.precision", "↑", "1.000"]
    assert {row.split()[0] for row in rows[:3]} > {"curve.recall", "curve.overlap"}
    again = Comparison.from_json(result.to_json())
    assert again.to_json() == result.to_json()
    with pytest.raises(
        InvalidInputError, match="Unknown model `other`. Choose one of same, half, again"
    ):
        result["other"]


def difference(key, value, reach, p_value):
    return Difference(
        first="a",
        second="b",
        key=f"curve.{key}",
        value=value,
        low=value - reach,
        high=value + reach,
        p_value=p_value,
        resolvable=0.0512,
    )


@pytest.mark.parametrize(
    ("differences", "sentence"),
    [
        (
            [
                ("overlap", -0.35, 0.1, 0.001),
                ("f_score", -0.3, 0.1, 0.01),
                ("area", -0.1, 0.2, 0.5),
            ],
            "b is better than a: a larger overlap, +0.35 (at least 0.25); a higher F-score, +0.30 "
            "(at least 0.20).",
        ),
        # P-values are corrected by Holm's steps, and intervals by Bonferroni, which are wider:
        # such an interval may hold zero, and then there is nothing to guarantee.
        ([("overlap", 0.05, 0.06, 0.03)], "a is better than b: a larger overlap, +0.05."),
        (
            [("overlap", 0.2, 0.1, 0.001), ("area", -0.1, 0.05, 0.001)],
            "a has a larger overlap, +0.20 (at least 0.10); b has a larger area, +0.10 (at least "
            "0.05).",
        ),
        (
            [("overlap", 0.2, 0.3, 0.051), ("f_score", 0.3, 0.4, 0.2)],
            "a and b cannot be told apart with this many samples; a difference in overlap above "
            "0.051 would be found nine times in ten.",
        ),
    ],
    ids=["better", "zero in the interval", "mixed", "not told apart"],
)
def test_the_sentence_on_two_models(curve_only, differences, sentence):
    models = {"a": curve_only, "b": curve_only}
    found = Comparison(models, tuple(difference(*one) for one in differences))
    assert found.verdicts == (sentence,)


@pytest.mark.slow
def test_the_title_of_a_comparison_has_the_sizes_of_all_models():
    found = compare(
        real=REAL, generated={"few": HALF[:200], "many": HALF}, metrics="curve", **QUICK
    )
    assert "600 real and 200 to 600 generated samples" in str(found)


def test_holm():
    def made(p):
        return Difference(
            first="a", second="b", key="k", value=0, low=0, high=0, p_value=p, resolvable=0
        )

    found = _corrected([made(p) for p in (0.04, 0.01, 0.03, 0.9)])
    assert [round(d.p_value, 6) for d in found] == [0.09, 0.04, 0.09, 0.9]
    assert _corrected([]) == ()


def test_what_compare_refuses():
    with pytest.raises(InvalidInputError, match="at least two models by name. Got 1"):
        compare(real=REAL, generated={"one": HALF}, **QUICK)
    with pytest.raises(InvalidInputError, match="Models must be given by name"):
        compare(real=REAL, generated=HALF, **QUICK)
    with pytest.raises(InvalidInputError, match="names in `generated` must be text. Got 1"):
        compare(real=REAL, generated={1: HALF, 2: HALF}, **QUICK)
    with pytest.raises(InvalidInputError, match="different folder names, .* Got a/b, a_b"):
        compare(real=REAL, generated={"a/b": HALF, "a_b": HALF}, **QUICK)
    with pytest.raises(InvalidInputError, match="Got several by name: use `compare`"):
        evaluate(real=REAL, generated={"one": HALF}, **QUICK)


def test_models_without_a_curve_are_said_not_to_be_compared():
    models = {"few": np.repeat(REAL[:10], 60, axis=0), "half": HALF}
    result = compare(real=REAL, generated=models, metrics="curve", **QUICK)
    assert result.verdicts == (
        "The curves of few and half cannot be compared, because few repeats too few distinct "
        "samples.",
    )
    result = compare(real=REAL, generated=models, metrics="copies", **QUICK)
    assert result.verdicts[0].endswith("because no curve was measured.")


@pytest.mark.slow
def test_limits_and_resolution_allow_for_all_comparisons():
    models = {str(i): RNG.normal(0.1 * i, 1, (300, 3)) for i in range(4)}
    two = compare(real=REAL, generated=dict(list(models.items())[:2]), metrics="curve", **QUICK)
    four = compare(real=REAL, generated=models, metrics="curve", **QUICK)
    one, other = (
        next(d for d in c.differences if (d.first, d.second, d.key) == ("0", "1", "curve.overlap"))
        for c in (two, four)
    )
    assert one.value == other.value
    wider = (other.high - other.low) / (one.high - one.low)
    assert wider == pytest.approx(2.9913 / 2.3940, rel=1e-3)  # quantiles for 18 and 3 tests
    assert other.resolvable > one.resolvable


def test_numbers_of_numpy_and_paths_survive_json(tmp_path):
    reference = Reference.make(REAL, limit=np.int64(200), store=tmp_path, progress=False)
    result = evaluate(
        real=reference,
        generated=HALF,
        metrics=["curve"],
        seed=np.int64(3),
        k=np.int64(2),
        **QUICK,
    )
    assert result.provenance["samples"] == {"real": 200, "generated": 200}
    again = Evaluation.from_json(result.to_json())
    assert (again.settings.seed, again.settings.limit) == (3, 200)
    assert again.settings.store == str(tmp_path)
    tiny = evaluate(real=REAL[:1], generated=REAL[:1], metrics="copies", progress=False)
    assert "NaN" not in tiny.to_json()


@pytest.mark.torch
def test_few_samples_have_no_ceiling_of_neighbors():
    result = evaluate(real=REAL[:8], generated=HALF[:8], metrics="knn", progress=False)
    assert result["knn.precision"].expected is None
    assert result["knn.coverage"].expected is not None


@pytest.mark.slow
@pytest.mark.torch
def test_a_comparison_is_saved(tmp_path):
    models = {"a/b": HALF, "comparison.json": REAL[::-1] + 0.01}
    result = compare(real=REAL, generated=models, metrics=("curve", "knn"), **QUICK)
    result.save(tmp_path)
    assert Evaluation.load(tmp_path / "a_b").to_json() == result["a/b"].to_json()
    assert (tmp_path / "comparison.json").exists()


def test_the_protocol_stays_in_the_provenance():
    """It used to be replaced by what the recipe reports about itself, which has its own key."""
    real, generated = np.random.default_rng(0).normal(size=(2, 60, 2))
    result = evaluate(real=real, generated=generated, protocol="simon-2019", progress=False)
    assert result.provenance["protocol"] == "simon-2019"
    assert result.provenance["recipe"]["settings"].startswith("Simon2019(")
