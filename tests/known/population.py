"""What the rules of a cross-fitted curve are worth on the distributions, not on the samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tradeoff import HeldOutLogRatios
from tradeoff.curves.folds import Split, place
from tradeoff.curves.repeats import Repeats
from tradeoff.ratio.combination import Combiner
from tradeoff.ratio.stack import fit_members
from tradeoff.samples import Pair

if TYPE_CHECKING:
    from tradeoff.ratio import Estimator


def cross_fitted(
    model: Estimator,
    samples: dict[str, np.ndarray],
    fresh: dict[str, np.ndarray],
    lam: np.ndarray,
    *,
    seed: int,
    folds: int = 5,
) -> tuple[HeldOutLogRatios, np.ndarray]:
    """Held-out log-ratios of a run, and the mean over folds of its rules' errors on fresh samples.

    Args:
        model: estimator.
        samples: `real` and `generated`, of shape (n, d).
        fresh: the same distributions, many samples or a grid of equal masses.
        lam: slopes, shape (k,).
        seed: of the folds and of the estimator.
        folds: as in `pr_curve`.
    """
    split = Split.of(folds, every_pair=model.combines)
    pair = Pair.of(**samples)
    sides = place(pair, split, Repeats.of(pair), seed=seed)
    x = [placed.side.x[placed.order] for placed in sides]
    parts = [split.parts(placed.fold_keys[placed.order]) for placed in sides]
    fitted = {
        pair: fit_members(
            model, *(rows[~np.isin(part, pair)] for rows, part in zip(x, parts, strict=True)), seed
        )
        for pair in split.pairs
    }
    # Each pair of folds judges for both of them; fresh samples are many and scored once.
    on_fresh = {pair: [member(x) for x in fresh.values()] for pair, member in fitted.items()}
    held_out: list[list[np.ndarray]] = [[], []]
    rejected = np.zeros((2, lam.size))
    for fold in split.held_out:
        pairs = split.partners(fold)
        scores = [
            [fitted[pair](rows[part == sum(pair) - fold]) for pair in pairs]
            for rows, part in zip(x, parts, strict=True)
        ]
        combine = Combiner.learn(real=scores[0], generated=scores[1])

        for i, (rows, part) in enumerate(zip(x, parts, strict=True)):
            own = [combine(fitted[pair](rows[part == fold])) for pair in pairs]
            held_out[i].append(np.mean(own, axis=0))
            share = np.mean(part == fold) if folds > 1 else 1.0
            values = np.sort(np.mean([combine(on_fresh[pair][i]) for pair in pairs], axis=0))
            rejected[i] += share * np.searchsorted(values, -np.log(lam)) / values.size
    real, generated = (np.concatenate(values) for values in held_out)
    return (
        HeldOutLogRatios(real=real, generated=generated),
        lam * rejected[0] + 1 - rejected[1],
    )
