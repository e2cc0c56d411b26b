"""The callback of Lightning: real trainers, real loggers."""

import csv

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pl = pytest.importorskip("lightning.pytorch")

from lightning.pytorch.callbacks import ModelCheckpoint  # noqa: E402
from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger  # noqa: E402

from tradeoff import InvalidInputError, support_metrics  # noqa: E402
from tradeoff.integrations.lightning import TradeoffCallback  # noqa: E402
from tradeoff.training import NonSaturatingLoss  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::Warning")]

REAL = np.random.default_rng(0).normal(size=(500, 2))


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


def fit(folder, module, every=1, epochs=2, callbacks=(), estimator="gaussians", train=None):
    torch.manual_seed(0)
    data = torch.utils.data.DataLoader(torch.tensor(REAL, dtype=torch.float32), batch_size=100)
    callback = TradeoffCallback(
        real=REAL,
        generate=lambda module: module.sample(500),
        train=train,
        every=every,
        estimator=estimator,
    )
    trainer = pl.Trainer(
        max_epochs=epochs,
        accelerator="cpu",
        logger=[CSVLogger(folder, name="csv"), TensorBoardLogger(folder, name="board")],
        callbacks=[callback, *callbacks],
        enable_progress_bar=False,
        enable_model_summary=False,
        enable_checkpointing=bool(callbacks),
    )
    trainer.fit(module, data, data)
    return trainer, callback


@pytest.mark.slow
def test_scores_and_pictures_reach_every_logger(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    _, callback = fit(tmp_path, Gan())
    folder = tmp_path / "csv" / "version_0"
    rows = list(csv.DictReader((folder / "metrics.csv").open()))
    logged = [
        row["tradeoff/curve.precision"] for row in rows if row.get("tradeoff/curve.precision")
    ]
    assert len(logged) == 2
    assert float(logged[-1]) == pytest.approx(callback.last["curve.precision"].value, rel=1e-5)
    pictures = sorted((folder / "tradeoff").glob("curve-*.png"))
    assert len(pictures) == 2
    assert pictures[0].stat().st_size > 10_000
    board = EventAccumulator(str(tmp_path / "board" / "version_0")).Reload()
    assert "tradeoff/knn.recall" in board.Tags()["scalars"]
    assert board.Tags()["images"] == ["tradeoff/curve"]


@pytest.mark.slow
def test_only_every_few_epochs(tmp_path):
    fit(tmp_path, Gan(), every=3, epochs=4)
    assert len(list(tmp_path.rglob("curve-*.png"))) == 1


@pytest.mark.slow
def test_a_collapsed_generator_is_precise_and_forgetful(tmp_path):
    _, callback = fit(tmp_path, Gan(collapsed=True), epochs=1, estimator="trees")
    found = {key: score.value for key, score in callback.last.scores.items()}
    assert found["knn.precision"] > 0.95
    assert found["knn.recall"] < 0.5
    assert found["curve.precision"] > 0.9
    assert found["curve.recall"] < 0.5


@pytest.mark.slow
def test_copies_of_the_training_set_are_logged(tmp_path):
    module = Gan()
    torch.nn.init.zeros_(module.generator.bias)  # or real and training samples differ
    train = module.sample(500).detach().numpy() + 1e-3
    _, callback = fit(tmp_path, module, epochs=1, train=train)
    assert callback.last.training.state == "copies"
    assert "tradeoff/copies.owed_to_training" in next(tmp_path.rglob("metrics.csv")).read_text()


@pytest.mark.slow
def test_a_checkpoint_can_monitor_a_score(tmp_path):
    best = ModelCheckpoint(dirpath=tmp_path, monitor="tradeoff/curve.recall", mode="max")
    fit(tmp_path, Gan(), callbacks=[best])
    assert best.best_model_score is not None


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
    return torch.randn(500, 2, generator=rng).abs()


@pytest.mark.slow
def test_two_processes_log_what_the_first_one_finds(tmp_path):
    data = torch.utils.data.DataLoader(torch.tensor(REAL, dtype=torch.float32), batch_size=100)
    best = ModelCheckpoint(dirpath=tmp_path, monitor="tradeoff/curve.recall", mode="max")
    trainer = pl.Trainer(
        max_epochs=1,
        accelerator="cpu",
        devices=2,
        strategy="ddp_spawn",
        logger=CSVLogger(tmp_path, name="csv"),
        callbacks=[
            TradeoffCallback(real=REAL, generate=one_quadrant, estimator="gaussians"),
            best,
        ],
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Line(), data, data)
    (rows,) = tmp_path.rglob("metrics.csv")
    (logged,) = [row for row in csv.DictReader(rows.open()) if row.get("tradeoff/knn.recall")]
    expected = support_metrics(
        real=REAL,
        generated=torch.randn(500, 2, generator=torch.Generator().manual_seed(0)).abs().numpy(),
        progress=False,
    )
    assert float(logged["tradeoff/knn.recall"]) == pytest.approx(expected.recall, rel=1e-5)
    assert len(list(tmp_path.rglob("curve-*.png"))) == 1
    assert len(list(tmp_path.glob("*.ckpt"))) == 1


def test_half_precision_and_mistakes():
    half = torch.tensor(REAL).bfloat16()
    callback = TradeoffCallback(real=half, generate=Gan.sample)
    np.testing.assert_array_equal(callback.reference.side.x, half.double().numpy())
    with pytest.raises(InvalidInputError, match="`seed` must be"):
        TradeoffCallback(real=REAL, generate=Gan.sample, seed=-1)
    with pytest.raises(InvalidInputError, match="Unknown estimator `magic`"):
        TradeoffCallback(real=REAL, generate=Gan.sample, estimator="magic")
