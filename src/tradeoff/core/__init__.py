"""The mathematics of profiles and curves. Imports NumPy, SciPy and array-api-compat only."""

from tradeoff.core.bounds import forward_lipschitz_bound, inverse_lipschitz_bound
from tradeoff.core.budget import AcceptanceRule, drs_acceptance
from tradeoff.core.curve import (
    HEADLINE_PRECISION_LAM,
    HEADLINE_RECALL_LAM,
    PRCurve,
    ROCCurve,
)
from tradeoff.core.errors import HeldOutErrors
from tradeoff.core.family import ExponentialFamily, GaussianFamily
from tradeoff.core.frontier import RenyiFrontier, mauve, renyi_frontier
from tradeoff.core.law import HasLogRatioLaws, LogRatioLaw
from tradeoff.core.profile import RatioProfile

__all__ = [
    "HEADLINE_PRECISION_LAM",
    "HEADLINE_RECALL_LAM",
    "AcceptanceRule",
    "ExponentialFamily",
    "GaussianFamily",
    "HasLogRatioLaws",
    "HeldOutErrors",
    "LogRatioLaw",
    "PRCurve",
    "ROCCurve",
    "RatioProfile",
    "RenyiFrontier",
    "drs_acceptance",
    "forward_lipschitz_bound",
    "inverse_lipschitz_bound",
    "mauve",
    "renyi_frontier",
]
