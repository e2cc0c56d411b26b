from tradeoff._version import __version__ as __version__
from tradeoff.core import AcceptanceRule as AcceptanceRule
from tradeoff.core import HeldOutErrors as HeldOutErrors
from tradeoff.core import PRCurve as PRCurve
from tradeoff.core import RatioProfile as RatioProfile
from tradeoff.evaluation import Evaluation as Evaluation
from tradeoff.evaluation import ModelComparison as ModelComparison
from tradeoff.evaluation import compare as compare
from tradeoff.evaluation import evaluate as evaluate
from tradeoff.exceptions import InvalidInputError as InvalidInputError
from tradeoff.exceptions import TradeoffError as TradeoffError
from tradeoff.exceptions import UndefinedError as UndefinedError
from tradeoff.moments import frechet_distance as frechet_distance
from tradeoff.moments import kernel_distance as kernel_distance
from tradeoff.neighbors import SupportMetrics as SupportMetrics
from tradeoff.neighbors import support_metrics as support_metrics
from tradeoff.protocols import reproduce as reproduce
from tradeoff.ratio import CurveEstimate as CurveEstimate
from tradeoff.ratio import diagnose as diagnose
from tradeoff.ratio import pr_curve as pr_curve
from tradeoff.report import PRCurveDisplay as PRCurveDisplay
from tradeoff.settings import Settings as Settings

__all__: list[str]
