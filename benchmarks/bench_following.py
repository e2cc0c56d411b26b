"""What it costs a step of training to be followed: wall time with a tracker over time without.

Training has one thread, and the worker that measures has one. Runs with and without a tracker
alternate; `ratio` is the median over pairs, and may be 1.05. `busy` is the share of the time of
training in which the worker measures, if a measurement takes as long as one alone.
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

PAIRS, STEPS, EVERY, SIZE = 7, 2000, 400, 2000
BAR = 1.05


def in_a_loop(*, pairs: int = PAIRS, steps: int = STEPS, every: int = EVERY) -> Row:
    """A loop of one's own, with samples for the tracker and copies of the weights."""
    tracker = Tracker(draw_real(SIZE), estimator="trees", progress=False)
    model = Ring()
    optimizer = torch.optim.Adam(model.parameters(), RATE)

    def train(followed: bool) -> float:
        begun = time.perf_counter()
        for step in range(1, steps + 1):
            optimizer.zero_grad()
            model.loss(draw_real(256)).backward()
            optimizer.step()
            if followed and step % every == 0:
                with torch.no_grad():
                    made = model.sample(SIZE)
                weights = {name: value.clone() for name, value in model.state_dict().items()}
                tracker.update(made, step=step, checkpoint=weights)
        seconds = time.perf_counter() - begun
        tracker.update(draw_real(SIZE), step=steps, wait=True)
        return seconds

    tracker.update(draw_real(SIZE), step=0, wait=True)  # starts the worker
    begun = time.perf_counter()
    tracker.update(draw_real(SIZE), step=0, wait=True)
    alone = time.perf_counter() - begun
    return _compared(train, alone, pairs, steps // every)


class _Stopwatch(pl.Callback):
    """Seconds between the first batch and the end of the last one."""

    def on_train_batch_start(self, *_: object) -> None:
        if not hasattr(self, "begun"):
            self.begun = time.perf_counter()

    def on_train_batch_end(self, *_: object) -> None:
        self.seconds = time.perf_counter() - self.begun


def in_lightning(*, pairs: int = PAIRS, steps: int = STEPS, every: int = EVERY) -> Row:
    """A run of Lightning with the callback, whose checkpoints are written to disk."""

    def train(followed: bool) -> float:
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
    tracker.update(draw_real(SIZE), step=0, wait=True)
    begun = time.perf_counter()
    tracker.update(draw_real(SIZE), step=0, wait=True)
    return _compared(train, time.perf_counter() - begun, pairs, steps // every)


def _compared(train: Callable[[bool], float], alone: float, pairs: int, updates: int) -> Row:
    """Medians over pairs of runs, the order of which changes."""
    torch.set_num_threads(1)
    train(False)  # warms up
    seconds = np.empty((pairs, 2))
    for pair in range(pairs):
        for followed in (pair % 2, 1 - pair % 2):
            seconds[pair, followed] = train(bool(followed))
    ratios = seconds[:, 1] / seconds[:, 0]
    without = float(np.median(seconds[:, 0]))
    return {
        "pairs": pairs,
        "seconds": without,
        "seconds followed": float(np.median(seconds[:, 1])),
        "smallest ratio": float(ratios.min()),
        "largest ratio": float(ratios.max()),
        "busy": updates * alone / without,
        "ratio": float(np.median(ratios)),
        "bar": BAR,
    }


CASES: dict[str, Callable[[], Row]] = {
    "a loop of one's own": in_a_loop,
    "Lightning": in_lightning,
}

if __name__ == "__main__":
    run("following", "What it costs a step of training to be followed", CASES)
