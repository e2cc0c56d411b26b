"""Groups of an explanation of known distributions: whether their limits hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.known.curves import over_seeds
from tests.known.distributions import Mixture
from tradeoff._sides import Sides
from tradeoff.curves.estimate import estimate_curve
from tradeoff.explain.groups import coordinates_of, form_groups
from tradeoff.explain.shares import Flagged
from tradeoff.ratio.base import Projection, squared_distances
from tradeoff.samples import Pair

if TYPE_CHECKING:
    from tradeoff.explain.groups import Formed

RUNS = 200
ALLOWED = 21  # of 200, at which a test of 5% does not reject
_FACTORS = {"recall": 5.0, "precision": 5.0}
_MEANS = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [4.0, 4.0], [8.0, 2.0]])
REAL = Mixture((0.25, 0.25, 0.25, 0.25), _MEANS[:4], (0.8,) * 4)
MADE = Mixture((0.4, 0.3, 0.05, 0.25), _MEANS[[0, 1, 2, 4]], (0.8,) * 4)


def formed(
    real: np.ndarray, generated: np.ndarray, estimator: str, kind: str, seed: int
) -> tuple[Formed | None, Projection]:
    """Groups of one run, and the map to the coordinates in which they are formed."""
    pair = Pair.of(real=real, generated=generated)
    single = estimate_curve(pair, estimator=estimator, folds=1, seed=seed, jobs=1, progress=False)
    places = coordinates_of(pair, single)
    found = form_groups(places, single, Flagged(kind, _FACTORS[kind]), level=0.95, seed=seed)
    forming = single.sides.map(lambda side: ~side.counted)
    return found, Projection.fit(real[forming.real], generated[forming.generated])


def limits_hold(estimator: str, *, runs: int = RUNS, n: int = 1000) -> dict[str, Any]:
    """Runs in which some lower limit of a group is above what the group truly contributes."""
    rng = np.random.default_rng(0)
    points = Sides(REAL(rng, 200_000), MADE(rng, 200_000))

    def violated(seed: int) -> dict[str, float]:
        draw = np.random.default_rng(50_000 + seed)
        real, generated = REAL(draw, n), MADE(draw, n)
        wrong = claimed = 0
        for kind in ("recall", "precision"):
            found, project = formed(real, generated, estimator, kind, seed)
            if found is None:
                continue
            truth = true_shares(found, project, points)
            wrong += int((found.counted.at_least > truth + 1e-3).any())
            claimed += int((found.counted.at_least > 0).sum())
        return {"violated": float(wrong > 0), "claimed": float(claimed)}

    found = over_seeds(violated, runs)
    failures = sum(one["violated"] for one in found)
    return {
        "runs": runs,
        "violated": int(failures),
        "groups claimed, mean": float(np.mean([one["claimed"] for one in found])),
        "ratio": failures / (ALLOWED * runs / RUNS),
        "bar": 1.0,
    }


def true_shares(found: Formed, project: Projection, points: Sides[np.ndarray]) -> np.ndarray:
    """What each group truly contributes to the loss, by the densities at many points."""
    flagged = found.flagged
    shares = []
    for x in points:
        log_ratio = np.log(
            np.maximum(REAL.density(x), 1e-300) / np.maximum(MADE.density(x), 1e-300)
        )
        part = np.argmin(squared_distances(project(x), found.centers), axis=1)
        counts = np.bincount(part[flagged(log_ratio)], minlength=len(found.centers))
        shares.append(counts / len(x))
    share = shares[flagged.own] - flagged.factor * shares[1 - flagged.own]
    return np.maximum(share, 0.0)  # up to the noise of the points


def nothing_claimed(estimator: str, *, runs: int = RUNS, n: int = 1000) -> dict[str, Any]:
    """Runs of identical distributions in which a group is claimed."""

    def claimed(seed: int) -> dict[str, float]:
        draw = np.random.default_rng(60_000 + seed)
        real, generated = REAL(draw, n), REAL(draw, n)
        found = [formed(real, generated, estimator, kind, seed)[0] for kind in _FACTORS]
        return {"any": float(any(f is not None and (f.counted.at_least > 0).any() for f in found))}

    failures = sum(one["any"] for one in over_seeds(claimed, runs))
    return {
        "runs": runs,
        "claimed": int(failures),
        "ratio": failures / (ALLOWED * runs / RUNS),
        "bar": 1.0,
    }
