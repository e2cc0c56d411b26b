"""Losses without a state, one for each choice of a gain."""

from __future__ import annotations

import math

import torch

from tradeoff._validation import check_positive
from tradeoff.core.divergence import GAN, Divergence
from tradeoff.training.base import Loss, check_outputs

__all__ = [
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
