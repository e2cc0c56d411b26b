"""Exact neighbors at the speed of a matrix product, and the support metrics counted with them."""

from tradeoff.neighbors.expectations import expected_coverage
from tradeoff.neighbors.metrics import METRICS
from tradeoff.neighbors.scores import SupportMetrics, SupportScore
from tradeoff.neighbors.support import OwnNeighbors, own_neighbors, support_metrics

__all__ = [
    "METRICS",
    "OwnNeighbors",
    "SupportMetrics",
    "SupportScore",
    "expected_coverage",
    "own_neighbors",
    "support_metrics",
]
