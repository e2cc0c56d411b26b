"""Fashion-MNIST on a CPU: data, a small GAN, and features that know the classes.

Images are tensors of shape (n, 1, 28, 28) with values between -1 and 1.
"""

from collections.abc import Callable
from copy import deepcopy
from typing import NamedTuple

import numpy as np
import torch
from matplotlib.axes import Axes
from torch import nn

from benchmarks.datasets import Parts, fashion_pixels
from examples.parts.loop import descend
from tradeoff import CurveEstimate, pr_curve, support_metrics
from tradeoff._progress import track
from tradeoff.training import Loss, NonSaturatingLoss

LATENTS = 64
"""Size of the generator's input."""
_PENALTY_STEPS = 4


class Fashion(NamedTuple):
    """Images and their classes, of the training and of the test part."""

    train: torch.Tensor
    train_labels: torch.Tensor
    test: torch.Tensor


def load_fashion(pixels: Callable[[], Parts] = fashion_pixels) -> Fashion:
    """All 60,000 and 10,000 images of Fashion-MNIST, or of another data set of its format."""
    test, train = pixels()
    images = [
        torch.from_numpy(2.0 * part.features.reshape(-1, 1, 28, 28) - 1.0) for part in (train, test)
    ]
    return Fashion(images[0], torch.from_numpy(train.labels), images[1])


def make_generator() -> nn.Module:
    """From latents of shape (n, 64) to images."""
    return nn.Sequential(
        nn.Linear(LATENTS, 32 * 7 * 7),
        nn.Unflatten(1, (32, 7, 7)),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.ConvTranspose2d(32, 16, 4, stride=2, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.ConvTranspose2d(16, 1, 4, stride=2, padding=1),
        nn.Tanh(),
    )


def make_discriminator(outputs: int = 1) -> nn.Sequential:
    """From images to outputs of shape (n, outputs); without its last layer, to 128 features."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 4, stride=2, padding=1),
        nn.LeakyReLU(0.2),
        nn.Conv2d(16, 32, 4, stride=2, padding=1),
        nn.LeakyReLU(0.2),
        nn.Flatten(),
        nn.Linear(32 * 7 * 7, 128),
        nn.LeakyReLU(0.2),
        nn.Linear(128, outputs),
    )


def train_gan(
    images: torch.Tensor,
    *,
    steps: int,
    seed: int,
    loss: Loss | None = None,
    start: tuple[nn.Module, nn.Sequential] | None = None,
    rates: tuple[float, float] = (4e-4, 2e-4),
    penalty: float = 0.0,
    average: float = 0.0,
    batch: int = 128,
) -> tuple[nn.Module, nn.Sequential]:
    """A generator and a discriminator, whose output stands for log p/q.

    Args:
        images: of the training part.
        steps: of both networks.
        seed: of weights and batches.
        loss: of both; the plain GAN's if not given.
        start: networks that are trained further, at rates that fall to a twentieth; fresh ones, at
            constant rates, if not given.
        rates: of the generator and of the discriminator.
        penalty: weight of the discriminator's gradient at real images, see `penalty_of`.
        average: share of the old weights that the average of the generator's weights keeps at each
            step; the averaged generator is returned.
        batch: images of a step.
    """
    torch.manual_seed(seed)
    loss = NonSaturatingLoss() if loss is None else loss
    generator, discriminator = (
        (make_generator(), make_discriminator()) if start is None else deepcopy(start)
    )
    averaged = deepcopy(generator)
    optimizers = [
        torch.optim.Adam(network.train().parameters(), rate, betas=(0.5, 0.999))
        for network, rate in zip((generator, discriminator), rates, strict=True)
    ]
    last = 1.0 if start is None else 0.05
    decays = [torch.optim.lr_scheduler.LinearLR(one, 1.0, last, steps) for one in optimizers]
    for step in track(range(steps), "training"):
        real = images[torch.randint(len(images), (batch,))]
        made = generator(torch.randn(batch, LATENTS))
        of_both = loss.discriminator_loss(discriminator(real), discriminator(made.detach()))
        descend(optimizers[1], of_both + penalty_of(discriminator, real, penalty, step))
        descend(optimizers[0], loss.generator_loss(discriminator(made)))
        for decay in decays:
            decay.step()
        _follow(averaged, generator, average)
    return averaged.eval(), discriminator.eval()


def penalty_of(
    discriminator: nn.Module, real: torch.Tensor, weight: float, step: int
) -> torch.Tensor:
    """The weighted mean of half the squared gradient at real images, at every fourth step."""
    if weight == 0.0 or step % _PENALTY_STEPS:
        return torch.zeros(())
    real = real.detach().requires_grad_(True)
    (gradient,) = torch.autograd.grad(discriminator(real).sum(), real, create_graph=True)
    return 0.5 * _PENALTY_STEPS * weight * gradient.flatten(1).square().sum(1).mean()


@torch.no_grad()
def _follow(averaged: nn.Module, network: nn.Module, kept: float) -> None:
    """Move the averaged weights toward those of the network."""
    pairs = zip(averaged.state_dict().values(), network.state_dict().values(), strict=True)
    for mean, now in pairs:
        if now.is_floating_point():
            mean.lerp_(now, 1.0 - kept)
        else:
            mean.copy_(now)


def train_discriminator(
    discriminator: nn.Module,
    generator: nn.Module,
    images: torch.Tensor,
    *,
    steps: int,
    penalty: float = 0.0,
    batch: int = 128,
) -> None:
    """Go on with the discriminator alone, at a rate that falls to 0."""
    loss = NonSaturatingLoss()
    optimizer = torch.optim.Adam(discriminator.parameters(), 2e-4)
    decay = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, steps)
    for step in track(range(steps), "training a discriminator"):
        real = images[torch.randint(len(images), (batch,))]
        made = draw(generator, batch).clone()
        of_both = loss.discriminator_loss(discriminator(real), discriminator(made))
        descend(optimizer, of_both + penalty_of(discriminator, real, penalty, step))
        decay.step()


def train_features(
    images: torch.Tensor, labels: torch.Tensor, *, steps: int, seed: int
) -> Callable[[torch.Tensor], np.ndarray]:
    """From images to 128 features of a classifier of their classes, which no GAN has seen."""
    return features_of(train_classifier(images, labels, steps=steps, seed=seed))


def train_classifier(
    images: torch.Tensor, labels: torch.Tensor, *, steps: int, seed: int, batch: int = 128
) -> nn.Sequential:
    """A classifier of ten classes."""
    torch.manual_seed(seed)
    network = make_discriminator(10)
    optimizer = torch.optim.Adam(network.parameters(), 1e-3)
    for _ in track(range(steps), "training a classifier"):
        chosen = torch.randint(len(images), (batch,))
        loss = nn.functional.cross_entropy(network(images[chosen]), labels[chosen])
        descend(optimizer, loss)
    return network.eval()


def features_of(classifier: nn.Sequential) -> Callable[[torch.Tensor], np.ndarray]:
    """From images to the 128 features before the classifier's last layer."""
    body = classifier[:-1]

    @torch.inference_mode()
    def features(x: torch.Tensor) -> np.ndarray:
        return torch.cat([body(part) for part in x.split(500)]).double().numpy()

    return features


class Judged(NamedTuple):
    """Generated images, and what a judge that no network was trained with says of them."""

    images: torch.Tensor
    estimate: CurveEstimate
    row: dict[str, float]


def judge(
    images: torch.Tensor, real: np.ndarray, features: Callable[[torch.Tensor], np.ndarray]
) -> Judged:
    """The held-out curve and the neighbors' precision and recall, on features of a classifier."""
    made = features(images)
    estimate = pr_curve(real=real, generated=made)
    limits = estimate.interval([20.0, 0.4])
    neighbors = support_metrics(real=real, generated=made, metrics=("precision", "recall"))
    row = {
        "precision": estimate.curve.precision(20.0),
        "precision from": limits.precision[0][0],
        "precision to": min(limits.precision[0][1], 1.0),
        "recall": estimate.curve.recall(0.4),
        "recall from": limits.recall[1][0],
        "recall to": min(limits.recall[1][1], 1.0),
        "neighbors' precision": neighbors["precision"].value,
        "neighbors' recall": neighbors["recall"].value,
    }
    return Judged(images, estimate, {name: float(value) for name, value in row.items()})


def show_images(ax: Axes, images: torch.Tensor, title: str) -> None:
    """The first forty images."""
    tiles = images[:40].reshape(5, 8, 28, 28).permute(0, 2, 1, 3).reshape(140, 224)
    ax.imshow(tiles.numpy(), cmap="gray_r", vmin=-1, vmax=1)
    ax.set_axis_off()
    ax.set_title(title, fontsize=10)


def draw(generator: nn.Module, count: int) -> torch.Tensor:
    """So many images of the generator."""
    with torch.inference_mode():
        return generator(torch.randn(count, LATENTS))
