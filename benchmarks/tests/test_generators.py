"""The closed form behind the benchmark of faces, against drawn latents."""

import numpy as np
import pytest

from benchmarks.generators import LATENTS, face_overlap
from tradeoff import HeldOutLogRatios


@pytest.mark.parametrize("scale", [0.95, 0.9, 0.8])
def test_the_overlap_of_scaled_latents_is_that_of_their_exact_log_ratios(scale):
    rng = np.random.default_rng(0)
    squares = rng.chisquare(LATENTS, (2, 40_000)) * np.array([[1.0], [scale**2]])
    # log of N(0, I) over N(0, scale² I) at a squared length
    ratios = LATENTS * np.log(scale) + 0.5 * squares * (1 / scale**2 - 1)
    counted = HeldOutLogRatios(real=ratios[0], generated=ratios[1]).curve().precision(1.0)
    assert counted == pytest.approx(face_overlap(scale), abs=0.015)  # four standard errors
