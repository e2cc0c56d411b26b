from .comparison import Comparison, Difference, compare_curves
from .diagnosis import Diagnosis, diagnose
from .estimate import CurveEstimate, HeldOut, pr_curve

__all__ = [
    "Comparison",
    "CurveEstimate",
    "Diagnosis",
    "Difference",
    "HeldOut",
    "compare_curves",
    "diagnose",
    "pr_curve",
]
