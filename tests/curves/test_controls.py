"""The size that a control states: other groups of that size are found when they are missing."""

import pytest
from scipy.stats import binom

from tests.known.controls import found_at_the_stated_size

RUNS = 10


@pytest.mark.slow
@pytest.mark.parametrize("labeled", [True, False], ids=["classes", "clusters"])
def test_groups_of_the_stated_size_are_found(labeled):
    found = [found_at_the_stated_size(600, seed, labeled=labeled) for seed in range(RUNS)]
    stated = [one for one in found if one["stated"] is not None]
    assert stated
    allowed = binom.ppf(0.999, len(stated), 0.2)
    for kind in ("recall", "precision"):
        assert sum(not one[kind] for one in stated) <= allowed
