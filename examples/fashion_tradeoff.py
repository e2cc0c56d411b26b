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
from pathlib import Path

import numpy as np
import torch
from matplotlib.figure import Figure

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


PENALTY, SMALL_PENALTY = 10.0, 0.03
"""While the GAN learns, and while it is tuned for a slope, which needs the size of log p/q."""


def tune(*, steps: int, size: int, seed: int = 0) -> dict[str, Judged]:
    """Train a GAN, tune it for every loss, and judge.

    Args:
        steps: of the first training; the discriminator goes on alone for a quarter of them, and
            tuning takes a third.
        size: samples of each side that are measured.
        seed: of weights and batches.
    """
    data = load_fashion()
    features = train_features(data.train, data.train_labels, steps=steps // 2, seed=seed)
    real = features(data.test[:size])
    start = train_gan(data.train, steps=steps, seed=seed, penalty=PENALTY, average=0.995)
    train_discriminator(start[1], start[0], data.train, steps=steps // 4, penalty=SMALL_PENALTY)
    found = {}
    for name, make in LOSSES.items():
        generator, discriminator = train_gan(
            data.train,
            steps=steps // 3,
            seed=seed + 1,
            loss=make(),
            start=start,
            rates=(2e-4, 4e-4),
            penalty=SMALL_PENALTY,
            average=0.99,
        )
        torch.manual_seed(seed)
        found[name] = judge(draw(generator, size), real, features)
        with torch.inference_mode():
            outputs = discriminator(found[name].images[:1000])
        found[name].row["log-ratio of generated samples"] = float(outputs.mean())
        found[name].row["its standard deviation"] = float(outputs.std())
    return found


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
    found = tune(**({"steps": 30, "size": 300} if options.quick else {"steps": 2400, "size": 3000}))
    for name, judged in found.items():
        print(f"{name:8s} " + "  ".join(f"{k} {v:.3f}" for k, v in judged.row.items()))
    picture(found).savefig(options.output, dpi=150)


if __name__ == "__main__":
    main()
