"""Draws results and computes none; results never draw themselves."""

from tradeoff.report.display import PRCurveDisplay
from tradeoff.report.evaluation import ComparisonDisplay, EvaluationDisplay, SweepDisplay
from tradeoff.report.pictures import (
    DecisionDisplay,
    FrontierDisplay,
    PlanDisplay,
    ReliabilityDisplay,
)
from tradeoff.report.tracked import TrainingDisplay

__all__ = [
    "ComparisonDisplay",
    "DecisionDisplay",
    "EvaluationDisplay",
    "FrontierDisplay",
    "PRCurveDisplay",
    "PlanDisplay",
    "ReliabilityDisplay",
    "SweepDisplay",
    "TrainingDisplay",
]
