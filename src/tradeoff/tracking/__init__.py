"""Follow a training run: which checkpoint is best, and when to stop.

A `Tracker` measures generated samples of one step after another against the same real samples, in
a worker process, and keeps the step with the best score among those that can be trusted.
"""

from tradeoff.tracking.steps import Log, TrackedStep
from tradeoff.tracking.tracker import Tracker

__all__ = ["Log", "TrackedStep", "Tracker"]
