"""From sources of samples to scores, findings and verdicts."""

from tradeoff.evaluation.comparison import ModelComparison, ModelDifference, compare
from tradeoff.evaluation.pipeline import evaluate
from tradeoff.evaluation.result import Evaluation, SampleValues
from tradeoff.evaluation.score import Finding, Score

__all__ = [
    "Evaluation",
    "Finding",
    "ModelComparison",
    "ModelDifference",
    "SampleValues",
    "Score",
    "compare",
    "evaluate",
]
