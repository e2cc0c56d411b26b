from .comparison import compare_curves
from .diagnosis import Diagnosis, diagnose
from .estimate import CurveEstimate, pr_curve

__all__ = [
    "CurveEstimate",
    "Diagnosis",
    "compare_curves",
    "diagnose",
    "pr_curve",
]
