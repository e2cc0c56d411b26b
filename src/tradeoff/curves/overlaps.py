"""The difference of two overlaps that are counted on common samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tradeoff.inference.paired import Counted, SumOfMeans

if TYPE_CHECKING:
    from collections.abc import Collection

    from tradeoff.curves.estimate import CurveEstimate

__all__ = ["overlap_difference"]


def overlap_difference(
    first: CurveEstimate,
    second: CurveEstimate,
    *,
    shared: Collection[str] = ("real", "generated"),
    inflation: float = 1.0,
) -> tuple[float, float]:
    """First minus second overlap, and the standard error of the difference.

    Args:
        first: One estimate.
        second: The other one, in the same folds.
        shared: Sides of which both have the same samples, which are subtracted one by one.
        inflation: Factor of the counted standard error.

    Example:
        >>> import numpy as np
        >>> from tradeoff import pr_curve
        >>> from tradeoff.curves.overlaps import overlap_difference
        >>> rng = np.random.default_rng(0)
        >>> real, generated = rng.normal(size=(2, 500, 1))
        >>> options = {"real": real, "estimator": "logistic", "progress": False}
        >>> near, far = (pr_curve(generated=generated + shift, **options) for shift in (0.1, 2.0))
        >>> value, error = overlap_difference(near, far, shared=["real"])
        >>> value > 10 * error
        True
    """
    parts: list[Counted] = []
    # Errors at λ = 1: real samples with r < 1, and generated ones with r ≥ 1.
    for side, is_error in (("real", np.less), ("generated", np.greater_equal)):
        ours, theirs = getattr(first, side), getattr(second, side)
        mine, other = (
            is_error(one.log_ratios, 0.0).astype(float)[:, None] for one in (ours, theirs)
        )
        if side in shared:
            parts.append(ours.counting(mine - other, ours.counted & theirs.counted))
        else:
            parts.append(ours.counting(mine, ours.counted))
            parts.append(theirs.counting(-other, theirs.counted))
    found = SumOfMeans(parts, inflation)
    return float(found.value[0]), found.error(np.ones(1))
