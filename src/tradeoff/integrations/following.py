"""What callbacks share: a tracker, when it measures, and samples of a network in training."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, Unpack

import torch

from tradeoff._files import check_local
from tradeoff._validation import check_choice, check_count
from tradeoff.goals import Best
from tradeoff.inference import policy
from tradeoff.tracking import Tracker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from tradeoff.settings import Keywords
    from tradeoff.tracking import Log

__all__ = ["Following"]

_BEST_F_SCORE = Best("f_score")


class Following:
    """A tracker and its checkpoints, as callbacks of different trainers use them.

    Args are those of the callbacks.
    """

    def __init__(
        self,
        *,
        real: Any,
        generate: Callable[[Any], Any],
        averaged: Callable[[Any], Any] | None = None,
        goal: Best = _BEST_F_SCORE,
        train: Any = None,
        every: int = 1,
        unit: Literal["epoch", "step"] = "epoch",
        stop: bool = False,
        restore: bool = True,
        folder: str | Path | None = None,
        logs: Sequence[Log] = (),
        patience: int = policy.PATIENCE,
        workers: int = 1,
        progress: bool = True,
        **settings: Unpack[Keywords],
    ) -> None:
        self.generate, self.averaged = generate, averaged
        self.every, self.unit = check_count("every", every), unit
        check_choice("unit", unit, ("epoch", "step"))
        self.stop, self.restore, self.logs = stop, restore, tuple(logs)
        self.folder = None if folder is None else check_local("folder", folder)
        self.tracker = Tracker(
            real,
            goal=goal,
            train=train,
            patience=patience,
            workers=workers,
            logs=self.logs,
            discard=_delete,
            progress=progress,
            **settings,
        )

    @property
    def best_model_path(self) -> str:
        """The weights of the best step; empty if no step is kept."""
        return str(self.tracker.checkpoint or "")

    def samples_of(self, network: Any) -> Any:
        """Generated samples of a network, or of its averaged weights.

        Args:
            network: The network in training.
        """
        with _undisturbed(network, seed=self.tracker.settings.seed):
            return self.generate(network if self.averaged is None else self.averaged(network))

    def warn_if_never(self, length: float) -> None:
        """Warn if nothing would ever be measured.

        Args:
            length: Number of epochs or steps of the run; infinity if that is not known.
        """
        if length < self.every:
            warnings.warn(
                f"`{type(self).__name__}` will never measure: `every` is {self.every} "
                f"{self.unit}s, and this run has {length:g}. Pass a smaller `every`, or count by "
                "the other `unit`.",
                stacklevel=3,
            )


def _delete(path: Path) -> None:
    path.unlink(missing_ok=True)


@contextmanager
def _undisturbed(network: torch.nn.Module, *, seed: int) -> Iterator[None]:
    """Evaluation mode, no gradients and a seed of its own; afterwards everything is as before.

    Args:
        network: Network that generates, or that holds the one that does.
        seed: Seed of PyTorch's generators, the same at every step.
    """
    modes = [(module, module.training) for module in network.modules()]
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(seed)
        network.eval()
        try:
            yield
        finally:
            for module, is_training in modes:
                module.training = is_training
