from .diagnosis import Diagnosis, diagnose
from .estimate import CurveEstimate, HeldOut, pr_curve

__all__ = [
    "CurveEstimate",
    "Diagnosis",
    "HeldOut",
    "diagnose",
    "pr_curve",
]
