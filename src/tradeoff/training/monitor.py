"""What a discriminator's outputs tell about a training that runs."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np
import torch

from tradeoff._validation import FloatArray, check_count, check_positive, check_type
from tradeoff.core.errors import HeldOutErrors
from tradeoff.exceptions import InvalidInputError
from tradeoff.training.losses import Loss

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Monitor"]


class Monitor:
    r"""Running figures over the last steps, for a progress line or a logger.

    * `precision` and `recall`: :math:`\hat\alpha_\lambda` and
      :math:`\hat\beta_\lambda = \hat\alpha_\lambda / \lambda`, counted on batches before the
      discriminator learns from them;
    * `saturation`: share of generated samples with :math:`\lambda r > 1`. At 0 the wanted
      trade-off is out of reach, at 1 it is reached; both leave little to learn from;
    * `dual`: the divergence as far as the discriminator sees it;
    * `dual_gap`: what the ratio claims less that, 0 for the true one, of either sign for others;
    * `mean_ratio`: of generated samples, at most 1 for the true one.

    Args:
        loss: that trains both networks.
        lam: slope λ; the loss' own if it has one, and 1 if not.
        window: number of steps.

    Example:
        >>> import torch
        >>> from tradeoff.training import Monitor, PRLoss
        >>> monitor = Monitor(PRLoss(lam=2.0))
        >>> monitor.update(torch.tensor([1.0, 2.0, -1.0, 0.0]), torch.tensor([-3.0, -1.0, 1.0]))
        >>> {name: round(value, 2) for name, value in monitor.compute().items()}["saturation"]
        0.33
    """

    def __init__(self, loss: Loss, *, lam: float | None = None, window: int = 50) -> None:
        check_type("loss", loss, Loss)
        self.loss = loss
        self.lam = check_positive("lam", getattr(loss, "lam", 1.0) if lam is None else lam)
        window = check_count("window", window)
        self._real: deque[torch.Tensor] = deque(maxlen=window)
        self._generated: deque[torch.Tensor] = deque(maxlen=window)

    def update(self, real: torch.Tensor, generated: torch.Tensor) -> None:
        """Take in one step: the discriminator's outputs for both sides."""
        with torch.no_grad():
            for side, outputs in ((self._real, real), (self._generated, generated)):
                side.append(self.loss.log_ratio(outputs.detach()).flatten().cpu().double())

    def compute(self) -> dict[str, float]:
        """The figures of the last steps, by name."""
        real, generated = self._log_ratios(self._real), self._log_ratios(self._generated)
        divergence = self.loss.auxiliary
        alpha = HeldOutErrors(real=real, generated=generated).curve().precision(self.lam)
        with np.errstate(over="ignore"):
            ratios = np.exp(generated)
            dual = divergence.derivative(np.exp(real)).mean() - divergence.dual(generated).mean()
            claimed = divergence.generator(ratios).mean()
        return {
            "precision": float(alpha),
            "recall": float(alpha) / self.lam,
            "saturation": float((generated > -np.log(self.lam)).mean()),
            "dual": float(dual),
            "dual_gap": float(claimed - dual),
            "mean_ratio": float(ratios.mean()),
        }

    def warnings(self) -> tuple[str, ...]:
        """What stands in the way of learning, a sentence each."""
        share = self.compute()["saturation"]
        if share == 0:
            return (
                f"No generated sample has λr > 1 at λ = {self.lam:g}: raise the temperature, or "
                "begin with a model that has learned something.",
            )
        if share == 1:
            return (
                f"Every generated sample has λr > 1 at λ = {self.lam:g}: there is nothing left to "
                "gain here.",
            )
        return ()

    @staticmethod
    def _log_ratios(parts: Sequence[torch.Tensor]) -> FloatArray:
        if not parts:
            raise InvalidInputError("`update` must be called before `compute`.")
        return np.asarray(torch.cat(list(parts)).numpy())
