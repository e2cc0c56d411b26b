"""Better samples from the model one has: rejection under a budget, and what it will buy."""

from tradeoff.sampling.planner import Plan, plan_budget
from tradeoff.sampling.pool import PoolSelection, filter_pool
from tradeoff.sampling.rules import mh_acceptance
from tradeoff.sampling.sampler import Accounting, BudgetedSampler, Sampled

__all__ = [
    "Accounting",
    "BudgetedSampler",
    "Plan",
    "PoolSelection",
    "Sampled",
    "filter_pool",
    "mh_acceptance",
    "plan_budget",
]
