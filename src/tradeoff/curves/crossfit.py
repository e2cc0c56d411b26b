r"""Cross-fitting: every sample gets a log-ratio from fits that have not seen it.

For folds j and k, a fit without both serves twice: its scores of j teach the combination that is
applied to k, and the other way round. A stack leaves out every pair of folds: each sample's
log-ratio is the mean over K - 1 fits, combined by what was learned on all other folds. A single
estimator, which has nothing to combine, leaves out neighboring folds only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import joblib
import numpy as np
from threadpoolctl import threadpool_limits

from tradeoff._progress import track
from tradeoff._validation import FloatArray, check_count
from tradeoff.ratio.combination import Combiner
from tradeoff.ratio.stack import fit_members

if TYPE_CHECKING:
    import numpy.typing as npt

    from tradeoff._sides import Sides
    from tradeoff.curves.folds import Placed, Split
    from tradeoff.ratio.base import Estimator
    from tradeoff.ratio.combination import MemberScores

__all__ = ["cross_fit"]

_WORTH_PROCESSES = 100_000  # numbers in both samples together


def cross_fit(
    model: Estimator,
    sides: Sides[Placed],
    split: Split,
    *,
    seed: int,
    jobs: int | None = None,
    progress: bool = True,
) -> Sides[FloatArray]:
    """Log-ratios of both sides by index, each from fits that have not seen the sample.

    In a single split, those of the training half come from a combination that was learned there.
    """
    ordered = [placed.side.x[placed.order] for placed in sides]
    parts = [split.parts(placed.fold_keys[placed.order]) for placed in sides]
    numbers = sum(x.size for x in ordered)
    fitting = joblib.cpu_count() if numbers >= _WORTH_PROCESSES else 1
    jobs = fitting if jobs is None else check_count("jobs", jobs)
    run = joblib.Parallel(n_jobs=min(jobs, len(split.pairs)), return_as="generator")
    tasks = (joblib.delayed(_score)(model, ordered, parts, pair, seed) for pair in split.pairs)
    found = track(run(tasks), "fitting", total=len(split.pairs), progress=progress)
    scores = dict(zip(split.pairs, found, strict=True))
    log_ratios = sides.map(lambda placed: np.full(len(placed.side), np.nan))
    for part in split.held_out:
        pairs = split.partners(part)
        others = [sum(pair) - part for pair in pairs]  # the other part of each pair
        real, generated = (
            [scores[pair][other][i] for pair, other in zip(pairs, others, strict=True)]
            for i in range(2)
        )
        combine = Combiner.learn(real=real, generated=generated)
        for i, placed in enumerate(sides):
            combined = [combine(scores[pair][part][i]) for pair in pairs]
            log_ratios[i][placed.order[parts[i] == part]] = np.mean(combined, axis=0)
            for pair, other in zip(pairs, others, strict=True):
                if other not in split.held_out:
                    rows = placed.order[parts[i] == other]
                    log_ratios[i][rows] = combine(scores[pair][other][i])
    return log_ratios


def _score(
    model: Estimator,
    sides: list[FloatArray],
    parts: list[npt.NDArray[np.int64]],
    pair: tuple[int, int],
    seed: int,
) -> dict[int, list[MemberScores]]:
    """Fit without a pair of parts; scores of both sides in each of them."""
    # Threads of small fits only wait for each other, and sums would depend on their number.
    with threadpool_limits(1):
        real, generated = (x[~np.isin(part, pair)] for x, part in zip(sides, parts, strict=True))
        fitted = fit_members(model, real, generated, seed)
        return {
            held_out: [fitted(x[part == held_out]) for x, part in zip(sides, parts, strict=True)]
            for held_out in pair
        }
