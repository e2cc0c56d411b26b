r"""Optimal rejection under a budget of K draws per accepted sample.

Accepting a draw with probability :math:`a = \min(c\,r, 1)`, :math:`r = p/q`, costs
:math:`\mathbb{E}_Q[\min(c\,r, 1)] = \alpha(c)`: the constant that spends the budget is where the
precision-recall curve reaches :math:`\alpha(c) = 1/K`. No other rule of the same rate brings the
refined distribution :math:`\tilde q = qa/\mathbb{E}_Q[a]` closer to P in any f-divergence.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logsumexp

from tradeoff._result import Result
from tradeoff._validation import (
    FloatArray,
    check_number,
    check_numbers,
    check_type,
    check_vector,
    check_weights,
)
from tradeoff.core.law import LogRatioLaw
from tradeoff.core.profile import RatioProfile
from tradeoff.exceptions import InvalidInputError

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["AcceptanceRule", "drs_acceptance"]


@dataclass(frozen=True, kw_only=True)
class AcceptanceRule(Result):
    r"""The optimal rule :math:`a(x) = \min(c\, r(x), 1)` for a budget; build it from ratios.

    Args:
        budget: Budget K, the expected number of draws per accepted sample, at least 1.
        log_constant: Logarithm of the constant c; ∞ accepts everything with a positive ratio.
        fill: Acceptance where the ratio is 0; positive only if the budget allows no finite c.
        rate: Share :math:`\mathbb{E}_Q[a]` of draws that are accepted, at least 1/K; more than 1/K
            where K exceeds what plain rejection needs.
        log_max_ratio: Logarithm of the largest ratio M seen.

    Example:
        Half of the model's samples have no counterpart in the real data. Two draws per sample are
        enough to drop them:

        >>> from tradeoff import RatioProfile
        >>> from tradeoff.core import AcceptanceRule
        >>> profile = RatioProfile.from_masses(p=[1.0, 0.0], q=[0.5, 0.5])
        >>> rule = AcceptanceRule.from_profile(profile, budget=2.0)
        >>> rule.rate, rule.refine(profile).curve().precision(1.0)
        (0.5, 1.0)

    References:
        :cite:`verine2024obrs`.
    """

    budget: float
    log_constant: float
    fill: float
    rate: float
    log_max_ratio: float

    @classmethod
    def from_profile(cls, profile: RatioProfile, *, budget: float) -> AcceptanceRule:
        """The rule for a profile."""
        check_type("profile", profile, RatioProfile)
        return cls._from_law(profile.laws.generated, budget)

    @classmethod
    def from_log_ratios(
        cls,
        log_ratios: npt.ArrayLike,
        *,
        budget: float,
        weights: npt.ArrayLike | None = None,
    ) -> AcceptanceRule:
        """The rule for log p/q of generated samples, by exact water-filling in O(n log n).

        Args:
            log_ratios: Log p/q of generated samples, shape (n,); -∞ where p = 0.
            budget: Budget K, at least 1.
            weights: Sample weights, shape (n,); equal if not given.

        Example:
            >>> import numpy as np
            >>> log_ratios = np.log([0.1, 0.2, 0.5, 0.5, 1.0, 1.5, 2.0, 2.2])
            >>> rule = AcceptanceRule.from_log_ratios(log_ratios, budget=2.0)
            >>> rule.acceptance(log_ratios).round(3)
            array([0.053, 0.105, 0.263, 0.263, 0.526, 0.789, 1.   , 1.   ])
        """
        log_ratios = check_vector("log_ratios", log_ratios)
        mass = check_weights("weights", weights, log_ratios.size)
        return cls._from_law(LogRatioLaw.of_samples(log_ratios, mass), budget)

    @classmethod
    def _from_law(cls, law: LogRatioLaw, budget: float) -> AcceptanceRule:
        budget = check_number("budget", budget, at_least=1.0)
        log_ratio, mass = law
        log_max = float(log_ratio.max())
        if math.isinf(log_max):
            end = "infinite" if log_max > 0 else "zero"
            raise InvalidInputError(
                f"The largest ratio of generated samples must be positive and finite. Got {end}."
            )
        log_scaled, fill, rate = _fill_water(log_ratio - log_max, mass, 1.0 / budget)
        return cls(
            budget=budget,
            log_constant=log_scaled - log_max,
            fill=fill,
            rate=rate,
            log_max_ratio=log_max,
        )

    @property
    def constant(self) -> float:
        """The constant c."""
        return _exp(self.log_constant)

    @property
    def scaled_constant(self) -> float:
        r""":math:`c_K = cM`, at least 1."""
        return _exp(self.log_constant + self.log_max_ratio)

    @property
    def lam_star(self) -> float:
        r"""Smallest slope with precision 1 after acceptance, :math:`c/\mathbb{E}_Q[a]`."""
        return self.constant / self.rate

    def log_acceptance(self, log_ratio: FloatArray) -> FloatArray:
        """Logarithms of acceptance probabilities, which do not underflow; same shape."""
        with np.errstate(invalid="ignore", divide="ignore"):
            found = np.minimum(self.log_constant + log_ratio, 0.0)
            return np.where(np.isneginf(log_ratio), np.log(self.fill), found)

    def acceptance(self, log_ratio: npt.ArrayLike) -> FloatArray:
        """Acceptance probabilities of samples with given log p/q; same shape."""
        log_ratio = check_numbers("log_ratio", log_ratio)
        if np.isnan(log_ratio).any():
            raise InvalidInputError("`log_ratio` must not contain NaN.")
        accepted = np.exp(self.log_acceptance(log_ratio))
        return np.where(log_ratio == -np.inf, self.fill, accepted)

    def refine(self, profile: RatioProfile) -> RatioProfile:
        r"""The profile of P against the refined distribution; its curve is the prediction.

        Up to :attr:`lam_star` that curve is :math:`(K\alpha(\lambda/K), \beta(\lambda/K))` with
        :math:`K = 1/\mathbb{E}_Q[a]`, and beyond it :math:`(1, 1/\lambda)`.
        """
        check_type("profile", profile, RatioProfile)
        with np.errstate(divide="ignore"):
            log_ratio = np.log(profile.p) - np.log(profile.q)
        kept = profile.q * self.acceptance(log_ratio)
        if not kept.any():
            raise InvalidInputError("The rule must keep some of the profile. It keeps nothing.")
        return RatioProfile.from_masses(profile.p, kept / kept.sum())


def drs_acceptance(log_ratio: npt.ArrayLike, *, log_max_ratio: float, gamma: float) -> FloatArray:
    r"""Acceptance of discriminator rejection sampling, for comparison.

    .. math:: a = \sigma\!\left(\log\tfrac rM - \log(1 - \tfrac rM) - \gamma\right)

    A lower :math:`\gamma` accepts more; 0 is plain rejection.

    Args:
        log_ratio: Log p/q, at most `log_max_ratio`, any shape.
        log_max_ratio: Logarithm of the largest ratio M.
        gamma: Shift :math:`\gamma`.

    Example:
        >>> import numpy as np
        >>> from tradeoff.core.budget import drs_acceptance
        >>> drs_acceptance(np.log([1.0, 2.0, 4.0]), log_max_ratio=np.log(4.0), gamma=0.0)
        array([0.25, 0.5 , 1.  ])

    References:
        :cite:`azadi2019`.
    """
    gamma = check_number("gamma", gamma)
    log_share = check_numbers("log_ratio", log_ratio) - check_number("log_max_ratio", log_max_ratio)
    if not (log_share <= 0).all():
        raise InvalidInputError("`log_ratio` must not exceed `log_max_ratio`.")
    with np.errstate(divide="ignore"):
        return np.asarray(expit(log_share - np.log(-np.expm1(log_share)) - gamma))


def _fill_water(
    log_ratio: FloatArray, mass: FloatArray, share: float
) -> tuple[float, float, float]:
    """The log-constant at which E[min(c r, 1)] is the share, for log-ratios of maximum 0.

    With ratios descending, c = (share - W_j) / S_j, where the j largest are accepted for sure and
    weigh W_j, and S_j is what the others weigh times their ratio. Returned with the acceptance
    where the ratio is 0, and the rate.
    """
    order = np.argsort(-log_ratio)
    log_ratio, mass = log_ratio[order], mass[order]
    log_share = np.log(mass) + log_ratio
    plain = float(np.exp(logsumexp(log_share)))
    if share <= plain:
        return 0.0, 0.0, plain  # plain rejection already keeps more than the share
    sure = np.cumsum(mass)
    positive = int(np.searchsorted(-log_ratio, np.inf))
    reachable = 1.0 if positive == mass.size else float(sure[positive - 1])
    if share >= reachable:
        unreachable = 1.0 - reachable
        return math.inf, (share - reachable) / unreachable if unreachable > 0 else 1.0, share
    thinned = np.append(np.logaddexp.accumulate(log_share[positive - 1 :: -1])[::-1], -np.inf)
    rates = sure[:positive] + np.exp(thinned[1:] - log_ratio[:positive])
    j = min(int(np.searchsorted(rates, share)), positive - 1)
    left = max(share - float(sure[j - 1]), 0.0) if j > 0 else share
    return float(np.log(left) - logsumexp(log_share[j:positive])), 0.0, share


def _exp(value: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.exp(value))
