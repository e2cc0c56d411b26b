"""The curve of a model in training, as a callback of Lightning."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradeoff._extras import import_extra
from tradeoff._validation import check_count, check_features, check_seed
from tradeoff.integrations.scores import Scored, score_features
from tradeoff.ratio.crossfit import check_estimator
from tradeoff.report import PRCurveDisplay

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
    """Evaluates the curve every few epochs, and logs the scores and a picture.

    Scores go through Lightning to every logger, and can be monitored by checkpoints. The picture
    goes to loggers with figures (TensorBoard) or images (`log_image`), and as a file into the
    folder of the others. With several processes the first one evaluates what it has generated.

    Args:
        real: features of validation samples, shape (n, d).
        generate: from the module to features of generated samples, shape (m, d).
        every: epochs from one evaluation to the next.
        k: rank of the neighbor that a ball reaches.
        estimator: of the curve's log-ratio.
        seed: of its folds.
        prefix: of the names under which scores are logged.

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
        every: int = 1,
        k: int = 5,
        estimator: Any = "stack",
        seed: int = 0,
        prefix: str = "tradeoff/",
    ) -> None:
        (self.real,) = check_features(real=real)
        self.generate = generate
        self.every = check_count("every", every)
        self.settings: dict[str, Any] = {
            "k": check_count("k", k),
            "estimator": check_estimator(estimator),
            "seed": check_seed(seed),
        }
        self.prefix = prefix
        self.last: Scored | None = None

    def on_validation_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Evaluate, if it is time to."""
        if trainer.sanity_checking or (trainer.current_epoch + 1) % self.every:
            return
        with torch.no_grad():
            generated = self.generate(pl_module)
        named: dict[str, float] = {}
        if trainer.is_global_zero:
            self.last = score_features(real=self.real, generated=generated, **self.settings)
            named = {self.prefix + name: value for name, value in self.last.values().items()}
            self._picture(trainer, self.last)
        pl_module.log_dict(trainer.strategy.broadcast(named))

    def _picture(self, trainer: pl.Trainer, scored: Scored) -> None:
        name, step = f"{self.prefix}curve", trainer.global_step
        curves = {f"epoch {trainer.current_epoch}": scored.estimate.curve}
        figure = PRCurveDisplay(curves).plot().figure_
        for logger in trainer.loggers:
            experiment: Any = getattr(logger, "experiment", None)
            if hasattr(experiment, "add_figure"):
                experiment.add_figure(name, figure, global_step=step)
            elif hasattr(logger, "log_image"):
                logger.log_image(key=name, images=[figure], step=step)
            elif getattr(logger, "log_dir", None):
                path = Path(str(logger.log_dir)) / f"{name}-{step:06d}.png"
                path.parent.mkdir(parents=True, exist_ok=True)
                figure.savefig(path)
