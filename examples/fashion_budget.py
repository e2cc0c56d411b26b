"""Better clothes from a small GAN, without training it further: what a budget buys.

A GAN learns Fashion-MNIST; its discriminator, trained on until it tells fresh samples apart and
calibrated on images it has not seen, says which draws to keep. What was gained is measured by a
judge that acceptance does not know: features of a classifier of the ten classes, test images, and
two estimators of their own, the curve and nearest neighbors.

    python -m examples.fashion_budget --output fashion-budget.png
"""

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from matplotlib.figure import Figure

from examples.parts.fashion import (
    draw,
    load_fashion,
    train_discriminator,
    train_features,
    train_gan,
)
from tradeoff import CurveEstimate, PRCurveDisplay, pr_curve, support_metrics
from tradeoff.core.divergence import GAN
from tradeoff.ratio import Calibrated, Discriminator
from tradeoff.sampling import BudgetedSampler

BUDGETS = (1.0, 1.5, 2.0, 4.0)


class Gained(NamedTuple):
    """Samples kept with a budget, and what an independent judge says of them."""

    images: torch.Tensor
    estimate: CurveEstimate
    row: dict[str, float]


def improve(*, steps: int, size: int, seed: int = 0) -> dict[float, Gained]:
    """Train, draw with every budget, and measure.

    Args:
        steps: of the GAN; the discriminator goes on for half as many.
        size: samples of each side that are measured.
        seed: of everything.
    """
    data = load_fashion()
    known, held_out = data.train[:50_000], data.train[50_000:]
    generator, discriminator = train_gan(known, steps=steps, seed=seed)
    train_discriminator(discriminator, generator, known, steps=steps // 2)
    network = torch.inference_mode()(discriminator)
    ratio = Calibrated.fit(
        Discriminator(network, GAN()), real=held_out, generated=draw(generator, len(held_out))
    )
    features = train_features(data.train, data.train_labels, steps=steps // 2, seed=seed)
    real = features(data.test[:size])
    return {
        budget: judge(
            BudgetedSampler(lambda n: draw(generator, n), ratio, budget=budget).sample(size),
            real,
            features,
        )
        for budget in BUDGETS
    }


def judge(sampled: Any, real: np.ndarray, features: Any) -> Gained:
    """The honest curve and the neighbors' precision and recall, on the classifier's features."""
    made = features(sampled.samples)
    estimate = pr_curve(real=real, generated=made)
    limits = estimate.interval([20.0, 0.4])
    neighbors = support_metrics(real=real, generated=made, metrics=("precision", "recall"))
    row = {
        "draws per sample": 1 / sampled.accounting.rate,
        "precision": estimate.curve.precision(20.0),
        "precision from": limits.precision[0][0],
        "precision to": limits.precision[0][1],
        "recall": estimate.curve.recall(0.4),
        "recall from": limits.recall[1][0],
        "recall to": limits.recall[1][1],
        "neighbors' precision": neighbors["precision"].value,
        "neighbors' recall": neighbors["recall"].value,
    }
    return Gained(sampled.samples, estimate, {name: float(value) for name, value in row.items()})


def picture(found: dict[float, Gained]) -> Figure:
    """The first samples of every budget, and the curves."""
    figure = Figure(figsize=(10.5, 4.6), layout="constrained")
    grid = figure.add_gridspec(2, 3, width_ratios=(1, 1, 1.7))
    for place, (budget, gained) in enumerate(found.items()):
        ax = figure.add_subplot(grid[place // 2, place % 2])
        tiles = gained.images[:40].reshape(5, 8, 28, 28).permute(0, 2, 1, 3).reshape(140, 224)
        ax.imshow(tiles, cmap="gray_r", vmin=-1, vmax=1)
        ax.set_axis_off()
        ax.set_title(f"K = {budget:g}", fontsize=10)
    curves = {f"K = {budget:g}": gained.estimate.curve for budget, gained in found.items()}
    PRCurveDisplay(curves).plot(figure.add_subplot(grid[:, 2]))
    return figure


def main() -> None:
    """Print the table and draw the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("fashion-budget.png"))
    parser.add_argument("--quick", action="store_true", help="a short training, few samples")
    options = parser.parse_args()
    size = {"steps": 60, "size": 400} if options.quick else {"steps": 4000, "size": 5000}
    found = improve(**size)
    for budget, gained in found.items():
        print(f"K = {budget:3g}  " + "  ".join(f"{k} {v:.3f}" for k, v in gained.row.items()))
    picture(found).savefig(options.output, dpi=150)


if __name__ == "__main__":
    main()
