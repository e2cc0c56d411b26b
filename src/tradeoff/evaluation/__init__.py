"""From sources of samples to scores, findings and verdicts."""

from tradeoff.evaluation.findings import Finding
from tradeoff.evaluation.pipeline import evaluate
from tradeoff.evaluation.reference import Reference
from tradeoff.evaluation.result import Evaluation, SampleValues

__all__ = [
    "Evaluation",
    "Finding",
    "Reference",
    "SampleValues",
    "evaluate",
]
