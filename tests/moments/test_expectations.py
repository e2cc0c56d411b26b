"""The theory of the Fréchet distance between samples of one distribution."""

import numpy as np
import pytest

from tradeoff import frechet_distance
from tradeoff.metrics.moments.expectations import SamplingNoise


@pytest.mark.parametrize(
    ("sizes", "truth"),
    [
        # (S₁S₂)^½ of white noise: its mean trace is d(1 − d/4(n − 1)) if both have n > d samples.
        ((101, 101), 0.5 * 64 / 100),
        ((1001, 1001), 0.5 * 64 / 1000),
        # With one covariance known it is that of the Marchenko-Pastur root, here near 1 − d/8n.
        ((6401, 10**9), 0.25 * 64 / 6400),
    ],
)
def test_white_noise_has_a_closed_form(sizes, truth):
    white = SamplingNoise(
        columns=64, trace=64.0, eigenvalues=np.ones(1), weights=np.ones(1), scales=np.ones(1)
    )
    assert white.between(*sizes) == pytest.approx(truth, rel=5e-3)


@pytest.mark.parametrize("sizes", [(40, 40), (40, 160), (160, 40)])
def test_few_samples_of_many_columns(sizes):
    """Simulated, with a decaying spectrum and scales that vary; both within a few percent."""
    rng = np.random.default_rng(0)

    def draw(n):
        x = rng.normal(size=(n, 100)) / np.sqrt(np.arange(1, 101))
        return x / np.sqrt(rng.chisquare(12, (n, 1)) / 10)

    values = [frechet_distance(real=draw(sizes[0]), generated=draw(sizes[1])) for _ in range(40)]
    trace = (1 / np.arange(1, 101)).sum()
    noise = [SamplingNoise.of(draw(200)) for _ in range(5)]
    found = np.mean([one.between(*sizes) for one in noise]) + 1 / sizes[0] + 1 / sizes[1]
    error = np.std(values) / np.sqrt(40) / np.mean(values)
    assert error < 0.02
    assert trace * found == pytest.approx(np.mean(values), rel=0.04 + 4 * error)


@pytest.mark.parametrize(
    "x",
    [
        np.ones((30, 4)),
        np.arange(30.0)[:, None],
        np.arange(30.0)[:, None] * np.ones((1, 20)),
        np.repeat(np.eye(5), 6, axis=0),
        np.vstack((np.eye(30)[:29], np.full(30, 1e9))),
        np.eye(30) * 1e-150,
        np.random.default_rng(0).standard_cauchy((30, 50)),
    ],
    ids=["constant", "one column", "rank one", "classes", "outlier", "tiny", "no variance"],
)
def test_any_samples_have_a_finite_expectation(x):
    noise = SamplingNoise.of(x)
    assert 0 <= noise.between(30, 30) <= noise.between(15, 15) <= 2
    assert noise.between(30, 10**6) <= noise.between(30, 30) * (1 + 1e-9)
