r"""Losses that train a generator for a chosen point of the trade-off.

A discriminator learns the log-ratio :math:`v = \log p/q` from the dual of an auxiliary divergence;
the generator climbs :math:`\mathbb{E}_Q[s(v)]`, with the discriminator frozen. With s increasing
this is, where the ratio is true, the gradient of :math:`-\int w(\lambda) D_\lambda\,d\lambda`, with
:math:`w(\lambda) = s'(v)/\lambda` at :math:`v = -\log\lambda`: each loss has a gain s, and its
weight says which trade-offs it pays for.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import torch

from tradeoff._validation import (
    FloatArray,
    check_count,
    check_number,
    check_positive,
    check_slopes,
    check_type,
    to_array,
)
from tradeoff.core.budget import AcceptanceRule
from tradeoff.core.divergence import GAN, Divergence
from tradeoff.exceptions import InvalidInputError, UndefinedError

__all__ = [
    "BudgetedLoss",
    "DivergenceLoss",
    "Loss",
    "NonSaturatingLoss",
    "PRLoss",
    "TruncatedPRLoss",
    "likelihood_loss",
]


class Loss(ABC):
    """What every loss offers: one for the discriminator, one for the generator, and a weight.

    Args:
        auxiliary: the smooth divergence on whose dual the discriminator is trained. Its output,
            without any activation, stands for log p/q through it.

    Example:
        A loss of one's own has a gain, and then knows what it pays for:

        >>> from tradeoff.core.divergence import GAN
        >>> from tradeoff.training import Loss
        >>> class ReverseKLLoss(Loss):
        ...     def gain(self, log_ratio):
        ...         return log_ratio
        >>> ReverseKLLoss(GAN()).weight([0.5, 2.0])
        array([2. , 0.5])
    """

    def __init__(self, auxiliary: Divergence) -> None:
        check_type("auxiliary", auxiliary, Divergence)
        try:
            auxiliary.log_ratio(0.0)
        except UndefinedError as error:
            raise UndefinedError(
                f"{error} Train the discriminator on another divergence, GAN() for one."
            ) from None
        self.auxiliary = auxiliary

    def discriminator_loss(self, real: torch.Tensor, generated: torch.Tensor) -> torch.Tensor:
        r"""The dual with its sign turned, :math:`\mathbb{E}_Q[f^*(T)] - \mathbb{E}_P[T]`.

        Args:
            real: outputs of the discriminator for real samples, of any shape.
            generated: its outputs for generated samples, detached from the generator.
        """
        real, generated = check_outputs("real", real), check_outputs("generated", generated)
        dual: torch.Tensor = self.auxiliary.dual(self.auxiliary.log_ratio(generated))
        critic: torch.Tensor = self.auxiliary.activation(real)
        return dual.mean() - critic.mean()

    def generator_loss(self, generated: torch.Tensor) -> torch.Tensor:
        """What the generator descends; the discriminator's weights stay as they are.

        Args:
            generated: outputs of the discriminator for generated samples.
        """
        return -self.gain(self.log_ratio(generated)).mean()

    def log_ratio(self, outputs: torch.Tensor) -> torch.Tensor:
        """Log p/q that a discriminator's outputs stand for, same shape."""
        found: torch.Tensor = self.auxiliary.log_ratio(check_outputs("outputs", outputs))
        return found

    @abstractmethod
    def gain(self, log_ratio: torch.Tensor) -> torch.Tensor:
        """What a generated sample is worth at its log-ratio, same shape."""

    def weight(self, lam: Any) -> FloatArray:
        r"""How much of :math:`D_\lambda` the loss pays for, per unit of λ; same shape as `lam`.

        Args:
            lam: slopes, positive.
        """
        slopes = check_slopes(lam)
        log_ratio = torch.tensor(-np.log(slopes), requires_grad=True)
        (steepness,) = torch.autograd.grad(self.gain(log_ratio).sum(), log_ratio)
        return np.asarray(steepness.numpy() / slopes)


class DivergenceLoss(Loss):
    r"""The dual loss of a smooth divergence, :math:`-\mathbb{E}_Q[f^*(T)]`: its exact gradient.

    Args:
        divergence: which both networks are trained on.

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

    What its generator descends is no Jensen-Shannon divergence: the weight is
    :math:`1/(1+\lambda)`, which pays for precision most of all.

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
        lam: slope λ of the wanted trade-off: below 1 for recall, above 1 for precision.
        temperature: τ; small is sharp, and gives few samples a gradient.
        auxiliary: on whose dual the discriminator learns the ratio.

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

    What it descends is a Kullback-Leibler divergence restricted to the trade-offs beyond λ: its
    weight is :math:`\lambda/\lambda'^2` for :math:`\lambda' > \lambda`.

    Args:
        lam: slope λ.
        auxiliary: on whose dual the discriminator learns the ratio.

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


class BudgetedLoss(Loss):
    r"""The divergence that is left after optimal rejection with K draws per kept sample.

    With c the constant of acceptance, samples that rejection will thin out, :math:`cr < 1`, carry
    no gradient. The gain is :math:`K\,(\varphi(1/(Kc)) - \varphi(r/K))` for the others, with
    :math:`\varphi(u) = f(u) - u f'(u)`; K = 1 is the dual loss.

    Args:
        budget: K, at least 1.
        divergence: to be small after rejection; the discriminator is trained on it, too.
        refresh: steps of the generator after which c is computed anew, from the log-ratios of the
            last of them.

    Example:
        >>> import torch
        >>> from tradeoff.core.divergence import GAN
        >>> from tradeoff.training import BudgetedLoss
        >>> loss = BudgetedLoss(2.0, GAN())
        >>> outputs = torch.tensor([-4.0, -3.0, 1.0, 2.0], requires_grad=True)
        >>> loss.generator_loss(outputs).backward()
        >>> (outputs.grad == 0).tolist()  # of half the draws, what is sure to be kept
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
        """As for every loss; also keeps the constant of acceptance up to date."""
        log_ratio = self.log_ratio(generated)
        self._recent.append(log_ratio.detach().flatten())
        if self.log_constant is None or len(self._recent) >= self.refresh:
            self.calibrate(torch.cat(self._recent))
            self._recent.clear()
        return -self.gain(log_ratio).mean()

    def calibrate(self, log_ratios: Any) -> None:
        """Compute the constant of acceptance from log-ratios of generated samples."""
        rule = AcceptanceRule.from_log_ratios(to_array(log_ratios), budget=self.budget)
        self.log_constant = rule.log_constant

    def gain(self, log_ratio: torch.Tensor) -> torch.Tensor:
        """What is gained beyond the threshold of full acceptance."""
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


def likelihood_loss(log_density: torch.Tensor) -> torch.Tensor:
    """The mean negative log-likelihood of real samples, to be added to a flow's loss.

    Args:
        log_density: log q of real samples under the flow, of any shape.

    Example:
        >>> import torch
        >>> from tradeoff.training import likelihood_loss
        >>> likelihood_loss(torch.tensor([-1.0, -3.0])).item()
        2.0
    """
    return -check_outputs("log_density", log_density).mean()


def check_outputs(name: str, values: torch.Tensor) -> torch.Tensor:
    """Refuses what is no tensor or is empty; half precision, too coarse for ratios, is widened."""
    check_type(name, values, torch.Tensor)
    if values.numel() == 0:
        raise InvalidInputError(f"`{name}` must not be empty.")
    return values.float() if values.dtype in (torch.float16, torch.bfloat16) else values
