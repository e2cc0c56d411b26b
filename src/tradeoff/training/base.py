r"""The interface of losses: a gain decides which trade-offs a generator is trained for.

A discriminator learns the log-ratio :math:`v = \log p/q` from the dual of an auxiliary divergence;
the generator ascends :math:`\mathbb{E}_Q[s(v)]` with the discriminator frozen. For an increasing
gain s and the true ratio this is the gradient of :math:`-\int w(\lambda) D_\lambda\,d\lambda`,
with the weight :math:`w(\lambda) = s'(v)/\lambda` at :math:`v = -\log\lambda`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np
import torch

from tradeoff._validation import FloatArray, check_slopes, check_type
from tradeoff.core.divergence import Divergence
from tradeoff.exceptions import InvalidInputError, UndefinedError
from tradeoff.training.warm import WarmUp

__all__ = ["Loss", "check_outputs", "check_state"]

_PAIRS = 4  # values: a baseline needs a second pair
_TINY = 1e-30


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

    def score_loss(self, log_ratio: torch.Tensor, log_density: torch.Tensor) -> torch.Tensor:
        r"""Loss of a generator with a density, :math:`-\overline{w\,(s(v) - b)\log q(x)}`.

        Its gradient is that of `generator_loss`, by the score function: it uses the values of the
        discriminator and never its gradient, which is often less accurate. Samples of both sides
        take part with :math:`w = 2\sigma(-v) = 2q/(p + q)`. For the true ratio the gradient is
        unbiased, because the baseline of a pair,
        :math:`b = \sum ws/\sum w`, is taken over all the other pairs.

        Args:
            log_ratio: Log p/q of n real samples and then of n generated ones, 2n in all.
            log_density: Log q of the same samples under the generator, same shape; the gradient
                flows through it alone, so generated samples must be detached.

        Example:
            A model that puts too little on its second value learns to put more there:

            >>> import torch
            >>> from tradeoff.training import PRLoss
            >>> logits = torch.tensor([2.0, 0.0], requires_grad=True)
            >>> real, generated = torch.tensor([0, 1, 1, 0]), torch.tensor([0, 0, 1, 0])
            >>> x = torch.cat([real, generated])
            >>> log_density = logits.log_softmax(0)[x]
            >>> log_ratio = torch.tensor(0.5).log() - log_density.detach()
            >>> PRLoss(lam=1.0).score_loss(log_ratio, log_density).backward()
            >>> (logits.grad < 0).tolist()
            [False, True]
        """
        log_ratio = check_outputs("log_ratio", log_ratio).detach().flatten()
        log_density = check_outputs("log_density", log_density).flatten()
        if log_ratio.shape != log_density.shape or len(log_ratio) % 2 or len(log_ratio) < _PAIRS:
            raise InvalidInputError(
                "`log_ratio` and `log_density` must have one value for each of n real and n "
                f"generated samples, with n at least 2. Got {len(log_ratio)} and "
                f"{len(log_density)} values."
            )
        weight, gain = 2 * torch.sigmoid(-log_ratio), self.gain(log_ratio)
        return -(weight * (gain - _baseline(weight, gain)) * log_density).mean()

    def log_ratio(
        self,
        outputs: torch.Tensor,
        *,
        start: torch.Tensor | None = None,
        now: torch.Tensor | None = None,
    ) -> torch.Tensor:
        r"""Log p/q that follows from a discriminator's outputs, same shape.

        With both log-densities it is :math:`D(x) + \log q_\text{start}(x) - \log q_\text{now}(x)`:
        the discriminator then has a target that does not change while a flow is tuned. What comes
        back takes the place of the outputs in `discriminator_loss` and in `Monitor`.

        Args:
            outputs: Outputs of the discriminator, any shape.
            start: Log-density of the samples under the flow as it was when tuning began; no
                gradient flows through it.
            now: Log-density of the samples under the flow as it is, the same.
        """
        outputs = check_outputs("outputs", outputs)
        found: torch.Tensor = self.auxiliary.log_ratio(outputs)
        if start is None and now is None:
            return found
        if start is None or now is None:
            raise InvalidInputError("`start` and `now` must be given together.")
        if [self.auxiliary.log_ratio(output) for output in (-1.0, 2.0)] != [-1.0, 2.0]:
            raise InvalidInputError(
                "`start` and `now` require an auxiliary divergence whose discriminator returns "
                f"log-ratios, such as GAN(). Got {self.auxiliary!r}."
            )
        for name, given in (("start", start), ("now", now)):
            if (entries := check_outputs(name, given).numel()) != found.numel():
                raise InvalidInputError(
                    f"`{name}` must have one entry per sample, {found.numel()}. Got {entries}."
                )
        shift = start.reshape(-1) - now.reshape(-1)
        return found + shift.detach().reshape(found.shape)

    def warm_start(
        self,
        discriminator: torch.nn.Module,
        *,
        real: torch.Tensor,
        generate: Callable[[int], torch.Tensor],
        learning_rate: float = 1e-3,
        batch: int = 256,
        most_steps: int = 10_000,
        seed: int = 0,
        progress: bool = True,
    ) -> tuple[float, ...]:
        """Train a discriminator alone until the dual on held-out samples is flat.

        The learning rate falls whenever the dual is flat, three times before training stops.
        Returns the held-out duals, one for every 100 steps; the discriminator keeps the weights of
        the highest.

        Args:
            discriminator: Network to be trained, in place.
            real: Real samples, shape (n, ...); a fifth of them, at most 10,000, is held out.
            generate: Function from a number n to n samples of the model to be tuned.
            learning_rate: Learning rate at the beginning.
            batch: Number of samples of each side in a step.
            most_steps: Largest number of steps. A warning says if the dual is not flat by then.
            seed: Seed of the batches; the model has its own.
            progress: Whether to show a progress line.

        Example:
            >>> import torch
            >>> from tradeoff.training import PRLoss
            >>> _ = torch.manual_seed(0)
            >>> discriminator = torch.nn.Linear(1, 1)
            >>> duals = PRLoss(lam=1.0).warm_start(
            ...     discriminator,
            ...     real=torch.randn(5000, 1),
            ...     generate=lambda n: 1.0 + torch.randn(n, 1),  # log p/q is 1/2 - x
            ...     learning_rate=1e-2,
            ...     progress=False,
            ... )
            >>> abs(discriminator.weight.item() + 1.0) < 0.1
            True
        """
        settings = WarmUp(
            self.discriminator_loss, generate, learning_rate, batch, most_steps, seed, progress
        )
        return settings.run(discriminator, real)

    @abstractmethod
    def gain(self, log_ratio: torch.Tensor) -> torch.Tensor:
        """Gain of generated samples with given log-ratios, same shape."""

    def weight(self, lam: Any) -> FloatArray:
        r"""Weight of :math:`D_\lambda` in the loss, per unit of λ; same shape as `lam`.

        Args:
            lam: Positive slopes, shape (n,).
        """
        slopes = check_slopes(lam)
        with torch.inference_mode(False), torch.enable_grad():
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


def _baseline(weight: torch.Tensor, gain: torch.Tensor) -> torch.Tensor:
    """Weighted mean gain over all pairs but a sample's own, same shape.

    A real and a generated sample are left out together: only their sum of weighted scores has
    mean 0.
    """
    weights, gains = (part.reshape(2, -1).sum(0) for part in (weight, weight * gain))
    others = (gains.sum() - gains) / (weights.sum() - weights).clamp(min=_TINY)
    return others.repeat(2)


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
