"""The distributions that tests and benchmarks sample from are those of `golden.json`."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.known.distributions import PAIRS

GOLDEN = json.loads((Path(__file__).parents[1] / "golden.json").read_text())["items"]
EXPECTED = {item["id"]: item["expected"] for item in GOLDEN if "/" in item["id"]}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "identifier"),
    [
        ("ring, four modes dropped", "mix2d_ring8/drop_4_modes"),
        ("ring, wide modes", "mix2d_ring8/wide_modes"),
        ("ring, one Gaussian", "mix2d_ring8/single_gaussian"),
        ("two modes, left only", "mix1d/P2_Qleft"),
        ("two modes, one wide", "mix1d/P2_Qwide"),
        ("two modes, reweighted", "mix1d/P2_Qrew"),
    ],
)
def test_known_truths(name, identifier):
    lam = np.array([0.1, 0.5, 1.0, 2.0, 10.0])
    np.testing.assert_allclose(
        PAIRS[name]().precision(lam), EXPECTED[identifier]["alpha"], atol=2e-4
    )


def test_gaussian_samples_have_their_distance():
    samples = PAIRS["Gaussians, d = 16, distance 2"]().draw(20_000, 0)
    gap = samples["generated"].mean(0) - samples["real"].mean(0)
    assert np.linalg.norm(gap) == pytest.approx(2, abs=0.06)
