from .base import Estimator, LogRatio
from .calibration import Calibrated, Reliability, calibrated_ratio, reliability
from .classifier import Classifier
from .discriminator import Discriminator
from .frozen import FrozenRule
from .gaussian import Gaussians
from .logistic import Logistic
from .neighbors import Neighbors
from .registry import ESTIMATORS, EstimatorDeclaration
from .stack import Stack
from .trees import BoostedTrees

__all__ = [
    "ESTIMATORS",
    "BoostedTrees",
    "Calibrated",
    "Classifier",
    "Discriminator",
    "Estimator",
    "EstimatorDeclaration",
    "FrozenRule",
    "Gaussians",
    "LogRatio",
    "Logistic",
    "Neighbors",
    "Reliability",
    "Stack",
    "calibrated_ratio",
    "reliability",
]
