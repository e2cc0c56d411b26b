r"""Histograms of k-means clusters :cite:p:`sajjadi2018`.

Real and generated samples are clustered together; the two histograms over clusters are compared,
:math:`\alpha(\lambda) = \sum_i \min(\lambda p_i, q_i)`, averaged over runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from sklearn.cluster import MiniBatchKMeans
from threadpoolctl import threadpool_limits

from tradeoff._progress import track
from tradeoff.core.profile import RatioProfile
from tradeoff.protocols.samples import check_equal_samples

if TYPE_CHECKING:
    import numpy.typing as npt

    from tradeoff.core.curve import PRCurve

__all__ = ["Sajjadi2018"]

_BATCH = 100  # scikit-learn's default at the time, since then changed
_SMALLEST_ANGLE = 1e-10


@dataclass(frozen=True)
class Sajjadi2018:
    """The histogram curve, and the largest F-scores on its angles.

    Args:
        clusters: Number of clusters of k-means.
        runs: Number of runs over which the curve is averaged.
        angles: Number of angles of the grid on which F-scores are taken.
    """

    clusters: int = 20
    runs: int = 10
    angles: int = 1001
    keys: ClassVar = ("prd.f_8", "prd.f_1/8")

    def run(
        self, real: npt.ArrayLike, generated: npt.ArrayLike, *, seed: int, progress: bool
    ) -> tuple[PRCurve, dict[str, float]]:
        """Curve and scores of samples of shape (n, d) each."""
        real, generated = check_equal_samples("sajjadi-2018", real=real, generated=generated)
        union = np.concatenate((generated, real))
        profiles = []
        with threadpool_limits(1):
            for run in track(range(self.runs), "clustering", progress=progress):
                state = np.random.RandomState(
                    np.random.MT19937(np.random.SeedSequence([seed, run]))
                )
                model = MiniBatchKMeans(
                    self.clusters, n_init=10, batch_size=_BATCH, random_state=state
                )
                cluster = model.fit_predict(union)
                q, p = (
                    np.bincount(part, minlength=self.clusters) / part.size
                    for part in (cluster[: len(generated)], cluster[len(generated) :])
                )
                profiles.append(RatioProfile.from_masses(p, q))
        curve = RatioProfile.concatenate(profiles).curve()
        return curve, {f"prd.f_{name}": self._f_score(curve, s) for name, s in _WEIGHTS.items()}

    def _f_score(self, curve: PRCurve, weight: float) -> float:
        angles = np.linspace(_SMALLEST_ANGLE, np.pi / 2 - _SMALLEST_ANGLE, self.angles)
        lam = np.tan(angles)
        precision, recall = (np.clip(f(lam), 0, 1) for f in (curve.precision, curve.recall))
        s2 = weight**2
        return float(((1 + s2) * precision * recall / (s2 * precision + recall + 1e-10)).max())


_WEIGHTS = {"8": 8.0, "1/8": 1 / 8}
