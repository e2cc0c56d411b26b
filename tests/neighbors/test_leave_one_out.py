"""Samples left out in turn score what they score against all others."""

import numpy as np
import pytest

pytest.importorskip("torch")
pytestmark = pytest.mark.torch

from tradeoff import support_metrics  # noqa: E402
from tradeoff.metrics.neighbors import own_neighbors  # noqa: E402
from tradeoff.metrics.neighbors.baselines import authentic, inside_others, realism  # noqa: E402

K = 3


def left_out(x, metric):
    return np.array(
        [
            support_metrics(
                real=np.delete(x, i, axis=0),
                generated=x[i : i + 1],
                k=K,
                metrics=(metric,),
                progress=False,
            )[metric].value
            for i in range(len(x))
        ]
    )


@pytest.mark.parametrize("kind", ["continuous", "copies", "lattice"])
def test_each_sample_against_all_others(kind):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 3)) * np.exp(rng.normal(size=(30, 1)))
    if kind == "copies":
        x = np.concatenate((x, np.repeat(x[:2], 6, axis=0)))
    elif kind == "lattice":
        x = rng.integers(0, 4, (30, 2)).astype(float)
    known = own_neighbors(x, ranks=K + 1, progress=False)
    inside, truth = inside_others(known, K), left_out(x, "precision") > 0
    assert not (inside & ~truth).any()
    missed = 0.05 if kind == "lattice" else 0.0  # ties beyond the ranks that are listed
    assert (truth & ~inside).mean() <= missed
    np.testing.assert_array_equal(authentic(known), left_out(x, "authenticity"))


def test_realism_of_each_sample_against_all_others():
    x = np.random.default_rng(0).normal(size=(41, 3))
    known = own_neighbors(x, ranks=K + 1, progress=False)
    rows = np.arange(41)[::2]
    found = realism(x, known, K, rows)
    np.testing.assert_allclose(found, left_out(x, "realism")[rows], rtol=1e-9)
