"""The callback of Lightning: real trainers, real loggers."""

import csv

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pl = pytest.importorskip("lightning.pytorch")

from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger  # noqa: E402

from tradeoff import InvalidInputError, support_metrics  # noqa: E402
from tradeoff.integrations.lightning import TradeoffCallback  # noqa: E402
from tradeoff.training import NonSaturatingLoss  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::Warning")]

REAL = np.random.default_rng(0).normal(size=(2000, 2))
LEARNED = torch.tensor(REAL[:500], dtype=torch.float32)


class Gan(pl.LightningModule):
    """A small GAN of the plane in a few lines, whose samples may be those of one quadrant."""

    def __init__(self, collapsed=False):
        super().__init__()
        self.automatic_optimization = False
        self.generator = torch.nn.Linear(2, 2)
        self.discriminator = torch.nn.Linear(2, 1)
        self.loss, self.collapsed = NonSaturatingLoss(), collapsed
        torch.nn.init.eye_(self.generator.weight)

    def sample(self, count):
        latents = torch.randn(count, 2, generator=torch.Generator().manual_seed(1))
        made = self.generator(latents)
        return made.abs() if self.collapsed else made

    def training_step(self, batch):
        ours, theirs = self.optimizers()
        made = self.sample(len(batch))
        loss = self.loss.discriminator_loss(
            self.discriminator(batch), self.discriminator(made.detach())
        )
        theirs.zero_grad()
        self.manual_backward(loss)
        theirs.step()
        ours.zero_grad()
        self.manual_backward(self.loss.generator_loss(self.discriminator(made)))
        ours.step()

    def validation_step(self, batch):
        pass

    def configure_optimizers(self):
        return [
            torch.optim.SGD(network.parameters(), 1e-4)
            for network in (self.generator, self.discriminator)
        ]


def fit(folder, module, epochs=2, validates=False, limits=None, **options):
    torch.manual_seed(0)
    data = torch.utils.data.DataLoader(LEARNED, batch_size=100)
    options = {"estimator": "trees", "workers": 0, **options}
    callback = TradeoffCallback(real=REAL, generate=lambda one: one.sample(1000), **options)
    trainer = pl.Trainer(
        max_epochs=epochs,
        accelerator="cpu",
        logger=[CSVLogger(folder, name="csv"), TensorBoardLogger(folder, name="board")],
        callbacks=[callback],
        enable_progress_bar=False,
        enable_model_summary=False,
        enable_checkpointing=False,
        limit_val_batches=None if validates else 0,
        **(limits or {}),
    )
    trainer.fit(module, data, data if validates else None)
    return trainer, callback


@pytest.mark.slow
@pytest.mark.parametrize("validates", [False, True])
def test_scores_curves_and_the_page_reach_every_logger(tmp_path, validates):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    _, callback = fit(tmp_path, Gan(), validates=validates, workers=1)
    steps = callback.tracker.steps
    assert [step.step for step in steps] == [10, 20]  # two optimizers, five batches
    folder = tmp_path / "csv" / "version_0"
    rows = list(csv.DictReader((folder / "metrics.csv").open()))
    logged = [float(row["tradeoff/f_score"]) for row in rows if row.get("tradeoff/f_score")]
    assert logged == pytest.approx([step.f_score for step in steps], rel=1e-5)
    pictures = sorted((folder / "tradeoff").glob("curve-*.png"))
    assert len(pictures) == 2
    assert pictures[0].stat().st_size > 10_000
    board = EventAccumulator(str(tmp_path / "board" / "version_0")).Reload()
    assert {"tradeoff/knn.recall", "tradeoff/score"} <= set(board.Tags()["scalars"])
    assert board.Tags()["images"] == ["tradeoff/curve"]
    for place in (folder, tmp_path / "board" / "version_0"):
        assert "<html" in (place / "tradeoff.html").read_text()


@pytest.mark.slow
def test_only_every_few_epochs_or_steps(tmp_path):
    _, callback = fit(tmp_path / "epochs", Gan(), every=3, epochs=4)
    assert len(callback.tracker.steps) == 1
    _, callback = fit(tmp_path / "steps", Gan(), every=4, unit="step")
    assert [step.step for step in callback.tracker.steps] == [8, 16]


def test_a_callback_that_would_never_run_says_so(tmp_path):
    for options in ({"every": 3}, {"every": 11, "unit": "step"}):
        with pytest.warns(UserWarning, match=r"will never measure: .* this run has (2|10)\."):
            _, callback = fit(tmp_path, Gan(), **options)
        assert callback.tracker.steps == ()


class Forgets(Gan):
    """Loses half of the plane in its second epoch."""

    def on_train_epoch_start(self):
        self.collapsed = self.current_epoch == 1
        self.generator.weight.requires_grad_(False)
        self.generator.weight[0, 1] = self.current_epoch  # what tells the epochs apart


@pytest.mark.slow
def test_the_module_ends_with_the_best_weights(tmp_path):
    module = Forgets()
    _, callback = fit(tmp_path, module)
    first, second = callback.tracker.steps
    assert first.resolved
    assert second.resolved
    assert first.score > second.score + 0.2
    assert callback.tracker.best == first
    assert module.generator.weight[0, 1].item() == pytest.approx(0.0, abs=1e-3)
    (left,) = tmp_path.rglob("*.ckpt")
    assert callback.best_model_path == str(left)
    assert left.name == "step=10.ckpt"
    _, callback = fit(tmp_path / "last", module, restore=False)
    assert module.generator.weight[0, 1].item() == pytest.approx(1.0, abs=1e-3)


@pytest.mark.slow
def test_training_goes_on_as_without_the_callback(tmp_path):
    """Neither random numbers nor the mode of a layer change."""

    class Noisy(Gan):
        def __init__(self):
            super().__init__()
            self.dropout = torch.nn.Dropout(0.5)

        def sample(self, count):
            if count == 1000:
                assert not self.dropout.training
                assert not torch.is_grad_enabled()
            return self.generator(self.dropout(torch.randn(count, 2)))

    weights = []
    for every in (1, 2):
        torch.manual_seed(5)
        module = Noisy()
        fit(tmp_path / str(every), module, every=every, restore=False)
        weights.append(module.generator.weight.detach().clone())
    assert torch.equal(*weights)


@pytest.mark.slow
def test_averaged_weights_generate(tmp_path):
    module = Gan()
    module.ema = Gan(collapsed=True)
    _, callback = fit(tmp_path, module, epochs=1, averaged=lambda module: module.ema)
    assert callback.tracker.steps[0].recall < 0.7


@pytest.mark.slow
def test_training_stops_when_steps_are_worse(tmp_path):
    module = Forgets()
    trainer, callback = fit(tmp_path, module, epochs=4, stop=True, patience=1)
    assert trainer.current_epoch == 2
    assert "worse than step 10" in callback.tracker.stop_reason


@pytest.mark.slow
def test_a_collapsed_generator_is_precise_and_forgetful(tmp_path):
    _, callback = fit(tmp_path, Gan(collapsed=True), epochs=1)
    (step,) = callback.tracker.steps
    assert step.knn_precision > 0.95
    assert step.knn_recall < 0.5
    evaluation = callback.tracker.evaluation
    assert evaluation["curve.precision"].value > 0.9
    assert evaluation["curve.recall"].value < 0.5


@pytest.mark.slow
def test_copies_of_the_training_set_are_logged(tmp_path):
    module = Gan()
    torch.nn.init.zeros_(module.generator.bias)  # or real and training samples differ
    train = module.sample(1000).detach().numpy() + 1e-3
    _, callback = fit(tmp_path, module, epochs=1, train=train)
    assert callback.tracker.evaluation.training.state == "copies"
    assert "tradeoff/copies.owed_to_training" in next(tmp_path.rglob("metrics.csv")).read_text()


class Line(pl.LightningModule):
    """A module with one optimizer, for two processes."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2))

    def training_step(self, batch):
        return (batch * self.weight).square().mean()

    def validation_step(self, batch):
        pass

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 1e-3)


def one_quadrant(module):
    """Generated features, which differ between processes."""
    rng = torch.Generator().manual_seed(module.global_rank)
    return torch.randn(1000, 2, generator=rng).abs()


@pytest.mark.slow
def test_two_processes_log_what_the_first_one_finds(tmp_path):
    data = torch.utils.data.DataLoader(LEARNED, batch_size=100)
    trainer = pl.Trainer(
        max_epochs=1,
        accelerator="cpu",
        devices=2,
        strategy="ddp_spawn",
        logger=CSVLogger(tmp_path, name="csv"),
        callbacks=[
            TradeoffCallback(real=REAL, generate=one_quadrant, estimator="trees", workers=0)
        ],
        enable_progress_bar=False,
        enable_model_summary=False,
        enable_checkpointing=False,
    )
    trainer.fit(Line(), data)
    (rows,) = tmp_path.rglob("metrics.csv")
    (logged,) = [row for row in csv.DictReader(rows.open()) if row.get("tradeoff/knn.recall")]
    expected = support_metrics(
        real=REAL,
        generated=torch.randn(1000, 2, generator=torch.Generator().manual_seed(0)).abs().numpy(),
        progress=False,
    )
    assert float(logged["tradeoff/knn.recall"]) == pytest.approx(expected.recall, rel=1e-5)
    assert len(list(tmp_path.rglob("curve-*.png"))) == 1
    assert len(list(tmp_path.rglob("*.ckpt"))) == 1


def test_half_precision_and_mistakes():
    half = torch.tensor(REAL).bfloat16()
    callback = TradeoffCallback(real=half, generate=Gan.sample)
    np.testing.assert_array_equal(callback.tracker.reference.side.x, half.double().numpy())
    with pytest.raises(InvalidInputError, match="`seed` must be"):
        TradeoffCallback(real=REAL, generate=Gan.sample, seed=-1)
    with pytest.raises(InvalidInputError, match="Unknown estimator `magic`"):
        TradeoffCallback(real=REAL, generate=Gan.sample, estimator="magic")
    with pytest.raises(InvalidInputError, match="`unit` must be one of epoch, step"):
        TradeoffCallback(real=REAL, generate=Gan.sample, unit="batch")


@pytest.mark.parametrize(
    "wrong", [{"every": 0}, {"unit": "hour"}, {"patience": 0}, {"folder": "s3://bucket/weights"}]
)
def test_a_wrong_option_is_told_before_the_real_samples_are_embedded(wrong):
    def never(batch):
        pytest.fail("embedded")

    images = [np.zeros((8, 8, 3), np.uint8)] * 40
    with pytest.raises(InvalidInputError, match=f"`{next(iter(wrong))}`"):
        TradeoffCallback(real=images, generate=lambda module: [], encoder=never, **wrong)
