"""Folds follow the content of samples, or their groups."""

import numpy as np
import pytest

from tradeoff import InvalidInputError
from tradeoff.samples.keys import group_keys, mixed_keys, row_keys

X = np.random.default_rng(0).normal(size=(1000, 3))


def test_permuting_and_adding_rows_changes_no_key():
    keys = row_keys(X)
    order = np.random.default_rng(1).permutation(1000)
    np.testing.assert_array_equal(row_keys(X[order]), keys[order])
    np.testing.assert_array_equal(row_keys(X[:500]), keys[:500])


def test_copies_share_a_key_and_zeros_have_no_sign():
    doubled = row_keys(np.concatenate((X, X)))
    np.testing.assert_array_equal(doubled[:1000], doubled[1000:])
    assert row_keys(np.array([[0.0]])) == row_keys(np.array([[-0.0]]))


def test_seeds_differ_and_folds_are_even():
    assert (row_keys(X) != mixed_keys(row_keys(X), 1)).all()
    counts = np.bincount((row_keys(X) % np.uint64(5)).astype(int), minlength=5)
    assert counts.min() > 150


def test_groups_stay_together():
    groups = ["video 1"] * 10 + ["video 2"] * 10
    keys = group_keys(groups, 20, name="real_groups")
    assert len(set(keys[:10])) == len(set(keys[10:])) == 1
    assert keys[0] != keys[10]
    latin = ["a\udce9", "a\udce8"]  # names of files that are not UTF-8, as Python reads them
    broken = group_keys(latin, 2, name="real_groups")
    assert broken[0] != broken[1]
    with pytest.raises(
        InvalidInputError, match="`real_groups` must name a group per sample, 5. Got 2"
    ):
        group_keys([1, 2], 5, name="real_groups")
