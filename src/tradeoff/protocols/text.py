r"""Recipes for features of texts: MAUVE, and precision and recall of language models.

Rows are scaled to length 1 and projected onto the principal components of all samples together
that keep 90% of the variance. MAUVE :cite:p:`pillutla2021` compares two histograms over k-means
clusters; :cite:t:`lebronnec2024` count neighbors.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

from tradeoff._progress import track
from tradeoff._validation import FloatArray, check_features
from tradeoff.core.divergence.mixture import FrontierIntegral
from tradeoff.core.frontier import mauve
from tradeoff.core.profile import RatioProfile
from tradeoff.exceptions import InvalidInputError
from tradeoff.protocols.neighbors import NeighborRecipe
from tradeoff.protocols.samples import check_equal_samples

if TYPE_CHECKING:
    import numpy.typing as npt

    from tradeoff.core.curve import PRCurve

__all__ = ["LeBronnec2024", "Pillutla2021"]

_FEWEST_SAMPLES = 20
_SMALLEST_WEIGHT = 1e-6
_SMALLEST_VARIANCE = 1e-12  # of rows of length 1; less is rounding


@dataclass(frozen=True)
class Pillutla2021:
    r"""MAUVE and the frontier integral of two histograms, as in the package mauve-text.

    Clusters are those of Lloyd's k-means from random samples, the best of several runs. MAUVE
    changes with the seed: for 1,000 samples of each side its standard deviation over seeds is
    typically 0.01 to 0.03, here as in the package. The curve is the precision-recall curve of the
    same histograms.

    Args:
        variance: Share of the variance that the principal components keep.
        per_cluster: Number of samples of the smaller side for each cluster.
        runs: Number of runs of k-means, of which the tightest is kept.
        iterations: Largest number of iterations of a run.
        scaling: Constant c of MAUVE.
        mixtures: Number of mixtures of both histograms between the ends of the frontier.
    """

    variance: float = 0.9
    per_cluster: int = 10
    runs: int = 5
    iterations: int = 500
    scaling: float = 5.0
    mixtures: int = 25
    keys: ClassVar = ("mauve.area", "mauve.frontier_integral")

    def run(
        self, real: npt.ArrayLike, generated: npt.ArrayLike, *, seed: int, progress: bool
    ) -> tuple[PRCurve, dict[str, float]]:
        """Curve and scores of samples of shape (n, d) and (m, d)."""
        sides = check_features(real=real, generated=generated)
        fewest = min(map(len, sides))
        if fewest < _FEWEST_SAMPLES:
            raise InvalidInputError(
                f"`pillutla-2021` must have at least {_FEWEST_SAMPLES} samples on each side. "
                f"Got {fewest}."
            )
        x, y = _components("pillutla-2021", *sides, variance=self.variance)
        clusters = max(2, round(fewest / self.per_cluster))
        cluster = self._clusters(np.concatenate((y, x)), clusters, seed=seed, progress=progress)
        q, p = (
            np.bincount(part, minlength=clusters) / part.size
            for part in (cluster[: len(y)], cluster[len(y) :])
        )
        profile = RatioProfile.from_masses(p, q)
        # One area: under a polyline from (1, 0) to (0, 1) it is the same along both axes.
        weight = np.linspace(_SMALLEST_WEIGHT, 1 - _SMALLEST_WEIGHT, self.mixtures)
        return profile.curve(), {
            "mauve.area": mauve(profile, scaling=self.scaling, weight=weight),
            "mauve.frontier_integral": FrontierIntegral().of(profile),
        }

    def _clusters(
        self, x: npt.NDArray[np.float32], clusters: int, *, seed: int, progress: bool
    ) -> npt.NDArray[np.int32]:
        """Cluster of each row, shape (n,)."""
        state = np.random.RandomState(np.random.MT19937(np.random.SeedSequence(seed)))
        model = KMeans(
            clusters,
            init="random",
            n_init=1,
            max_iter=self.iterations,
            tol=0.0,
            random_state=state,
        )
        best, labels = np.inf, np.zeros(len(x), np.int32)
        with threadpool_limits(1), warnings.catch_warnings():
            # With fewer distinct rows than clusters, some clusters stay empty and count nothing.
            warnings.simplefilter("ignore", ConvergenceWarning)
            for _ in track(range(self.runs), "clustering", progress=progress):
                model.fit(x)
                if model.inertia_ < best:
                    best, labels = model.inertia_, model.labels_
        return labels


@dataclass(frozen=True)
class LeBronnec2024:
    """Improved precision and recall, with open balls, on principal components.

    The settings are those of the authors' repository, AlexVerine/pr-4-llm. Its function has 5 as
    the default of k, but its evaluation scripts pass 4 by default, with 4,000 samples of each
    side. Whether the paper prints the same k could not be checked.

    Args:
        variance: Share of the variance that the principal components keep.
        k: Rank of the neighbor that a ball reaches.
    """

    variance: float = 0.9
    k: int = 4
    keys: ClassVar = ("knn.precision", "knn.recall")

    def run(
        self, real: npt.ArrayLike, generated: npt.ArrayLike, *, seed: int, progress: bool
    ) -> tuple[None, dict[str, float]]:
        """Scores of samples of shape (n, d) each; nothing is random."""
        sides = check_equal_samples("lebronnec-2024", real=real, generated=generated)
        x, y = _components("lebronnec-2024", *sides, variance=self.variance)
        recipe = NeighborRecipe(k=self.k, strict=("precision", "recall"))
        return recipe.run(x, y, seed=seed, progress=progress)


def _components(
    protocol: str, real: FloatArray, generated: FloatArray, *, variance: float
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Principal components of rows of length 1, in the single precision of the published code."""
    union = normalize(np.concatenate((generated, real)))
    if union.var(axis=0).sum() < _SMALLEST_VARIANCE:
        raise InvalidInputError(
            f"`{protocol}` compares directions: it scales each row of features to length 1. "
            "All rows have one direction, so nothing is left to compare."
        )
    with threadpool_limits(1):
        projected = PCA(n_components=variance).fit_transform(union).astype(np.float32)
    return projected[len(generated) :], projected[: len(generated)]
