"""Exact neighbors at the speed of a matrix product, and the support metrics counted with them."""

from tradeoff.metrics.neighbors.nearest import OwnNeighbors, own_neighbors
from tradeoff.metrics.neighbors.scores import SupportMetrics, SupportScore
from tradeoff.metrics.neighbors.support import support_metrics

__all__ = [
    "OwnNeighbors",
    "SupportMetrics",
    "SupportScore",
    "own_neighbors",
    "support_metrics",
]
