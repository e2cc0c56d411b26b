"""One flow of images: tuned for recall, balance and precision, truncated, and rejected.

A flow that is too simple for its data learns the latents of an autoencoder by maximum likelihood.
From there it is tuned for λ = 0.1, 1 and 10 by its score, and once trained on as before. Latents at
seven temperatures, below and above 1, and rejection under three budgets start from the same flow.
The judge shares nothing with training: features of a classifier, test images, the curve and nearest
neighbors.

    python -m examples.fashion_tuning --output fashion-tuning.png
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
from scipy.stats import t as student
from torch import nn

from benchmarks.datasets import Parts, fashion_pixels, mnist_pixels
from examples.first_picture import COLORS
from examples.parts.fashion import (
    Fashion,
    features_of,
    load_fashion,
    show_images,
    train_classifier,
)
from examples.parts.labels import Labeled, place_labels
from examples.parts.latents import (
    Autoencoder,
    Flow,
    Tuned,
    train_autoencoder,
    train_discriminator,
    train_likelihood,
    tune,
)
from examples.parts.style import neutral
from tradeoff import PRCurve, pr_curve, support_metrics
from tradeoff.sampling import BudgetedSampler
from tradeoff.training import PRLoss

SLOPES = (0.1, 1.0, 10.0)
TEMPERATURES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.2, 1.4)
BUDGETS = (1.5, 2.0, 4.0)
BEFORE_REJECTION = (0.1, 0.25, 1.0, 4.0)
"""Slopes of flows that are tuned with a rejection under K = 4 to follow."""
DATA: dict[str, Callable[[], Parts]] = {"fashion": fashion_pixels, "mnist": mnist_pixels}
GROUPS = {
    "temperature": [
        "likelihood" if value == 1 else f"T = {value:g}" for value in sorted((*TEMPERATURES, 1))
    ],
    "tuning": [f"λ = {lam:g}" for lam in SLOPES],
    "rejection": ["likelihood", *(f"K = {budget:g}" for budget in BUDGETS)],
    "likelihood, trained on": ["trained on"],
    "tuning, then rejection": ["λ = 0.1, K = 4"],
}
SHOWN = ("real", "likelihood", "T = 0.6", "λ = 0.1", "λ = 1", "λ = 10", "K = 4")

PLANES = (("neighbors' recall", "neighbors' precision"), ("recall", "precision"))
TEXTS = {"likelihood": "maximum likelihood", "trained on": "likelihood, trained on"}
ARMS = np.array([(-1, 0), (1, 0), (0, 0), (0, -1), (0, 1)])
"""The two bars of a point, in one line."""

_STYLES = (("0.5", "s"), (COLORS[0], "D"), (COLORS[2], "^"), (COLORS[1], "o"), (COLORS[3], "*"))


@dataclass(frozen=True)
class Size:
    """Numbers of steps, and of samples of each side that the judge compares."""

    autoencoder: int = 4000
    likelihood: int = 1000
    discriminator: int = 1500
    tuning: int = 2000
    classifier: int = 1000
    samples: int = 5000


QUICK = Size(30, 30, 30, 20, 30, 300)


class Models(NamedTuple):
    """Everything that is trained, and the minutes of CPU time it took."""

    autoencoder: Autoencoder
    start: Tuned
    longer: Flow
    tuned: dict[float, Tuned]
    minutes: float


class Run(NamedTuple):
    """Figures by setting; and for the picture, images and shares of classes over real shares."""

    rows: dict[str, dict[str, float]]
    images: dict[str, np.ndarray]
    shares: dict[str, np.ndarray]


def begin(data: Fashion, size: Size, seed: int) -> tuple[Autoencoder, torch.Tensor, Tuned]:
    """An autoencoder, its latents of the training images, and a flow with a discriminator."""
    autoencoder = train_autoencoder(data.train, steps=size.autoencoder, seed=seed)
    latents = autoencoder.encode(data.train)
    torch.manual_seed(seed)
    flow = train_likelihood(Flow(), latents, steps=size.likelihood, rate=3e-3, batch=256)
    discriminator = train_discriminator(flow, latents, steps=size.discriminator)
    return autoencoder, latents, Tuned(flow, flow, discriminator)


def train(data: Fashion, size: Size, seed: int) -> Models:
    """Tune a flow for every slope, and train it on by maximum likelihood."""
    begun = time.process_time()
    autoencoder, latents, start = begin(data, size, seed)
    tuned = {}
    for lam in dict.fromkeys((*SLOPES, *BEFORE_REJECTION)):
        torch.manual_seed(seed)
        tuned[lam] = tune(start.flow, start.discriminator, latents, PRLoss(lam), steps=size.tuning)
        if lam == SLOPES[-1]:
            minutes = (time.process_time() - begun) / 60
    longer = train_likelihood(start.flow, latents, steps=size.tuning, rate=2e-3, batch=512)
    return Models(autoencoder, start, longer, tuned, minutes)


def draw(models: Models, count: int) -> dict[str, torch.Tensor]:
    """Latents of every setting."""
    flow = models.start.flow
    return {
        "likelihood": flow.sample(count),
        "trained on": models.longer.sample(count),
        **{f"λ = {lam:g}": models.tuned[lam].flow.sample(count) for lam in SLOPES},
        **{f"T = {value:g}": flow.sample(count, value) for value in TEMPERATURES},
        **{f"K = {budget:g}": reject(models.start, budget, count) for budget in BUDGETS},
        **{
            f"λ = {lam:g}, K = 4": reject(models.tuned[lam], 4.0, count) for lam in BEFORE_REJECTION
        },
    }


def reject(tuned: Tuned, budget: float, count: int) -> torch.Tensor:
    """Latents that are kept under a budget."""
    sampler = BudgetedSampler(tuned.flow.sample, tuned.log_ratio, budget=budget, batch=4096)
    return torch.as_tensor(sampler.sample(count, progress=False).samples)


def measure(name: str, size: Size, seed: int) -> Run:
    """Train on a data set, draw from every setting, and judge."""
    data = load_fashion(DATA[name])
    models = train(data, size, seed)
    classifier = train_classifier(data.train, data.train_labels, steps=size.classifier, seed=seed)
    features = features_of(classifier)
    test = data.test[: size.samples]
    decode = models.autoencoder.decode
    images = {"real": decode(models.autoencoder.encode(test))}
    torch.manual_seed(seed)
    images |= {setting: decode(x) for setting, x in draw(models, size.samples).items()}
    found = {setting: features(x) for setting, x in images.items()}
    rows = {
        setting: judge(found["real"], made) for setting, made in found.items() if setting != "real"
    }
    for setting in ("likelihood", *GROUPS["tuning"]):
        raw = honest_curve(features(test), found[setting])  # that no autoencoder has blurred
        rows[setting]["precision on raw images"] = float(raw.precision(20.0))
    rows["likelihood"]["CPU minutes"] = models.minutes
    shares = {setting: _shares(classifier, images[setting]) for setting in SHOWN}
    return Run(
        rows,
        {setting: images[setting][:40].numpy() for setting in SHOWN},
        {
            setting: share / shares["real"].clip(1 / size.samples)
            for setting, share in shares.items()
        },
    )


def judge(real: np.ndarray, made: np.ndarray) -> dict[str, float]:
    """The held-out curve and neighbors, on features of decoded images."""
    curve = honest_curve(real, made)
    neighbors = support_metrics(
        real=real, generated=made, metrics=("precision", "recall"), progress=False
    )
    row = {
        "precision": curve.precision(20.0),
        "recall": curve.recall(0.4),
        "neighbors' precision": neighbors["precision"].value,
        "neighbors' recall": neighbors["recall"].value,
        **{f"α at {lam:g}": curve.precision(lam) for lam in SLOPES},
    }
    return {key: float(value) for key, value in row.items()}


def honest_curve(real: np.ndarray, made: np.ndarray) -> PRCurve:
    """The curve by one member of the default stack, in a seventh of its time."""
    return pr_curve(real=real, generated=made, estimator="kernel-logistic", progress=False).curve


@torch.inference_mode()
def _shares(classifier: nn.Module, images: torch.Tensor) -> np.ndarray:
    classes = torch.cat([classifier(part).argmax(1) for part in images.split(500)])
    return torch.bincount(classes, minlength=10).numpy() / len(images)


def picture(runs: Sequence[Run]) -> Figure:
    """Both planes with 95% intervals over runs; images and classes of the first run."""
    figure = Figure(figsize=(6.2, 13), layout="constrained")
    upper, lower = figure.subfigures(2, 1, height_ratios=(3.7, 1))
    planes = upper.subplots(3, 1, height_ratios=(1.2, 1.2, 1))
    rows = [run.rows for run in runs]
    planes[0].set(title="By nearest neighbors", xlabel="k-NN recall", ylabel="k-NN precision")
    planes[1].set(
        title="By the held-out curve", xlabel="recall at λ = 0.4", ylabel="precision at λ = 20"
    )
    _draw_shares(planes[2], runs[0].shares)
    axes = lower.subplots(2, 4).ravel()
    for ax, name in zip(axes, SHOWN, strict=False):
        title = {"real": "real, decoded", "likelihood": "maximum likelihood"}.get(name, name)
        show_images(ax, torch.as_tensor(runs[0].images[name]), title)
    axes[-1].set_axis_off()
    for ax, keys in zip(planes, PLANES, strict=False):
        plane(ax, rows, keys)
    upper.legend(
        *planes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False
    )
    return figure


def plane(
    ax: Axes, rows: Sequence[Mapping[str, Mapping[str, float]]], keys: tuple[str, str]
) -> None:
    """Every setting in a plane of recall and precision, mean and 95% interval over runs."""
    points, lines = {}, []
    for (group, names), (color, marker) in zip(GROUPS.items(), _STYLES, strict=True):
        values = np.array([[[row[name][key] for key in keys] for name in names] for row in rows])
        center, error = values.mean(0), half_width(values)
        ax.errorbar(
            *center.T,
            xerr=error[:, 0],
            yerr=error[:, 1],
            color=color,
            marker=marker,
            linewidth=1.2,
            elinewidth=0.8,
            label=group,
        )
        lines += [center, *(at + half * ARMS for at, half in zip(center, error, strict=True))]
        for name, at in zip(names, center, strict=True):
            points.setdefault(name, Labeled(TEXTS.get(name, name), at, color))
    ax.margins(0.1)
    ax.spines[["top", "right"]].set_visible(False)
    place_labels(ax, list(points.values()), lines)


def half_width(values: np.ndarray) -> np.ndarray:
    """Half of Student's 95% interval over the first axis; 0 for a single run."""
    n = len(values)
    if n == 1:
        return np.zeros(values.shape[1:])
    return student.ppf(0.975, n - 1) * values.std(0, ddof=1) / np.sqrt(n)


def _draw_shares(ax: Axes, shares: Mapping[str, np.ndarray]) -> None:
    names = ("likelihood", *GROUPS["tuning"])
    for name, color in zip(names, ("0.5", "#9ecae1", "#4292c6", "#2166ac"), strict=True):
        ax.plot(shares[name], "o-", color=color, markersize=4, linewidth=1.2, label=name)
    ax.axhline(1.0, color="0.8", linewidth=0.8, zorder=0)
    ax.set(xlabel="class", xticks=range(10), title="Share of a class over its real share")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=4, frameon=False)


def main() -> None:
    """Print the table and draw the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("fashion-tuning.png"))
    parser.add_argument("--data", choices=tuple(DATA), default="fashion")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="a short training, few samples")
    options = parser.parse_args()
    run = measure(options.data, QUICK if options.quick else Size(), options.seed)
    for name, row in run.rows.items():
        print(f"{name:16s} " + "  ".join(f"{key} {value:.3f}" for key, value in row.items()))
    with neutral():
        picture([run]).savefig(options.output, dpi=150, bbox_inches="tight")


if __name__ == "__main__":
    main()
