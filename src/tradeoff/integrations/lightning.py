"""A training run of Lightning that is followed, as a callback."""

from __future__ import annotations

import math
import pickle
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradeoff._extras import import_extra
from tradeoff.integrations.loggers import FolderLog, MlflowLog, TensorBoardLog, WandbLog

if TYPE_CHECKING:
    from collections.abc import Mapping

    import lightning.pytorch as pl

    from tradeoff.tracking import Log

for package in ("torch", "lightning"):
    import_extra(package, extra="lightning", purpose="`TradeoffCallback`")

import torch  # noqa: E402
from lightning.pytorch.callbacks import Callback  # noqa: E402

from tradeoff.integrations.following import Following  # noqa: E402

__all__ = ["TradeoffCallback"]


class TradeoffCallback(Following, Callback):
    """Follows a training run: a `Tracker` that measures every few epochs or steps.

    It needs no validation loop. Samples are measured in a worker process, so training does not
    wait. A checkpoint is written for each measured step, and only that of the best step is left;
    its weights are in the module when training has ended. Scores, curves and the page of the best
    step go to every logger of the trainer; ``ModelCheckpoint`` cannot monitor them, because
    training has gone on when they are known. With several processes the first one measures what it
    has generated.

    Args:
        real: Real samples that the model is not trained on, as for
            :class:`~tradeoff.tracking.Tracker`.
        generate: Function from the module to generated samples. It is called in evaluation mode,
            without gradients, and with the same seed at every step.
        averaged: Function from the module to the network with averaged weights, which `generate`
            gets in its place; it must be a part of the module, or its weights are not saved.
        goal: What to choose for.
        train: Samples on which the model is trained, to test whether it copies them.
        every: Number of epochs or steps from one measurement to the next.
        unit: "epoch" or "step"; a step is a batch.
        stop: Whether training ends when the last steps are shown to be worse than the best one.
        restore: Whether the module has the weights of the best step when training has ended.
        folder: Folder of the checkpoint; that of the logger if not given.
        logs: What takes note of each step, such as
            :class:`~tradeoff.integrations.loggers.TensorBoardLog`; the loggers of the trainer do,
            too.
        patience: Number of worse steps in a row after which to stop.
        workers: Number of worker processes; 0 to measure in this one.
        progress: Whether to show progress while the real samples are embedded.
        settings: Settings of :func:`~tradeoff.evaluate`, such as `encoder` and `estimator`.

    Example:
        >>> import numpy as np
        >>> from tradeoff.integrations.lightning import TradeoffCallback
        >>> callback = TradeoffCallback(
        ...     real=np.random.default_rng(0).normal(size=(1000, 2)),
        ...     generate=lambda module: module.sample(1000),
        ...     every=5,
        ... )
        >>> callback.tracker.best is None
        True
    """

    _batches = 0

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Say if nothing would ever run, and find the loggers."""
        length = _length(trainer, self.unit)
        self.warn_if_never(length)
        if trainer.is_global_zero:
            self.tracker.logs = (*self.logs, *map(_log_of, trainer.loggers))

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, *_: Any
    ) -> None:
        """Measure, if steps are counted and it is time to."""
        self._batches += 1
        if self.unit == "step" and self._batches % self.every == 0:
            self._measure(trainer, pl_module)

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Measure, if epochs are counted and it is time to."""
        if self.unit == "epoch" and (trainer.current_epoch + 1) % self.every == 0:
            self._measure(trainer, pl_module)

    def on_train_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Wait for what is still measured, and give the module the weights of the best step."""
        if trainer.is_global_zero:
            self.tracker.finish()
        self.tracker.checkpoint = trainer.strategy.broadcast(self.tracker.checkpoint)
        if self.restore and self.tracker.checkpoint is not None:
            _load(pl_module, self.tracker.checkpoint)

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint keeps of the callback."""
        return {"batches": self._batches}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on counting."""
        self._batches = state_dict["batches"]

    def _measure(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        generated = self.samples_of(pl_module)
        path = self._place(trainer) / f"step={trainer.global_step}.ckpt"
        trainer.save_checkpoint(path, weights_only=True)
        if trainer.is_global_zero:
            self.tracker.update(generated, step=trainer.global_step, checkpoint=path)
        if self.stop and trainer.strategy.broadcast(self.tracker.should_stop):
            trainer.should_stop = True

    def _place(self, trainer: pl.Trainer) -> Path:
        if self.folder is None:
            place = Path(trainer.log_dir or trainer.default_root_dir) / "tradeoff"
            self.folder = Path(trainer.strategy.broadcast(str(place)))
        return self.folder


def _length(trainer: pl.Trainer, unit: str) -> float:
    """How many epochs or batches a run has; infinity if that is not known."""
    epochs = math.inf if trainer.max_epochs in (None, -1) else float(trainer.max_epochs or 0)
    batches = float(trainer.num_training_batches)
    most = math.inf if trainer.max_steps == -1 else float(trainer.max_steps)
    if unit == "step":
        return min(epochs * batches, most) if batches else 0.0
    return min(epochs, math.ceil(most / batches)) if batches > 0 and most < math.inf else epochs


def _load(module: pl.LightningModule, path: Path) -> None:
    """Weights of a checkpoint that this run wrote."""
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        warnings.warn(
            f"The module has the weights of the last step, because its hyperparameters hold more "
            f"than numbers and texts. Those of the best step are in {path}.",
            stacklevel=2,
        )
        return
    module.load_state_dict(found["state_dict"])


def _log_of(logger: Any) -> Log:
    """Where a logger of Lightning shows steps."""
    experiment = logger.experiment
    if hasattr(experiment, "add_figure"):
        return TensorBoardLog(experiment)
    if hasattr(experiment, "define_metric"):
        return WandbLog(experiment)
    if hasattr(experiment, "log_figure"):
        return MlflowLog(experiment, logger.run_id)
    return _Other(logger)


class _Other(FolderLog):
    """Numbers in the logger, pictures and the page in its folder."""

    prefix = "tradeoff/"

    def __init__(self, logger: Any) -> None:
        super().__init__(logger.log_dir or ".")
        self.logger = logger

    def scalars(self, values: Mapping[str, float], step: int) -> None:
        """Log metrics."""
        self.logger.log_metrics(dict(values), step)
        self.logger.save()

    def figure(self, name: str, figure: Any, step: int) -> None:
        """Write a picture."""
        (self.folder / name).parent.mkdir(exist_ok=True)
        super().figure(name, figure, step)
