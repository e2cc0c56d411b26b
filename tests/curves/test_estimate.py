"""The honest curve: what it guarantees, at sizes that run in seconds."""

import numpy as np
import pytest
from scipy.stats import norm

from tradeoff import InvalidInputError, pr_curve
from tradeoff.core import mauve
from tradeoff.core.divergence import KL
from tradeoff.curves.estimate import estimate_curve
from tradeoff.exceptions import UndefinedError
from tradeoff.ratio import Logistic, Neighbors
from tradeoff.samples import Pair

LAM = np.array([0.1, 0.5, 1.0, 2.0, 10.0])
WIDE = np.geomspace(1 / 20, 20, 201)


def gaussians(seed, n, distance, d=2):
    rng = np.random.default_rng(seed)
    generated = rng.normal(size=(n, d))
    generated[:, 0] += distance
    return {"real": rng.normal(size=(n, d)), "generated": generated}


def truth(lam, distance):
    if distance == 0:
        return np.minimum(1, lam)
    shift = np.log(lam) / distance
    return lam * norm.cdf(-shift - distance / 2) + norm.cdf(shift - distance / 2)


def estimate(samples, **options):
    return pr_curve(**samples, **({"estimator": "logistic", "progress": False} | options))


def assert_same(left, right):
    for name in ("breakpoints", "intercepts", "slopes"):
        np.testing.assert_array_equal(getattr(left.raw, name), getattr(right.raw, name))


@pytest.mark.slow
def test_identical_laws_score_one():
    values = [estimate(gaussians(s, 500, 0.0, d=4)).curve.precision(1.0) for s in range(20)]
    assert np.mean(values) > 0.98


def test_a_collapsed_model_has_high_precision_and_low_recall():
    rng = np.random.default_rng(0)
    real = rng.normal(size=(1000, 2))
    collapsed = np.array([1.0, 0.0]) + 0.3 * rng.normal(size=(1000, 2))
    found = estimate({"real": real, "generated": collapsed}, estimator="gaussians")
    assert found.curve.precision(20.0) > 0.85
    assert found.curve.recall(0.4) < 0.5
    assert found.balance.lam > 2.0
    assert found.headline["curve.precision"] > 2 * found.headline["curve.recall"]
    swapped = estimate({"real": collapsed, "generated": real}, estimator="gaussians")
    assert swapped.curve.precision(2.5) == pytest.approx(found.curve.recall(0.4), abs=0.05)
    assert swapped.curve.recall(0.05) == pytest.approx(found.curve.precision(20.0), abs=0.05)
    assert swapped.balance.lam == pytest.approx(1 / found.balance.lam, rel=0.2)
    for key, other in (("precision", "recall"), ("recall", "precision"), ("overlap", "overlap")):
        wanted = found.headline[f"curve.{other}"]
        assert swapped.headline[f"curve.{key}"] == pytest.approx(wanted, abs=0.05)


def test_same_seed_same_bits_and_another_seed_other_folds():
    samples = gaussians(0, 300, 1.0)
    assert_same(estimate(samples, seed=1), estimate(samples, seed=1))
    other = estimate(samples, seed=2)
    assert (estimate(samples, seed=1).real.log_ratios != other.real.log_ratios).any()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["logistic", "stack"])
def test_permuting_rows_changes_nothing(name):
    samples = gaussians(0, 200, 1.0)
    order = np.random.default_rng(1).permutation(200)
    plain = estimate(samples, estimator=name)
    permuted = estimate(
        {"real": samples["real"][order], "generated": samples["generated"][::-1]}, estimator=name
    )
    assert_same(plain, permuted)
    np.testing.assert_array_equal(plain.real.log_ratios[order], permuted.real.log_ratios)


def test_adding_a_constant_changes_nothing_beyond_rounding():
    """Groups fix the folds, which otherwise follow the content."""
    samples = gaussians(0, 300, 1.0)
    groups = {"real_groups": range(300), "generated_groups": range(300)}
    plain = estimate(samples, **groups)
    moved = estimate({side: x + 64.0 for side, x in samples.items()}, **groups)
    np.testing.assert_allclose(moved.raw.precision(LAM), plain.raw.precision(LAM), atol=0.02)


def test_groups_prevent_leakage():
    """Noisy copies of 60 samples: only groups keep a copy from betraying its fold."""
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(2, 60, 20))
    real, generated = (
        np.repeat(x, 20, axis=0) + 1e-3 * rng.normal(size=(1200, 20)) for x in centers
    )
    groups = np.repeat(np.arange(60), 20)
    samples = {"real": real, "generated": generated}
    leaking = estimate(samples, estimator="kernel")
    honest = estimate(samples, estimator="kernel", real_groups=groups, generated_groups=groups)
    assert leaking.curve.precision(1.0) < 0.1
    assert honest.curve.precision(1.0) > 0.8


def test_exact_copies_share_a_fold():
    rng = np.random.default_rng(0)
    real, generated = (np.repeat(rng.normal(size=(100, 20)), 10, axis=0) for _ in range(2))
    assert (
        estimate({"real": real, "generated": generated}, estimator="kernel").curve.precision(1.0)
        > 0.7
    )


def test_a_single_split_counts_each_sample_at_most_once():
    single = estimate(gaussians(0, 1000, 1.0), folds=1)
    held_out = ~np.isnan(single.real.log_ratios)
    assert 400 < held_out.sum() < 600
    assert single.raw.precision(1.0) == pytest.approx(0.617, abs=0.1)
    rotated = estimate(gaussians(0, 1000, 1.0), folds=5)
    assert not np.isnan(rotated.real.log_ratios).any()


def test_unequal_sizes():
    samples = gaussians(0, 2000, 1.0)
    few = estimate({"real": samples["real"], "generated": samples["generated"][:150]})
    assert few.raw.precision(1.0) == pytest.approx(0.617, abs=0.15)


def test_plug_in_profile_is_close_to_the_truth():
    run = estimate(gaussians(0, 4000, 1.0))
    assert KL().of(run.plug_in_profile()) == pytest.approx(0.5, abs=0.12)
    assert mauve(run.plug_in_profile()) == pytest.approx(0.61, abs=0.1)


@pytest.mark.slow
def test_a_value_that_many_samples_share_is_divided_by_a_single_split():
    """Half of both sides is one point and the rest is disjoint: the truth at λ = 1 is 0.5."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        sides = {"real": rng.normal(5, 1, (600, 2)), "generated": rng.normal(-5, 1, (600, 2))}
        for x in sides.values():
            x[:300] = 0.0
        single = estimate(sides, folds=1, seed=seed)
        assert single.raw.precision(1.0) == pytest.approx(0.5, abs=0.12)
        assert single.certificate().precision(1.0) >= 0.5


def test_equal_values_have_one_place_on_both_sides():
    rng = np.random.default_rng(0)
    real = rng.integers(0, 45, (800, 1)).astype(float)
    generated = rng.integers(0, 55, (800, 1)).astype(float)
    samples = {"real": real, "generated": generated}
    run = estimate(samples, estimator="gaussians", repeats="copies")
    for value in range(45):
        places = {*run.real.folds[real[:, 0] == value]} | {
            *run.generated.folds[generated[:, 0] == value]
        }
        assert len(places) == 1


@pytest.mark.slow
def test_the_number_of_processes_changes_nothing():
    samples = gaussians(0, 200, 1.0)
    one, two = (
        estimate_curve(Pair.of(**samples), estimator="logistic", jobs=jobs, progress=False)
        for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.real.log_ratios, two.real.log_ratios)


def test_few_distinct_values_are_placed_in_all_folds():
    rng = np.random.default_rng(0)
    real, generated = (rng.integers(0, 7, (500, 1)).astype(float) for _ in range(2))
    run = estimate({"real": real, "generated": generated}, estimator="gaussians")
    assert len(np.unique(run.real.folds)) == 5
    assert run.curve.precision(1.0) > 0.9


@pytest.mark.parametrize("folds", [1, 5])
@pytest.mark.parametrize("seed", range(8))
def test_rounded_samples_of_one_side_are_placed_in_all_folds(seed, folds):
    rng = np.random.default_rng(seed)
    rounded, continuous = np.round(rng.normal(size=(300, 1))), rng.normal(size=(300, 1))
    options = {"seed": seed, "folds": folds, "repeats": "copies"}
    run = estimate({"real": rounded, "generated": continuous}, **options)
    assert len(np.unique(run.real.folds)) == 5 or (folds == 1 and 0 in run.real.folds)
    both = np.concatenate((continuous, rounded))
    shared = estimate({"real": rounded, "generated": both}, **options)
    if folds == 5:
        for value in np.unique(rounded):
            real, generated = shared.real.folds[rounded[:, 0] == value], shared.generated.folds
            assert set(real) == set(generated[both[:, 0] == value])


def test_intervals_contain_the_estimate_and_groups_widen_them():
    samples = gaussians(0, 1000, 1.0)
    run = estimate(samples)
    low, high = run.interval(LAM).precision.T
    assert (low < run.raw.precision(LAM)).all()
    assert (run.raw.precision(LAM) < high).all()
    assert (high >= truth(LAM, 1.0)).all()
    together = run.interval(LAM, simultaneous=True).precision
    assert (together[:, 0] < low).all()
    assert (together[:, 1] > high).all()
    copies = {side: np.repeat(x[:200], 5, axis=0) for side, x in samples.items()}
    groups = np.repeat(np.arange(200), 5)
    grouped = estimate(copies, real_groups=groups, generated_groups=groups)
    same, draws = estimate(copies), estimate(copies, repeats="draws")
    widths = [np.ptp(e.interval([1.0]).precision) for e in (grouped, same, draws)]
    assert widths[0] / widths[1] == pytest.approx(1.0, rel=0.2)  # copies are groups
    assert widths[0] / widths[2] == pytest.approx(5**0.5, rel=0.25)


@pytest.mark.parametrize("times", [1, 8])
def test_a_single_split_keeps_copies_together_and_has_no_certificate(times):
    """Copies on both sides of a split would be told from other samples by themselves."""
    rng = np.random.default_rng(0)
    real, generated = rng.normal(size=(800, 2)), np.repeat(rng.normal(size=(200, 2)), times, axis=0)
    found = pr_curve(
        real=real,
        generated=generated,
        estimator=Neighbors(),
        folds=1,
        repeats="copies",
        progress=False,
    )
    assert found.raw.precision(1.0) > 0.9
    if times == 1:
        assert found.certificate().precision(1.0) >= 1.0
    else:
        with pytest.raises(UndefinedError, match="not groups or copies"):
            found.certificate()


def test_bands_can_be_drawn():
    curve = estimate(gaussians(0, 500, 1.0)).with_band()
    lower, upper = curve.lower.precision(WIDE), curve.upper.precision(WIDE)
    assert (lower <= curve.precision(WIDE) + 1e-12).all()
    assert (curve.precision(WIDE) <= upper + 1e-12).all()
    assert (upper <= np.minimum(1, WIDE) + 1e-12).all()


def test_headline_and_provenance_name_what_they_are():
    run = estimate(gaussians(0, 200, 1.0), estimator=Logistic(penalties=(0.1,)), seed=5)
    assert list(run.headline) == ["curve.precision", "curve.recall", "curve.overlap"]
    assert run.headline["curve.overlap"] == run.curve.precision(1.0)
    assert (
        run.provenance["estimator"]
        == "Logistic(penalties=(0.1,), validation=0.2, choice_rows=1500)"
    )
    assert (run.provenance["seed"], run.provenance["samples"]["real"]) == (5, 200)
    assert run.provenance["versions"]["tradeoff"]
    assert run.provenance["components"] is None
    wide = estimate(gaussians(0, 60, 1.0, d=70), estimator="trees")
    assert wide.provenance["components"] == 64
    assert wide.provenance["row_caps"] == {"BoostedTrees": 20_000}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"estimator": "magic"}, "Unknown estimator"),
        ({"estimator": 3}, "`estimator` must be a name or have `fit`. Got a int"),
        ({"folds": 0}, "`folds` must be a whole number of at least 1"),
        ({"seed": -1}, "`seed` must be a whole number from 0 to 2³² − 1. Got -1"),
        ({"estimator": Logistic}, "must be configured. Got the class Logistic: write Logistic()"),
        ({"folds": 90}, "`folds` must leave samples of both sides in every part. Got 90 folds"),
        ({"real_groups": 5}, "`real_groups` must name a group per sample, 100. Got int"),
        ({"real": np.full((100, 2), 1e200)}, "`real` must lie within ±1e[+]100"),
        ({"folds": 2}, "`folds` must be 1, a single split, or at least 3. Got 2"),
        (
            {"real": np.zeros((50, 2))},
            "`real` must hold at least 5 distinct samples. Got 1: for so few values, count each",
        ),
        ({"real": np.zeros((19, 2))}, "`real` must hold at least 20 samples. Got 19"),
        ({"real_groups": np.arange(100) % 7}, "`real` must hold at least 20 groups. Got 7"),
        ({"real_groups": [1, 2]}, "`real_groups` must name a group per sample, 100. Got 2"),
        (
            {"generated": np.ones((100, 3))},
            "same number of columns. Got 2 in `real` and 3 in `generated`",
        ),
    ],
)
def test_mistakes_get_a_sentence(options, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        pr_curve(**(gaussians(0, 100, 1.0) | {"estimator": "logistic"} | options))


def test_an_estimator_that_returns_nan_is_not_counted_in_silence():
    class Broken:
        def fit(self, *, real, generated, seed):
            return self

        def log_ratio(self, x):
            return np.where(x[:, 0] > 2, np.nan, x[:, 0])

    with pytest.raises(InvalidInputError, match="must not contain NaN"):
        pr_curve(**gaussians(0, 200, 1.0), estimator=Broken(), progress=False)


def test_roles_cannot_be_swapped_by_position():
    with pytest.raises(InvalidInputError, match="Name the two sides: pr_curve"):
        pr_curve(np.zeros((30, 2)), np.ones((30, 2)))
