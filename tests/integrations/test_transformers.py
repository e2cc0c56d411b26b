"""The callback of Hugging Face's Trainer: real trainers, real weights."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("accelerate")

from transformers import Trainer, TrainingArguments  # noqa: E402

from tradeoff.integrations.loggers import FolderLog  # noqa: E402
from tradeoff.integrations.transformers import TradeoffTrainerCallback  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::Warning")]

REAL = np.random.default_rng(0).normal(size=(2000, 2))


class Drifts(torch.nn.Module):
    """A model whose samples move away from the data, by one in an epoch of four steps."""

    def __init__(self):
        super().__init__()
        self.shift = torch.nn.Parameter(torch.zeros(1))
        self.dropout = torch.nn.Dropout(0.5)

    def forward(self, x):
        return {"loss": -self.shift.sum() + 0.0 * x.sum() + 0.0 * torch.rand(()).item()}

    def sample(self, count):
        assert not self.dropout.training
        return torch.randn(count, 2) + self.shift - 0.25


def fit(folder, epochs=3, model=None, **options):
    model = model or Drifts()
    options = {"estimator": "trees", "workers": 0, **options}
    callback = TradeoffTrainerCallback(
        real=REAL, generate=lambda model: model.sample(1000), **options
    )
    trainer = Trainer(
        model=model,
        args=TrainingArguments(
            output_dir=str(folder),
            num_train_epochs=epochs,
            per_device_train_batch_size=8,
            learning_rate=0.25,
            lr_scheduler_type="constant",
            max_grad_norm=0.0,
            optim="sgd",
            use_cpu=True,
            report_to=[],
            save_strategy="no",
            disable_tqdm=True,
        ),
        train_dataset=[{"x": torch.zeros(2)} for _ in range(32)],
        callbacks=[callback],
    )
    trainer.train()
    return model, callback


@pytest.mark.slow
def test_a_run_ends_with_the_best_weights(tmp_path):
    model, callback = fit(tmp_path / "run", every=1, unit="step", epochs=1, workers=1)
    steps = callback.tracker.steps
    assert [step.step for step in steps] == [1, 2, 3, 4]
    assert callback.tracker.best.step == 1
    assert model.shift.item() == pytest.approx(0.25)
    (left,) = tmp_path.rglob("*.safetensors")
    assert callback.best_model_path == str(left)
    assert left.name == "step=1.safetensors"


@pytest.mark.slow
def test_epochs_are_counted_and_worse_ones_stop(tmp_path):
    log = FolderLog(tmp_path / "log")
    model, callback = fit(
        tmp_path / "run", epochs=6, stop=True, patience=1, restore=False, logs=[log]
    )
    assert [step.step for step in callback.tracker.steps] == [4, 8]
    assert "worse than step 4" in callback.tracker.stop_reason
    assert model.shift.item() == pytest.approx(2.0)
    assert "4,f_score," in (tmp_path / "log" / "tradeoff.csv").read_text()
    assert "<html" in (tmp_path / "log" / "tradeoff.html").read_text()


def test_a_callback_that_would_never_run_says_so(tmp_path):
    with pytest.warns(UserWarning, match="will never measure: `every` is 2 epochs"):
        fit(tmp_path, epochs=1, every=2)
    with pytest.warns(UserWarning, match="this run has 4"):
        fit(tmp_path, epochs=1, every=100, unit="step")
