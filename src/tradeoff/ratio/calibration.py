r"""Scores become log-ratios on data that they were not fitted to; a look at how right they are.

Isotonic regression of "is real" on the score, each side counting the same, gives a share
:math:`s` and :math:`\log r = \log\frac{s}{1-s}`. Where the score says nothing it is flat at 0, so
the choice between the fitted rule and a trivial one is made here too, at every slope.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression

from tradeoff._result import Result
from tradeoff._sides import by_name
from tradeoff._validation import (
    FloatArray,
    check_count,
    check_seed,
    check_share,
    check_vector,
)
from tradeoff.exceptions import InvalidInputError
from tradeoff.inference import policy
from tradeoff.inference.shares import wilson_interval
from tradeoff.ratio.registry import find_estimator
from tradeoff.samples import Pair

if TYPE_CHECKING:
    import numpy.typing as npt

    from tradeoff.ratio.base import Estimator, LogRatio

__all__ = ["Calibrated", "Isotonic", "Reliability", "balance", "calibrated_ratio", "reliability"]

_WIDEST_SHIFT = 60.0


@dataclass(frozen=True, eq=False)
class Isotonic:
    """A monotone map from scores to log-ratios.

    Args:
        scores: knots, ascending, shape (k,).
        log_ratios: log p/q at the knots, non-descending, shape (k,); linear in between.

    Example:
        Scores that are off by a factor and a shift come out right:

        >>> import numpy as np
        >>> from tradeoff.ratio.calibration import Isotonic
        >>> rng = np.random.default_rng(0)
        >>> real, generated = 0.5 - rng.normal(0, 1, 20_000), 0.5 - rng.normal(1, 1, 20_000)
        >>> calibrate = Isotonic.fit(real=3 * real - 7, generated=3 * generated - 7)
        >>> np.abs(calibrate(np.array([-10.0, -7.0, -4.0])) - [-1, 0, 1]).max() < 0.15
        np.True_
    """

    scores: FloatArray
    log_ratios: FloatArray

    @classmethod
    def fit(cls, *, real: FloatArray, generated: FloatArray) -> Isotonic:
        """Fit on scores of calibration samples, shapes (n,) and (m,).

        Half a sample of the other side at each end keeps log-ratios finite.
        """
        real, generated = _check_finite("real", real), _check_finite("generated", generated)
        ends = np.min([real.min(), generated.min()]), np.max([real.max(), generated.max()])
        scores = np.concatenate((real, generated, ends))
        is_real = np.concatenate((np.ones(real.size), np.zeros(generated.size), [1.0, 0.0]))
        weights = np.where(is_real > 0, 1.0 / real.size, 1.0 / generated.size)
        weights[-2:] *= 0.5
        model = IsotonicRegression().fit(scores, is_real, sample_weight=weights)
        share = model.y_thresholds_
        log_ratios = np.log(share) - np.log1p(-share)
        plain = cls(np.asarray(model.X_thresholds_), log_ratios)
        shift = balance(real=plain(real), generated=plain(generated))
        return cls(plain.scores, log_ratios + shift)

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Log p/q of scores of shape (n,)."""
        scores = check_vector("scores", scores)
        return np.asarray(np.interp(scores, self.scores, self.log_ratios))


def balance(*, real: FloatArray, generated: FloatArray) -> float:
    r"""The shift of log-ratios after which both sides add up to one.

    .. math:: \mathbb{E}_P\left[\tfrac{r}{1+r}\right] + \mathbb{E}_Q\left[\tfrac{r}{1+r}\right] = 1

    This holds for the true ratio whatever the supports, while :math:`\mathbb{E}_Q[r]` is
    :math:`P(\operatorname{supp} Q)`, which is below 1 when the model drops modes.

    Args:
        real: log-ratios of real calibration samples, shape (n,).
        generated: log-ratios of generated calibration samples, shape (m,).

    Example:
        >>> import numpy as np
        >>> from tradeoff.ratio.calibration import balance
        >>> round(balance(real=np.array([2.0, 3.0]), generated=np.array([0.0, 1.0])), 6)
        -1.5
    """
    real, generated = _check_finite("real", real), _check_finite("generated", generated)

    def excess(shift: float) -> float:
        return float(expit(real + shift).mean() + expit(generated + shift).mean()) - 1.0

    widest = _WIDEST_SHIFT + max(np.abs(real).max(), np.abs(generated).max())
    return float(brentq(excess, -widest, widest, xtol=1e-12))


def _check_finite(name: str, values: FloatArray) -> FloatArray:
    array = check_vector(name, values)
    if np.isinf(array).any():
        raise InvalidInputError(f"`{name}` must be finite. Got infinite scores.")
    return array


@dataclass(frozen=True, eq=False)
class Calibrated:
    """A log-ratio followed by a monotone map that was fitted on held-out samples.

    The map keeps the balance of both sides, and never forces the mean ratio of generated samples
    to 1: it is the real mass within the model's reach.

    Args:
        ratio: anything that maps samples to scores that grow with p/q.
        calibrate: the map.

    Example:
        A discriminator that is too sure by a factor of three:

        >>> import numpy as np
        >>> from tradeoff.core.divergence import GAN
        >>> from tradeoff.ratio import Calibrated, Discriminator
        >>> rng = np.random.default_rng(0)
        >>> real, generated = rng.normal(0, 1, (9000, 1)), rng.normal(1, 1, (9000, 1))
        >>> sure = Discriminator(lambda x: 3 * (0.5 - x[:, 0]), GAN())
        >>> ratio = Calibrated.fit(sure, real=real, generated=generated)
        >>> bool(np.abs(ratio.log_ratio(np.array([[0.0], [1.0]])) - [0.5, -0.5]).max() < 0.3)
        True
    """

    ratio: LogRatio
    calibrate: Isotonic

    @classmethod
    def fit(cls, ratio: LogRatio, *, real: Any, generated: Any) -> Calibrated:
        """Calibrate on samples that the ratio was not fitted on."""
        return cls(
            ratio,
            Isotonic.fit(real=ratio.log_ratio(real), generated=ratio.log_ratio(generated)),
        )

    def log_ratio(self, x: Any) -> FloatArray:
        """Log p/q of samples, shape (n,)."""
        return self.calibrate(self.ratio.log_ratio(x))


@by_name
def calibrated_ratio(
    *,
    real: npt.ArrayLike,
    generated: npt.ArrayLike,
    estimator: Estimator | str = "logistic",
    seed: int = 0,
) -> Calibrated:
    """A log-ratio from two sets of samples: fitted on one half, calibrated on the other.

    Use it for critics that contain no ratio: pass their features.

    Args:
        real: Features of real samples, shape (n, d).
        generated: Features of generated samples, shape (m, d).
        estimator: Estimator of log p/q, by name or as a configuration.
        seed: Seed of the halves and of the estimator.

    Example:
        >>> import numpy as np
        >>> from tradeoff.ratio import calibrated_ratio
        >>> rng = np.random.default_rng(0)
        >>> real, generated = rng.normal(0, 1, (4000, 2)), rng.normal(1, 1, (4000, 2))
        >>> ratio = calibrated_ratio(real=real, generated=generated)
        >>> bool(np.diff(ratio.log_ratio(np.array([[1.0, 1.0], [0.0, 0.0]])))[0] > 1.5)
        True
    """
    pair = Pair.of(real=real, generated=generated)
    model, seed = find_estimator(estimator), check_seed(seed)
    for side in pair:
        if side.distinct < policy.FEWEST_CALIBRATED:
            raise InvalidInputError(
                f"`{side.name}` must hold at least {policy.FEWEST_CALIBRATED} distinct samples "
                f"to fit and to calibrate. Got {side.distinct}."
            )
    first = [side.keys_for(seed) % np.uint64(2) == 0 for side in pair]  # copies stay together
    fitting, other = (
        {side.name: side.x[rows] for side, rows in zip(pair, chosen, strict=True)}
        for chosen in (first, [~rows for rows in first])
    )
    return Calibrated.fit(model.fit(**fitting, seed=seed), **other)


@dataclass(frozen=True, eq=False, kw_only=True)
class Reliability(Result):
    """Calibration of a log-ratio: predicted and observed shares of real samples, by bin.

    Args:
        predicted: Mean of r/(1 + r) in each bin, ascending, shape (bins,).
        observed: Share of real samples in each bin, both sides weighted equally, shape (bins,).
        low: Lower limits of the observed shares, shape (bins,).
        high: Upper limits of the observed shares, shape (bins,).
        saturated: Share of samples that have the most frequent log-ratio.
        mean_ratio: Mean ratio of generated samples; at most 1 for a true ratio.

    Example:
        >>> import numpy as np
        >>> from tradeoff.ratio import reliability
        >>> rng = np.random.default_rng(0)
        >>> real, generated = 0.5 - rng.normal(0, 1, 5000), 0.5 - rng.normal(1, 1, 5000)
        >>> bool(np.abs(reliability(real=real, generated=generated).gap).max() < 0.05)
        True
        >>> reliability(real=3 * real, generated=3 * generated).warnings[0][:32]
        'The ratio is not calibrated: whe'
    """

    predicted: FloatArray
    observed: FloatArray
    low: FloatArray
    high: FloatArray
    saturated: float
    mean_ratio: float

    @property
    def gap(self) -> FloatArray:
        """What was observed minus what was predicted, shape (bins,)."""
        return self.observed - self.predicted

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is wrong with the ratio, and what to do."""
        found = []
        outside = (self.predicted < self.low) | (self.predicted > self.high)
        if outside.mean() > policy.SATURATED / 2:
            worst = int(np.argmax(np.abs(self.gap)))
            found.append(
                "The ratio is not calibrated: where it predicts a share of "
                f"{self.predicted[worst]:.2f} real samples, {self.observed[worst]:.2f} are real. "
                "Calibrate it on held-out samples."
            )
        if self.saturated > policy.SATURATED:
            found.append(
                f"The ratio is saturated: {self.saturated:.0%} of samples have the same log-ratio, "
                "and cannot be told apart. Train the network less, or fit another ratio."
            )
        return tuple(found)


@by_name
def reliability(
    *, real: npt.ArrayLike, generated: npt.ArrayLike, bins: int = 10, level: float = 0.95
) -> Reliability:
    """Calibration of held-out log-ratios: predicted and observed shares of real samples, by bin.

    Args:
        real: Values of log p/q of held-out real samples, shape (n,).
        generated: Values of log p/q of held-out generated samples, shape (m,).
        bins: Number of bins, with about equal numbers of samples.
        level: Confidence level of the limits.

    Example:
        >>> from tradeoff.ratio import reliability
        >>> found = reliability(real=[0.0] * 50, generated=[0.0] * 50)
        >>> found.saturated, found.observed
        (1.0, array([0.5]))
    """
    x, y = check_vector("real", real), check_vector("generated", generated)
    values = np.concatenate((x, y))
    is_real = np.arange(values.size) < x.size
    weights = np.where(is_real, 0.5 / x.size, 0.5 / y.size)
    edges = np.unique(np.quantile(values, np.linspace(0, 1, check_count("bins", bins) + 1)))
    place = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, max(edges.size - 2, 0))
    held = [np.bincount(place, side, minlength=place.max() + 1) for side in (is_real, ~is_real)]
    kept = held[0] + held[1] > 0
    mass = np.bincount(place, weights)[kept]
    predicted = np.bincount(place, weights * expit(values))[kept] / mass
    observed = np.bincount(place, weights * is_real)[kept] / mass
    sizes = _effective_sizes(predicted, *(np.maximum(side[kept], 0.5) for side in held))
    low, high = wilson_interval(observed, sizes, check_share("level", level))
    _, counts = np.unique(values, return_counts=True)
    with np.errstate(over="ignore"):
        mean_ratio = float(np.exp(y).mean())
    return Reliability(
        predicted=predicted,
        observed=observed,
        low=low,
        high=high,
        saturated=float(counts.max() / values.size),
        mean_ratio=mean_ratio,
    )


def _effective_sizes(share: FloatArray, n: FloatArray, m: FloatArray) -> FloatArray:
    """Number of equally weighted samples whose share of real ones would vary as much."""
    share = np.clip(share, 1e-6, 1.0 - 1e-6)
    return np.asarray(1.0 / (share * (1.0 - share) * (1.0 / n + 1.0 / m)))
