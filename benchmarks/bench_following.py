"""What it costs a step of training to be followed: time with a tracker over time without.

Training has one thread, and the worker that measures has one. Runs with and without a tracker
alternate. `ratio` is the median over pairs of the CPU time of the training process, and may be
1.05; wall time, which says little on a shared machine, is listed with its range. `busy` is the
share of the time of training in which the worker measures.
"""

from __future__ import annotations

import tempfile
import time
from typing import TYPE_CHECKING

import lightning.pytorch as pl
import numpy as np
import torch
from torch.utils.data import DataLoader

from benchmarks.harness import Row, run
from examples.follow_lightning import Module
from examples.parts.ring import RATE, Ring, draw_real
from tradeoff.integrations.lightning import TradeoffCallback
from tradeoff.tracking import Tracker

if TYPE_CHECKING:
    from collections.abc import Callable

    Times = np.ndarray

PAIRS, STEPS, EVERY, SIZE = 5, 1200, 400, 2000
BAR = 1.05


def in_a_loop(*, pairs: int = PAIRS, steps: int = STEPS, every: int = EVERY) -> Row:
    """A loop of one's own, with samples for the tracker and copies of the weights."""
    tracker = Tracker(draw_real(SIZE), estimator="trees", progress=False)
    model = Ring()
    optimizer = torch.optim.Adam(model.parameters(), RATE)

    def train(followed: bool) -> Times:
        begun = _now()
        for step in range(1, steps + 1):
            optimizer.zero_grad()
            model.loss(draw_real(256)).backward()
            optimizer.step()
            if followed and step % every == 0:
                with torch.no_grad():
                    made = model.sample(SIZE)
                weights = {name: value.clone() for name, value in model.state_dict().items()}
                tracker.update(made, step=step, checkpoint=weights)
        seconds = _now() - begun
        tracker.update(draw_real(SIZE), step=steps, wait=True)
        return seconds

    return _compared(train, _alone(tracker), pairs, steps // every)


class _Stopwatch(pl.Callback):
    """Seconds between the first batch and the end of the last one."""

    def on_train_batch_start(self, *_: object) -> None:
        if not hasattr(self, "begun"):
            self.begun = _now()

    def on_train_batch_end(self, *_: object) -> None:
        self.seconds = _now() - self.begun


def in_lightning(*, pairs: int = PAIRS, steps: int = STEPS, every: int = EVERY) -> Row:
    """A run of Lightning with the callback, whose checkpoints are written to disk."""

    def train(followed: bool) -> Times:
        watch = _Stopwatch()
        data = DataLoader(draw_real(256 * steps), batch_size=256)
        with tempfile.TemporaryDirectory() as folder:
            callback = TradeoffCallback(
                real=draw_real(SIZE),
                generate=lambda module: module.model.sample(SIZE),
                every=every,
                unit="step",
                estimator="trees",
                progress=False,
            )
            callback.tracker.update(draw_real(SIZE), step=0, wait=True)  # starts the worker
            pl.Trainer(
                callbacks=[*([callback] if followed else []), watch],
                max_epochs=1,
                default_root_dir=folder,
                accelerator="cpu",
                logger=False,
                enable_checkpointing=False,
                enable_progress_bar=False,
                enable_model_summary=False,
            ).fit(Module(), data)
            callback.tracker.finish()
        return watch.seconds

    tracker = Tracker(draw_real(SIZE), estimator="trees", progress=False)
    return _compared(train, _alone(tracker), pairs, steps // every)


def _now() -> Times:
    """Wall time, and CPU time of this process."""
    return np.array([time.perf_counter(), time.process_time()])


def _alone(tracker: Tracker) -> float:
    """Seconds of a measurement by a worker that has started."""
    tracker.update(draw_real(SIZE), step=0, wait=True)
    begun = time.perf_counter()
    tracker.update(draw_real(SIZE), step=0, wait=True)
    return time.perf_counter() - begun


def _compared(train: Callable[[bool], Times], alone: float, pairs: int, updates: int) -> Row:
    """Medians over pairs of runs, the order of which changes."""
    torch.set_num_threads(1)
    train(False)  # warms up
    seconds = np.empty((pairs, 2, 2))
    for pair in range(pairs):
        for followed in (pair % 2, 1 - pair % 2):
            seconds[pair, followed] = train(bool(followed))
    wall, cpu = (seconds[:, 1] / seconds[:, 0]).T
    without = float(np.median(seconds[:, 0, 0]))
    return {
        "pairs": pairs,
        "seconds": without,
        "wall time": float(np.median(wall)),
        "wall time, least": float(wall.min()),
        "wall time, most": float(wall.max()),
        "busy": updates * alone / without,
        "ratio": float(np.median(cpu)),
        "bar": BAR,
    }


CASES: dict[str, Callable[[], Row]] = {
    "a loop of one's own": in_a_loop,
    "Lightning": in_lightning,
}

if __name__ == "__main__":
    run("following", "What it costs a step of training to be followed", CASES)
