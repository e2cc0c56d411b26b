"""A run of Lightning that is followed by a callback: the module ends with its best weights.

The picture has precision, recall and F-score of all steps, and which one is kept.

    python -m examples.follow_lightning --output steps.png
"""

import tempfile

import lightning.pytorch as pl
import torch
from torch.utils.data import DataLoader

from examples.parts.ring import RATE, Ring, Size, draw_real, show
from tradeoff.integrations.lightning import TradeoffCallback
from tradeoff.tracking import Tracker


class Module(pl.LightningModule):
    """A flow as a module of Lightning."""

    def __init__(self) -> None:
        super().__init__()
        self.model = Ring()

    def training_step(self, batch: torch.Tensor) -> torch.Tensor:
        """The loss of a batch."""
        return self.model.loss(batch)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Adam."""
        return torch.optim.Adam(self.parameters(), RATE)


def follow(size: Size) -> Tracker:
    """Train a flow, and end with the weights of its best step."""
    data = DataLoader(draw_real(256 * size.steps), batch_size=256)
    with tempfile.TemporaryDirectory() as folder:
        # The page "Train" shows the following lines.
        callback = TradeoffCallback(
            real=draw_real(size.samples),
            generate=lambda module: module.model.sample(size.samples),
            every=size.every,
            unit="step",
            stop=True,
            estimator="trees",
        )
        pl.Trainer(
            callbacks=[callback],
            max_epochs=1,
            default_root_dir=folder,
            accelerator="cpu",
            enable_progress_bar=False,
        ).fit(Module(), data)
        # The page ends here.
    return callback.tracker


if __name__ == "__main__":
    show(__doc__, follow)
