"""Select the best of existing generated samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tradeoff._result import Result
from tradeoff._validation import FloatArray, check_count, check_number, check_seed
from tradeoff.core.budget import AcceptanceRule
from tradeoff.curves.estimate import CurveEstimate, estimate_curve
from tradeoff.curves.repeats import check_distinct
from tradeoff.exceptions import InvalidInputError
from tradeoff.inference import policy
from tradeoff.samples import Pair

if TYPE_CHECKING:
    from tradeoff.ratio.base import Estimator
    from tradeoff.samples import Side

__all__ = ["PoolSelection", "filter_pool"]


@dataclass(frozen=True, eq=False, kw_only=True)
class PoolSelection(Result):
    """Samples selected from a pool, with the curves before and after.

    Args:
        index: Rows of the pool that were kept, ascending, shape (n,).
        log_ratios: Held-out log p/q of the whole pool, shape (m,).
        rule: Acceptance rule that was applied.
        before: Curve of the whole pool.
        after: Curve of the kept samples, against the same real samples; the selection did not use
            them.

    Example:
        >>> import numpy as np
        >>> from tradeoff.sampling import filter_pool
        >>> rng = np.random.default_rng(0)
        >>> real = rng.normal(0, 1, (1000, 2))
        >>> pool = np.concatenate((rng.normal(0, 1, (600, 2)), rng.normal(6, 1, (600, 2))))
        >>> chosen = filter_pool(real=real, generated=pool, budget=2.0, estimator="logistic")
        >>> len(chosen.index), bool((chosen.index < 600).mean() > 0.95)
        (600, True)
        >>> chosen.before.curve.precision(20.0) < 0.6 < 0.9 < chosen.after.curve.precision(20.0)
        True
    """

    index: npt.NDArray[np.intp]
    log_ratios: FloatArray
    rule: AcceptanceRule
    before: CurveEstimate
    after: CurveEstimate


def filter_pool(
    real: npt.ArrayLike,
    generated: npt.ArrayLike,
    *,
    budget: float | None = None,
    keep: int | None = None,
    estimator: Estimator | str = "stack",
    seed: int = 0,
    progress: bool = True,
) -> PoolSelection:
    """Select from a pool of generated samples by optimal acceptance.

    One half of the real samples is used to select, by a ratio that is never fitted on the sample it
    is applied to. The other half is used to measure the curves before and after.

    Args:
        real: Features of real samples, shape (n, d).
        generated: Features of the pool of generated samples, shape (m, d).
        budget: Number of pool samples per kept one, at least 1. Give either this or `keep`.
        keep: Number of samples to keep.
        estimator: Estimator of log p/q, by name or as a configuration.
        seed: Seed of the halves, the folds, the estimator and the selection.
        progress: Whether to show a progress line.

    Example:
        >>> import numpy as np
        >>> from tradeoff.sampling import filter_pool
        >>> rng = np.random.default_rng(0)
        >>> real, pool = rng.normal(0, 1, (400, 1)), rng.normal(1, 1, (400, 1))
        >>> chosen = filter_pool(real=real, generated=pool, keep=200, estimator="logistic")
        >>> bool(pool[chosen.index].mean() < pool.mean() - 0.3)
        True
    """
    pair = Pair.of(real=real, generated=generated)
    pool = pair.generated
    check_amount(budget=budget, keep=keep)
    if keep is not None:
        keep = int(keep)
        if keep > len(pool):
            raise InvalidInputError(f"`keep` must be at most the pool, {len(pool)}. Got {keep}.")
        budget = len(pool) / keep
    assert budget is not None
    if len(pair.real) < 2 * policy.FEWEST_FILTERED:
        raise InvalidInputError(
            f"`real` must hold at least {2 * policy.FEWEST_FILTERED} samples: one half "
            f"selects, the other one measures. Got {len(pair.real)}."
        )
    check_distinct(pair)
    choosing, judging = pair.real.halves(check_seed(seed))

    def estimate(real: Side, generated: Side) -> CurveEstimate:
        return estimate_curve(
            Pair(real, generated), estimator=estimator, seed=seed, progress=progress
        )

    log_ratios = estimate(choosing, pool).generated.log_ratios
    rule = AcceptanceRule.from_log_ratios(log_ratios, budget=budget)
    acceptance = rule.acceptance(log_ratios)
    if keep is not None:  # fewer than the best rule needs: any of those that it keeps
        acceptance = acceptance * min(1.0, keep / acceptance.sum())
    index = _systematic(acceptance, np.random.default_rng(seed))
    if len(index) < policy.FEWEST_FILTERED:
        raise InvalidInputError(
            f"At least {policy.FEWEST_FILTERED} samples must be kept to measure their curve. "
            f"Got {len(index)} of {len(pool)}: lower `budget`, or raise `keep`."
        )
    return PoolSelection(
        index=index,
        log_ratios=log_ratios,
        rule=rule,
        before=estimate(judging, pool),
        after=estimate(judging, pool.take(index)),
    )


def check_amount(*, budget: float | None, keep: int | None) -> None:
    """Check that exactly one of them is given and valid; called before anything is embedded."""
    if (budget is None) == (keep is None):
        raise InvalidInputError("Either `budget` or `keep` must be given, and not both.")
    if keep is not None and check_count("keep", keep) < policy.FEWEST_FILTERED:
        raise InvalidInputError(
            f"`keep` must be at least {policy.FEWEST_FILTERED}, to measure a curve of what is "
            f"kept. Got {keep}."
        )
    if budget is not None:
        check_number("budget", budget, at_least=1.0)


def _systematic(acceptance: FloatArray, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """Rows selected with their own probabilities; their number is the sum, up to rounding."""
    order = rng.permutation(acceptance.size)
    passed = np.floor(np.cumsum(acceptance[order]) + rng.random() + 1e-9)
    return np.sort(order[np.diff(passed, prepend=0.0) > 0])
