"""Training of a discriminator alone, until its dual on held-out samples is flat."""

from __future__ import annotations

import warnings
from copy import deepcopy
from dataclasses import dataclass
from math import inf, sqrt
from typing import TYPE_CHECKING

import torch

from tradeoff._progress import track
from tradeoff._validation import check_count, check_positive, check_seed, check_type
from tradeoff.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["WarmUp"]

_HELD_OUT = 5  # one real sample in five
_MOST_HELD_OUT = 10_000
_CHECK = 100
_PATIENCE = 2
_CUT = 0.3
_CUTS = 3
_GAIN = 0.25  # over the root of the number of held-out samples: less is noise


@dataclass(frozen=True, eq=False)
class WarmUp:
    """Settings of a discriminator's training against a generator that does not change.

    Args:
        loss: Loss of the discriminator, from its outputs for both sides: the negative dual.
        generate: Function from a number n to n generated samples.
        learning_rate: Learning rate at the beginning; it falls whenever the dual is flat.
        batch: Number of samples of each side in a step.
        most_steps: Largest number of steps.
        seed: Seed of the batches.
        progress: Whether to show a progress line.
    """

    loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
    generate: Callable[[int], torch.Tensor]
    learning_rate: float
    batch: int
    most_steps: int
    seed: int
    progress: bool

    def __post_init__(self) -> None:
        check_positive("learning_rate", self.learning_rate)
        check_count("batch", self.batch)
        check_count("most_steps", self.most_steps)
        check_seed(self.seed)

    def run(self, discriminator: torch.nn.Module, real: torch.Tensor) -> tuple[float, ...]:
        """Held-out duals, one for every 100 steps; the best weights are kept.

        Args:
            discriminator: Network to be trained, in place.
            real: Real samples; a fifth of them, at most 10,000, is held out.
        """
        rng = torch.Generator().manual_seed(self.seed)
        held_out, known = _split(real, rng)
        sizes = [len(part) for part in torch.split(held_out, self.batch)]
        drawn = torch.cat([self._draw(size) for size in sizes])
        optimizer = torch.optim.Adam(discriminator.parameters(), self.learning_rate, (0.5, 0.99))
        plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(
            optimizer,
            mode="max",
            factor=_CUT,
            patience=_PATIENCE,
            threshold=_GAIN / sqrt(len(held_out)),
            threshold_mode="abs",
        )
        duals: list[float] = []
        best, highest = deepcopy(discriminator.state_dict()), -inf
        for _ in self._steps(discriminator, optimizer, known, rng):
            duals.append(self._dual(discriminator, held_out, drawn))
            if duals[-1] > highest:
                best, highest = deepcopy(discriminator.state_dict()), duals[-1]
            plateau.step(duals[-1])
            if optimizer.param_groups[0]["lr"] < self.learning_rate * _CUT ** (_CUTS - 0.5):
                break
        else:
            warnings.warn(
                f"The held-out dual is not flat after {self.most_steps:,} steps. Raise "
                "`most_steps`: a discriminator that still learns overestimates precision and "
                "recall.",
                stacklevel=3,
            )
        discriminator.load_state_dict(best)
        return tuple(duals)

    def _steps(
        self,
        discriminator: torch.nn.Module,
        optimizer: torch.optim.Optimizer,
        known: torch.Tensor,
        rng: torch.Generator,
    ) -> Iterator[None]:
        """Train, and stop at every check."""
        for step in track(range(1, self.most_steps + 1), "warming up", progress=self.progress):
            chosen = torch.randint(len(known), (self.batch,), generator=rng)
            drawn = self._draw(self.batch)
            optimizer.zero_grad()
            self.loss(discriminator(known[chosen]), discriminator(drawn)).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            if step % _CHECK == 0 or step == self.most_steps:
                yield

    @torch.no_grad()
    def _dual(
        self, discriminator: torch.nn.Module, real: torch.Tensor, drawn: torch.Tensor
    ) -> float:
        mode = discriminator.training
        discriminator.eval()
        outputs = (
            torch.cat([discriminator(part) for part in torch.split(side, self.batch)])
            for side in (real, drawn)
        )
        dual = -self.loss(*outputs).item()
        discriminator.train(mode)
        return dual

    @torch.no_grad()
    def _draw(self, n: int) -> torch.Tensor:
        drawn = self.generate(n)
        check_type("generate(n)", drawn, torch.Tensor)
        return drawn


def _split(real: torch.Tensor, rng: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Samples that are held out, and the others."""
    check_type("real", real, torch.Tensor)
    if len(real) < _HELD_OUT:
        raise InvalidInputError(
            f"`real` must have at least {_HELD_OUT} samples, of which one is held out. "
            f"Got {len(real)}."
        )
    count = min(len(real) // _HELD_OUT, _MOST_HELD_OUT)
    rows = torch.randperm(len(real), generator=rng)
    return real[rows[:count]], real[rows[count:]]
