"""Pictures of results."""

from tradeoff.report.display import PRCurveDisplay
from tradeoff.report.evaluation import ComparisonDisplay, EvaluationDisplay

__all__ = ["ComparisonDisplay", "EvaluationDisplay", "PRCurveDisplay"]
