"""Real memorizers, models that were stopped in time, and near-copies of real samples.

Images of Fashion-MNIST are seen in eight principal components of other images, in which the models
are trained. A diffusion that saw 500 images for 10,000 steps copies them; the same one copies none
of 30,000. Near-copies are flips and crops of images, texts with a changed word, and rows of a
table with changed cells, among samples that no model made: other real ones.
"""

from __future__ import annotations

from functools import cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.stats import binom

from benchmarks import datasets
from benchmarks.bench_copying import bar, counts, measured, tested
from benchmarks.harness import Row, Summary, run
from tradeoff import evaluate

if TYPE_CHECKING:
    from collections.abc import Callable

    from tradeoff import Evaluation
    from tradeoff._validation import FloatArray

COLUMNS = 8
OTHERS, HELD_OUT, VALIDATION = 10_000, 2_000, 2_000  # images for components, tests, stopping
FEW, MANY, HALF = 500, 30_000, 35_000  # training images
GENERATED = 1_000
STEPS, BATCH, RATE = 10_000, 96, 2e-3
EULER = 60
MEMORIZERS, STOPPED = 5, 10  # seeds
WIDTH, WAVES, FINE = 192, 64, 2.0  # of the network, and the frequencies that it sees
PATIENCE, EVERY, LONGEST = 3, 100, 1_000
POOL, ALTERED = 1_500, 500  # images and texts that are embedded, and those that are also altered
RUNS = 40
SHARE = 0.05


class Data(NamedTuple):
    """Images in principal components of others, and the row numbers of training images."""

    train: FloatArray
    held_out: FloatArray
    validation: FloatArray
    rows: np.ndarray


@cache
def pool() -> FloatArray:
    """All images of Fashion-MNIST."""
    return datasets.fashion_pool().features


def fashion(size: int, seed: int) -> Data:
    """Random images to train with, to test with and to stop with."""
    x = pool()
    order = np.random.default_rng(seed).permutation(len(x))
    others = x[order[:OTHERS]].astype(float)
    mean = others.mean(0)
    values, vectors = np.linalg.eigh(np.cov((others - mean).T))
    axes = vectors[:, ::-1][:, :COLUMNS] / np.sqrt(values[-1])
    starts = OTHERS + np.cumsum((0, HELD_OUT, VALIDATION, size))
    rows = [order[a:b] for a, b in pairwise(starts)]
    held_out, validation, train = ((x[part] - mean) @ axes for part in rows)
    return Data(train, held_out, validation, rows[2])


class Best:
    """The weights of a network that were nearest to validation samples, and how long ago.

    Attributes:
        waited: how many later weights were not nearer.
    """

    def __init__(self, network: Any) -> None:
        self._network, self._least, self.waited = network, np.inf, 0
        self._kept: dict[str, Any] = {}

    def see(self, distance: float) -> None:
        """Weights as they are now, at this distance."""
        if distance < self._least:
            self._least, self.waited = distance, 0
            self._kept = {name: x.clone() for name, x in self._network.state_dict().items()}
        else:
            self.waited += 1

    def restore(self) -> None:
        """Go back to the nearest weights, if any were seen."""
        if self._kept:
            self._network.load_state_dict(self._kept)


def diffusion(data: Data, seed: int, *, steps: int = STEPS, stops: bool = False) -> FloatArray:
    """Samples of a diffusion by flow matching, stopped in time if it `stops`."""
    import torch

    torch.manual_seed(seed)
    waves = FINE * torch.randn(COLUMNS, WAVES)
    moments = torch.arange(1, 9) * np.pi / 2
    network = torch.nn.Sequential(
        torch.nn.Linear(COLUMNS + 2 * WAVES + 16, WIDTH),
        torch.nn.SiLU(),
        torch.nn.Linear(WIDTH, WIDTH),
        torch.nn.SiLU(),
        torch.nn.Linear(WIDTH, WIDTH),
        torch.nn.SiLU(),
        torch.nn.Linear(WIDTH, COLUMNS),
    )
    train, validation = (
        torch.tensor(x, dtype=torch.float32) for x in (data.train, data.validation)
    )
    scale = train.std()

    def velocity(x: Any, t: Any) -> Any:
        seen = (x, torch.sin(x @ waves), torch.cos(x @ waves))
        return network(torch.cat((*seen, torch.sin(t * moments), torch.cos(t * moments)), 1))

    def loss(x: Any) -> Any:
        noise, t = scale * torch.randn_like(x), torch.rand(len(x), 1).sqrt()
        return ((velocity((1 - t) * noise + t * x, t) - (x - noise)) ** 2).mean()

    optimizer = torch.optim.Adam(network.parameters(), RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    best = Best(network)
    for step in range(steps):
        optimizer.zero_grad()
        loss(train[torch.randint(0, len(train), (BATCH,))]).backward()
        optimizer.step()
        schedule.step()
        if stops and (step + 1) % EVERY == 0:
            with torch.no_grad():
                best.see(float(loss(validation)))
            if best.waited == PATIENCE:
                break
    best.restore()
    with torch.no_grad():
        x = scale * torch.randn(GENERATED, COLUMNS)
        for step in range(EULER):
            x = x + velocity(x, torch.full((GENERATED, 1), step / EULER)) / EULER
    return np.asarray(x.numpy(), float)


def gan(data: Data, seed: int) -> FloatArray:
    """Samples of a GAN, stopped when they no longer come closer to validation images."""
    import torch

    torch.manual_seed(seed)

    def network(columns: int) -> Any:
        return torch.nn.Sequential(
            torch.nn.Linear(COLUMNS, 128),
            torch.nn.LeakyReLU(0.2),
            torch.nn.Linear(128, 128),
            torch.nn.LeakyReLU(0.2),
            torch.nn.Linear(128, columns),
        )

    train, validation = (
        torch.tensor(x, dtype=torch.float32) for x in (data.train, data.validation)
    )
    generator, critic = network(COLUMNS), network(1)
    ours, theirs = (
        torch.optim.Adam(net.parameters(), 1e-3, (0.5, 0.9)) for net in (generator, critic)
    )
    softplus = torch.nn.functional.softplus
    best = Best(generator)
    for step in range(LONGEST):
        real = train[torch.randint(0, len(train), (BATCH,))]
        made = generator(torch.randn(BATCH, COLUMNS))
        theirs.zero_grad()
        (softplus(critic(made.detach())).mean() + softplus(-critic(real)).mean()).backward()
        theirs.step()
        ours.zero_grad()
        softplus(-critic(made)).mean().backward()
        ours.step()
        if (step + 1) % EVERY == 0:
            with torch.no_grad():
                best.see(energy(generator(torch.randn(VALIDATION, COLUMNS)), validation))
            if best.waited == PATIENCE:
                break
    best.restore()
    with torch.no_grad():
        return np.asarray(generator(torch.randn(GENERATED, COLUMNS)).numpy(), float)


def energy(x: Any, y: Any) -> float:
    """Energy distance of two sets."""
    import torch

    return float(2 * torch.cdist(x, y).mean() - torch.cdist(x, x).mean() - torch.cdist(y, y).mean())


def judged(data: Data, made: FloatArray) -> Evaluation:
    """The evaluation that a user makes."""
    return evaluate(
        data.held_out,
        made,
        train=data.train,
        metrics=("copies", "training"),
        estimator="logistic",
        diagnose=False,
        progress=False,
    )


def memorizer(size: int, seed: int) -> Row:
    """What is said of a diffusion, with the measures of the literature next to it."""
    data = fashion(size, seed)
    result = judged(data, diffusion(data, seed))
    found = result.training
    assert found is not None
    keys = ("copies.near_training", "training.c_t", "training.authenticity", "training.fld_gap")
    return {
        "said": found.state,
        "owed": found.owed.value,
        "at least": found.owed.at_least,
        "at least, close": found.close.at_least,
        **{key: result[key].value for key in keys},
    }


def named(size: int, seed: int) -> str:
    """The case of a memorizer."""
    return f"diffusion of {size:,} images, seed {seed}"


def right(rows: dict[str, Row], size: int) -> Row:
    """How often the verdict is right: copies of few images, and no copies of many."""
    said = [rows[named(size, seed)]["said"] for seed in range(MEMORIZERS)]
    copies = said.count("copies")
    wrong = len(said) - copies if size == FEW else copies
    return {"runs": len(said), "copies said": copies, "ratio": float(wrong), "bar": 0.0}


def stopped(train: Callable[[Data, int], FloatArray]) -> Row:
    """How often a model of half of the images is accused that was stopped in time."""
    found = []
    for seed in range(STOPPED):
        data = fashion(HALF, 100 + seed)
        found.append(tested(measured(data.train, data.held_out, train(data, seed), seed)))
    row = counts(found)
    return row | {"ratio": float(row["found"]), "bar": bar(STOPPED)}


class Real(NamedTuple):
    """Real samples, and altered copies of the first of them, by the kind of change."""

    x: FloatArray
    altered: dict[str, FloatArray]


@cache
def images() -> Real:
    """CIFAR-10, flipped and cropped, by EfficientNet-Lite0."""
    from PIL import Image

    def cropped(image: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        left, top = rng.integers(0, 4, 2)
        crop = Image.fromarray(image).crop((left, top, left + 29, top + 29))
        return np.asarray(crop.resize((32, 32), Image.Resampling.BICUBIC))

    def made() -> datasets.Parts:
        rng = np.random.default_rng(0)
        pixels = datasets.cifar_pixels().test.features[:POOL]
        some = pixels[:ALTERED]
        altered = np.concatenate((some[:, :, ::-1], [cropped(one, rng) for one in some]))
        labels = np.zeros(len(altered))
        return datasets.Parts(
            datasets.Labeled(pixels, np.zeros(POOL)), datasets.Labeled(altered, labels)
        )

    name = f"altered-images-{POOL}"
    parts = datasets.cached(name, lambda: datasets._embedded(made()))
    altered = parts.train.features
    return Real(parts.test.features, {"flips": altered[:ALTERED], "crops": altered[ALTERED:]})


@cache
def texts() -> Real:
    """Film reviews of at least eight words with another word in place of one, by all-MiniLM."""
    from tradeoff.data import open_source
    from tradeoff.embedding import embed_source
    from tradeoff.features.offline import MiniLM

    def made() -> datasets.Parts:
        rng = np.random.default_rng(0)
        lines = dict(datasets.text_lines())["movieReviewSnippets"]
        long = list(dict.fromkeys(line for line in lines if len(line.split()) >= 8))
        kept = [long[i] for i in rng.permutation(len(long))[:POOL]]
        words = sorted({word for line in kept for word in line.split()})
        altered = []
        for line in kept[:ALTERED]:
            found = line.split()
            found[rng.integers(len(found))] = words[rng.integers(len(words))]
            altered.append(" ".join(found))
        x, y = (embed_source(open_source(part), MiniLM()).features for part in (kept, altered))
        return datasets.Parts(*(datasets.Labeled(z, np.zeros(len(z))) for z in (x, y)))

    parts = datasets.cached(f"altered-texts-{POOL}", made)
    return Real(parts.test.features, {"a changed word": parts.train.features})


@cache
def table() -> Real:
    """Handwritten digits as counts from 0 to 16 in 64 cells, three of which change by one."""
    from sklearn.datasets import load_digits

    rng = np.random.default_rng(0)
    x = np.unique(load_digits().data, axis=0)
    x = x[rng.permutation(len(x))]
    altered = x.copy()
    for row in altered:
        cells = rng.choice(64, 3, replace=False)
        row[cells] = np.clip(row[cells] + rng.choice((-1, 1), 3), 0, 16)
    return Real(x, {"changed cells": altered})


def near_copies(make: Callable[[], Real], kind: str, share: float) -> Row:
    """How often altered copies of training samples are found among other real samples."""
    data = make()
    n = len(data.x) // 3
    found = []
    for seed in range(RUNS):
        order = np.random.default_rng(seed).permutation(len(data.x))
        train, held_out, other = order[:n], order[n : 2 * n], order[2 * n : 3 * n]
        copied = train[train < len(data.altered[kind])][: round(share * n)]
        made = np.concatenate((data.altered[kind][copied], data.x[other[len(copied) :]]))
        found.append(tested(measured(data.x[train], data.x[held_out], made, seed)))
    row = counts(found) | {"N": n, "largest limit": max(one["limit"] for one in found)}
    if not share:
        return row | {"ratio": float(row["found"]), "bar": bar(RUNS)}
    above = sum(one["limit"] > share for one in found)
    missed = RUNS - row["found"]
    limit = float(binom.ppf(0.99, RUNS, 0.05))
    return row | {"limits above": above, "ratio": float(max(missed, above)), "bar": limit}


CASES: dict[str, Callable[[], Row] | Summary] = {
    **{
        named(size, seed): partial(memorizer, size, seed)
        for seed in range(MEMORIZERS)
        for size in (FEW, MANY)
    },
    **{
        f"diffusions of {size:,} images": Summary(partial(right, size=size)) for size in (FEW, MANY)
    },
    "table: no copies": partial(near_copies, table, "changed cells", 0.0),
    "table: changed cells": partial(near_copies, table, "changed cells", SHARE),
    "stopped in time: diffusion of 35,000 images": partial(
        stopped, partial(diffusion, steps=LONGEST, stops=True)
    ),
    "stopped in time: GAN of 35,000 images": partial(stopped, gan),
    "texts: no copies": partial(near_copies, texts, "a changed word", 0.0),
    "texts: a changed word": partial(near_copies, texts, "a changed word", SHARE),
    "images: no copies": partial(near_copies, images, "flips", 0.0),
    "images: flips": partial(near_copies, images, "flips", SHARE),
    "images: crops": partial(near_copies, images, "crops", SHARE),
}

if __name__ == "__main__":
    run(
        "memorizer",
        "Real memorizers, models stopped in time, and near-copies of real samples",
        CASES,
    )
