"""A run of the `Trainer` of transformers that is followed: the model ends with its best weights.

The picture has precision, recall and F-score of all steps, and which one is kept.

    python -m examples.follow_trainer --output steps.png
"""

import tempfile

import torch
from transformers import Trainer, TrainingArguments

from examples.parts.ring import RATE, Ring, Size, draw_real, show
from tradeoff.integrations.transformers import TradeoffTrainerCallback
from tradeoff.tracking import Tracker


class Model(Ring):
    """A flow as `Trainer` requires it."""

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        """The loss of a batch."""
        return {"loss": self.loss(x)}


def follow(size: Size) -> Tracker:
    """Train a flow, and end with the weights of its best step."""
    data = [{"x": point} for point in draw_real(256 * size.steps)]
    with tempfile.TemporaryDirectory() as folder:
        # The page "Train" shows the following lines.
        callback = TradeoffTrainerCallback(
            real=draw_real(size.samples),
            generate=lambda model: model.sample(size.samples),
            every=size.every,
            unit="step",
            stop=True,
            estimator="trees",
        )
        settings = TrainingArguments(
            output_dir=folder,
            num_train_epochs=1,
            per_device_train_batch_size=256,
            learning_rate=RATE,
            use_cpu=True,
            report_to=[],
            save_strategy="no",
        )
        Trainer(Model(), settings, train_dataset=data, callbacks=[callback]).train()
        # The page ends here.
    return callback.tracker


if __name__ == "__main__":
    show(__doc__, follow)
