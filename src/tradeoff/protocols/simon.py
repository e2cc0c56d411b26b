r"""Linear classifiers on features :cite:p:`simon2019`.

A fair coin sends the real or the generated sample of each index to training and the other to the
test. The score of a test sample is the median of ten classifiers, and
:math:`\hat\alpha(\lambda) = \min_t \lambda\,\hat P(s < t) + \hat Q(s \ge t)` over thresholds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.special import expit
from threadpoolctl import threadpool_limits

from tradeoff._progress import track
from tradeoff.core.profile import RatioProfile
from tradeoff.protocols.samples import check_equal_samples

if TYPE_CHECKING:
    import numpy.typing as npt

    from tradeoff._validation import FloatArray
    from tradeoff.core.curve import PRCurve

__all__ = ["Simon2019"]

_BETAS = (0.9, 0.999)
_EPSILON = 1e-8
_STREAM = 2019


@dataclass(frozen=True)
class Simon2019:
    """Bias-free logistic regressions by Adam, all classifiers side by side.

    Args:
        classifiers: Number of classifiers whose median is the score.
        epochs: Number of passes over the training samples.
        batch: Number of samples in a step.
        rate: Learning rate of Adam.
        decay: Weight decay, added to the gradient.
    """

    classifiers: int = 10
    epochs: int = 50
    batch: int = 64
    rate: float = 1e-3
    decay: float = 0.1
    keys: ClassVar = ("classifier.f_8", "classifier.f_1/8")

    def run(
        self, real: npt.ArrayLike, generated: npt.ArrayLike, *, seed: int, progress: bool
    ) -> tuple[PRCurve, dict[str, float]]:
        """Curve and scores of samples of shape (n, d) each."""
        real, generated = check_equal_samples("simon-2019", real=real, generated=generated)
        # A stream of its own: whoever drew the samples with `default_rng(seed)` has the same coins.
        rng = np.random.default_rng([seed, _STREAM])
        coin = rng.random(len(real)) < 0.5
        training = np.where(coin[:, None], real, generated).astype(np.float32)
        with threadpool_limits(1):
            weights = self._train(rng, training, coin, progress=progress)
        scores = np.median(np.where(coin[:, None], generated, real) @ weights.T, axis=1)
        profile = RatioProfile.from_scores(real=scores[~coin], generated=scores[coin])
        curve = profile.curve()
        return curve, {"classifier.f_8": curve.f_score(8), "classifier.f_1/8": curve.f_score(1 / 8)}

    def _train(
        self,
        rng: np.random.Generator,
        x: npt.NDArray[np.float32],
        is_real: npt.NDArray[np.bool_],
        *,
        progress: bool,
    ) -> FloatArray:
        """Weights of every classifier, shape (classifiers, d)."""
        n, d = x.shape
        shape = (self.classifiers, d)
        weights = rng.uniform(-1, 1, shape).astype(np.float32) / np.float32(np.sqrt(d))
        mean, square = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
        target = is_real.astype(np.float32)
        step = 0
        for _ in track(range(self.epochs), "training classifiers", progress=progress):
            order = rng.permuted(np.tile(np.arange(n), (self.classifiers, 1)), axis=1)
            for start in range(0, n, self.batch):
                rows = order[:, start : start + self.batch]
                batch = x[rows]
                logits = np.matmul(batch, weights[:, :, None])[:, :, 0]
                slope = (expit(logits) - target[rows]) / np.float32(rows.shape[1])
                gradient = np.matmul(slope[:, None], batch)[:, 0] + self.decay * weights
                step += 1
                mean += (1 - _BETAS[0]) * (gradient - mean)
                square += (1 - _BETAS[1]) * (gradient**2 - square)
                scale = self.rate / (1 - _BETAS[0] ** step)
                root = np.sqrt(square / (1 - _BETAS[1] ** step)) + _EPSILON
                weights -= (scale * mean / root).astype(np.float32)
        return weights.astype(np.float64)
