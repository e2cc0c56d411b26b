from .comparison import compare_curves
from .diagnosis import Diagnosis, diagnose
from .estimate import CurveEstimate, HeldOut, pr_curve

__all__ = [
    "CurveEstimate",
    "Diagnosis",
    "HeldOut",
    "compare_curves",
    "diagnose",
    "pr_curve",
]
