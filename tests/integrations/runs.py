"""A short run with a step that is not resolved."""

import numpy as np

from tradeoff.tracking import Tracker


def followed(*logs):
    """A tracker of three steps that has ended: 100 is poor, 200 is broken, 300 is good."""
    rng = np.random.default_rng(0)
    real = rng.normal(size=(2000, 2))
    tracker = Tracker(real, estimator="trees", workers=0, logs=logs, progress=False)
    tracker.update(rng.normal(1, 1, (1000, 2)), step=100)
    tracker.update(np.full((1000, 2), np.nan), step=200)
    tracker.update(rng.normal(0, 1, (1000, 2)), step=300)
    tracker.finish()
    return tracker
