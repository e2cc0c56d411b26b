"""One GAN of Fashion-MNIST images, tuned for recall, for balance and for precision.

A plain GAN learns Fashion-MNIST with a penalty on the discriminator's gradient. The discriminator
is then trained alone, with hardly a penalty, so that its output comes close to log p/q. From there
the GAN is trained on for λ = 0.1, 1 and 10, and once as before, as long each time, with falling
rates. Weights of the generator are averaged. The judge is independent of training: features of a
classifier of the ten classes, test images, the curve and nearest neighbors.

    python -m examples.fashion_tradeoff --output fashion-tradeoff.png
"""

import argparse
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from matplotlib.figure import Figure
from torch import nn

from examples.first_picture import COLORS
from examples.parts.fashion import (
    Judged,
    draw,
    judge,
    load_fashion,
    show_images,
    train_discriminator,
    train_features,
    train_gan,
)
from tradeoff import PRCurveDisplay
from tradeoff.training import Loss, NonSaturatingLoss, PRLoss

LOSSES: dict[str, Callable[[], Loss]] = {
    "plain": NonSaturatingLoss,
    "λ = 0.1": lambda: PRLoss(0.1),
    "λ = 1": lambda: PRLoss(1.0),
    "λ = 10": lambda: PRLoss(10.0),
}


PENALTY, SMALL_PENALTY = 10.0, 0.1
"""While the GAN learns, and while it is tuned for a slope, which needs the size of log p/q."""


class Begun(NamedTuple):
    """A GAN to tune, and its judge."""

    images: torch.Tensor
    generator: nn.Module
    discriminator: nn.Sequential
    features: Callable[[torch.Tensor], np.ndarray]
    test: torch.Tensor
    seed: int


def begin(*, steps: int, size: int, seed: int) -> Begun:
    """Train a GAN and a judge.

    Args:
        steps: of the GAN; the judge takes half of them.
        size: samples of each side that are measured.
        seed: of weights and batches.
    """
    data = load_fashion()
    features = train_features(data.train, data.train_labels, steps=steps // 2, seed=seed)
    networks = train_gan(data.train, steps=steps, seed=seed, penalty=PENALTY, average=0.995)
    return Begun(data.train, *networks, features, data.test[:size], seed)


def warm(begun: Begun, *, steps: int, penalty: float = SMALL_PENALTY) -> Begun:
    """The GAN after training its discriminator alone.

    Args:
        begun: The GAN.
        steps: of the discriminator.
        penalty: on its gradient.
    """
    torch.manual_seed(begun.seed)
    discriminator = deepcopy(begun.discriminator)
    train_discriminator(discriminator, begun.generator, begun.images, steps=steps, penalty=penalty)
    return begun._replace(discriminator=discriminator)


def tune(begun: Begun, loss: Loss, *, steps: int, penalty: float = SMALL_PENALTY) -> Judged:
    """Tune a GAN with a warmed discriminator for a loss, and judge.

    Args:
        begun: The GAN.
        loss: What it is tuned for.
        steps: of tuning.
        penalty: on the gradient of the discriminator.
    """
    generator, discriminator = train_gan(
        begun.images,
        steps=steps,
        seed=begun.seed + 1,
        loss=loss,
        start=(begun.generator, begun.discriminator),
        rates=(2e-4, 4e-4),
        penalty=penalty,
        average=0.99,
    )
    made = draw(generator, len(begun.test))
    judged = judge(made, begun.features(begun.test), begun.features)
    judged.row.update(ratio_row(discriminator, loss, real=begun.test, generated=made))
    return judged


def ratio_row(
    discriminator: nn.Module, loss: Loss, *, real: torch.Tensor, generated: torch.Tensor
) -> dict[str, float]:
    """How far apart the discriminator's log-ratios are, and how many samples a step follows.

    The errors are both error rates of the discriminator together, 1 for a guess. The share is that
    of an even mean with the variance of the mean over generated samples that the loss weighs.
    """
    with torch.inference_mode():
        of_real, of_generated = (discriminator(x)[:, 0].numpy() for x in (real, generated))
    slopes = np.exp(-of_generated.astype(float))
    weights = slopes * loss.weight(slopes)
    return {
        "errors of the discriminator": float((of_real < 0).mean() + (of_generated >= 0).mean()),
        "standard deviation of log-ratios": float(of_generated.std()),
        "share of samples in a step": float(weights.mean() ** 2 / (weights**2).mean()),
    }


def picture(found: dict[str, Judged]) -> Figure:
    """Samples of every loss, the curves, and the weight of each loss on slopes."""
    figure = Figure(figsize=(13, 4.8), layout="constrained")
    grid = figure.add_gridspec(2, 4, width_ratios=(1, 1, 1.7, 1.5))
    for place, (name, judged) in enumerate(found.items()):
        show_images(figure.add_subplot(grid[place // 2, place % 2]), judged.images, name)
    curves = {name: judged.estimate.curve for name, judged in found.items()}
    PRCurveDisplay(curves).plot(figure.add_subplot(grid[:, 2]))
    ax = figure.add_subplot(grid[:, 3])
    slopes = np.geomspace(1e-3, 1e3, 400)
    for (name, make), color in zip(LOSSES.items(), COLORS, strict=True):
        ax.plot(slopes, slopes * make().weight(slopes), color=color, label=name)
    ax.set(xscale="log", xlabel="λ", title="weight of a loss, per unit of log λ")
    ax.spines[["top", "right"]].set_visible(False)
    return figure


def main() -> None:
    """Print the table and draw the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("fashion-tradeoff.png"))
    parser.add_argument("--quick", action="store_true", help="a short training, few samples")
    options = parser.parse_args()
    steps, size = (30, 300) if options.quick else (2000, 3000)
    begun = warm(begin(steps=steps, size=size, seed=0), steps=steps // 3)
    found = {name: tune(begun, make(), steps=steps // 3) for name, make in LOSSES.items()}
    for name, judged in found.items():
        print(f"{name:8s} " + "  ".join(f"{k} {v:.3f}" for k, v in judged.row.items()))
    picture(found).savefig(options.output, dpi=150)


if __name__ == "__main__":
    main()
