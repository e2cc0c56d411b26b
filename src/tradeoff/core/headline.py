"""Slopes at which precision and recall are reported."""

__all__ = ["HEADLINE_PRECISION_LAM", "HEADLINE_RECALL_LAM"]

HEADLINE_PRECISION_LAM = 20.0
"""Slope at which precision is reported."""
HEADLINE_RECALL_LAM = 0.4
"""Slope at which recall is reported."""
