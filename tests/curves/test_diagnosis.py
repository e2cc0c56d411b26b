"""Ceiling, tightness and positive control."""

import numpy as np
import pytest

from benchmarks.laws import ring_mixture
from tradeoff import InvalidInputError, diagnose


def rotated_ring(seed, n):
    turn = np.array([[np.cos(0.3), -np.sin(0.3)], [np.sin(0.3), np.cos(0.3)]])
    return ring_mixture(8, 0.2)(np.random.default_rng(seed), n) @ turn


@pytest.fixture(scope="module")
def ring_and_blob():
    return {
        "real": rotated_ring(0, 2000),
        "generated": 2.1 * np.random.default_rng(1).normal(size=(2000, 2)),
    }


def test_a_weak_estimator_is_only_an_upper_bound(ring_and_blob):
    weak = diagnose(**ring_and_blob, estimator="logistic", progress=False)
    assert weak.model.curve.precision(1.0) > 0.8  # the truth is 0.12
    assert not weak.sees_the_control
    assert weak.beaten_by > 0.3
    assert weak.verdict.startswith("Only an upper bound here: of a known gap of 0.1")


def test_the_default_is_not(ring_and_blob):
    ours = diagnose(**ring_and_blob, progress=False)
    assert ours.sees_the_control
    assert ours.beaten_by == 0
    assert "Only an upper bound" not in ours.verdict
    assert ours.ceiling.curve.precision(1.0) > 0.95
    assert ours.model.curve.precision(1.0) < 0.3
    sizes = {e.provenance["samples"]["real"] for e in (ours.ceiling, ours.model, ours.control)}
    assert len(sizes) == 1


def test_the_order_of_rows_does_not_matter(ring_and_blob):
    options = {"estimator": "gaussians", "progress": False}
    plain = diagnose(**ring_and_blob, **options)
    turned = diagnose(**{side: x[::-1] for side, x in ring_and_blob.items()}, **options)
    lam = np.array([0.1, 1.0, 10.0])
    for name in ("ceiling", "model", "quarter", "control"):
        ours, theirs = (getattr(found, name).raw.precision(lam) for found in (plain, turned))
        np.testing.assert_array_equal(ours, theirs)


def test_few_samples_cannot_tell(ring_and_blob):
    few = {side: x[:400] for side, x in ring_and_blob.items()}
    verdict = diagnose(**few, estimator="gaussians", progress=False).verdict
    assert verdict.startswith("Too few samples to tell: a known gap of 0.1 is within the noise")


def test_too_few_samples_get_a_sentence(ring_and_blob):
    with pytest.raises(InvalidInputError, match="`real` must hold at least 160 samples"):
        diagnose(real=ring_and_blob["real"][:100], generated=ring_and_blob["generated"])
