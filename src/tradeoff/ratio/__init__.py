"""Estimators of log p/q, and the honest curve that is counted with them.

`ESTIMATORS` holds the estimators by name; every one of them passes the same tests.
"""

from tradeoff.ratio.base import Estimator, LogRatio
from tradeoff.ratio.calibrated import Calibrated, Reliability, calibrated_ratio, reliability
from tradeoff.ratio.calibration import Isotonic, balance
from tradeoff.ratio.classifier import Classifier
from tradeoff.ratio.comparison import Comparison, Difference, compare_curves
from tradeoff.ratio.diagnosis import Diagnosis, diagnose
from tradeoff.ratio.discriminator import Discriminator
from tradeoff.ratio.estimate import CurveEstimate, pr_curve
from tradeoff.ratio.gaussian import Gaussians
from tradeoff.ratio.kernel import KernelDensity
from tradeoff.ratio.logistic import Logistic
from tradeoff.ratio.neighbors import Neighbors
from tradeoff.ratio.quantized import Quantized
from tradeoff.ratio.registry import ESTIMATORS
from tradeoff.ratio.stack import Stack
from tradeoff.ratio.trees import BoostedTrees

__all__ = [
    "ESTIMATORS",
    "BoostedTrees",
    "Calibrated",
    "Classifier",
    "Comparison",
    "CurveEstimate",
    "Diagnosis",
    "Difference",
    "Discriminator",
    "Estimator",
    "Gaussians",
    "Isotonic",
    "KernelDensity",
    "LogRatio",
    "Logistic",
    "Neighbors",
    "Quantized",
    "Reliability",
    "Stack",
    "balance",
    "calibrated_ratio",
    "compare_curves",
    "diagnose",
    "pr_curve",
    "reliability",
]
