from .family import Measured, Request
from .registry import FAMILIES, Family, Metric
from .score import Score

__all__ = ["FAMILIES", "Family", "Measured", "Metric", "Request", "Score"]
