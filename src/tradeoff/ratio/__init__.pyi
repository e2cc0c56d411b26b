from .base import Estimator, LogRatio
from .calibrated import Calibrated, Reliability, calibrated_ratio, reliability
from .calibration import Isotonic, balance
from .classifier import Classifier
from .discriminator import Discriminator
from .gaussian import Gaussians
from .kernel import KernelDensity
from .logistic import Logistic
from .neighbors import Neighbors
from .quantized import Quantized
from .registry import ESTIMATORS
from .stack import Stack
from .trees import BoostedTrees

__all__ = [
    "ESTIMATORS",
    "BoostedTrees",
    "Calibrated",
    "Classifier",
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
    "reliability",
]
