"""The mathematics of profiles and curves. Imports NumPy, SciPy and array-api-compat only."""

from tradeoff.core.budget import AcceptanceRule
from tradeoff.core.curve import PRCurve
from tradeoff.core.frontier import RenyiFrontier, mauve, renyi_frontier
from tradeoff.core.held_out import HeldOutLogRatios
from tradeoff.core.profile import RatioProfile

__all__ = [
    "AcceptanceRule",
    "HeldOutLogRatios",
    "PRCurve",
    "RatioProfile",
    "RenyiFrontier",
    "mauve",
    "renyi_frontier",
]
