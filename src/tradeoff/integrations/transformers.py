"""A run of Hugging Face's ``Trainer`` that is followed, as a callback."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from tradeoff._extras import import_extra
from tradeoff._files import check_local
from tradeoff._validation import check_choice, check_count
from tradeoff.goals import Best
from tradeoff.inference import policy
from tradeoff.tracking import Tracker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from transformers import TrainerControl, TrainerState, TrainingArguments

    from tradeoff.settings import Keywords
    from tradeoff.tracking import Log

for package in ("torch", "transformers", "accelerate"):
    import_extra(package, extra="transformers", purpose="`TradeoffTrainerCallback`")

import torch  # noqa: E402
from safetensors.torch import load_model, save_model  # noqa: E402
from transformers import TrainerCallback  # noqa: E402

from tradeoff.integrations.following import undisturbed, warn_if_never  # noqa: E402

__all__ = ["TradeoffTrainerCallback"]

_BEST_F_SCORE = Best("f_score")


class TradeoffTrainerCallback(TrainerCallback):
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
        **settings: Unpack[Keywords],
    ) -> None:
        self.tracker = Tracker(
            real,
            goal=goal,
            train=train,
            patience=patience,
            workers=workers,
            logs=logs,
            discard=Path.unlink,
            progress=False,
            **settings,
        )
        self.generate, self.averaged = generate, averaged
        self.every, self.unit = check_count("every", every), unit
        check_choice("unit", unit, ("epoch", "step"))
        self.stop, self.restore = stop, restore
        self.folder = None if folder is None else check_local("folder", folder)

    @property
    def best_model_path(self) -> str:
        """The weights of the best step; empty if no step is kept."""
        return str(self.tracker.checkpoint or "")

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        """Say if nothing would ever run."""
        length = state.num_train_epochs if self.unit == "epoch" else state.max_steps
        warn_if_never("TradeoffTrainerCallback", self.every, self.unit, length)

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
        network = model if self.averaged is None else self.averaged(model)
        with undisturbed(model, seed=self.tracker.settings.seed):
            generated = self.generate(network)
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
