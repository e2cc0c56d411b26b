from ._version import __version__
from .comparison import Comparison, compare, load, sweep
from .core import AcceptanceRule, HeldOutLogRatios, PRCurve, RatioProfile
from .curves import CurveEstimate, diagnose, pr_curve
from .evaluation import Evaluation, evaluate
from .exceptions import InvalidInputError, TradeoffError, UndefinedError
from .goals import Above, Below, Best
from .metrics.moments import frechet_distance, kernel_distance
from .metrics.neighbors import SupportMetrics, support_metrics
from .protocols import reproduce
from .report import PRCurveDisplay
from .sequential import decide
from .settings import Settings

__all__ = [
    "Above",
    "AcceptanceRule",
    "Below",
    "Best",
    "Comparison",
    "CurveEstimate",
    "Evaluation",
    "HeldOutLogRatios",
    "InvalidInputError",
    "PRCurve",
    "PRCurveDisplay",
    "RatioProfile",
    "Settings",
    "SupportMetrics",
    "TradeoffError",
    "UndefinedError",
    "__version__",
    "compare",
    "decide",
    "diagnose",
    "evaluate",
    "frechet_distance",
    "kernel_distance",
    "load",
    "pr_curve",
    "reproduce",
    "support_metrics",
    "sweep",
]
