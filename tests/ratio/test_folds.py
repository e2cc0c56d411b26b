"""Folds follow the content of samples, or their groups."""

import numpy as np
import pytest

from tradeoff import InvalidInputError
from tradeoff.ratio.folds import content_keys, group_keys

X = np.random.default_rng(0).normal(size=(1000, 3))


def test_permuting_and_adding_rows_moves_nobody():
    keys = content_keys(X, seed=0)
    order = np.random.default_rng(1).permutation(1000)
    np.testing.assert_array_equal(content_keys(X[order], seed=0), keys[order])
    np.testing.assert_array_equal(content_keys(X[:500], seed=0), keys[:500])


def test_copies_share_a_key_and_zeros_have_no_sign():
    doubled = content_keys(np.concatenate((X, X)), seed=0)
    np.testing.assert_array_equal(doubled[:1000], doubled[1000:])
    assert content_keys(np.array([[0.0]]), seed=0) == content_keys(np.array([[-0.0]]), seed=0)


def test_seeds_differ_and_folds_are_even():
    assert (content_keys(X, seed=0) != content_keys(X, seed=1)).all()
    counts = np.bincount((content_keys(X, seed=0) % np.uint64(5)).astype(int), minlength=5)
    assert counts.min() > 150


def test_groups_stay_together():
    groups = ["video 1"] * 10 + ["video 2"] * 10
    keys = group_keys(groups, 20, seed=0, name="real_groups")
    assert len(set(keys[:10])) == len(set(keys[10:])) == 1
    assert keys[0] != keys[10]
    with pytest.raises(
        InvalidInputError, match="`real_groups` must name a group per sample, 5. Got 2"
    ):
        group_keys([1, 2], 5, seed=0, name="real_groups")
