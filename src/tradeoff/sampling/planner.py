r"""Predicted effect of a budget, before anything is drawn.

After optimal acceptance :math:`a = \min(c\,r, 1)` the ratio is :math:`\tilde r = r/(K a)` with
:math:`1/K = \mathbb{E}_Q[a]`. Counted on held-out log-ratios, with generated samples weighted by
:math:`a`, the expectation of the predicted curve is never below the truth:

.. math:: \lambda\, \hat P(r < t) + K\, \hat{\mathbb{E}}_Q[a\, 1\{r \ge t\}]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tradeoff._result import Result
from tradeoff._validation import FloatArray, check_shares, check_type, check_vector
from tradeoff.core.budget import AcceptanceRule
from tradeoff.core.held_out import HeldOutLogRatios
from tradeoff.exceptions import InvalidInputError, UndefinedError
from tradeoff.inference import policy
from tradeoff.inference.losses import balance_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from tradeoff.core.curve import PRCurve
    from tradeoff.core.divergence import Divergence

__all__ = ["Plan", "plan_budget"]

_BUDGETS = (1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0)


@dataclass(frozen=True, eq=False)
class Plan(Result):
    """Predicted curves by budget.

    Args:
        rules: Acceptance rule of each budget, ascending.
        held_out: Held-out log-ratios after acceptance, by budget.

    Example:
        >>> import numpy as np
        >>> from tradeoff import HeldOutLogRatios
        >>> from tradeoff.sampling import plan_budget
        >>> rng = np.random.default_rng(0)
        >>> real, generated = rng.normal(0.5, 1, 5000), rng.normal(-0.5, 1, 5000)
        >>> held_out = HeldOutLogRatios(real=real, generated=generated)
        >>> plan = plan_budget(held_out, budgets=[1.0, 2.0, 4.0])
        >>> plan.curve(1.0).precision(1.0) < plan.curve(2.0).precision(1.0)
        True
        >>> plan.smallest_budget(precision=0.8, recall=0.6)
        2.0
    """

    rules: Mapping[float, AcceptanceRule]
    held_out: Mapping[float, HeldOutLogRatios]

    @property
    def budgets(self) -> tuple[float, ...]:
        """The budgets, ascending."""
        return tuple(self.rules)

    def curve(self, budget: float) -> PRCurve:
        """The curve after acceptance, clipped for display."""
        if budget not in self.held_out:
            raise InvalidInputError(
                f"`budget` must be one of {', '.join(f'{b:g}' for b in self.budgets)}. "
                f"Got {budget}."
            )
        return self._curves[budget]

    @cached_property
    def _curves(self) -> dict[float, PRCurve]:
        return {budget: held_out.curve().clipped() for budget, held_out in self.held_out.items()}

    @property
    def headline(self) -> dict[str, FloatArray]:
        """Headline numbers for each budget, by the keys that they have in every result."""
        found = [
            balance_of(self.held_out[budget]).headline(self.curve(budget))
            for budget in self.budgets
        ]
        return {key: np.array([numbers[key] for numbers in found]) for key in found[0]}

    def divergence(self, divergence: Divergence) -> FloatArray:
        """Held-out dual bound of a divergence for each budget, shape (budgets,)."""
        return np.array([divergence.of_curve(self.held_out[b].curve()) for b in self.budgets])

    def smallest_budget(self, *, precision: float, recall: float) -> float:
        """The smallest budget whose curve reaches a precision at a recall."""
        check_shares("precision", precision)
        check_shares("recall", recall)
        for budget in self.budgets:
            if self.curve(budget).precision_at_recall(recall) >= precision:
                return budget
        best = float(self.curve(self.budgets[-1]).precision_at_recall(recall))
        raise UndefinedError(
            f"No budget reaches precision {precision:g} at recall {recall:g}: with "
            f"{self.budgets[-1]:g} draws per sample it is {best:.2f}. Rejection cannot restore "
            "modes that the model does not generate."
        )

    @property
    def enough(self) -> float:
        """The budget beyond which the area under the curve hardly grows."""
        areas = np.array([self.curve(budget).area for budget in self.budgets])
        return self.budgets[int(np.argmax(areas >= areas[-1] - policy.LITTLE_AREA))]


def plan_budget(held_out: HeldOutLogRatios, *, budgets: npt.ArrayLike = _BUDGETS) -> Plan:
    """Predict the curves of a model after optimal acceptance, from held-out log-ratios.

    Args:
        held_out: Log p/q of real and generated samples that the ratio was not fitted on.
        budgets: Numbers of draws per kept sample, each at least 1.

    Example:
        Rejection does not restore dropped modes:

        >>> import numpy as np
        >>> from tradeoff import HeldOutLogRatios
        >>> from tradeoff.sampling import plan_budget
        >>> real, generated = np.repeat([-0.69, 6.0], 500), np.full(1000, -0.69)
        >>> plan = plan_budget(HeldOutLogRatios(real=real, generated=generated))
        >>> bool(plan.headline["curve.recall"].max() < 0.51)
        True
    """
    check_type("held_out", held_out, HeldOutLogRatios)
    rules = {}
    for budget in np.unique(check_vector("budgets", budgets)).tolist():
        rules[budget] = AcceptanceRule.from_log_ratios(
            held_out.generated, weights=held_out.weights.generated, budget=budget
        )
    return Plan(rules, {budget: _after(held_out, rule) for budget, rule in rules.items()})


def _after(held_out: HeldOutLogRatios, rule: AcceptanceRule) -> HeldOutLogRatios:
    """Log-ratios of the same rule for the distribution after acceptance."""
    accepted = rule.acceptance(held_out.generated)
    shifts = held_out.log_ratios.map(lambda r: rule.log_acceptance(r) - np.log(rule.rate))
    keeps = accepted > 0
    if not keeps.any():
        raise InvalidInputError("The rule must keep some generated samples. It keeps none.")
    return HeldOutLogRatios(
        real=np.where(np.isneginf(held_out.real), -np.inf, held_out.real - shifts.real),
        generated=(held_out.generated - shifts.generated)[keeps],
        real_weights=held_out.weights.real,
        generated_weights=(held_out.weights.generated * accepted)[keeps],
    )
