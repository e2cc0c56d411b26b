"""The checkpoint of a run that a selector keeps, against the best one by a large evaluation.

The F-score of a flow is exact up to 10,000 draws; that of a GAN is measured with 10,000 fresh
samples of each side. `regret` is how much lower that of the kept checkpoint is than the highest.
With `gaussians`, no score is resolved on a ring, and no checkpoint may be kept.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import torch

from benchmarks.harness import Row, Summary, run
from benchmarks.tracked_models import CHECKPOINTS, MODELS, log_density, ring
from tradeoff import frechet_distance, pr_curve
from tradeoff.core.held_out import HeldOutLogRatios
from tradeoff.tracking import Tracker

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.tracked_models import Checkpoint
    from tradeoff._validation import FloatArray

SEEDS = 5
SIZE, LARGE = 2000, 10_000
SELECTORS = ("tracker", "Fréchet distance", "k-NN precision", "last")


def followed(name: str, seed: int, *, size: int = SIZE, large: int = LARGE) -> Row:
    """One run, with what each selector keeps; a tracker that keeps none leaves the last one."""
    real, judge = ring(size, 5000 + seed), ring(large, 9000 + seed)
    tracker = Tracker(real, estimator="trees", workers=0, progress=False)
    weak = Tracker(real, estimator="gaussians", workers=0, progress=False)
    truth, distances = [], []
    for number, checkpoint in enumerate(MODELS[name](seed)):
        with torch.no_grad():
            made = checkpoint.sample(size).double().numpy()
            truth.append(f_score(checkpoint, judge, large))
        for one in (tracker, weak):
            one.update(made, step=number)
        distances.append(float(frechet_distance(real=real, generated=made)))
    precision = [-1.0 if one.knn_precision is None else one.knn_precision for one in tracker.steps]
    best = int(np.argmax(truth))
    kept = dict.fromkeys(SELECTORS, CHECKPOINTS - 1)
    if tracker.best is not None:
        kept["tracker"] = tracker.best.step
    kept["Fréchet distance"] = int(np.argmin(distances))
    kept["k-NN precision"] = int(np.argmax(precision))
    row: Row = {"best": best, "highest F-score": truth[best]}
    row |= {f"{one} keeps": at for one, at in kept.items()}
    row |= {f"regret: {one}": truth[best] - truth[at] for one, at in kept.items()}
    hidden = sum(not one.resolved for one in tracker.steps)
    return row | {"unresolved": hidden, "kept by gaussians": int(weak.best is not None)}


def f_score(checkpoint: Checkpoint, real: FloatArray, n: int) -> float:
    """The highest F-score of a checkpoint, exact if its density is known."""
    made = checkpoint.sample(n)
    if checkpoint.log_density is None:
        sides = {"real": real, "generated": made.double().numpy()}
        curve = pr_curve(**sides, estimator="trees", progress=False).curve
        return float(curve.f_score(1.0))
    known = checkpoint.log_density
    ratios = [
        log_density(x.double().numpy()) - known(x).double().numpy()
        for x in (torch.tensor(real, dtype=torch.float32), made)
    ]
    return float(HeldOutLogRatios(real=ratios[0], generated=ratios[1]).curve().f_score(1.0))


def regrets(rows: dict[str, Row]) -> Row:
    """Mean regrets of all runs; that of the tracker may be 0.02."""
    runs = [row for case, row in rows.items() if ", seed" in case]
    row: Row = {f"regret: {one}": _mean(runs, f"regret: {one}") for one in SELECTORS}
    early = float(np.mean([one["best"] < CHECKPOINTS - 3 for one in runs]))
    row |= {"share of runs with an earlier best": early}
    return row | {"ratio": row["regret: tracker"] / 0.02, "bar": 1.0}


def unresolved(rows: dict[str, Row]) -> Row:
    """Runs in which a checkpoint is kept by scores that are not resolved."""
    runs = [row for case, row in rows.items() if ", seed" in case]
    kept = sum(one["kept by gaussians"] for one in runs)
    return {"runs": len(runs), "kept by gaussians": kept, "ratio": float(kept), "bar": 0.0}


def _mean(runs: list[Row], key: str) -> float:
    return float(np.mean([one[key] for one in runs]))


CASES: dict[str, Callable[[], Row] | Summary] = {
    f"{name}, seed {seed}": partial(followed, name, seed)
    for seed in range(SEEDS)
    for name in MODELS
}
CASES |= {"mean regret": Summary(regrets), "unresolved scores": Summary(unresolved)}

if __name__ == "__main__":
    run("tracking", "The checkpoint that is kept, and what is lost by it", CASES)
