"""Distances of moments, which users report next to precision and recall."""

from tradeoff.metrics.moments.frechet import Moments, frechet_distance
from tradeoff.metrics.moments.inception import inception_score
from tradeoff.metrics.moments.kernel import kernel_distance
from tradeoff.metrics.moments.parts import PartScores

__all__ = [
    "Moments",
    "PartScores",
    "frechet_distance",
    "inception_score",
    "kernel_distance",
]
