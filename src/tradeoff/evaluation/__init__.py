"""From sources of samples to scores, findings and verdicts."""

from tradeoff.evaluation.comparison import Comparison, compare
from tradeoff.evaluation.findings import Finding
from tradeoff.evaluation.pipeline import evaluate
from tradeoff.evaluation.reference import Reference
from tradeoff.evaluation.result import Evaluation, SampleValues
from tradeoff.evaluation.sweeps import Sweep, sweep

__all__ = [
    "Comparison",
    "Evaluation",
    "Finding",
    "Reference",
    "SampleValues",
    "Sweep",
    "compare",
    "evaluate",
    "sweep",
]
