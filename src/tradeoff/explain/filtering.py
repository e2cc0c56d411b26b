r"""What dropping the least realistic generated samples would do.

A rule fitted on one half of the training samples decides what is dropped, a rule fitted on the
other half judges what is left, and both are counted on samples that neither has seen. A rule that
judged its own selection would not see the mistakes that it shares with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import joblib
import numpy as np

from tradeoff._sides import Sides
from tradeoff._threads import single_threaded
from tradeoff.core.held_out import HeldOutLogRatios
from tradeoff.explain.result import Filtered
from tradeoff.inference.intervals import curve_interval
from tradeoff.ratio.base import thin
from tradeoff.ratio.calibration import calibrated_ratio
from tradeoff.ratio.registry import find_estimator

if TYPE_CHECKING:
    from tradeoff._validation import FloatArray
    from tradeoff.curves.estimate import CurveEstimate
    from tradeoff.samples import Pair

__all__ = ["filtering_of"]

_SHARES = (0.0, 0.01, 0.05, 0.1)
_FEWEST = 200  # of each side in the training half
_MOST = 1250  # of each side for each rule, which is enough to show what filtering does
_WORTH_PROCESSES = 100_000  # numbers in a side
_LARGEST = 700.0


def filtering_of(
    pair: Pair,
    single: CurveEstimate,
    *,
    estimator: Any,
    factors: tuple[float, float],
    level: float,
    seed: int,
) -> tuple[Filtered, ...]:
    """Losses that are left after dropping the least realistic samples; empty if there are too few.

    Args:
        pair: The two samples.
        single: Their curve from a single split.
        estimator: Estimator of log p/q.
        factors: Factors at which recall and precision are judged.
        level: Confidence level of each limit.
        seed: Seed of the halves and of the estimator.
    """
    training, counted = [], []
    for side, held in zip(pair, single.sides, strict=True):
        order = side.order_for(seed + 1)  # not the seed of the split, which follows content too
        is_counted = held.counted[order]
        training.append(order[~is_counted])
        counted.append(side.x[order[is_counted]])
    if min(len(rows) for rows in training) < _FEWEST:
        return ()
    rng = np.random.default_rng(seed)
    halves = (
        {
            side.name: side.x[thin(rng, rows[part::2], _MOST)]
            for side, rows in zip(pair, training, strict=True)
        }
        for part in range(2)
    )
    jobs = min(2, joblib.cpu_count()) if counted[0].size >= _WORTH_PROCESSES else 1
    run = joblib.Parallel(n_jobs=jobs)
    cut, judge = run(joblib.delayed(_log_ratios)(half, counted, estimator, seed) for half in halves)
    return tuple(_filtered(share, cut, judge, factors, level) for share in _SHARES)


@single_threaded
def _log_ratios(
    data: dict[str, FloatArray], counted: list[FloatArray], estimator: Any, seed: int
) -> Sides[FloatArray]:
    """Log-ratios of the counted samples by an estimator fitted on others."""
    model = find_estimator(estimator)
    if model.combines:  # its combination is a calibration
        ratio: Any = model.fit(**data, seed=seed)
    else:
        # Another seed than that of the split, which has chosen these samples by their content.
        ratio = calibrated_ratio(**data, estimator=model, seed=seed + 1)
    return Sides(*(ratio.log_ratio(x) for x in counted))


def _filtered(
    share: float,
    cut: Sides[FloatArray],
    judge: Sides[FloatArray],
    factors: tuple[float, float],
    level: float,
) -> Filtered:
    count = round(share * len(cut.generated))
    order = np.argsort(cut.generated, kind="stable")  # by content, so ties are broken at random
    kept = np.ones(len(order), bool)
    kept[order[:count]] = False
    threshold = cut.generated[order[count]]
    tied = cut.generated == threshold
    at_threshold = float(kept[tied].mean())

    def after(side: int) -> FloatArray:
        """Log p/q after dropping: the rest is scaled up, and what was dropped is only real."""
        above, at = cut[side] > threshold, cut[side] == threshold
        scale = np.where(above, 1.0, np.where(at, at_threshold, 0.0)) / kept.mean()
        with np.errstate(divide="ignore"):
            return np.asarray(np.minimum(judge[side] - np.log(scale), _LARGEST))

    held_out = HeldOutLogRatios(real=after(0), generated=after(1)[kept])
    slopes = (1.0 / factors[0], factors[1])
    limits = curve_interval(held_out, slopes, level=level)
    curve = held_out.curve()
    return Filtered(
        dropped=1.0 - float(kept.mean()),
        recall_loss=max(0.0, 1.0 - float(curve.recall(slopes[0]))),
        recall_low=max(0.0, 1.0 - float(limits.recall[0, 1])),
        precision_loss=max(0.0, 1.0 - float(curve.precision(slopes[1]))),
        precision_low=max(0.0, 1.0 - float(limits.precision[1, 1])),
    )
