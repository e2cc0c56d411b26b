"""Sajjadi et al., 2018: GANs and variational autoencoders on Fashion-MNIST.

    python -m examples.papers.sajjadi_2018_models --output pictures

Models of both kinds differ in seed and size, or length of training. Curves follow the recipe of the
paper: k-means with 20 clusters, the mean of several runs; features are those of a classifier.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from matplotlib.figure import Figure
from torch import nn

from examples.papers.gallery import Claim, Experiment, Measured, main
from examples.parts.fashion import draw, load_fashion, show_images, train_features, train_gan
from examples.parts.latents import make_network
from examples.parts.loop import descend
from examples.parts.style import COLORS, INK, name
from tradeoff import reproduce
from tradeoff._progress import track

BETA = 8.0
BLUE, ORANGE = COLORS[:2]
GAN_STEPS = (500, 1000, 2000)
VAE_LATENTS = (4, 8, 16)


class Models(NamedTuple):
    """F-scores of models, shape (models, 2), recall before precision, and images of the last."""

    gans: np.ndarray
    vaes: np.ndarray
    images: dict[str, torch.Tensor]


def train_vae(
    images: torch.Tensor, *, latents: int, steps: int, seed: int, batch: int = 128
) -> Callable[[int], torch.Tensor]:
    """Draws images of a variational autoencoder; pixels count as probabilities of white."""
    torch.manual_seed(seed)
    encoder, decoder = make_network(784, 256, 2 * latents), make_network(latents, 256, 784)
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], 1e-3)
    for _ in track(range(steps), "training an autoencoder"):
        chosen = images[torch.randint(len(images), (batch,))]
        x = 0.5 * (chosen.flatten(1) + 1.0)
        mean, log_scale = encoder(x).chunk(2, dim=1)
        outputs = decoder(mean + log_scale.exp() * torch.randn_like(mean))
        error = nn.functional.binary_cross_entropy_with_logits(outputs, x, reduction="sum")
        divergence = 0.5 * (mean**2 + (2 * log_scale).exp() - 1.0).sum() - log_scale.sum()
        descend(optimizer, (error + divergence) / batch)

    @torch.inference_mode()
    def sample(n: int) -> torch.Tensor:
        pixels = decoder(torch.randn(n, latents)).sigmoid()
        return 2.0 * pixels.reshape(n, 1, 28, 28) - 1.0

    return sample


def measure_models(quick: bool) -> Measured:
    """F8 and F1/8 of several models of both kinds."""
    share, size, seeds = (0.05, 300, 1) if quick else (1.0, 5000, 2)
    data = load_fashion()
    features = train_features(data.train, data.train_labels, steps=int(1500 * share), seed=0)
    real = features(data.test[:size])

    def scores(images: torch.Tensor) -> list[float]:
        found = reproduce("sajjadi-2018", real=real, generated=features(images), progress=False)
        return [found.curve.f_score(BETA), found.curve.f_score(1 / BETA)]

    gans, vaes = [], []
    for seed in range(seeds):
        for steps in GAN_STEPS:
            generator, _ = train_gan(data.train, steps=int(steps * share), seed=seed)
            torch.manual_seed(seed)
            by_gan = draw(generator, size)
            gans.append(scores(by_gan))
        for latents in VAE_LATENTS:
            steps = int(3000 * share)
            by_vae = train_vae(data.train, latents=latents, steps=steps, seed=seed)(size)
            vaes.append(scores(by_vae))
    models = Models(np.array(gans), np.array(vaes), {"a GAN": by_gan, "a VAE": by_vae})
    recall, precision = zip(models.gans.mean(0), models.vaes.mean(0), strict=True)
    values = {
        "F1/8: mean of GANs minus mean of VAEs": precision[0] - precision[1],
        "F8: mean of VAEs minus mean of GANs": recall[1] - recall[0],
        "sum of both differences": precision[0] - precision[1] + recall[1] - recall[0],
    }
    return Measured({key: float(value) for key, value in values.items()}, models)


def draw_models(models: Models) -> Figure:
    """Both kinds in the plane of the two scores, and images of one of each."""
    figure = Figure(figsize=(9.0, 4.4), layout="constrained")
    grid = figure.add_gridspec(2, 2, width_ratios=(1.4, 1))
    ax = figure.add_subplot(grid[:, 0])
    for found, color, label in ((models.gans, ORANGE, "GANs"), (models.vaes, BLUE, "VAEs")):
        ax.plot(found[:, 0], found[:, 1], "o", color=color, markersize=8)
        highest = found[found[:, 1].argmax()]
        name(ax, label, (highest[0], highest[1] + 0.025), color, side="middle")
    both = np.concatenate((models.gans, models.vaes))
    ends = both.min() - 0.05, min(both.max() + 0.05, 1.0)
    ax.plot(ends, ends, color=INK, linewidth=1, linestyle=":")
    ax.set(xlim=ends, ylim=ends, xlabel="F8 (favors recall)", ylabel="F1/8 (favors precision)")
    ax.spines[["top", "right"]].set_visible(False)
    for row, (title, images) in enumerate(models.images.items()):
        show_images(figure.add_subplot(grid[row, 1]), images, title)
    return figure


FIGURE = "figure 7: compared with GANs, VAEs lose precision, gain recall, or both"
EXPERIMENTS = (
    Experiment(
        "gans-and-vaes",
        "trained models",
        "GANs and variational autoencoders on Fashion-MNIST",
        {
            "F1/8: mean of GANs minus mean of VAEs": Claim(
                "section 4.3: VAEs tend to have lower precision"
            ),
            "F8: mean of VAEs minus mean of GANs": Claim(
                "section 4.3: VAEs tend to have higher recall"
            ),
            "sum of both differences": Claim(FIGURE),
        },
        measure_models,
        draw_models,
    ),
)

if __name__ == "__main__":
    main(EXPERIMENTS, __doc__)
