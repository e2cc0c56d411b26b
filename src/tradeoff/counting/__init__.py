"""Errors of a frozen rule, counted part by part: many files, one machine or a cluster."""

from tradeoff.counting.plan import CountingPlan
from tradeoff.counting.state import CountingState

__all__ = ["CountingPlan", "CountingState"]
