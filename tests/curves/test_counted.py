"""What is shown of an estimated curve."""

import numpy as np

from tradeoff.core.counts import HeldOutCounts, count_errors
from tradeoff.curves.counted import CountedCurve


def test_a_shown_value_lies_within_its_limits():
    """Made monotone, a curve may lie above what was counted at a slope."""
    bucket = np.arange(100_000) % 256
    misjudged = np.arange(100_000) % 200 == 0  # one half percent, at λ = 10 but not at λ = 20
    counts = HeldOutCounts(
        real=count_errors(np.where(misjudged, -2.6, 1.0), bucket),
        generated=count_errors(np.where(bucket < 70, -4.0, 1.0), bucket),
    )
    found = CountedCurve.of(counts)
    assert found.curve.precision(20.0) > found.raw.precision(20.0) + 0.02
    assert found.interval([20.0]).precision[0, 1] < found.curve.precision(20.0)
    value, low, high = found.shown("precision", 20.0)
    assert low <= value <= high
    assert high == value == found.curve.precision(20.0)
