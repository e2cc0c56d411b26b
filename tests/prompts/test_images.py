"""Real images of which a share has the caption of another image."""

import numpy as np
import pytest

from tests.known.curves import over_seeds
from tests.known.real import image_features
from tradeoff.prompts import Prompts, compare_prompts
from tradeoff.samples import Pair

pytestmark = pytest.mark.slow

SEEDS, N = 4, 500
SHIFT = 0.5  # of the spread of a column


def found(share, *, harmed=False):
    """Reports over seeds, with captions by class."""
    x, labels = image_features()
    x = x.astype(float)
    directions = np.random.default_rng(0).normal(size=(10, x.shape[1])) * SHIFT * x.std(0)

    def one(seed):
        rng = np.random.default_rng(seed)
        real, made = rng.permutation(len(x))[: 2 * N].reshape(2, N)
        told = labels[made].astype(int)
        wrong = rng.permutation(N)[: round(share * N)]
        told[wrong] = told[rng.permutation(wrong)]  # in the same proportions
        y = x[made] + directions[labels[made]] if harmed else x[made]
        names = [[f"class {label}" for label in side] for side in (labels[real], told)]
        prompts = Prompts.of(real=names[0], generated=names[1])
        pair = Pair.of(real=x[real], generated=y)
        return compare_prompts(pair, prompts, seed=seed, progress=False)

    return over_seeds(one, SEEDS)


def test_wrong_captions_are_found_and_the_images_are_not_accused():
    """About a seventh of the captions are right by chance. Three alarms in four: once in 2,000."""
    reports = found(0.6)
    assert all(0.15 < one.unfit < 0.6 for one in reports)
    assert sum(one.of_samples.differs for one in reports) <= 2
    assert sum(one.of_pairs.overlap_at_most < 0.4 for one in reports) <= 2


def test_right_captions_are_not_accused():
    """Three alarms in four runs: once in 2,000."""
    assert sum(one.of_pairs.differs for one in found(0.0)) <= 2


def test_harmed_images_with_right_captions_are_no_wrong_captions():
    reports = found(0.0, harmed=True)
    assert all(one.of_samples.differs for one in reports)
    assert sum(one.unfit is not None for one in reports) <= 2
