from .diagnosis import Diagnosis, diagnose
from .estimate import CurveEstimate, pr_curve

__all__ = [
    "CurveEstimate",
    "Diagnosis",
    "diagnose",
    "pr_curve",
]
