"""From sources of samples to scores, findings and verdicts."""

from tradeoff.evaluation.comparison import Comparison, compare
from tradeoff.evaluation.deciding import decide
from tradeoff.evaluation.decisions import Decision
from tradeoff.evaluation.findings import Finding
from tradeoff.evaluation.pipeline import evaluate
from tradeoff.evaluation.reference import Reference
from tradeoff.evaluation.result import Evaluation, SampleValues
from tradeoff.evaluation.sweeps import Sweep, sweep

__all__ = [
    "Comparison",
    "Decision",
    "Evaluation",
    "Finding",
    "Reference",
    "SampleValues",
    "Sweep",
    "compare",
    "decide",
    "evaluate",
    "sweep",
]
