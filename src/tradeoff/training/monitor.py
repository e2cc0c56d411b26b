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
from tradeoff.inference.intervals import curve_interval
from tradeoff.ratio.calibration import Isotonic
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

    Figures of batches that the discriminator learns from, and of its ratio as it is, are often too
    good. `check` takes outputs for samples that it does not learn from; `held_out_precision` and
    `held_out_recall` are then counted on these, with a ratio that is calibrated on the other half.

    `warnings` tells when there is nothing to learn from, when the dual still rises (the
    discriminator lags behind, so the figures are too good), and when a budgeted loss leaves a
    gradient to a single sample of a step. After `check` it also tells where the raw figures
    exceed those of held-out samples.

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
        self._held_out: HeldOutLogRatios | None = None

    def update(self, real: torch.Tensor, generated: torch.Tensor) -> None:
        """Add one step: the discriminator's outputs for both sides."""
        sides = Sides(check_outputs("real", real), check_outputs("generated", generated))
        self._steps.append(sides.map(lambda outputs: outputs.detach().flatten().cpu().double()))
        self._duals.append(-self.loss.discriminator_loss(*self._steps[-1]).item())

    def check(self, real: torch.Tensor, generated: torch.Tensor) -> None:
        """Calibrate the ratio: the discriminator's outputs for samples that it does not learn from.

        Args:
            real: Outputs for held-out real samples, any shape.
            generated: Outputs for fresh generated samples, any shape.

        Example:
            A discriminator that takes nearly everything for real:

            >>> import torch
            >>> from tradeoff.training import Monitor, PRLoss
            >>> _ = torch.manual_seed(0)
            >>> monitor = Monitor(PRLoss(lam=1.0))
            >>> outputs = [10 * (0.5 - shift - torch.randn(1000)) for shift in (0.0, 1.0)]
            >>> monitor.update(*(x + 15.0 for x in outputs))
            >>> monitor.check(*(x + 15.0 for x in outputs))
            >>> found = monitor.compute()  # the truth is 0.62
            >>> found["precision"] > 0.8, abs(found["held_out_precision"] - 0.62) < 0.06
            (True, True)
        """
        halves = []
        for name, outputs in (("real", real), ("generated", generated)):
            values = check_outputs(name, outputs).detach().flatten().cpu().double().numpy()
            if values.size < policy.FEWEST_CALIBRATED:
                raise InvalidInputError(
                    f"`{name}` must hold at least {policy.FEWEST_CALIBRATED} outputs to calibrate "
                    f"the ratio. Got {values.size}."
                )
            halves.append((values[::2], values[1::2]))
        maps = [Isotonic.fit(real=halves[0][i], generated=halves[1][i]) for i in (1, 0)]
        sides = (
            np.concatenate([fitted(half) for fitted, half in zip(maps, side, strict=True)])
            for side in halves
        )
        self._held_out = HeldOutLogRatios(**dict(zip(("real", "generated"), sides, strict=True)))

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
        held_out = {}
        if self._held_out is not None:
            value = min(float(self._held_out.curve().precision(self.lam)), 1.0, self.lam)
            held_out = {"held_out_precision": value, "held_out_recall": value / self.lam}
        return {
            "precision": float(alpha),
            "recall": float(alpha) / self.lam,
            "saturation": float((generated > -np.log(self.lam)).mean()),
            "dual": float(dual),
            "dual_gap": float(claimed - dual),
            "mean_ratio": float(ratios.mean()),
            **held_out,
        }

    def warnings(self) -> tuple[str, ...]:
        """Obstacles to learning, a sentence each."""
        computed = self.compute()
        found = (
            self._saturated(computed),
            self._disagreeing(computed),
            self._rising(),
            self._single(),
        )
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

    def _disagreeing(self, found: Mapping[str, float]) -> str:
        if self._held_out is None:
            return ""
        interval = curve_interval(self._held_out, [self.lam], level=policy.SURE)
        highest = float(interval.precision[0, 1])
        if min(found["precision"], 1.0, self.lam) <= highest:
            return ""
        return (
            f"At λ = {self.lam:g}, precision is {found['precision']:.2f} by the raw discriminator, "
            f"and {found['held_out_precision']:.2f} on held-out samples with its ratio "
            "calibrated: rely on the latter, and calibrate the ratio before samples are rejected "
            "by it."
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
