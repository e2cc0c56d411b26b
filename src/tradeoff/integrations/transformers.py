"""A run of Hugging Face's ``Trainer`` that is followed, as a callback."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradeoff._extras import import_extra

if TYPE_CHECKING:
    from transformers import TrainerControl, TrainerState, TrainingArguments


for package in ("torch", "transformers", "accelerate"):
    import_extra(package, extra="transformers", purpose="`TradeoffTrainerCallback`")

import torch  # noqa: E402
from safetensors.torch import load_model, save_model  # noqa: E402
from transformers import TrainerCallback  # noqa: E402

from tradeoff.integrations.following import Following  # noqa: E402

__all__ = ["TradeoffTrainerCallback"]


class TradeoffTrainerCallback(Following, TrainerCallback):
    """Follows a run of ``Trainer``: a `Tracker` that measures every few epochs or steps.

    Samples are measured in a worker process, so training does not wait. The weights of each
    measured step are saved as safetensors, and only those of the best step are left; they are in
    the model when training has ended. With several processes the first one measures what it has
    generated.

    Args:
        real: Real samples that the model is not trained on, as for
            :class:`~tradeoff.tracking.Tracker`.
        generate: Function from the model to generated samples. It is called in evaluation mode,
            without gradients, and with the same seed at every step.
        averaged: Function from the model to the network with averaged weights, which `generate`
            gets in its place; it must be a part of the model, or its weights are not saved.
        goal: What to choose for.
        train: Samples on which the model is trained, to test whether it copies them.
        every: Number of epochs or steps from one measurement to the next.
        unit: "epoch" or "step"; a step is one of the optimizer.
        stop: Whether training ends when the last steps are shown to be worse than the best one.
        restore: Whether the model has the weights of the best step when training has ended.
        folder: Folder of the weights; one in the trainer's ``output_dir`` if not given.
        logs: What takes note of each step, such as
            :class:`~tradeoff.integrations.loggers.TensorBoardLog`.
        patience: Number of worse steps in a row after which to stop.
        workers: Number of worker processes; 0 to measure in this one.
        progress: Whether to show progress while the real samples are embedded.
        settings: Settings of :func:`~tradeoff.evaluate`, such as `encoder` and `estimator`.

    Example:
        >>> import numpy as np
        >>> from tradeoff.integrations.transformers import TradeoffTrainerCallback
        >>> callback = TradeoffTrainerCallback(
        ...     real=np.random.default_rng(0).normal(size=(1000, 2)),
        ...     generate=lambda model: model.sample(1000),
        ...     every=500,
        ...     unit="step",
        ... )
        >>> callback.tracker.best is None
        True
    """

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        """Say if nothing would ever run."""
        length = state.num_train_epochs if self.unit == "epoch" else state.max_steps
        self.warn_if_never(length)

    def on_step_end(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **given: Any,
    ) -> None:
        """Measure, if steps are counted and it is time to."""
        if self.unit == "step" and state.global_step % self.every == 0:
            self._measure(args, state, control, given["model"])

    def on_epoch_end(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **given: Any,
    ) -> None:
        """Measure, if epochs are counted and it is time to."""
        if self.unit == "epoch" and round(state.epoch or 0.0) % self.every == 0:
            self._measure(args, state, control, given["model"])

    def on_train_end(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **given: Any,
    ) -> None:
        """Wait for what is still measured, and give the model the weights of the best step."""
        if state.is_world_process_zero:
            self.tracker.finish()
        self.tracker.checkpoint = _of_the_first(self.tracker.checkpoint)
        if self.restore and self.tracker.checkpoint is not None:
            load_model(given["model"], self.tracker.checkpoint)

    def _measure(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, model: Any
    ) -> None:
        generated = self.samples_of(model)
        if state.is_world_process_zero:
            folder = self.folder or Path(str(args.output_dir)) / "tradeoff"
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"step={state.global_step}.safetensors"
            save_model(model, str(path))
            self.tracker.update(generated, step=state.global_step, checkpoint=path)
        if self.stop and _of_the_first(self.tracker.should_stop):
            control.should_training_stop = True


def _of_the_first(value: Any) -> Any:
    """What the first process has, in all of them."""
    if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
        return value
    held = [value]
    torch.distributed.broadcast_object_list(held, src=0)
    return held[0]
