"""Two models against one reference."""

import numpy as np
import pytest

from tests.known import comparisons
from tests.known.comparisons import EQUAL, RANKED, allowed, false_alarms
from tests.known.distributions import gaussians, line_mixture
from tradeoff import InvalidInputError, RatioProfile, pr_curve
from tradeoff.comparison.curves import compare_curves
from tradeoff.inference.paired import Counted
from tradeoff.inference.policy import COMMON_SLOPES


def estimate(real, generated, **options):
    return pr_curve(
        real=real, generated=generated, **({"estimator": "logistic", "progress": False} | options)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "estimator", "runs"),
    [*((name, "logistic", 40) for name in EQUAL), ("mixture, 8 columns", "stack", 10)],
)
def test_models_of_one_distribution_are_rarely_told_apart(name, estimator, runs):
    """At 5%, by overlap, area and F-score; more alarms than allowed: once in 1,000."""
    row = false_alarms(estimator, name, n=300, runs=runs)
    assert row["runs"] == runs
    assert all(row[test] <= allowed(runs) for test in RANKED), row


def test_alarms_are_counted_and_the_worst_one_decides(monkeypatch):
    """Of 100 runs, p-values are below 5% in 13 at most, which are allowed."""
    below = {"overlap": 13, "area": 11, "F-score": 2, "whole curve": 50}
    monkeypatch.setattr(
        comparisons,
        "p_values",
        lambda *given: [0.049 if given[-1] < count else 0.051 for count in below.values()],
    )
    monkeypatch.setattr(
        comparisons, "over_seeds", lambda task, seeds: [task(seed) for seed in range(seeds)]
    )
    row = false_alarms("none", "Gaussians, distance 0", n=5, runs=100)
    assert {name: row[name] for name in below} == below
    assert allowed(100) == 13
    assert row["ratio"] == row["bar"]  # the whole curve ranks no model
    assert allowed(300) == 28


def test_a_lower_recall_is_found_and_has_the_right_sign():
    rng = np.random.default_rng(0)
    modes = [0.0, 4.0, 8.0]
    full, dropped = (line_mixture([1 / k] * k, modes[:k], [0.5] * k) for k in (3, 2))
    real = full(rng, 1500)
    first, second = (estimate(real, law(rng, 1500)) for law in (full, dropped))
    found = compare_curves(first, second)
    lam = COMMON_SLOPES["recall"]
    assert found.recall[lam].value == pytest.approx(1 / 3, abs=0.08)
    assert found.recall[lam].p_value < 1e-4
    assert found.precision[1.0].value == pytest.approx(1 / 3, abs=0.08)
    assert found.precision[1.0].p_value < 1e-4
    assert found.f_score.value == pytest.approx(0.2, abs=0.08)  # 4/5 at λ = 3/2
    assert found.f_score.p_value < 1e-2
    assert found.area.value > 0
    assert found.area.p_value < 1e-3
    assert found.curve_p_value < 1e-3
    turned = compare_curves(second, first)
    assert turned.recall[lam].value == pytest.approx(-found.recall[lam].value)
    assert turned.curve_p_value == found.curve_p_value


@pytest.mark.slow
def test_what_can_be_resolved_shrinks_with_the_root_of_the_samples():
    pair = gaussians(2, 1)
    sizes = []
    for n in (300, 4800):
        samples = pair.draw(n, 0)
        other = pair.draw(n, 1)["generated"]
        found = compare_curves(estimate(**samples), estimate(samples["real"], other))
        sizes.append(found.precision[1.0].resolvable)
    assert sizes[0] / sizes[1] == pytest.approx(4, rel=0.5)


def test_area_is_that_of_the_curves():
    """Between slopes 1/20 and 20, by fine quadrature of the raw curves."""
    pair = gaussians(2, 1)
    real = pair.draw(800, 0)["real"]
    first, second = (estimate(real, pair.draw(800, s)["generated"] + s) for s in (0, 1))
    lam = np.geomspace(1 / 20, 20, 40_001)
    areas = [0.5 * np.trapezoid(e.raw.recall(lam) ** 2, lam) for e in (first, second)]
    assert compare_curves(first, second).area.value == pytest.approx(areas[0] - areas[1], abs=0.003)


@pytest.mark.slow
def test_the_difference_of_f_scores_is_that_of_the_curves_and_follows_its_error():
    """Each model at its own best slope: the mean difference is the true one, within its error."""
    real, *models = (line_mixture([1.0], [0.0], [sd]) for sd in (1.0, 0.5, 3.0))
    grid = np.linspace(-15, 15, 30_001)[:, None]
    p, *others = (law.density(grid) / law.density(grid).sum() for law in (real, *models))
    truth = [RatioProfile.from_masses(p, q).curve().f_score(1.0) for q in others]
    scores = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        rows = real(rng, 600)
        options = {"estimator": "gaussians", "folds": 5}
        first, second = (estimate(rows, model(rng, 600), **options) for model in models)
        found = compare_curves(first, second).f_score
        scores.append((found.value - (truth[0] - truth[1])) / found.error)
    assert abs(np.mean(scores)) < 0.6  # 3.3 standard errors are 0.52
    assert np.std(scores) < 1.4


def test_copies_in_groups_count_once():
    rows = np.random.default_rng(0).integers(-1, 2, (60, 3)).astype(float)
    scale = np.array([0.5, 1.0, 2.0])
    none = np.zeros(len(rows), int)  # folds do not matter here
    many, groups = np.repeat(rows, 8, axis=0), np.repeat(np.arange(60), 8)
    copies = Counted(many, np.repeat(none, 8), groups, scale).covariance
    np.testing.assert_allclose(copies, Counted(rows, none, None, scale).covariance)
    alone = Counted(many, np.repeat(none, 8), None, scale).covariance
    assert (np.diag(alone) < np.diag(copies)).all()


def test_only_like_is_compared_with_like():
    samples = gaussians(2, 1).draw(100, 0)
    first = estimate(**samples)
    with pytest.raises(InvalidInputError, match="same real samples to be compared"):
        compare_curves(first, estimate(samples["real"][:99], samples["generated"]))
    with pytest.raises(InvalidInputError, match="same seed to be compared. Got 0 and 1"):
        compare_curves(first, estimate(**samples, seed=1))
    with pytest.raises(InvalidInputError, match="same folds to be compared. Got other real groups"):
        compare_curves(first, estimate(**samples, real_groups=np.arange(100) // 2))
    with pytest.raises(InvalidInputError, match="`second` must be a CurveEstimate. Got a PRCurve"):
        compare_curves(first, first.curve)
