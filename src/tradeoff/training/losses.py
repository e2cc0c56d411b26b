"""Losses without a state, one for each choice of a gain."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch

from tradeoff._validation import check_count, check_number, check_positive, check_type, to_array
from tradeoff.core.budget import AcceptanceRule
from tradeoff.core.divergence import GAN, Divergence
from tradeoff.exceptions import InvalidInputError
from tradeoff.training.base import Loss, check_outputs, check_state

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "BudgetedLoss",
    "DivergenceLoss",
    "NonSaturatingLoss",
    "PRLoss",
    "TruncatedPRLoss",
    "likelihood_loss",
]


class DivergenceLoss(Loss):
    r"""The dual loss of a smooth divergence, :math:`-\mathbb{E}_Q[f^*(T)]`: its exact gradient.

    Args:
        divergence: Divergence on which both networks are trained.

    Example:
        >>> import torch
        >>> from tradeoff.core.divergence import GAN
        >>> from tradeoff.training import DivergenceLoss
        >>> loss = DivergenceLoss(GAN())
        >>> real, generated = torch.tensor([1.0, 2.0]), torch.tensor([-1.0, 0.0])
        >>> round(loss.discriminator_loss(real, generated).item(), 4)
        0.7233
        >>> loss.weight([1.0]), GAN().weight([1.0])
        (array([0.5]), array([0.5]))
    """

    def __init__(self, divergence: Divergence) -> None:
        super().__init__(divergence)

    def gain(self, log_ratio: torch.Tensor) -> torch.Tensor:
        """The dual term."""
        found: torch.Tensor = self.auxiliary.dual(log_ratio)
        return found


class NonSaturatingLoss(Loss):
    r"""The plain GAN: cross-entropy for the discriminator, :math:`-\mathbb{E}_Q[\log\sigma(v)]`.

    Its generator does not descend the Jensen-Shannon divergence: the weight is
    :math:`1/(1+\lambda)`.

    Example:
        >>> from tradeoff.training import NonSaturatingLoss
        >>> NonSaturatingLoss().weight([1.0, 3.0])
        array([0.5 , 0.25])
    """

    def __init__(self) -> None:
        super().__init__(GAN())

    def gain(self, log_ratio: torch.Tensor) -> torch.Tensor:
        """The discriminator's log-probability that the sample is real."""
        return torch.nn.functional.logsigmoid(log_ratio)


class PRLoss(Loss):
    r"""The PR-divergence at λ, smoothed over neighboring trade-offs.

    The gain is :math:`\sigma((v + \log\lambda)/\tau)`, whose frozen gradient is exactly that of
    :math:`D_{\lambda'}` averaged over :math:`\log\lambda'` with a logistic kernel of width τ.

    Args:
        lam: Slope λ of the wanted trade-off: below 1 for recall, above 1 for precision.
        temperature: Width τ; a small one is sharp and gives few samples a gradient.
        auxiliary: Divergence on whose dual the discriminator learns the ratio; GAN if not given.

    Example:
        >>> import torch
        >>> from tradeoff.training import PRLoss
        >>> loss = PRLoss(lam=10.0)
        >>> outputs = torch.tensor([-3.0, 0.0, 3.0], requires_grad=True)
        >>> loss.generator_loss(outputs).backward()
        >>> outputs.grad.argmin().item()  # the sample nearest to p/q = 1/10 is pulled most
        0
    """

    def __init__(
        self, lam: float, *, temperature: float = 0.5, auxiliary: Divergence | None = None
    ) -> None:
        super().__init__(GAN() if auxiliary is None else auxiliary)
        self.lam = check_positive("lam", lam)
        self.temperature = check_positive("temperature", temperature)

    def gain(self, log_ratio: torch.Tensor) -> torch.Tensor:
        """A logistic step at p/q = 1/λ."""
        return torch.sigmoid((log_ratio + math.log(self.lam)) / self.temperature)


class TruncatedPRLoss(Loss):
    r"""The published form, :math:`-\mathbb{E}_Q[\min(\lambda r, 1)]`.

    It descends a Kullback-Leibler divergence restricted to the trade-offs beyond λ: its
    weight is :math:`\lambda/\lambda'^2` for :math:`\lambda' > \lambda`.

    Args:
        lam: Slope λ.
        auxiliary: Divergence on whose dual the discriminator learns the ratio; GAN if not given.

    Example:
        >>> from tradeoff.training import TruncatedPRLoss
        >>> TruncatedPRLoss(lam=1.0).weight([0.5, 2.0, 4.0])
        array([0.    , 0.25  , 0.0625])
    """

    def __init__(self, lam: float, *, auxiliary: Divergence | None = None) -> None:
        super().__init__(GAN() if auxiliary is None else auxiliary)
        self.lam = check_positive("lam", lam)

    def gain(self, log_ratio: torch.Tensor) -> torch.Tensor:
        """The smaller of λr and 1."""
        return torch.exp(torch.clamp(log_ratio + math.log(self.lam), max=0.0))


def likelihood_loss(log_density: torch.Tensor) -> torch.Tensor:
    """The mean negative log-likelihood of real samples, to be added to a flow's loss.

    Args:
        log_density: Log q of real samples under the flow, any shape.

    Example:
        >>> import torch
        >>> from tradeoff.training import likelihood_loss
        >>> likelihood_loss(torch.tensor([-1.0, -3.0])).item()
        2.0
    """
    return -check_outputs("log_density", log_density).mean()


class BudgetedLoss(Loss):
    r"""The divergence that is left after optimal rejection with K draws per kept sample.

    With c the constant of acceptance, samples that rejection will thin out, :math:`cr < 1`, carry
    no gradient. The gain is :math:`K\,(\varphi(1/(Kc)) - \varphi(r/K))` for the others, with
    :math:`\varphi(u) = f(u) - u f'(u)`; K = 1 is the dual loss.

    Args:
        budget: Budget K, at least 1.
        divergence: Divergence that shall be small after rejection, on which the discriminator is
            trained too; GAN if not given.
        refresh: Number of generator steps after which c is computed again, from the log-ratios of
            these steps.

    Example:
        >>> import torch
        >>> from tradeoff.core.divergence import GAN
        >>> from tradeoff.training import BudgetedLoss
        >>> loss = BudgetedLoss(2.0, GAN())
        >>> outputs = torch.tensor([-4.0, -3.0, 1.0, 2.0], requires_grad=True)
        >>> loss.generator_loss(outputs).backward()
        >>> (outputs.grad == 0).tolist()  # only the draw that is accepted for certain
        [True, True, True, False]
    """

    def __init__(
        self, budget: float, divergence: Divergence | None = None, *, refresh: int = 20
    ) -> None:
        super().__init__(GAN() if divergence is None else divergence)
        self.budget = check_number("budget", budget, at_least=1.0)
        self.refresh = check_count("refresh", refresh)
        self.log_constant: float | None = None
        self._recent: list[torch.Tensor] = []

    def generator_loss(self, generated: torch.Tensor) -> torch.Tensor:
        """Loss of the generator; updates the constant of acceptance every `refresh` steps."""
        log_ratio = self.log_ratio(generated)
        self._watch(log_ratio)
        return -self.gain(log_ratio).mean()

    def score_loss(self, log_ratio: torch.Tensor, log_density: torch.Tensor) -> torch.Tensor:
        """Loss of a generator with a density; updates the constant of acceptance as well."""
        values = check_outputs("log_ratio", log_ratio).flatten()
        self._watch(values[len(values) // 2 :])
        return super().score_loss(log_ratio, log_density)

    def calibrate(self, log_ratios: Any) -> None:
        """Compute the constant of acceptance from log-ratios of generated samples."""
        rule = AcceptanceRule.from_log_ratios(to_array(log_ratios), budget=self.budget)
        self.log_constant = rule.log_constant

    def _watch(self, log_ratio: torch.Tensor) -> None:
        self._recent.append(log_ratio.detach().flatten())
        if self.log_constant is None or len(self._recent) >= self.refresh:
            recent, self._recent = self._recent, []
            self.calibrate(torch.cat([one.to(log_ratio.device) for one in recent]))

    def gain(self, log_ratio: torch.Tensor) -> torch.Tensor:
        """Gain beyond the threshold of full acceptance, same shape; 0 below it."""
        if self.log_constant is None:
            raise InvalidInputError(
                "`calibrate` must be called with log-ratios of generated samples before `gain`."
            )
        log_budget = math.log(self.budget)
        kept = torch.clamp(log_ratio, min=-self.log_constant) - log_budget
        found: torch.Tensor = self.auxiliary.dual(kept)
        if self.log_constant < math.inf:
            found = found - self.auxiliary.dual(-self.log_constant - log_budget)
        return self.budget * found

    def state_dict(self) -> dict[str, Any]:
        """The constant of acceptance, and the log-ratios since it was computed."""
        return {"log_constant": self.log_constant, "recent": list(self._recent)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a checkpoint.

        Args:
            state: What `state_dict` returned.
        """
        check_state(state, self.state_dict())
        constant, recent = state["log_constant"], list(state["recent"])
        for values in recent:
            check_type("recent log-ratios", values, torch.Tensor)
        self.log_constant = None if constant is None else float(constant)
        self._recent = recent
