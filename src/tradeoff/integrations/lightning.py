"""The curve of a model in training, as a callback of Lightning."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from tradeoff._extras import import_extra
from tradeoff._validation import check_count
from tradeoff.evaluation import Evaluation, Reference
from tradeoff.evaluation.pipeline import checked, evaluate_sources
from tradeoff.integrations import logged
from tradeoff.report import EvaluationDisplay
from tradeoff.settings import Keywords, Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    import lightning.pytorch as pl
    import numpy.typing as npt

for package in ("torch", "lightning"):
    import_extra(package, extra="lightning", purpose="`TradeoffCallback`")

import torch  # noqa: E402
from lightning.pytorch.callbacks import Callback  # noqa: E402

__all__ = ["TradeoffCallback"]


class TradeoffCallback(Callback):
    """Evaluates the model every few epochs, and logs the scores and a picture of the curve.

    Scores have the keys of :func:`~tradeoff.evaluate`, such as ``curve.recall``, after a prefix.
    They go through Lightning to every logger, and checkpoints can monitor them: take
    ``curve.f_score``, since precision and recall are read at a slope of their own in every epoch.
    The picture goes to loggers with figures (TensorBoard) or images (`log_image`), and as a file
    into the folder of the others. With several processes the first one evaluates what it has
    generated.

    Args:
        real: Features of validation samples, shape (n, d).
        generate: Function from the module to features of generated samples, shape (m, d).
        train: Features of training samples, to test whether the model copies them; `real` must be
            other samples of the same data then.
        every: Number of epochs from one evaluation to the next.
        prefix: Prefix of the names under which scores are logged.
        settings: Settings of :func:`~tradeoff.evaluate`, such as `metrics` and `k`; known losses
            are not planted unless `diagnose` is true.

    Example:
        >>> import numpy as np
        >>> from tradeoff.integrations.lightning import TradeoffCallback
        >>> callback = TradeoffCallback(
        ...     real=np.zeros((100, 2)), generate=lambda module: module.sample(100), every=5
        ... )
        >>> callback.last is None
        True
    """

    def __init__(
        self,
        *,
        real: npt.ArrayLike,
        generate: Callable[[Any], Any],
        train: npt.ArrayLike | None = None,
        every: int = 1,
        prefix: str = "tradeoff/",
        **settings: Unpack[Keywords],
    ) -> None:
        self.settings = checked(Settings.of({**logged(train), **settings}))
        self.reference = Reference.make(real, kind="features", progress=False)
        self.generate, self.train = generate, train
        self.every = check_count("every", every)
        self.prefix = prefix
        self.last: Evaluation | None = None

    def on_validation_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Evaluate, if it is time to."""
        if trainer.sanity_checking or (trainer.current_epoch + 1) % self.every:
            return
        with torch.no_grad():
            generated = self.generate(pl_module)
        named: dict[str, float] = {}
        if trainer.is_global_zero:
            self.last = evaluate_sources(
                self.reference, generated, self.settings, train=self.train, progress=False
            )
            named = {self.prefix + key: score.value for key, score in self.last.scores.items()}
            self._picture(trainer, self.last)
        pl_module.log_dict(trainer.strategy.broadcast(named))

    def _picture(self, trainer: pl.Trainer, evaluation: Evaluation) -> None:
        if evaluation.curve is None:
            return
        name, step = f"{self.prefix}curve", trainer.global_step
        display = EvaluationDisplay(evaluation).plot()
        figure = display.figure_
        for logger in trainer.loggers:
            experiment: Any = getattr(logger, "experiment", None)
            if hasattr(experiment, "add_figure"):
                experiment.add_figure(name, figure, global_step=step)
            elif hasattr(logger, "log_image"):
                logger.log_image(key=name, images=[figure], step=step)
            elif getattr(logger, "log_dir", None):
                path = Path(str(logger.log_dir)) / f"{name}-{step:06d}.png"
                path.parent.mkdir(parents=True, exist_ok=True)
                display.save(path)
