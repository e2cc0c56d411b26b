"""Images with faults of processing, by an encoder of content, and with `pixels` as a second view.

CIFAR-10 by EfficientNet-Lite0. A fault must be found, and `pixels` be said to see it, in as many
of 20 runs as an exact test at level 0.01 asks for if 95% are right. Errors of content, dropped
classes and foreign images, must not have a larger error than without `pixels` beyond the noise of
seeds. Equal sets must be told apart in 5% of the runs at most.

Other rows are CPU time: of the low-level views over that of the smallest encoder, with a bar for
PyTorch, in which other encoders run, and of a default measurement over that without `pixels`.
"""

from __future__ import annotations

import os
import time
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import joblib
import numpy as np
from scipy.stats import binom

from benchmarks import datasets, image_faults
from benchmarks.harness import Row, run
from benchmarks.image_faults import CONTENT, FAULTS, FOREIGN, LOW_LEVEL, pool
from tradeoff.curves.estimate import estimate_curve
from tradeoff.curves.views import seen_views
from tradeoff.data import Sample
from tradeoff.features import open_encoder
from tradeoff.metrics.family import Request, measure
from tradeoff.metrics.registry import default_metrics, resolve_keys
from tradeoff.samples import Pair

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.datasets import Labeled
    from tradeoff import CurveEstimate

RUNS, SIZE = 20, 1000
EQUAL, EQUAL_SIZE = 200, 200
_REJECTED, _RIGHT = 0.01, 0.95
_DROPPED, _FOREIGN = 2, 0.3
_SLOWER, _OF_EMBEDDING = 1.25, 0.10
_IMAGES, _TEXTS = 256, 1024

Features = dict[str, np.ndarray]


def drawn(views: dict[str, Labeled], rows: np.ndarray) -> Features:
    """Features of some samples by view."""
    return {name: data.features[rows].astype(float) for name, data in views.items()}


def pair_of(real: Features, generated: Features) -> Pair:
    """Both sides, with the columns of all views side by side."""
    widths = {name: x.shape[1] for name, x in real.items()}
    sides = [np.concatenate([*side.values()], axis=1) for side in (real, generated)]
    return Pair.of(real=sides[0], generated=sides[1], views=widths)


def curve_of(real: Features, generated: Features, seed: int) -> CurveEstimate:
    """The estimated curve of two sides."""
    return estimate_curve(pair_of(real, generated), seed=seed, jobs=1, progress=False)


def generated(fault: str, seed: int) -> Features:
    """Images of a model, from the pool of a fault."""
    rng = np.random.default_rng(1000 + seed)
    if fault == FOREIGN:
        count = round(_FOREIGN * SIZE)
        parts = [
            drawn(pool(name), rng.permutation(image_faults.MADE)[:size])
            for name, size in (("made", SIZE - count), (FOREIGN, count))
        ]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    views = pool("made" if fault == "dropped" else fault)
    rows = np.arange(image_faults.MADE)
    if fault == "dropped":
        rows = np.flatnonzero(views[CONTENT].labels < 10 - _DROPPED)
    return drawn(views, rng.permutation(rows)[:SIZE])


def estimate(fault: str, seed: int) -> CurveEstimate:
    """The curve of real images and of those of a model."""
    rows = np.random.default_rng(seed).permutation(image_faults.REAL)[:SIZE]
    return curve_of(drawn(pool(), rows), generated(fault, seed), seed)


class Outcome(NamedTuple):
    """What is found in one run.

    Args:
        found: Whether a difference is established.
        seen: Views that see it.
        overlap: Overlap by all views.
        without: Overlap by the encoder alone.
    """

    found: bool
    seen: frozenset[str]
    overlap: float
    without: float


def outcome(fault: str, seed: int) -> Outcome:
    """One run."""
    one = estimate(fault, seed)
    return Outcome(
        one.losses().difference is not None,
        frozenset(view.name for view in seen_views(one) if view.sees),
        one.headline["curve.overlap"],
        one.views[CONTENT].headline["curve.overlap"],
    )


def outcomes(fault: str, runs: int) -> list[Outcome]:
    """All runs, on all cores; images are embedded before."""
    pool(), pool("made" if fault == "dropped" else fault)
    found: list[Outcome] = joblib.Parallel(n_jobs=-1)(
        joblib.delayed(outcome)(fault, seed) for seed in range(runs)
    )
    return found


def fault_found(fault: str, *, runs: int = RUNS) -> Row:
    """How often a fault is found, and which views see it."""
    found = outcomes(fault, runs)
    row: Row = {
        "runs": runs,
        "found": sum(one.found for one in found),
        "seen in pixels": sum(LOW_LEVEL in one.seen for one in found),
        "found without pixels": sum(CONTENT in one.seen for one in found),
        "overlap": float(np.mean([one.overlap for one in found])),
        "overlap without pixels": float(np.mean([one.without for one in found])),
    }
    missed = runs - min(row["found"], row["seen in pixels"])
    return row | {"ratio": missed / float(binom.ppf(1 - _REJECTED, runs, 1 - _RIGHT)), "bar": 1.0}


def content_lost(fault: str, truth: float, *, runs: int = RUNS) -> Row:
    """Errors of the overlap with and without `pixels`, against two standard errors of the mean."""
    values = np.array([[one.without, one.overlap] for one in outcomes(fault, runs)])
    errors = np.abs(values - truth)
    worse = errors[:, 1] - errors[:, 0]
    noise = 2.0 * float(worse.std(ddof=1)) / runs**0.5
    return {
        "runs": runs,
        "truth": truth,
        "overlap": float(values[:, 1].mean()),
        "overlap without pixels": float(values[:, 0].mean()),
        "error": float(errors[:, 1].mean()),
        "error without pixels": float(errors[:, 0].mean()),
        "ratio": float(worse.mean()) / noise,
        "bar": 1.0,
    }


def alarm(views: int, seed: int) -> bool:
    """Whether a difference is established between two equal sets; of three views, two are halves.

    Args:
        views: Number of views, 2 or 3.
        seed: Seed of the sets.
    """
    order = np.random.default_rng(5_000 + seed).permutation(image_faults.REAL)
    sides = [drawn(pool(), part) for part in (order[:EQUAL_SIZE], order[-EQUAL_SIZE:])]
    if views == 3:
        sides = [
            dict(zip(("first", "second"), _halves(x.pop(CONTENT)), strict=True)) | x for x in sides
        ]
    return curve_of(*sides, seed).losses().difference is not None


def _halves(x: np.ndarray) -> list[np.ndarray]:
    return np.array_split(x, 2, axis=1)


def false_alarms(views: int, *, runs: int = EQUAL) -> Row:
    """Differences that are established between equal sets."""
    pool()
    tasks = (joblib.delayed(alarm)(views, seed) for seed in range(runs))
    alarms = sum(joblib.Parallel(n_jobs=-1)(tasks))
    allowed = int(binom.ppf(1.0 - _REJECTED, runs, 0.05))
    return {"runs": runs, "alarms": alarms, "ratio": alarms / allowed, "bar": 1.0}


def cpu_seconds(task: Callable[[], object]) -> float:
    """CPU seconds of this process."""
    start = time.process_time()
    task()
    return time.process_time() - start


def default_measurement() -> Row:
    """CPU seconds of all default metrics with controls, on one core, with and without `pixels`."""
    os.environ["LOKY_MAX_CPU_COUNT"] = "1"
    rng = np.random.default_rng(0)
    real = drawn(pool(), rng.permutation(image_faults.REAL)[:SIZE])
    made = drawn(pool("made"), rng.permutation(image_faults.MADE)[:SIZE])
    request = Request(keys=resolve_keys(default_metrics()), progress=False)
    both = pair_of(real, made)
    alone = pair_of({CONTENT: real[CONTENT]}, {CONTENT: made[CONTENT]})
    seconds, without = (cpu_seconds(partial(measure, pair, request)) for pair in (both, alone))
    row: Row = {"CPU seconds": seconds, "without": without}
    return row | {"ratio": seconds / without, "bar": _SLOWER}


def embedding(kind: str, runtime: Any = "torch") -> Row:
    """CPU seconds of a low-level view over those of an encoder, the best of three turns each."""
    if kind == "image":
        contents: Any = datasets.cifar_pixels().test.features[:_IMAGES]
    else:
        contents = [line for _, lines in datasets.text_lines() for line in lines[: _TEXTS // 4]]
    samples = [Sample(str(i), content) for i, content in enumerate(contents)]
    taken = {}
    for name in (LOW_LEVEL, CONTENT) if kind == "image" else ("surface", "all-minilm-l6-v2"):
        own: dict[str, Any] = {"runtime": runtime} if name == CONTENT else {}
        encoder = open_encoder(name, kind=kind, **own)  # type: ignore[arg-type]
        encoder.embed([encoder.prepare(samples[0])])  # what is loaded once
        taken[name] = min(cpu_seconds(partial(_embed, encoder, samples)) for _ in range(3))
    (view, seconds), (_, whole) = taken.items()
    row: Row = {"runs": len(samples), "CPU seconds": seconds, "of the encoder": whole, "view": view}
    return row | {"ratio": seconds / whole} | ({"bar": _OF_EMBEDDING} if runtime == "torch" else {})


def _embed(encoder: Any, samples: list[Sample]) -> None:
    for start in range(0, len(samples), 64):
        encoder.embed([encoder.prepare(one) for one in samples[start : start + 64]])


CASES: dict[str, Callable[[], Row]] = {
    "time of pixels": partial(embedding, "image"),
    "time of pixels, encoder in ONNX Runtime": partial(embedding, "image", "onnx"),
    "time of surface": partial(embedding, "text"),
}
CASES |= {f"{fault}, N = {SIZE:,}": partial(fault_found, fault) for fault in FAULTS}
CASES |= {
    f"classes 8 and 9 dropped, N = {SIZE:,}": partial(content_lost, "dropped", 1 - _DROPPED / 10),
    f"{_FOREIGN:.0%} foreign images, N = {SIZE:,}": partial(content_lost, FOREIGN, 1 - _FOREIGN),
    **{
        f"equal images, {views} views, N = {EQUAL_SIZE}": partial(false_alarms, views)
        for views in (2, 3)
    },
    f"time of a default measurement, N = {SIZE:,}": default_measurement,
}

if __name__ == "__main__":
    run("pixels", "Faults of images with and without the view `pixels`, and its cost", CASES)
