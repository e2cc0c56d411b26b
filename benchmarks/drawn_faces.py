"""Faces of a published generator as two views see them, at several truncations, and a judge."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmarks import datasets, generators
from benchmarks.datasets import Labeled, Parts
from tradeoff.curves.estimate import estimate_curve
from tradeoff.data import Sample
from tradeoff.features import open_encoder
from tradeoff.metrics.moments import frechet_distance
from tradeoff.metrics.neighbors import support_metrics
from tradeoff.ratio import calibrated_ratio
from tradeoff.samples import Pair
from tradeoff.sampling import BudgetedSampler

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmarks.harness import Row

WHOLE, CALIBRATION, POOL, TRAINING = 2_000, 4_000, 14_000, 4_000
CONTENT, LOW_LEVEL, SIZE = "efficientnet-lite0", "pixels", 128
SCALE = 0.9
PLAIN, CUT, EXACT = "latents × 1", f"latents × {SCALE:g}", "OBRS, exact"
TRUNCATIONS = {f"latents × {scale:g}": scale for scale in (1.0, 0.95, SCALE, 0.8)}
METHODS: dict[str, tuple[Any, float]] = {
    f"{name}, K = {budget}": (method, float(budget))
    for name, method in (("OBRS", "obrs"), ("DRS", "drs"), ("MH", "mh"), (EXACT, "obrs"))
    for budget in (2, 4)
}
_REAL, _TRAINED, _BATCH = 100, 200, 500


class Faces(NamedTuple):
    """Features of faces by both views, and the squared lengths of their latents."""

    content: np.ndarray
    low_level: np.ndarray
    squares: np.ndarray

    def take(self, rows: Any) -> Faces:
        """Some of them."""
        return Faces(*(part[rows] for part in self))

    @property
    def both(self) -> np.ndarray:
        """Columns of both views side by side."""
        return np.concatenate([self.content, self.low_level], axis=1)


def faces(scale: float, count: int, seed: int) -> Faces:
    """Faces of latents that are scaled, drawn and embedded once."""

    def embed() -> Parts:
        pixels = generators.faces(count, scale, seed)
        blocks = []
        for name, options in ((CONTENT, {"size": SIZE}), (LOW_LEVEL, {})):
            encoder = open_encoder(name, kind="image", **options)
            for_view = []
            for start in range(0, count, _BATCH):
                some = pixels[start : start + _BATCH]
                samples = [encoder.prepare(Sample(str(i), one)) for i, one in enumerate(some)]
                for_view.append(encoder.embed(samples))
            blocks.append(np.concatenate(for_view))
        squares = generators.face_latents(count, scale, seed).square().sum(1).numpy()
        rows = np.concatenate([*blocks, squares[:, None]], axis=1)
        return Parts(Labeled(rows, np.zeros(count)), Labeled(rows[:0], np.zeros(0)))

    rows = datasets.cached(f"faces-{scale:g}-{count}-{seed}", embed).test.features.astype(float)
    wide = rows.shape[1] - 1 - len(open_encoder(LOW_LEVEL, kind="image").columns)
    return Faces(rows[:, :wide], rows[:, wide:-1], rows[:, -1])


def wanted(seeds: Iterable[int]) -> list[tuple[float, int, int]]:
    """Scale, number and seed of all faces of the benchmark, in parts of similar size."""
    found = [(scale, TRAINING, _TRAINED + number) for number, scale in enumerate((1.0, SCALE))]
    for seed in seeds:
        found.append((1.0, WHOLE, _REAL + seed))
        found.append((SCALE, POOL, seed))
        found += [(scale, WHOLE, seed) for scale in TRUNCATIONS.values() if scale != SCALE]
    return found


def judged(setting: str, seed: int) -> Row:
    """Figures of the faces of a setting."""
    real = faces(1.0, WHOLE, _REAL + seed)
    if setting in METHODS:
        made, rate = _kept(setting, seed)
    elif setting == CUT:
        made, rate = faces(SCALE, POOL, seed).take(slice(WHOLE)), 1.0
    else:
        made, rate = faces(TRUNCATIONS[setting], WHOLE, seed), 1.0
    widths = {CONTENT: real.content.shape[1], LOW_LEVEL: real.low_level.shape[1]}
    pair = Pair.of(real=real.both, generated=made.both, views=widths)
    curve = estimate_curve(pair, seed=seed, progress=False).curve
    contents = {"real": real.content, "generated": made.content}
    near = support_metrics(**contents, metrics=("precision", "recall"), progress=False)
    return {
        "area": float(curve.area),
        "overlap": float(curve.precision(1.0)),
        "precision": float(curve.precision(1.5)),
        "recall": float(curve.recall(1 / 1.5)),
        "k-NN precision": float(near["precision"].value),
        "k-NN recall": float(near["recall"].value),
        "Fréchet distance": float(frechet_distance(**contents)),
        "mean square of latents": float(made.squares.mean() / generators.LATENTS),
        "acceptance rate": rate,
    }


class _Exact:
    """The log-ratio of latents, by the squared length in the last column."""

    def log_ratio(self, x: np.ndarray) -> np.ndarray:
        return generators.LATENTS * np.log(SCALE) + 0.5 * x[:, -1] * (1 / SCALE**2 - 1)


class _Trained:
    """The log-ratio of a discriminator, by all columns but the last."""

    def log_ratio(self, x: np.ndarray) -> np.ndarray:
        return _discriminator().log_ratio(x[:, :-1])


@cache
def _discriminator() -> Any:
    """Trained on one half of other faces, and calibrated on the other half."""
    real, made = (
        faces(scale, TRAINING, _TRAINED + number).both for number, scale in enumerate((1.0, SCALE))
    )
    return calibrated_ratio(real=real, generated=made, estimator="stack")


def _kept(setting: str, seed: int) -> tuple[Faces, float]:
    """Faces that are kept of those with scaled latents, and the rate of acceptance."""
    method, budget = METHODS[setting]
    pool = faces(SCALE, POOL, seed)
    rows = np.concatenate([pool.both, pool.squares[:, None]], axis=1)
    place = 0

    def draw(count: int) -> np.ndarray:
        nonlocal place
        place += count
        if place > POOL:
            raise RuntimeError(f"{POOL} faces are too few for {setting}")
        return rows[place - count : place]

    ratio = _Exact() if setting.startswith(EXACT) else _Trained()
    sampler = BudgetedSampler(
        draw, ratio, budget=budget, method=method, calibration=CALIBRATION, seed=seed
    )
    kept = sampler.sample(WHOLE, progress=False)
    x = np.asarray(kept.samples)
    wide = pool.content.shape[1]
    return Faces(x[:, :wide], x[:, wide:-1], x[:, -1]), float(kept.accounting.rate)
