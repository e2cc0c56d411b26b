"""What the parts of the recipe for tuning a flow of images are worth, one at a time.

Fashion-MNIST, λ = 0.1 and 10. A row is what a measure changes by from λ = 0.1 to λ = 10, and what
both flows reach at their own slopes; means over two seeds.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

from benchmarks.harness import Row, Summary, run
from examples.fashion_tuning import Size, begin, judge
from examples.parts.fashion import features_of, load_fashion, train_classifier
from examples.parts.latents import LATENTS, Autoencoder, Tuned, make_network, tune
from tradeoff.training import NonSaturatingLoss, PRLoss

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import nn

SEEDS = range(6, 8)
SLOPES = (0.1, 10.0)
SIZE = Size()
VARIANTS: dict[str, tuple[str, dict[str, bool]]] = {
    "as recommended": ("warm", {}),
    "ratio does not know the flow": ("warm", {"knows_flow": False}),
    "gradient of the discriminator": ("warm", {"by_score": False}),
    "neither": ("warm", {"knows_flow": False, "by_score": False}),
    "no warm start": ("cold", {}),
    "warm start until flat": ("flat", {}),
}
"""Which discriminator a variant begins with, and how it is tuned."""


class Begun(NamedTuple):
    """What all variants of a seed share."""

    autoencoder: Autoencoder
    latents: torch.Tensor
    start: Tuned
    features: Callable[[torch.Tensor], np.ndarray]
    real: np.ndarray


@cache
def begun(seed: int) -> Begun:
    """Everything before tuning."""
    data = load_fashion()
    autoencoder, latents, start = begin(data, SIZE, seed)
    features = features_of(
        train_classifier(data.train, data.train_labels, steps=SIZE.classifier, seed=seed)
    )
    real = features(autoencoder.decode(autoencoder.encode(data.test[: SIZE.samples])))
    return Begun(autoencoder, latents, start, features, real)


@cache
def discriminator(kind: str, seed: int) -> nn.Module:
    """Warmed for 1,500 steps, until its held-out dual is flat, or not at all."""
    shared = begun(seed)
    if kind == "warm":
        return shared.start.discriminator
    torch.manual_seed(seed)
    network = make_network(LATENTS, 192, 192, 1)
    if kind == "flat":
        NonSaturatingLoss().warm_start(
            network,
            real=shared.latents,
            generate=shared.start.flow.sample,
            learning_rate=2e-3,
            seed=seed,
        )
    return network


def variant_row(name: str, lam: float, seed: int) -> Row:
    """The judge's figures of a flow that is tuned in this way."""
    shared = begun(seed)
    kind, options = VARIANTS[name]
    network = discriminator(kind, seed)
    torch.manual_seed(seed)
    flow = shared.start.flow
    tuned = tune(flow, network, shared.latents, PRLoss(lam), steps=SIZE.tuning, **options).flow
    torch.manual_seed(seed)
    made = shared.features(shared.autoencoder.decode(tuned.sample(SIZE.samples)))
    return judge(shared.real, made)


def mean_row(rows: dict[str, Row], name: str) -> Row:
    """Mean changes from λ = 0.1 to λ = 10, and mean α of both at their own slopes."""

    def means(lam: float) -> dict[str, float]:
        found = [rows[f"{name}, λ = {lam:g}, seed {seed}"] for seed in SEEDS]
        return {key: float(np.mean([row[key] for row in found])) for key in found[0]}

    low, high = (means(lam) for lam in SLOPES)
    measures = ("precision", "recall", "neighbors' precision", "neighbors' recall")
    changes = {f"change of {key}": high[key] - low[key] for key in measures}
    own = {
        f"α at {lam:g}": row[f"α at {lam:g}"] for lam, row in zip(SLOPES, (low, high), strict=True)
    }
    return changes | own


CASES: dict[str, Callable[[], Row] | Summary] = {
    **{
        f"{name}, λ = {lam:g}, seed {seed}": partial(variant_row, name, lam, seed)
        for seed in SEEDS
        for name in VARIANTS
        for lam in SLOPES
    },
    **{f"{name}, mean": Summary(partial(mean_row, name=name)) for name in VARIANTS},
}

if __name__ == "__main__":
    run("ablation", "Fashion-MNIST, a flow tuned without parts of the recipe", CASES)
