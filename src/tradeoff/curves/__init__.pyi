from .comparison import compare_curves
from .diagnosis import Diagnosis, diagnose
from .estimate import CurveEstimate, pr_curve
from .plan import CountingPlan
from .state import CountingState

__all__ = [
    "CountingPlan",
    "CountingState",
    "CurveEstimate",
    "Diagnosis",
    "compare_curves",
    "diagnose",
    "pr_curve",
]
