"""Running figures of a training, from the discriminator's outputs."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tradeoff._sides import Sides
from tradeoff._validation import check_count, check_positive, check_type
from tradeoff.core.held_out import HeldOutLogRatios
from tradeoff.exceptions import InvalidInputError
from tradeoff.inference import policy
from tradeoff.training.base import Loss, check_outputs, check_state
from tradeoff.training.losses import BudgetedLoss

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Monitor"]

_HISTORY = 10  # windows over which the dual is followed: it rises slowly


class Monitor:
    r"""Running figures over the last steps, for a progress line or a logger.

    * `precision` and `recall`: :math:`\hat\alpha_\lambda` and
      :math:`\hat\beta_\lambda = \hat\alpha_\lambda / \lambda`, counted on batches before the
      discriminator learns from them;
    * `saturation`: share of generated samples with :math:`\lambda r > 1` by the discriminator's
      ratio. At 0 and at 1 there is little gradient;
    * `dual`: the dual estimate of the divergence;
    * `dual_gap`: the divergence computed from the ratio minus `dual`; 0 for the true ratio, of
      either sign for others;
    * `mean_ratio`: mean ratio of generated samples, at most 1 for the true ratio.

    `warnings` tells when there is nothing to learn from, when the dual still rises (the
    discriminator lags behind, so the figures are too good), and when a budgeted loss leaves a
    gradient to a single sample of a step.

    Args:
        loss: Loss that trains both networks.
        lam: Slope λ; that of the loss if it has one, and 1 if not.
        window: Number of steps.

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
        self._steps: deque[Sides[torch.Tensor]] = deque(maxlen=window)
        self._duals: deque[float] = deque(maxlen=_HISTORY * window)

    def update(self, real: torch.Tensor, generated: torch.Tensor) -> None:
        """Add one step: the discriminator's outputs for both sides."""
        sides = Sides(check_outputs("real", real), check_outputs("generated", generated))
        self._steps.append(sides.map(lambda outputs: outputs.detach().flatten().cpu().double()))
        self._duals.append(-self.loss.discriminator_loss(*self._steps[-1]).item())

    def compute(self) -> dict[str, float]:
        """The figures of the last steps, by name."""
        if not self._steps:
            raise InvalidInputError("`update` must be called before `compute`.")
        divergence = self.loss.auxiliary
        outputs = Sides(*(torch.cat(side).numpy() for side in zip(*self._steps, strict=True)))
        real, generated = outputs.map(divergence.log_ratio)
        alpha = HeldOutLogRatios(real=real, generated=generated).curve().precision(self.lam)
        dual = divergence.activation(outputs.real).mean() - divergence.dual(generated).mean()
        with np.errstate(over="ignore"):
            ratios = np.exp(generated)
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
        """Obstacles to learning, a sentence each."""
        found = (self._saturated(self.compute()), self._rising(), self._single())
        return tuple(sentence for sentence in found if sentence)

    def _saturated(self, found: Mapping[str, float]) -> str:
        if 0 < found["saturation"] < 1:
            return ""
        here = f"at λ = {self.lam:g} ({'every' if found['saturation'] else 'no'} sample has λr > 1)"
        if found["precision"] > policy.REACHED * min(1.0, self.lam):
            return f"The discriminator sees nothing left to gain {here}."
        hotter = ", with a higher temperature" if hasattr(self.loss, "temperature") else ""
        return (
            f"Hardly any sample has a gradient {here}: begin with a model that has learned "
            f"something{hotter}."
        )

    def _rising(self) -> str:
        half = len(self._duals) // 2
        if half < policy.FEWEST_STEPS:
            return ""
        duals = np.array(self._duals)
        before, after = duals[:half], duals[-half:]
        error = np.sqrt((before.var(ddof=1) + after.var(ddof=1)) / half)
        if after.mean() - before.mean() <= policy.RISING * error:
            return ""
        return (
            f"The dual still rises, from {before.mean():.3f} to {after.mean():.3f} over the last "
            f"{len(duals)} steps: the discriminator lags behind, and `precision` and `recall` are "
            "too high. Train it alone first, with `warm_start`, or at a higher rate."
        )

    def _single(self) -> str:
        if not isinstance(self.loss, BudgetedLoss) or self.loss.log_constant is None:
            return ""
        constant = self.loss.log_constant
        counts = [(self.loss.log_ratio(made) > -constant).sum().item() for _, made in self._steps]
        if np.mean(counts) > 1:
            return ""
        size = np.mean([len(made) for _, made in self._steps])
        return (
            f"At budget K = {self.loss.budget:g}, {np.mean(counts):.1f} of {size:.0f} generated "
            "samples in a step have a gradient: use larger batches or a smaller budget."
        )

    def state_dict(self) -> dict[str, Any]:
        """The outputs of the last steps and the duals before them, for a checkpoint."""
        return {"steps": [tuple(step) for step in self._steps], "duals": list(self._duals)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a checkpoint; of a longer window, the last steps are kept.

        Args:
            state: What `state_dict` returned.
        """
        check_state(state, self.state_dict())
        steps = [(real, generated) for real, generated in state["steps"]]
        duals = [float(dual) for dual in state["duals"]]
        self._steps.clear()
        for real, generated in steps:
            self.update(real, generated)
        self._duals.clear()
        self._duals.extend(duals)
