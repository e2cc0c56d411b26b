"""MAUVE and the precision and recall of language models, against plain formulas."""

import math

import numpy as np
import pytest

from tradeoff import InvalidInputError, evaluate, reproduce
from tradeoff.protocols import PROTOCOLS
from tradeoff.protocols.base import Reproduction
from tradeoff.protocols.text import LeBronnec2024, Pillutla2021

every_text = pytest.mark.parametrize(
    "name", ["pillutla-2021", pytest.param("lebronnec-2024", marks=pytest.mark.torch)]
)


def run(name, samples, seed=0):
    return reproduce(name, **samples, seed=seed, progress=False)


def modes(*counts, columns=12, seed=0, noise=0.1):
    """Samples around directions that are at right angles to each other."""
    rng = np.random.default_rng(seed)
    centers = 5 * np.eye(len(counts), columns)[np.repeat(range(len(counts)), counts)]
    return centers + rng.normal(0, noise, (sum(counts), columns))


def published_mauve(p, q):
    """Both orientations of the area under 25 points and the two ends, and the frontier integral."""

    def kl(a, b):
        return np.sum(a[a > 0] * np.log(a[a > 0] / b[a > 0]))

    mixtures = [w * p + (1 - w) * q for w in np.linspace(1e-6, 1 - 1e-6, 25)]
    x = np.array([1.0, *(math.exp(-5 * kl(q, r)) for r in mixtures), 0.0])
    y = np.array([0.0, *(math.exp(-5 * kl(p, r)) for r in mixtures), 1.0])
    area = 0.5 * (np.trapezoid(y[::-1], x[::-1]) + np.trapezoid(x, y))
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = np.where(p == q, p, p * q * np.log(p / q) / (p - q))
    return area, np.sum((p + q) / 2 - np.where((p == 0) | (q == 0), 0.0, rest))


@pytest.mark.parametrize(
    ("real", "generated"),
    [((15, 10, 5), (5, 10, 15)), ((15, 15, 0), (10, 10, 10)), ((20, 20), (0, 24))],
)
def test_mauve_is_the_published_formula(real, generated):
    """With as many clusters as directions, k-means finds the directions."""
    samples = {"real": modes(*real), "generated": modes(*generated, seed=1)}
    p, q = (np.array(counts) / sum(counts) for counts in (real, generated))
    recipe = Pillutla2021(per_cluster=sum(real) // len(real))
    curve, scores = recipe.run(**samples, seed=0, progress=False)
    area, integral = published_mauve(p, q)
    assert scores["mauve.area"] == pytest.approx(area, abs=1e-9)
    assert scores["mauve.frontier_integral"] == pytest.approx(integral, abs=1e-9)
    for lam in (0.3, 1.0, 3.0):
        assert curve.precision(lam) == pytest.approx(np.minimum(lam * p, q).sum())


def test_ends_of_mauve():
    """The same samples give 1; other directions give Γ(6)²/Γ(11), but for the polyline."""
    x = modes(20, 20)
    same = run("pillutla-2021", {"real": x, "generated": x}).scores
    assert same["mauve.area"] == pytest.approx(1)
    assert same["mauve.frontier_integral"] == pytest.approx(0, abs=1e-9)
    apart = run("pillutla-2021", {"real": modes(20, 0), "generated": modes(0, 20)}).scores
    exact = math.gamma(6) ** 2 / math.gamma(11)
    assert apart["mauve.area"] == pytest.approx(exact, abs=2e-3)
    assert apart["mauve.frontier_integral"] == pytest.approx(1)


@pytest.mark.parametrize(
    ("sizes", "expected"), [((20, 20), 2), ((24, 300), 2), ((155, 200), 16), ((500, 145), 14)]
)
def test_clusters_are_a_tenth_of_the_smaller_side(monkeypatch, sizes, expected):
    asked = []

    def first(self, x, clusters, *, seed, progress):
        asked.append((len(x), clusters))
        return np.zeros(len(x), np.int32)

    monkeypatch.setattr(Pillutla2021, "_clusters", first)
    rng = np.random.default_rng(0)
    real, generated = (rng.normal(size=(size, 4)) for size in sizes)
    run("pillutla-2021", {"real": real, "generated": generated})
    assert asked == [(sum(sizes), expected)]


def test_more_runs_of_k_means_are_at_least_as_tight():
    x = np.random.default_rng(0).normal(size=(300, 6)).astype(np.float32)

    def spread(runs):
        labels = Pillutla2021(runs=runs)._clusters(x, 15, seed=0, progress=False)
        return sum(x[labels == k].var(axis=0).sum() * (labels == k).sum() for k in range(15))

    spreads = [spread(runs) for runs in (1, 2, 5, 10)]
    assert sorted(spreads, reverse=True) == spreads
    assert spreads[-1] < spreads[0]


def test_same_seed_same_bits():
    rng = np.random.default_rng(0)
    samples = {"real": rng.normal(size=(300, 8)), "generated": rng.normal(0.2, 1, (300, 8))}
    first, second, other = (run("pillutla-2021", samples, seed=seed) for seed in (0, 0, 1))
    assert first.to_json() == second.to_json()
    assert first.scores["mauve.area"] != other.scores["mauve.area"]


def test_few_distinct_texts_leave_clusters_empty():
    """Ten texts, again and again: without a warning, and with the histogram of the texts."""
    texts = modes(*[1] * 10)
    real, generated = np.repeat(texts, 20, axis=0), np.repeat(texts[:5], 40, axis=0)
    scores = run("pillutla-2021", {"real": real, "generated": generated}).scores
    area, integral = published_mauve(np.full(10, 0.1), np.repeat([0.2, 0.0], 5))
    assert scores["mauve.area"] == pytest.approx(area, abs=1e-9)
    assert scores["mauve.frontier_integral"] == pytest.approx(integral, abs=1e-9)


def published_support(real, generated, k):
    """Shares of points inside an open ball around a point of the other side."""
    union = np.concatenate((generated, real))
    union = union / np.linalg.norm(union, axis=1, keepdims=True)
    union = union - union.mean(axis=0)
    _, values, axes = np.linalg.svd(union, full_matrices=False)
    kept = np.flatnonzero(np.cumsum(values**2) / np.sum(values**2) >= 0.9)[0] + 1
    y, x = np.split(union @ axes[:kept].T, [len(generated)])

    def distances(a, b):
        return np.linalg.norm(a[:, None] - b[None], axis=-1)

    radius_x, radius_y = (np.sort(distances(a, a))[:, k] for a in (x, y))
    across = distances(x, y)
    return (across < radius_x[:, None]).any(0).mean(), (across < radius_y).any(1).mean()


@pytest.mark.torch
def test_precision_and_recall_are_the_published_formula():
    rng = np.random.default_rng(0)
    scales = np.geomspace(1, 0.05, 20)
    real = 0.5 + scales * rng.normal(size=(150, 20))
    generated = 0.5 + scales * rng.normal(0.3, 0.8, (150, 20))
    scores = run("lebronnec-2024", {"real": real, "generated": generated}).scores
    assert list(scores) == ["knn.precision", "knn.recall"]
    expected = published_support(real, generated, 4)
    assert tuple(scores.values()) == pytest.approx(expected)
    assert published_support(real, generated, 5) != expected
    five = LeBronnec2024(k=5).run(real, generated, seed=0, progress=False)[1]
    assert tuple(five.values()) == pytest.approx(published_support(real, generated, 5))


@pytest.mark.torch
def test_balls_are_open():
    """Copies of copies: the balls around a text with four copies have no inside."""
    texts = modes(*[1] * 8)
    real, generated = np.repeat(texts, 5, axis=0), np.repeat(texts, 5, axis=0)
    scores = run("lebronnec-2024", {"real": real, "generated": generated}).scores
    assert scores == {"knn.precision": 0.0, "knn.recall": 0.0}


@every_text
def test_lengths_of_rows_do_not_matter(name):
    rng = np.random.default_rng(0)
    samples = {"real": rng.normal(size=(100, 5)), "generated": rng.normal(0.5, 1, (100, 5))}
    scaled = {side: x * 2.0 ** rng.integers(-3, 4, (100, 1)) for side, x in samples.items()}
    assert run(name, samples).scores == run(name, scaled).scores


@every_text
def test_a_model_that_drops_modes_is_precise_and_recalls_little(name):
    all_modes, two_modes = modes(*[50] * 8), modes(*[200] * 2, seed=1)

    def both(real, generated):
        result = run(name, {"real": real, "generated": generated})
        if result.curve is None:
            return result.scores["knn.precision"], result.scores["knn.recall"]
        return result.curve.precision(20.0), result.curve.recall(1 / 20)

    precision, recall = both(all_modes, two_modes)
    assert precision > 0.9
    assert recall < 0.4
    precision, recall = both(two_modes, all_modes)
    assert precision < 0.4
    assert recall > 0.9


@every_text
def test_results_are_written_and_read(name):
    rng = np.random.default_rng(0)
    samples = {"real": rng.normal(size=(60, 4)), "generated": rng.normal(size=(60, 4))}
    result = run(name, samples)
    again = Reproduction.from_json(result.to_json())
    assert again.scores == result.scores
    assert again.provenance["settings"] == repr(PROTOCOLS[name].recipe)
    assert (again.curve is None) == (name == "lebronnec-2024")


@every_text
def test_evaluation_says_which_features_the_numbers_were_published_for(name):
    rng = np.random.default_rng(0)
    samples = {"real": rng.normal(size=(60, 4)), "generated": rng.normal(size=(60, 4))}
    result = evaluate(**samples, protocol=name, progress=False)
    assert any("use features of gpt2-large, last token" in warning for warning in result.warnings)


@every_text
def test_mistakes_get_a_sentence(name):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(50, 3))
    with pytest.raises(InvalidInputError, match=f"`{name}` must have at least 20 samples on each"):
        run(name, {"real": x[:19], "generated": x[:19]})
    with pytest.raises(InvalidInputError, match=f"`{name}` compares directions: .* one direction"):
        run(name, {"real": np.exp(x[:, :1]), "generated": np.exp(x[:, 1:2])})
    with pytest.raises(InvalidInputError, match="columns"):
        run(name, {"real": x, "generated": x[:, :2]})


@pytest.mark.torch
def test_precision_and_recall_compare_samples_of_one_size():
    x = np.random.default_rng(0).normal(size=(50, 3))
    with pytest.raises(InvalidInputError, match="one size. Got 50 real and 40 generated: leave"):
        run("lebronnec-2024", {"real": x, "generated": x[:40]})
