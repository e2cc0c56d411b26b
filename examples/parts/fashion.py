"""Fashion-MNIST on a CPU: data, a small GAN, and features that know the classes.

Images are tensors of shape (n, 1, 28, 28) with values between -1 and 1.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from benchmarks.datasets import fashion_pixels
from tradeoff._progress import track

LATENTS = 64
"""Size of the generator's input."""


class Fashion(NamedTuple):
    """Images and their classes, of the training and of the test part."""

    train: torch.Tensor
    train_labels: torch.Tensor
    test: torch.Tensor


def load_fashion() -> Fashion:
    """All 60,000 and 10,000 images."""
    test, train = fashion_pixels()
    images = [
        torch.from_numpy(2.0 * part.features.reshape(-1, 1, 28, 28) - 1.0) for part in (train, test)
    ]
    return Fashion(images[0], torch.from_numpy(train.labels), images[1])


def make_generator() -> nn.Module:
    """From latents of shape (n, 64) to images."""
    return nn.Sequential(
        nn.Linear(LATENTS, 64 * 7 * 7),
        nn.Unflatten(1, (64, 7, 7)),
        nn.BatchNorm2d(64),
        nn.ReLU(),
        nn.ConvTranspose2d(64, 32, 4, stride=2, padding=1),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.ConvTranspose2d(32, 1, 4, stride=2, padding=1),
        nn.Tanh(),
    )


def make_discriminator(outputs: int = 1) -> nn.Sequential:
    """From images to outputs of shape (n, outputs); without its last layer, to 128 features."""
    return nn.Sequential(
        nn.Conv2d(1, 32, 4, stride=2, padding=1),
        nn.LeakyReLU(0.2),
        nn.Conv2d(32, 64, 4, stride=2, padding=1),
        nn.LeakyReLU(0.2),
        nn.Flatten(),
        nn.Linear(64 * 7 * 7, 128),
        nn.LeakyReLU(0.2),
        nn.Linear(128, outputs),
    )


def train_gan(
    images: torch.Tensor,
    *,
    steps: int,
    seed: int,
    generator_loss: Callable[[torch.Tensor], torch.Tensor] | None = None,
    batch: int = 128,
) -> tuple[nn.Module, nn.Sequential]:
    """A generator and a discriminator whose output is log p/q, by cross-entropy.

    Args:
        images: of the training part.
        steps: of both networks.
        seed: of weights and batches.
        generator_loss: of the discriminator's outputs on generated images; the plain GAN's, which
            does not saturate, if not given.
        batch: images of a step.
    """
    torch.manual_seed(seed)
    softplus = nn.functional.softplus
    if generator_loss is None:
        generator_loss = lambda output: softplus(-output).mean()  # noqa: E731
    generator, discriminator = make_generator(), make_discriminator()
    optimizers = [
        torch.optim.Adam(network.parameters(), 2e-4 * factor, betas=(0.5, 0.999))
        for network, factor in ((generator, 2.0), (discriminator, 1.0))
    ]
    for _ in track(range(steps), "training"):
        real = images[torch.randint(len(images), (batch,))]
        made = generator(torch.randn(batch, LATENTS))
        loss = softplus(-discriminator(real)).mean() + softplus(discriminator(made.detach())).mean()
        _descend(optimizers[1], loss)
        _descend(optimizers[0], generator_loss(discriminator(made)))
    return generator.eval(), discriminator.eval()


def train_features(
    images: torch.Tensor, labels: torch.Tensor, *, steps: int, seed: int, batch: int = 128
) -> Callable[[torch.Tensor], np.ndarray]:
    """From images to 128 features of a classifier of their classes, which no GAN has seen."""
    torch.manual_seed(seed)
    network = make_discriminator(10)
    optimizer = torch.optim.Adam(network.parameters(), 1e-3)
    for _ in track(range(steps), "training a classifier"):
        chosen = torch.randint(len(images), (batch,))
        loss = nn.functional.cross_entropy(network(images[chosen]), labels[chosen])
        _descend(optimizer, loss)
    body = network[:-1].eval()

    @torch.inference_mode()
    def features(x: torch.Tensor) -> np.ndarray:
        return torch.cat([body(part) for part in x.split(500)]).double().numpy()

    return features


def draw(generator: nn.Module, count: int) -> torch.Tensor:
    """So many images of the generator."""
    with torch.inference_mode():
        return generator(torch.randn(count, LATENTS))


def _descend(optimizer: torch.optim.Optimizer, loss: torch.Tensor) -> None:
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
