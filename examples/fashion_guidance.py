"""Fashion-MNIST from a small diffusion model: what guidance brings, and what a budget brings.

A flow of the latents of an autoencoder, conditional on the class, is too small for its data on
purpose: a model that is nearly perfect leaves nothing to improve. Guidance makes its samples more
typical of their class. Rejection keeps those draws that a calibrated discriminator of latents and
classes finds likely. The judge shares nothing with either: features of a classifier, test images,
the curve and nearest neighbors. `sweep` chooses a scale of guidance for three goals.

    python -m examples.fashion_guidance --output fashion-guidance.png
"""

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import nn

from benchmarks.datasets import Parts, fashion_pixels, mnist_pixels
from examples.fashion_tuning import half_width
from examples.parts.diffusion import (
    CLASSES,
    Labeled,
    Velocity,
    joint,
    train_ratio,
    train_velocity,
)
from examples.parts.fashion import features_of, load_fashion, show_images, train_classifier
from examples.parts.latents import LATENTS, Autoencoder, train_autoencoder
from examples.parts.style import COLORS, INK, name, neutral
from tradeoff import Above, Best, frechet_distance, pr_curve, support_metrics, sweep
from tradeoff.core.divergence import GAN
from tradeoff.ratio import Calibrated, Discriminator
from tradeoff.sampling import BudgetedSampler

DATA: dict[str, Callable[[], Parts]] = {"fashion": fashion_pixels, "mnist": mnist_pixels}
SCALES = (0.0, 0.5, 1.0, 2.0, 4.0)
BUDGETS = (2.0, 4.0)
GOALS = (
    Best("area"),
    Best("precision", lam=2.0),
    Best("precision", given=Above("recall", 0.6)),
)
ESTIMATOR = "kernel-logistic"
"""One member of the default stack, which takes a seventh of its time."""
HELD_OUT = 10_000
"""Training images that calibrate the discriminator."""
SHOWN_CLASSES = (0, 3, 6, 8, 9)
BLUE, ORANGE, GREEN, _ = COLORS


@dataclass(frozen=True)
class Size:
    """Numbers of steps and units, and of samples of each side that the judge compares."""

    autoencoder: int = 2500
    classifier: int = 600
    velocity: int = 2000
    width: int = 48
    discriminator: int = 1200
    pool: int = 30_000
    samples: int = 3000


QUICK = Size(60, 60, 300, 48, 200, 3000, 600)


class Base(NamedTuple):
    """What all seeds share: latents of a data set with their classes, and the judge.

    Args:
        autoencoder: Autoencoder of the images.
        features: From images to features of a classifier.
        known: Latents that models are trained with.
        held_out: Latents that calibrate a discriminator.
        test: Latents of test images.
        minutes: Minutes of CPU time that training took.
    """

    autoencoder: Autoencoder
    features: Callable[[torch.Tensor], np.ndarray]
    known: Labeled
    held_out: Labeled
    test: torch.Tensor
    minutes: float

    def judged(self, latents: torch.Tensor) -> np.ndarray:
        """Features of latents; real images, too, pass through the autoencoder."""
        return self.features(self.autoencoder.decode(latents))


class Model(NamedTuple):
    """A diffusion model with its log-ratio of latents and classes.

    Args:
        velocity: Network that samples follow.
        ratio: Calibrated log p/q of latents with their classes.
        minutes: Minutes of CPU time that training took.
    """

    velocity: Velocity
    ratio: Calibrated
    minutes: float


def prepare(data: str, size: Size, seed: int = 0) -> Base:
    """Train the autoencoder and the judge's classifier of a data set."""
    begun = time.process_time()
    images = load_fashion(DATA[data])
    autoencoder = train_autoencoder(images.train, steps=size.autoencoder, seed=seed)
    classifier = train_classifier(
        images.train, images.train_labels, steps=size.classifier, seed=seed
    )
    latents = autoencoder.encode(images.train)
    parts = [
        Labeled(latents[rows], images.train_labels[rows])
        for rows in (slice(None, -HELD_OUT), slice(-HELD_OUT, None))
    ]
    return Base(
        autoencoder,
        features_of(classifier),
        *parts,
        autoencoder.encode(images.test[: size.samples]),
        (time.process_time() - begun) / 60,
    )


def train(base: Base, size: Size, seed: int) -> Model:
    """Train the diffusion model, then a discriminator of its samples, and calibrate that."""
    begun = time.process_time()
    velocity = train_velocity(base.known, steps=size.velocity, seed=seed, width=size.width)
    made = joint(draw(velocity, size.pool + HELD_OUT))
    network = train_ratio(joint(base.known), made[: size.pool], steps=size.discriminator)
    score: nn.Module = torch.inference_mode()(network)
    ratio = Calibrated.fit(
        Discriminator(score, GAN()), real=joint(base.held_out), generated=made[size.pool :]
    )
    return Model(velocity, ratio, (time.process_time() - begun) / 60)


def draw(velocity: Velocity, n: int, guidance: float = 0.0) -> Labeled:
    """Latents of classes that are equally likely."""
    labels = torch.randint(CLASSES, (n,))
    return Labeled(velocity.sample(labels, guidance=guidance), labels)


def keep(model: Model, n: int, budget: float) -> torch.Tensor:
    """Latents that are kept under a budget."""
    sampler = BudgetedSampler(
        lambda count: joint(draw(model.velocity, count)), model.ratio, budget=budget, batch=4096
    )
    return torch.as_tensor(sampler.sample(n, progress=False).samples)[:, :LATENTS]


def measure(base: Base, model: Model, size: Size, seed: int) -> dict[str, dict[str, float]]:
    """The judge's figures of every scale of guidance and every budget."""
    real = base.judged(base.test)
    rows = {}
    for scale in SCALES:
        torch.manual_seed(seed)  # the same noise and classes for every scale
        made = draw(model.velocity, size.samples, scale)
        rows[f"w = {scale:g}"] = judge(real, base.judged(made.x)) | {
            "shift of classes": shift(made, base.known)
        }
    for budget in BUDGETS:
        torch.manual_seed(seed)
        rows[f"K = {budget:g}"] = judge(real, base.judged(keep(model, size.samples, budget)))
    return rows


def shift(made: Labeled, real: Labeled) -> float:
    """How far classes have moved away from the mean of all, in their standard deviations."""
    center, found = real.x.mean(0), []
    for c in range(CLASSES):
        of_class = real.x[real.labels == c]
        away = nn.functional.normalize(of_class.mean(0) - center, dim=0)
        before, now = of_class @ away, made.x[made.labels == c] @ away
        found.append((now.mean() - before.mean()) / before.std())
    return float(torch.stack(found).mean())


def judge(real: np.ndarray, made: np.ndarray) -> dict[str, float]:
    """The held-out curve, nearest neighbors and the Fréchet distance."""
    curve = pr_curve(real=real, generated=made, estimator=ESTIMATOR, progress=False).curve
    neighbors = support_metrics(
        real=real, generated=made, metrics=("precision", "recall"), progress=False
    )
    row = {
        "area": curve.area,
        "overlap": curve.precision(1.0),
        "precision": curve.precision(1.5),
        "recall": curve.recall(1 / 1.5),
        "precision at λ = 20": curve.precision(20.0),
        "k-NN precision": neighbors["precision"].value,
        "k-NN recall": neighbors["recall"].value,
        "Fréchet distance": frechet_distance(real=real, generated=made),
    }
    return {key: float(value) for key, value in row.items()}


def choose(base: Base, model: Model, size: Size, seed: int) -> dict[str, tuple[str, str]]:
    """For each goal, the scale that `sweep` recommends and those that it cannot tell from it."""
    real, made = base.judged(base.test), {}
    for scale in SCALES:
        torch.manual_seed(seed)
        made[scale] = base.judged(draw(model.velocity, size.samples, scale).x)
    chosen = {}
    for goal in GOALS:
        found = sweep(real=real, generated=made, goal=goal, estimator=ESTIMATOR, progress=False)
        chosen[str(goal)] = (str(found.best), ", ".join(found.alike))
    return chosen


def examples(base: Base, model: Model, seed: int) -> dict[str, np.ndarray]:
    """Eight images of five classes, real ones and by some scales from the same noise."""
    labels = torch.tensor(SHOWN_CLASSES).repeat_interleave(8)
    rows = [int(row) for c in SHOWN_CLASSES for row in (base.known.labels == c).nonzero()[:8, 0]]
    latents = {"real": base.known.x[rows]}
    for scale in (0.0, 1.0, 4.0):
        torch.manual_seed(seed)
        latents[f"w = {scale:g}"] = model.velocity.sample(labels, guidance=scale)
    return {key: base.autoencoder.decode(x).numpy() for key, x in latents.items()}


Rows = Mapping[str, Mapping[str, float]]


def picture(runs: Sequence[Rows], images: Mapping[str, np.ndarray]) -> Figure:
    """Images above; figures against guidance and against the budget below, over runs."""
    figure = Figure(figsize=(6.4, 8.6), layout="constrained")
    upper, lower = figure.subfigures(2, 1, height_ratios=(1, 1.55))
    for ax, (title, tiles) in zip(upper.subplots(2, 2).ravel(), images.items(), strict=True):
        show_images(ax, torch.as_tensor(tiles), "real, decoded" if title == "real" else title)
    axes = lower.subplots(2, 2, sharey="row")
    scales = [f"w = {scale:g}" for scale in SCALES]
    budgets = ["w = 0", *(f"K = {budget:g}" for budget in BUDGETS)]
    knn = {"k-NN precision": ORANGE, "k-NN recall": BLUE}
    curve = {"overlap": INK, "area": GREEN}
    for row, keys in zip(axes, (knn, curve), strict=True):
        for ax, settings in zip(row, (scales, budgets), strict=True):
            lines(ax, runs, settings, keys)
    axes[0, 0].set_title("By nearest neighbors: guidance", fontsize=10)
    axes[0, 1].set_title("By nearest neighbors: rejection", fontsize=10)
    axes[1, 0].set_title("By the curve: guidance", fontsize=10)
    axes[1, 1].set_title("By the curve: rejection", fontsize=10)
    axes[1, 0].set_xlabel("scale of guidance, w")
    axes[1, 1].set_xlabel("draws per kept sample, K")
    for ax in axes[:, 0]:
        ax.set(ylim=(0, 1.1), ylabel="score")
    return figure


def lines(ax: Axes, runs: Sequence[Rows], settings: list[str], keys: Mapping[str, str]) -> None:
    """Means over runs with 95% intervals, a line for each key."""
    at = np.arange(len(settings))
    for key, color in keys.items():
        values = np.array([[rows[setting][key] for setting in settings] for rows in runs])
        mean, half = values.mean(0), half_width(values)
        ax.errorbar(at, mean, half, color=color, marker="o", markersize=4, linewidth=1.8)
        if settings[-1].startswith("K"):  # where lines do not cross
            above = 0.07 if key in ("k-NN recall", "area") else -0.07
            name(ax, key, (at[-1], mean[-1] + above), color, side="left")
    numbers = [setting.partition("= ")[2] for setting in settings]
    if settings[-1].startswith("K"):
        numbers[0] = "1"  # without guidance, all draws are kept
    ax.set_xticks(at, numbers)
    ax.spines[["top", "right"]].set_visible(False)


def main() -> None:
    """Print the table and the recommendations, and draw the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("fashion-guidance.png"))
    parser.add_argument("--data", choices=tuple(DATA), default="fashion")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="a short training, few samples")
    options = parser.parse_args()
    size = QUICK if options.quick else Size()
    base = prepare(options.data, size)
    model = train(base, size, options.seed)
    rows = measure(base, model, size, options.seed)
    for setting, row in rows.items():
        print(f"{setting:8s} " + "  ".join(f"{key} {value:.3f}" for key, value in row.items()))
    for goal, (best, alike) in choose(base, model, size, options.seed).items():
        print(f"{goal}: w = {best} (alike: {alike})")
    with neutral():
        images = examples(base, model, options.seed)
        picture([rows], images).savefig(options.output, dpi=150)


if __name__ == "__main__":
    main()
