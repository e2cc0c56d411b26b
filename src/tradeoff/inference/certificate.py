r"""An upper bound of the true curve, at all slopes at once, with a given probability.

With a rule fixed elsewhere, :math:`\alpha(\lambda) \le \lambda P(\log r < t) + Q(\log r \ge t)`
at :math:`t = -\log\lambda`. Both shares get upper limits that hold for all thresholds together:
exact binomial limits whose level falls toward the ends like :math:`\sqrt{u(1-u)}`, scaled such that
any of them fails with the requested probability.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln, xlogy

from tradeoff._validation import check_share, check_type
from tradeoff.core.counts import COUNTED_SLOPES, HeldOutCounts
from tradeoff.core.curve import PRCurve
from tradeoff.core.held_out import HeldOutLogRatios
from tradeoff.exceptions import InvalidInputError
from tradeoff.inference.shares import exact_upper_limits

if TYPE_CHECKING:
    import numpy.typing as npt

    from tradeoff._validation import FloatArray

__all__ = ["certify"]

_LOWEST_LEVEL, _HIGHEST_LEVEL = 0.5, 0.999999
_STEP = 0.25  # distance of the counts that get a limit, in standard deviations of a count
_CERTIFIED = 3  # every third of the slopes of counts: more would cost more than they show
_TAIL = 9.0  # standard deviations beyond which a count is taken for a failure


def certify(held_out: HeldOutLogRatios | HeldOutCounts, *, level: float = 0.95) -> PRCurve:
    """An upper bound of the true curve that holds at all slopes at once.

    It can show that a model is bad, but not that it is good: with a weak log-ratio or a small
    sample the bound is high whatever the model.

    Args:
        held_out: Held-out log-ratios of one rule that was fitted on other samples, all independent,
            or counts of them; not those of several folds.
        level: Probability, at least, with which the true curve lies below the bound everywhere; in
            [0.5, 0.999999].

    Example:
        Two Gaussians one apart, whose precision at λ = 1 is 0.617:

        >>> import numpy as np
        >>> from tradeoff import HeldOutLogRatios
        >>> from tradeoff.inference import certify
        >>> rng = np.random.default_rng(0)
        >>> real, generated = rng.normal(0.5, 1, 2000), rng.normal(-0.5, 1, 2000)
        >>> line = certify(HeldOutLogRatios(real=real, generated=generated))
        >>> round(line.precision(1.0), 2)
        0.7

    References:
        :cite:`berk1979`, :cite:`moscovich2017`.
    """
    check_type("held_out", held_out, HeldOutLogRatios, HeldOutCounts)
    if not _LOWEST_LEVEL <= check_share("level", level) <= _HIGHEST_LEVEL:
        raise InvalidInputError(
            f"`level` must lie in [{_LOWEST_LEVEL:g}, {_HIGHEST_LEVEL:g}], got {level}."
        )
    miss = 1.0 - level
    each = 1.0 - (1.0 - miss) ** 0.5
    if isinstance(held_out, HeldOutCounts):
        return _certify_counts(held_out, miss)
    if any(np.unique(w).size > 1 for w in held_out.weights):
        raise InvalidInputError("A certificate requires equal weights: leave the weights out.")
    curve = held_out.curve()
    return PRCurve(
        breakpoints=curve.breakpoints,
        intercepts=_upper_limits(curve.intercepts, held_out.generated.size, each),
        slopes=_upper_limits(curve.slopes, held_out.real.size, each),
        max_precision=1.0,
        max_recall=1.0,
    ).tightened()


def _certify_counts(counts: HeldOutCounts, miss: float) -> PRCurve:
    """The same at some of the slopes of counts, which are fixed beforehand: each at its level."""
    slopes = COUNTED_SLOPES[::_CERTIFIED]
    each = miss / (2 * slopes.size)
    real, generated = (called.sum(0)[::_CERTIFIED] for called in counts.called)
    passed, rejected = (
        exact_upper_limits(count, size, each)
        for count, size in (
            (counts.sizes.generated - generated, counts.sizes.generated),
            (real, counts.sizes.real),
        )
    )
    return PRCurve(
        breakpoints=np.sqrt(slopes[1:] * slopes[:-1]),
        intercepts=passed,
        slopes=rejected,
        max_precision=1.0,
        max_recall=1.0,
    ).tightened()


def _upper_limits(shares: FloatArray, size: int, miss: float) -> FloatArray:
    """Upper limits of the shares of samples beyond any threshold, all valid together."""
    watched = _watched(size)
    limits = np.append(_binomial_limits(watched, size, _level(size, miss)), 1.0)
    counts = np.rint(shares * size).astype(np.intp)
    return np.asarray(limits[np.searchsorted(watched, counts)])


def _binomial_limits(counts: npt.NDArray[np.intp], size: int, level: float) -> FloatArray:
    """Clopper-Pearson upper limits of a share of which a count was seen.

    Equal levels would spend most of the risk on the ends, ever more of it as samples grow.
    """
    share = (counts + 0.5) / size
    levels = level * np.sqrt(4.0 * share * (1.0 - share))
    return exact_upper_limits(counts, size, levels)


def _watched(size: int) -> npt.NDArray[np.intp]:
    """Counts at which limits are computed; a count in between uses the next greater one."""
    counts = [0]
    while counts[-1] < size - 1:
        spread = np.sqrt(counts[-1] * (1 - counts[-1] / size))
        counts.append(min(size - 1, counts[-1] + max(1, int(_STEP * spread))))
    return np.array(counts)


@lru_cache(maxsize=64)
def _level(size: int, miss: float) -> float:
    """The level of the middle limit with which some limit fails with probability `miss`."""
    watched = _watched(size)

    def excess(log_level: float) -> float:
        return _failure(_binomial_limits(watched, size, np.exp(log_level)), watched, size) - miss

    lowest = np.log(miss / watched.size) - 1.0
    # The solver stops within a thousandth of the root; subtracting two stays on the safe side.
    return float(np.exp(brentq(excess, lowest, np.log(miss) + 0.1, xtol=1e-3) - 2e-3))


def _poisson(counts: npt.NDArray[np.intp], mean: float) -> FloatArray:
    """Poisson probabilities of counts; SciPy's distribution takes several times as long."""
    return np.asarray(np.exp(xlogy(counts, mean) - gammaln(counts + 1.0) - mean))


def _failure(limits: FloatArray, counts: npt.NDArray[np.intp], size: int) -> float:
    r"""Probability that some limit fails.

    A limit :math:`u_c` fails when at most c of n uniform samples lie below it. Samples below u
    are counted by a Poisson process that is conditioned on its total; mass that leaves the
    window counts as failed.
    """
    first, mass = 0, np.ones(1)  # probabilities of the counts first, first + 1, ...
    last = 0.0
    for limit, count in zip(limits, counts, strict=True):
        mean = size * (limit - last)
        reach = int(mean + _TAIL * np.sqrt(mean) + 2 * _TAIL)
        mass = np.convolve(mass, _poisson(np.arange(reach + 1), mean))
        mass = mass[max(0, count + 1 - first) :]
        first = max(first, count + 1)
        mass = mass[: size + 1 - first]
        keep = int(size * limit + _TAIL * np.sqrt(size * limit) + 2 * _TAIL) + 1 - first
        mass, last = mass[: max(keep, 1)], limit
    rest = size - (first + np.arange(mass.size))
    total = mass @ _poisson(rest, size * (1.0 - last))
    return float(1.0 - total / _poisson(np.array(size), size))
