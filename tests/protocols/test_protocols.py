"""Recipes of the literature, against what they say and what is known of them."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from tests.known.distributions import gaussians
from tradeoff import InvalidInputError, PRCurve, RatioProfile, reproduce, support_metrics
from tradeoff.protocols import PROTOCOLS
from tradeoff.protocols.sajjadi import Sajjadi2018
from tradeoff.protocols.simon import Simon2019

CURVES = ("sajjadi-2018", "simon-2019")
every_protocol = pytest.mark.parametrize(
    "name",
    [name if name in CURVES else pytest.param(name, marks=pytest.mark.torch) for name in PROTOCOLS],
)
every_curve = pytest.mark.parametrize("name", CURVES)


def run(name, samples, seed=0):
    return reproduce(name, **samples, seed=seed, progress=False)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "value"), [("sajjadi-2018", 0.92), ("simon-2019", 0.956)])
def test_identical_laws_fall_short_as_known(name, value):
    """N = 1,000, 16 dimensions: the biases that the honest curve does not have."""
    pair = gaussians(16, 0)
    curves = [run(name, pair.draw(1000, seed), seed).curve for seed in range(5)]
    assert np.mean([curve.precision(1.0) for curve in curves]) == pytest.approx(value, abs=0.04)


@pytest.mark.slow
@every_curve
def test_same_seed_same_bits(name):
    samples = gaussians(3, 1).draw(200, 0)
    first, second = (run(name, samples).curve for _ in range(2))
    assert PRCurve.to_json(first) == PRCurve.to_json(second)
    assert run(name, samples, seed=1).curve.to_json() != first.to_json()


@every_protocol
def test_results_say_what_they_are(name):
    result = run(name, gaussians(3, 1).draw(100, 0))
    assert result.protocol == name
    assert result.provenance["settings"] == repr(PROTOCOLS[name].recipe)
    assert tuple(result.scores) == PROTOCOLS[name].recipe.keys
    assert all("." in key for key in result.scores)


def test_histogram_curve_is_the_published_formula():
    """Mean over runs of Σ min(λp, q), on the published angles, and its largest F-scores."""
    samples = gaussians(2, 1).draw(400, 0)
    recipe = Sajjadi2018(clusters=5, runs=3)
    curve, scores = recipe.run(samples["real"], samples["generated"], seed=0, progress=False)
    singles = [
        Sajjadi2018(clusters=5, runs=k).run(
            samples["real"], samples["generated"], seed=0, progress=False
        )[0]
        for k in (1, 2, 3)
    ]
    lam = np.tan(np.linspace(1e-10, np.pi / 2 - 1e-10, 1001))
    first = singles[0].precision(lam)
    second = 2 * singles[1].precision(lam) - first
    third = 3 * singles[2].precision(lam) - first - second
    np.testing.assert_allclose(curve.precision(lam), np.mean([first, second, third], axis=0))
    precision, recall = curve.precision(lam), curve.recall(lam)
    for name, s2 in (("8", 64.0), ("1/8", 1 / 64)):
        f = (1 + s2) * precision * recall / (s2 * precision + recall)
        assert scores[f"prd.f_{name}"] == pytest.approx(f.max(), abs=1e-6)
    assert scores["prd.f_8"] <= curve.f_score(8) + 1e-9


def test_classifiers_find_the_direction_that_logistic_regression_finds():
    """Adam with this decay shrinks the weights but keeps their direction."""
    samples = gaussians(6, 2).draw(2000, 0)
    x = np.concatenate((samples["real"], samples["generated"])).astype(np.float32)
    is_real = np.arange(4000) < 2000
    weights = Simon2019()._train(np.random.default_rng(0), x, is_real, progress=False)
    assert weights.shape == (10, 6)
    model = LogisticRegression(fit_intercept=False).fit(x, is_real).coef_[0]
    cosine = weights @ model / np.linalg.norm(weights, axis=1) / np.linalg.norm(model)
    assert (cosine > 0.97).all()


def test_classifier_curve_is_the_hull_of_its_scores():
    """Without training it is the hull of random scores: the coin sends each index once."""
    samples = gaussians(2, 1).draw(300, 0)
    curve, scores = Simon2019(epochs=0).run(
        samples["real"], samples["generated"], seed=3, progress=False
    )
    rng = np.random.default_rng([3, 2019])
    coin = rng.random(300) < 0.5
    weights = rng.uniform(-1, 1, (10, 2)).astype(np.float32) / np.float32(np.sqrt(2))
    score = np.median(
        np.where(coin[:, None], samples["generated"], samples["real"]) @ weights.T.astype(float),
        axis=1,
    )
    hull = RatioProfile.from_scores(real=score[~coin], generated=score[coin]).curve()
    lam = np.array([0.1, 1.0, 10.0])
    np.testing.assert_allclose(curve.precision(lam), hull.precision(lam), atol=1e-9)
    assert scores["classifier.f_8"] == pytest.approx(hull.f_score(8))


SETTINGS = {
    "kynkaanniemi-2019": {"k": 3, "strict": False},
    "adm": {"k": 3, "strict": False},
    "torch-fidelity": {"k": 3, "strict": False},
    "prdc-2020": {"k": 5, "strict": True},
    "cheema-2023": {"k": 3, "strict": False, "cover": 3},
}


@pytest.mark.torch
@pytest.mark.parametrize("name", SETTINGS)
def test_neighbor_recipes_have_the_published_settings(name):
    """On ties, where rank and inequality make a difference."""
    rng = np.random.default_rng(0)
    samples = {
        "real": rng.integers(0, 3, (200, 4)).astype(float),
        "generated": rng.integers(0, 4, (150, 4)).astype(float),
    }
    scores = dict(run(name, samples).scores)
    if name == "torch-fidelity":
        precision, recall = scores["knn.precision"], scores["knn.recall"]
        assert scores.pop("knn.f_score") == 2 * precision * recall / (precision + recall)
    metrics = [key.replace("knn.", "").replace(".", "_") for key in scores]
    expected = support_metrics(**samples, metrics=metrics, **SETTINGS[name], progress=False)
    assert list(scores.values()) == [expected[metric].value for metric in metrics]
    others = {"k": 4, "strict": not SETTINGS[name]["strict"], "cover": 2}
    for option, value in others.items():
        if option in SETTINGS[name]:
            other = SETTINGS[name] | {option: value}
            found = support_metrics(**samples, metrics=metrics, **other, progress=False)
            assert [found[metric].value for metric in metrics] != list(scores.values()), option


@pytest.mark.torch
def test_clipped_coverage_has_open_balls_and_clipped_density_closed_ones():
    rng = np.random.default_rng(0)
    samples = {
        "real": rng.integers(0, 3, (150, 4)).astype(float),
        "generated": rng.integers(0, 4, (150, 4)).astype(float),
    }
    found = run("salvy-2026", samples).scores
    for name, strict in (("clipped_density", False), ("clipped_coverage", True)):
        expected, other = (
            support_metrics(**samples, k=5, metrics=name, strict=s, progress=False)[name].value
            for s in (strict, not strict)
        )
        assert found[name.replace("_", ".")] == expected != other


def test_mistakes_get_a_sentence():
    samples = gaussians(2, 1).draw(50, 0)
    with pytest.raises(InvalidInputError, match="`protocol` must be one of sajjadi-2018, simon"):
        run("simon", samples)
    with pytest.raises(InvalidInputError, match="at least 20 samples on each side. Got 10"):
        run("sajjadi-2018", {side: x[:10] for side, x in samples.items()})
    with pytest.raises(InvalidInputError, match="one size. Got 40 real and 50 generated: leave"):
        run("simon-2019", samples | {"real": samples["real"][:40]})


@pytest.mark.parametrize("seed", [0, 1])
def test_samples_drawn_with_the_same_seed_are_judged_as_others(seed):
    """The first random numbers of that seed choose the modes, and must not choose the split."""
    rng = np.random.default_rng(0)
    is_first = rng.random(400) < 0.5
    real = np.where(is_first, 6.0, -6.0)[:, None] + rng.normal(size=(400, 2))
    generated = 6.0 + rng.normal(size=(400, 2))
    curve = reproduce("simon-2019", real=real, generated=generated, seed=seed, progress=False).curve
    assert curve.precision(20.0) > 0.95
    assert curve.recall(0.4) == pytest.approx(0.5, abs=0.12)
