"""Every estimator with its defaults, by name. Each passes the tests in `tests/ratio` unchanged."""

from collections.abc import Callable

from tradeoff.ratio.base import Estimator
from tradeoff.ratio.gaussian import Gaussians
from tradeoff.ratio.kernel import KernelDensity
from tradeoff.ratio.logistic import Logistic
from tradeoff.ratio.neighbors import Neighbors
from tradeoff.ratio.quantized import Quantized
from tradeoff.ratio.stack import Stack
from tradeoff.ratio.trees import BoostedTrees

__all__ = ["ESTIMATORS"]

ESTIMATORS: dict[str, Callable[[], Estimator]] = {
    "logistic": Logistic,
    "trees": BoostedTrees,
    "gaussians": Gaussians,
    "shrunk-gaussians": lambda: Gaussians(shrunk=True),
    "quantized": Quantized,
    "kernel": KernelDensity,
    "neighbors": Neighbors,
    "stack": Stack,
    "fast": Logistic,
}
"""Makers of every estimator with its defaults, by name."""
