from .diagnosis import Diagnosis, diagnose
from .estimate import CurveEstimate, pr_curve
from .views import SeenView, seen_views

__all__ = [
    "CurveEstimate",
    "Diagnosis",
    "SeenView",
    "diagnose",
    "pr_curve",
    "seen_views",
]
