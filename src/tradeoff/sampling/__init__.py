"""Better samples from an existing model: rejection under a budget, and its predicted effect."""

from tradeoff.sampling.accounting import Accounting
from tradeoff.sampling.planner import Plan, plan_budget
from tradeoff.sampling.pool import PoolSelection, filter_pool
from tradeoff.sampling.sampler import BudgetedSampler
from tradeoff.sampling.truncation import truncated_latents

__all__ = [
    "Accounting",
    "BudgetedSampler",
    "Plan",
    "PoolSelection",
    "filter_pool",
    "plan_budget",
    "truncated_latents",
]
