r"""The interface of losses: a gain decides which trade-offs a generator is trained for.

A discriminator learns the log-ratio :math:`v = \log p/q` from the dual of an auxiliary divergence;
the generator ascends :math:`\mathbb{E}_Q[s(v)]` with the discriminator frozen. For an increasing
gain s and the true ratio this is the gradient of :math:`-\int w(\lambda) D_\lambda\,d\lambda`,
with the weight :math:`w(\lambda) = s'(v)/\lambda` at :math:`v = -\log\lambda`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import torch

from tradeoff._validation import FloatArray, check_slopes, check_type
from tradeoff.core.divergence import Divergence
from tradeoff.exceptions import InvalidInputError, UndefinedError

__all__ = ["Loss", "check_outputs", "check_state"]


class Loss(ABC):
    """Base class of losses: one for the discriminator, one for the generator, and a weight.

    Args:
        auxiliary: Smooth divergence on whose dual the discriminator is trained. It also converts
            the discriminator's output, without any activation, to log p/q.

    Example:
        A new loss defines a gain, from which its weight follows:

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
        r"""The negative dual, :math:`\mathbb{E}_Q[f^*(T)] - \mathbb{E}_P[T]`.

        Args:
            real: Outputs of the discriminator for real samples, any shape.
            generated: Outputs of the discriminator for generated samples, any shape, detached from
                the generator.
        """
        real, generated = check_outputs("real", real), check_outputs("generated", generated)
        dual: torch.Tensor = self.auxiliary.dual(self.auxiliary.log_ratio(generated))
        critic: torch.Tensor = self.auxiliary.activation(real)
        return dual.mean() - critic.mean()

    def generator_loss(self, generated: torch.Tensor) -> torch.Tensor:
        """Loss of the generator; keep the discriminator's weights fixed.

        Args:
            generated: Outputs of the discriminator for generated samples, any shape.
        """
        return -self.gain(self.log_ratio(generated)).mean()

    def log_ratio(self, outputs: torch.Tensor) -> torch.Tensor:
        """Log p/q that follows from a discriminator's outputs, same shape."""
        found: torch.Tensor = self.auxiliary.log_ratio(check_outputs("outputs", outputs))
        return found

    @abstractmethod
    def gain(self, log_ratio: torch.Tensor) -> torch.Tensor:
        """Gain of generated samples with given log-ratios, same shape."""

    def weight(self, lam: Any) -> FloatArray:
        r"""Weight of :math:`D_\lambda` in the loss, per unit of λ; same shape as `lam`.

        Args:
            lam: Positive slopes, shape (n,).
        """
        slopes = check_slopes(lam)
        log_ratio = torch.tensor(-np.log(slopes), requires_grad=True)
        (steepness,) = torch.autograd.grad(self.gain(log_ratio).sum(), log_ratio)
        return np.asarray(steepness.numpy() / slopes)

    def state_dict(self) -> dict[str, Any]:
        """What changes from step to step, for a checkpoint; empty if nothing does."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a checkpoint.

        Args:
            state: What `state_dict` returned.
        """
        check_state(state, self.state_dict())


def check_state(state: Mapping[str, Any], keys: Collection[str]) -> None:
    """Check that a state has exactly the given keys."""
    check_type("state", state, Mapping)
    if set(state) != set(keys):
        raise InvalidInputError(
            f"`state` must be what `state_dict` returned, with the keys {sorted(keys)}. "
            f"Got {sorted(map(str, state))}: was it saved by another loss?"
        )


def check_outputs(name: str, values: torch.Tensor) -> torch.Tensor:
    """Check that a tensor is not empty; half precision, too coarse for ratios, becomes float32."""
    check_type(name, values, torch.Tensor)
    if values.numel() == 0:
        raise InvalidInputError(f"`{name}` must not be empty.")
    return values.float() if values.dtype in (torch.float16, torch.bfloat16) else values
