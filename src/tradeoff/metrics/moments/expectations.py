r"""The mean Fréchet distance between two sets of samples of the same distribution.

The sample covariances :math:`S_1, S_2` of :math:`n_1` and :math:`n_2` samples with :math:`d`
columns and covariance :math:`\Sigma` differ by chance. Free probability gives, for many columns,

.. math:: \mathbb{E} \operatorname{tr} (S_1 S_2)^{1/2} = \frac{2d}{\pi} \int
    \frac{dv}{\sqrt{\tau(v)\, g(c_1 v)\, g(c_2 v)}}, \qquad c_i = \frac{d}{n_i - 1},

where :math:`v = \operatorname{tr} \tau\Sigma^2 (1 + \tau\Sigma^2)^{-1} / d` and, for samples whose
squared scale :math:`s` varies, :math:`u = \mathbb{E}[ts / (1 + ts)]` and :math:`g(u) = t(u) / u`;
:math:`g = 1 / (1 - u)` if it does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.integrate import trapezoid
from scipy.linalg import eigvalsh
from scipy.optimize import lsq_linear, nnls

from tradeoff._validation import FloatArray, check_features

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["SamplingNoise"]

_STEPS = 1000  # of integrals, on a logarithmic scale
_LEVELS = 60  # eigenvalues that the true covariance may have
_KNOTS = 80  # points at which its spectrum is matched
_MOST_SCALES = 2000
_CONSTRAINT = 100.0  # weight of the trace and of the number of eigenvalues
_LOG_T = np.linspace(-25.0, 25.0, _STEPS)


@dataclass(frozen=True, eq=False, kw_only=True)
class SamplingNoise:
    """The part of a Fréchet distance that comes from the number of samples alone.

    It is exact for many columns, and a few percent low for few: scale it by an observed distance.

    Args:
        columns: Number of columns.
        trace: Trace of the covariance.
        eigenvalues: Eigenvalues of the true covariance over their mean, shape (levels,).
        weights: Share of each eigenvalue, shape (levels,); the rest of them are 0.
        scales: Squared scales of the samples, with mean 1, ascending, shape (at most 2,000,).

    Example:
        In 64 columns, independent and with variance 1, the covariances of 500 samples each are
        apart by about d²/2n:

        >>> import numpy as np
        >>> from tradeoff.metrics.moments.expectations import SamplingNoise
        >>> x = np.random.default_rng(0).normal(size=(500, 64))
        >>> noise = SamplingNoise.of(x)
        >>> abs(noise.trace * noise.between(500, 500) / (64**2 / 1000) - 1) < 0.05
        True
    """

    columns: int
    trace: float
    eigenvalues: FloatArray
    weights: FloatArray
    scales: FloatArray

    @classmethod
    def of(cls, samples: npt.ArrayLike) -> SamplingNoise:
        """Estimate covariance and scales from samples of shape (n, d), n at least 2."""
        (x,) = check_features(samples=samples)
        z = x - x.mean(0)
        n, d = z.shape
        squares = (z**2).sum(1)
        if not squares.mean() > 0:
            return cls(
                columns=d,
                trace=0.0,
                eigenvalues=np.ones(1),
                weights=np.ones(1),
                scales=np.ones(1),
            )
        observed = eigvalsh(z.T @ z if d < n else z @ z.T) / (squares.mean() * n / d)
        observed = observed[observed > 1e-10 * observed[-1]]
        scales = _scales(squares / squares.mean(), observed, d)
        eigenvalues, weights = _true_spectrum(observed, scales, shape=(n, d))
        return cls(
            columns=d,
            trace=float(squares.sum() / (n - 1)),
            eigenvalues=eigenvalues,
            weights=weights,
            scales=scales,
        )

    def between(self, first: int, second: int) -> float:
        """Mean distance of the covariances of two sets, in units of the trace, without means."""
        squares = self.eigenvalues**2
        tau = np.geomspace(1e-8 / squares.max(), 1e8 / squares.min(), 2 * _STEPS)
        v = _share(tau, squares, self.weights)
        widening = np.zeros_like(v)
        for ratio in (self.columns / (size - 1) for size in (first, second)):
            widening += _log_widening(self.scales, ratio * v)
        # The integral of 1/√τ is the trace, which is subtracted under the integral.
        missing = trapezoid(-np.expm1(-0.5 * widening) / np.sqrt(tau), v)
        return float(4.0 / np.pi * missing / (self.weights @ self.eigenvalues))


def _share(t: FloatArray, values: FloatArray, weights: FloatArray) -> FloatArray:
    """Mean of t·value / (1 + t·value), shape like `t`."""
    products = t[:, None] * values
    return np.asarray((products / (1.0 + products)) @ weights)


def _log_widening(scales: FloatArray, u: FloatArray) -> FloatArray:
    """Log of g(u) for samples of these scales, shape like `u`; infinite from 1 on."""
    weights = np.full(scales.size, 1.0 / scales.size)
    log_shares = np.log(_share(np.exp(_LOG_T), scales, weights))
    log_u = np.maximum(np.log(u), log_shares[0])  # below, g is 1
    inside = log_u < log_shares[-1]
    # Both are close to each other where u is small: linear between points of the two logs.
    return np.where(inside, np.interp(log_u, log_shares, _LOG_T) - log_u, np.inf)


def _scales(norms: FloatArray, observed: FloatArray, columns: int) -> FloatArray:
    """Squared norms without the variation that samples of one scale would have as well.

    A Gaussian's squared norm varies by twice the trace of Σ², which pairs of samples estimate.
    """
    n = norms.size
    pairs = float(((n * observed / columns) ** 2).sum() - (norms**2).sum()) / (n * (n - 1))
    usual, found = 2.0 * max(pairs, 0.0), float(norms.var())
    if found <= usual:
        return np.ones(1)
    kept = np.sqrt((found - usual) / (1.0 + usual) / found)
    parts = np.array_split(1.0 + kept * (np.sort(norms) - 1.0), min(n, _MOST_SCALES))
    means = np.array([part.mean() for part in parts])
    return np.asarray(means / means.mean())


def _true_spectrum(
    observed: FloatArray, scales: FloatArray, *, shape: tuple[int, int]
) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues of the true covariance and their shares, from those of a sample covariance.

    Sampling changes the transform v(t) of a spectrum in a known way. The transform is linear in
    the shares, which are therefore a least-squares fit.
    """
    n, columns = shape
    t = np.geomspace(1e-3 / observed[-1], 1e3 / observed[0], _KNOTS)
    v = _share(t, observed, np.full(observed.size, 1.0 / columns))
    ratio = columns / (n - 1)
    known = ratio * v < 0.98
    t, v = t[known], v[known]
    tau = t * np.exp(-_log_widening(scales, ratio * v))
    low = max(0.2 * observed[0], 1e-7 * observed[-1])
    levels = np.append(np.geomspace(1.2 * observed[-1], low, _LEVELS), 0.0)
    products = tau[:, None] * levels
    rows = products / (1.0 + products) / v[:, None]
    rows = np.vstack((rows, _CONSTRAINT * levels, np.full(levels.size, _CONSTRAINT)))
    target = np.concatenate((np.ones(v.size), np.full(2, _CONSTRAINT)))
    try:
        shares, _ = nnls(rows, target, maxiter=100 * _LEVELS)
    except RuntimeError:  # older versions of SciPy give up where columns are nearly the same
        shares = lsq_linear(rows, target, bounds=(0.0, np.inf)).x
    kept = (shares > 1e-12) & (levels > 0)
    return levels[kept], shares[kept]
