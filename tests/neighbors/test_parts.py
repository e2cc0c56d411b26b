"""The nearest real samples in two parts: exact votes with ties, whatever the tile and the order."""

import numpy as np
import pytest

from tradeoff.samples import Side

pytest.importorskip("torch")

from tradeoff.metrics.neighbors.parts import nearest_real

pytestmark = pytest.mark.torch

KINDS = {
    "continuous": lambda rng, n: rng.normal(size=(n, 5)),
    "few categories": lambda rng, n: rng.integers(0, 2, (n, 3)).astype(float),
    "a lattice": lambda rng, n: rng.integers(0, 4, (n, 4)).astype(float),
    "one value": lambda rng, n: np.zeros((n, 2)),
}


def sides(kind, sizes=(150, 110, 90), seed=0):
    rng = np.random.default_rng(seed)
    names = ("train", "real", "generated")
    return [Side.of(name, KINDS[kind](rng, n)) for name, n in zip(names, sizes, strict=True)]


def search(train, held_out, generated, tile=None):
    return nearest_real(
        train=train, held_out=held_out, generated=generated, tile=tile, progress=False
    )


def votes_of(found, train, held_out, generated):
    """Weight of the vote of each generated sample for each real one."""
    votes = np.zeros((len(generated), len(train) + len(held_out)))
    for part, first in zip(found.parts, (0, len(train)), strict=True):
        votes[part.sample, first + part.row] = found.weight[part.sample]
    return votes


def brute_force(train, held_out, generated):
    real = np.concatenate((train.x, held_out.x))
    squares = ((generated.x[:, None] - real) ** 2).sum(2)
    is_nearest = squares == squares.min(1, keepdims=True)
    return is_nearest / is_nearest.sum(1, keepdims=True), squares, real


@pytest.mark.parametrize("tile", [None, 64])
@pytest.mark.parametrize("kind", KINDS)
def test_votes_ratios_and_repeats_are_those_of_a_brute_force(kind, tile):
    given = sides(kind)
    found = search(*given, tile=tile)
    votes, squares, real = brute_force(*given)
    np.testing.assert_array_equal(votes_of(found, *given), votes)
    for i, (vote, distance) in enumerate(zip(votes, squares, strict=True)):
        others = (real != real[np.flatnonzero(vote)[0]]).any(1)
        ratio = np.sqrt(distance.min() / distance[others].min()) if others.any() else 1.0
        assert found.ratio[i] == pytest.approx(ratio, rel=1e-12)
        if ratio < 1:  # or several distinct samples are equally near
            assert found.is_single[i] == ((~others).sum() == 1)


@pytest.mark.parametrize("kind", ["continuous", "a lattice"])
def test_permuted_rows_have_the_same_votes(kind):
    given = sides(kind)
    rng = np.random.default_rng(1)
    orders = [rng.permutation(len(side)) for side in given]
    moved = [side.take(order) for side, order in zip(given, orders, strict=True)]
    columns = np.concatenate((orders[0], len(given[0]) + orders[1]))
    expected = votes_of(search(*given), *given)[orders[2]][:, columns]
    np.testing.assert_array_equal(votes_of(search(*moved), *moved), expected)


def test_a_part_of_a_single_sample_can_be_searched():
    given = sides("continuous", sizes=(1, 40, 30))
    np.testing.assert_array_equal(votes_of(search(*given), *given), brute_force(*given)[0])
