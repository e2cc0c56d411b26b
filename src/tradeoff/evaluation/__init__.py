"""From sources of samples to scores, findings and verdicts."""

from tradeoff.evaluation.comparison import ModelComparison, ModelDifference, compare
from tradeoff.evaluation.findings import Finding
from tradeoff.evaluation.pipeline import evaluate
from tradeoff.evaluation.reference import Reference
from tradeoff.evaluation.result import Evaluation, SampleValues
from tradeoff.metrics.score import Score

__all__ = [
    "Evaluation",
    "Finding",
    "ModelComparison",
    "ModelDifference",
    "Reference",
    "SampleValues",
    "Score",
    "compare",
    "evaluate",
]
