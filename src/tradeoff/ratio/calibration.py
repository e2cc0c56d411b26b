r"""Scores become log-ratios on data that was not used to fit them.

Isotonic regression of "is real" on the score, each side counting the same, gives a share
:math:`s` and :math:`\log r = \log\frac{s}{1-s}`. Where the score says nothing it is flat at 0, so
the choice between the fitted rule and a trivial one is made here too, at every slope.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression

from tradeoff._validation import FloatArray, check_vector
from tradeoff.exceptions import InvalidInputError

__all__ = ["Isotonic", "balance"]

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
