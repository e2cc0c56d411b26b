"""A GAN of digits that others trained: rejection by its own discriminator, and truncation.

Five seeds of sampling. The discriminator was published with the generator; it is calibrated on one
half of the test images of MNIST, and the other half judges, by features of a classifier. Optimal
rejection (OBRS), discriminator rejection sampling (DRS) and Metropolis-Hastings (MH) are compared
at equal acceptance rates. Changes are paired over seeds.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from benchmarks.bench_guidance import SEEDS, change, mean_row
from benchmarks.datasets import mnist_pixels
from benchmarks.harness import Row, Summary, run
from benchmarks.pretrained import COMMIT, FILES, REPOSITORY, PublishedGAN, digits_gan
from examples.fashion_guidance import judge
from examples.parts.fashion import features_of, load_fashion, train_classifier
from tradeoff.core.divergence import GAN
from tradeoff.ratio import Calibrated, Discriminator
from tradeoff.sampling import BudgetedSampler

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from torch import nn

HALF, CALIBRATION = 5000, 20_000
SCALES = (0.9, 0.8, 0.6)
METHODS: dict[str, tuple[Any, float]] = {
    "OBRS, K = 2": ("obrs", 2.0),
    "OBRS, K = 4": ("obrs", 4.0),
    "DRS, K = 2": ("drs", 2.0),
    "DRS, K = 4": ("drs", 4.0),
    "MH, K = 2": ("mh", 2.0),
    "MH, K = 4": ("mh", 4.0),
}
TRUNCATIONS = {f"latents × {scale:g}": scale for scale in SCALES}
PLAIN = "all draws"
KEYS = {"area": 1, "overlap": 1, "precision": 1, "recall": 1, "k-NN recall": 1}
PAIRS = {
    **{(PLAIN, f"OBRS, K = {k}"): KEYS for k in (2, 4)},
    **{(f"{way}, K = {k}", f"OBRS, K = {k}"): KEYS for k in (2, 4) for way in ("DRS", "MH")},
    **{(cut, f"OBRS, K = {k}"): {"area": 1, "recall": 1} for k in (2, 4) for cut in TRUNCATIONS},
    **{(PLAIN, cut): {"area": 1, "k-NN precision": 1} for cut in TRUNCATIONS},
}


class Judge(NamedTuple):
    """A classifier, features of the images that judge, and images that calibrate."""

    classifier: nn.Sequential
    real: np.ndarray
    calibrating: torch.Tensor

    def row(self, images: torch.Tensor) -> Row:
        """Figures of images of shape (n, 784)."""
        tiles = images.reshape(-1, 1, 28, 28)
        with torch.inference_mode():
            classes = torch.cat([self.classifier(x).argmax(1) for x in tiles.split(500)])
        shares = torch.bincount(classes, minlength=10) / len(classes)
        return {
            **judge(self.real, features_of(self.classifier)(tiles)),
            "share of ones": float(shares[1]),
            "share of twos": float(shares[2]),
        }


@cache
def judge_of_digits() -> Judge:
    """The classifier of ten digits, and both halves of the test images."""
    data = load_fashion(mnist_pixels)
    classifier = train_classifier(data.train, data.train_labels, steps=1000, seed=0)
    test = data.test[torch.randperm(2 * HALF, generator=torch.Generator().manual_seed(0))]
    return Judge(classifier, features_of(classifier)(test[HALF:]), test[:HALF].flatten(1))


@cache
def published() -> tuple[PublishedGAN, Calibrated]:
    """The GAN, and the log-ratio of its own discriminator."""
    gan = digits_gan()
    torch.manual_seed(0)
    score = torch.inference_mode()(gan.discriminator)
    ratio = Calibrated.fit(
        Discriminator(score, GAN()),
        real=judge_of_digits().calibrating,
        generated=gan.draw(CALIBRATION),
    )
    return gan, ratio


def sampled(setting: str, seed: int) -> Row:
    """Images of a setting, judged."""
    gan, ratio = published()
    torch.manual_seed(seed)
    if setting in METHODS:
        method, budget = METHODS[setting]
        sampler = BudgetedSampler(
            gan.draw, ratio, budget=budget, method=method, batch=4096, seed=seed
        )
        kept = sampler.sample(HALF, progress=False)
        images, rate = torch.as_tensor(kept.samples), kept.accounting.rate
    else:
        images, rate = gan.draw(HALF, TRUNCATIONS.get(setting, 1.0)), 1.0
    return judge_of_digits().row(images) | {"acceptance rate": rate}


def real_row(seed: int) -> Row:
    """Other real images in place of the model's."""
    images = load_fashion(mnist_pixels).train
    rows = torch.randperm(len(images), generator=torch.Generator().manual_seed(seed))[:HALF]
    return judge_of_digits().row(images[rows])


def source() -> Row:
    """Where the networks are from."""
    files = {f"SHA-256 of {name}": digest for name, digest in FILES.items()}
    return {"repository": REPOSITORY, "at commit": COMMIT} | files


def cases() -> dict[str, Callable[[], Row] | Summary]:
    """All seeds and settings, then what follows from them."""
    settings = (PLAIN, *METHODS, *TRUNCATIONS)
    made: dict[str, Callable[[], Row] | Summary] = {"source": source}
    for seed in SEEDS:
        made[f"digits, real images, seed {seed}"] = partial(real_row, seed)
        for setting in settings:
            made[f"digits, {setting}, seed {seed}"] = partial(sampled, setting, seed)
    for setting in ("real images", *settings):
        made[f"digits, {setting}, mean"] = Summary(
            partial(mean_row, data="digits", setting=setting)
        )
    for (before, after), signs in PAIRS.items():
        for key, sign in signs.items():
            made[f"digits, {before} to {after}: {key}"] = Summary(
                partial(change, data="digits", before=before, after=after, key=key, sign=sign)
            )
    return made


CASES = cases()

if __name__ == "__main__":
    run("digits_gan", "A published GAN of MNIST: rejection by its own discriminator", CASES)
