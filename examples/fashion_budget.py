"""Better Fashion-MNIST images from a small GAN, without training it further: what a budget brings.

A GAN learns Fashion-MNIST; its discriminator, trained on until it tells fresh samples apart and
calibrated on images it has not seen, says which draws to keep. What was gained is measured by a
judge that acceptance does not know: features of a classifier of the ten classes, test images, and
two estimators of their own, the curve and nearest neighbors.

    python -m examples.fashion_budget --output fashion-budget.png
"""

import argparse
from pathlib import Path

import torch
from matplotlib.figure import Figure

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
from examples.parts.style import neutral
from tradeoff import PRCurveDisplay
from tradeoff.core.divergence import GAN
from tradeoff.ratio import Calibrated, Discriminator
from tradeoff.sampling import BudgetedSampler

BUDGETS = (1.0, 1.5, 2.0, 4.0)


def improve(*, steps: int, size: int, seed: int = 0) -> dict[float, Judged]:
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
    found = {}
    for budget in BUDGETS:
        sampled = BudgetedSampler(lambda n: draw(generator, n), ratio, budget=budget).sample(size)
        found[budget] = judge(sampled.samples, real, features)
        found[budget].row["draws per sample"] = 1 / sampled.accounting.rate
    return found


def picture(found: dict[float, Judged]) -> Figure:
    """The first samples of every budget, and the curves."""
    figure = Figure(figsize=(6.2, 10), layout="constrained")
    grid = figure.add_gridspec(3, 2, height_ratios=(1, 1, 2.7))
    for place, (budget, judged) in enumerate(found.items()):
        show_images(
            figure.add_subplot(grid[place // 2, place % 2]), judged.images, f"K = {budget:g}"
        )
    curves = {f"K = {budget:g}": judged.estimate.curve for budget, judged in found.items()}
    PRCurveDisplay(curves).plot(figure.add_subplot(grid[2, :]))
    return figure


def main() -> None:
    """Print the table and draw the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("fashion-budget.png"))
    parser.add_argument("--quick", action="store_true", help="a short training, few samples")
    options = parser.parse_args()
    size = {"steps": 60, "size": 400} if options.quick else {"steps": 4000, "size": 5000}
    found = improve(**size)
    for budget, judged in found.items():
        print(f"K = {budget:3g}  " + "  ".join(f"{k} {v:.3f}" for k, v in judged.row.items()))
    with neutral():
        picture(found).savefig(options.output, dpi=150)


if __name__ == "__main__":
    main()
