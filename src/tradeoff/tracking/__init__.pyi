from .steps import Log, TrackedStep
from .tracker import Tracker

__all__ = ["Log", "TrackedStep", "Tracker"]
