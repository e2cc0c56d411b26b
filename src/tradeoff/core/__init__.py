"""The mathematics of profiles and curves. Imports NumPy, SciPy and array-api-compat only."""

from tradeoff.core.bounds import forward_lipschitz_bound, inverse_lipschitz_bound
from tradeoff.core.budget import AcceptanceRule, drs_acceptance
from tradeoff.core.curve import PRCurve
from tradeoff.core.family import ExponentialFamily, GaussianFamily
from tradeoff.core.frontier import RenyiFrontier, renyi_frontier
from tradeoff.core.frontier_area import mauve
from tradeoff.core.headline import HEADLINE_PRECISION_LAM, HEADLINE_RECALL_LAM
from tradeoff.core.held_out import HeldOutLogRatios
from tradeoff.core.law import HasLogRatioLaws, LogRatioLaw
from tradeoff.core.profile import RatioProfile
from tradeoff.core.roc import ROCCurve

__all__ = [
    "HEADLINE_PRECISION_LAM",
    "HEADLINE_RECALL_LAM",
    "AcceptanceRule",
    "ExponentialFamily",
    "GaussianFamily",
    "HasLogRatioLaws",
    "HeldOutLogRatios",
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
