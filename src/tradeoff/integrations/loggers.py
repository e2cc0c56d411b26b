"""Where people look at a training run: scalars, the curve as a figure, the page as an artifact.

Each class takes the writer, run or client of its package, so none is imported here. A step that is
not resolved shows no score of the curve.
"""

from __future__ import annotations

import csv
import tempfile
from abc import ABC, abstractmethod
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradeoff._extras import import_extra
from tradeoff._files import check_local
from tradeoff.report import EvaluationDisplay

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

    from tradeoff.evaluation import Evaluation
    from tradeoff.tracking import TrackedStep

__all__ = ["FolderLog", "MlflowLog", "TensorBoardLog", "WandbLog"]

_PREFIX = "tradeoff/"
_PAGE = "tradeoff.html"
_OF_STEPS = ("curve.f_score", "curve.precision", "curve.recall")
"""Scores that a step has itself, at the same slope as all other steps."""


class _Log(ABC):
    """What takes note of scalars, figures and a page; see :class:`~tradeoff.tracking.Log`."""

    prefix: str = _PREFIX

    @abstractmethod
    def scalars(self, values: Mapping[str, float], step: int) -> None:
        """Show numbers by name."""

    @abstractmethod
    def figure(self, name: str, figure: Figure, step: int) -> None:
        """Show a figure."""

    @abstractmethod
    def page(self, path: Path) -> None:
        """Keep a page, whose file exists during the call."""

    def log(self, step: TrackedStep, evaluation: Evaluation | None) -> None:
        """Take note of a step."""
        values = {f"{self.prefix}{key}": value for key, value in _numbers(step, evaluation).items()}
        self.scalars(values, step.step)
        if evaluation is not None and evaluation.curve is not None:
            figure = EvaluationDisplay(evaluation).plot().figure_
            self.figure(f"{self.prefix}curve", figure, step.step)

    def end(self, best: TrackedStep | None, evaluation: Evaluation | None) -> None:
        """Keep the page of the step that was kept."""
        if evaluation is None:
            return
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / _PAGE
            evaluation.report(path)
            self.page(path)


def _numbers(step: TrackedStep, evaluation: Evaluation | None) -> dict[str, float]:
    """Numbers of a step by name; a score that is not resolved is not a number to look at."""
    scores = {} if evaluation is None else evaluation.scores
    named = {
        key: score.value
        for key, score in scores.items()
        if key not in _OF_STEPS and (step.resolved or not key.startswith("curve."))
    }
    return named | step.numbers


class TensorBoardLog(_Log):
    """Steps in TensorBoard; the page is a file in its folder.

    Args:
        writer: A ``SummaryWriter``.
        prefix: Prefix of all names.

    Example:
        >>> import tempfile
        >>> from torch.utils.tensorboard import SummaryWriter
        >>> from tradeoff.integrations.loggers import TensorBoardLog
        >>> from tradeoff.tracking import TrackedStep
        >>> log = TensorBoardLog(SummaryWriter(tempfile.mkdtemp()))
        >>> log.log(TrackedStep(step=1, reason="There are no generated samples."), None)
    """

    def __init__(self, writer: Any, *, prefix: str = _PREFIX) -> None:
        self.writer, self.prefix = writer, prefix

    def scalars(self, values: Mapping[str, float], step: int) -> None:
        """Add scalars."""
        for name, value in values.items():
            self.writer.add_scalar(name, value, step)

    def figure(self, name: str, figure: Figure, step: int) -> None:
        """Add an image."""
        self.writer.add_figure(name, figure, step)

    def page(self, path: Path) -> None:
        """Copy the page into the folder of the events."""
        (Path(self.writer.log_dir) / path.name).write_bytes(path.read_bytes())
        self.writer.flush()


class WandbLog(_Log):
    """Steps in Weights & Biases; the page is an artifact.

    Steps are measured in the background and come later than others of the run, so they have an axis
    of their own, ``tradeoff/step``.

    Args:
        run: What ``wandb.init`` returned.
        prefix: Prefix of all names.

    Example:
        >>> from tradeoff.integrations.loggers import WandbLog
        >>> def follow(run):  # run = wandb.init(project="gan")
        ...     return WandbLog(run)
    """

    def __init__(self, run: Any, *, prefix: str = _PREFIX) -> None:
        self.run, self.prefix = run, prefix
        run.define_metric(f"{prefix}step")
        run.define_metric(f"{prefix}*", step_metric=f"{prefix}step")

    def scalars(self, values: Mapping[str, float], step: int) -> None:
        """Log scalars."""
        self.run.log({**values, f"{self.prefix}step": step})

    def figure(self, name: str, figure: Figure, step: int) -> None:
        """Log an image."""
        wandb = import_extra("wandb", extra="wandb", purpose="`WandbLog`")
        pillow = import_extra("PIL.Image", extra="wandb", purpose="`WandbLog`")
        drawn = BytesIO()  # of a figure, wandb expects that pyplot made it
        figure.savefig(drawn, format="png")
        picture = wandb.Image(pillow.open(drawn))
        self.run.log({name: picture, f"{self.prefix}step": step})

    def page(self, path: Path) -> None:
        """Log the page as an artifact of the type "report"."""
        wandb = import_extra("wandb", extra="wandb", purpose="`WandbLog`")
        artifact = wandb.Artifact("tradeoff", type="report")
        artifact.add_file(str(path))
        self.run.log_artifact(artifact)


class MlflowLog(_Log):
    """Steps in MLflow; figures and the page are artifacts.

    Args:
        client: An ``MlflowClient``.
        run_id: Id of the run.
        prefix: Prefix of all names.

    Example:
        >>> from tradeoff.integrations.loggers import MlflowLog
        >>> def follow(mlflow):
        ...     return MlflowLog(mlflow.MlflowClient(), mlflow.active_run().info.run_id)
    """

    def __init__(self, client: Any, run_id: str, *, prefix: str = _PREFIX) -> None:
        self.client, self.run_id, self.prefix = client, run_id, prefix

    def scalars(self, values: Mapping[str, float], step: int) -> None:
        """Log metrics."""
        for name, value in values.items():
            self.client.log_metric(self.run_id, name, value, step=step)

    def figure(self, name: str, figure: Figure, step: int) -> None:
        """Log a picture."""
        self.client.log_figure(self.run_id, figure, f"{name}-{step:08d}.png")

    def page(self, path: Path) -> None:
        """Log the page."""
        self.client.log_artifact(self.run_id, str(path))


class FolderLog(_Log):
    """Steps in a folder: a table ``tradeoff.csv``, a picture of each curve, and the page.

    Args:
        folder: The folder, created if needed.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from tradeoff.integrations.loggers import FolderLog
        >>> from tradeoff.tracking import TrackedStep
        >>> folder = tempfile.mkdtemp()
        >>> FolderLog(folder).log(TrackedStep(step=7, reason="All samples are equal."), None)
        >>> (Path(folder) / "tradeoff.csv").read_text().split()
        ['step,name,value', '7,resolved,0.0']
    """

    prefix = ""

    def __init__(self, folder: str | Path) -> None:
        self.folder = check_local("folder", folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def scalars(self, values: Mapping[str, float], step: int) -> None:
        """Append rows to the table."""
        path = self.folder / "tradeoff.csv"
        is_new = not path.exists()
        with path.open("a", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            if is_new:
                rows.writerow(("step", "name", "value"))
            rows.writerows((step, name, value) for name, value in values.items())

    def figure(self, name: str, figure: Figure, step: int) -> None:
        """Write a picture."""
        figure.savefig(self.folder / f"{name}-{step:08d}.png")

    def page(self, path: Path) -> None:
        """Write the page."""
        (self.folder / path.name).write_bytes(path.read_bytes())
