"""Samples and prompts with known faults: prompts have features, on which samples depend."""

import numpy as np

from tradeoff.prompts import Prompts
from tradeoff.samples import Pair

COLUMNS, OF_PROMPT = 12, 24


class World:
    """Prompts with features and a mean of their samples, which the features explain in part."""

    def __init__(self, rng, prompts, spread=3.0):
        self.rng = rng
        self.features = rng.normal(size=(prompts, OF_PROMPT))
        map_ = rng.normal(size=(OF_PROMPT, COLUMNS)) / OF_PROMPT**0.5
        own = rng.normal(size=(prompts, COLUMNS))
        self.means = spread * (self.features @ map_ + own) / 2**0.5

    def samples(self, prompts, spread=1.0):
        """A sample of each prompt of a list."""
        return self.means[prompts] + spread * self.rng.normal(size=(len(prompts), COLUMNS))

    def named(self, real, generated):
        """Prompts by their numbers, with their features."""
        names = [[f"p{number:04d}" for number in side] for side in (real, generated)]
        return Prompts.of(
            real=names[0],
            generated=names[1],
            embed=lambda found: self.features[[int(name[1:]) for name in found]],
        )


def answers(rng, *, prompts=24, each=10, fault="none"):
    """Several samples of each prompt on both sides, and the prompts.

    Faults: "shuffled" (all generated samples get another's prompt), "mismatched" (a third of them),
    "repetitive" (half the distance within prompts), "shifted" (all samples), "other prompts" (half
    of the prompts are new), "one each" (as many prompts as samples).
    """
    if fault == "one each":
        prompts, each = prompts * each, 1
    world = World(rng, 2 * prompts)
    real = np.repeat(np.arange(prompts), each)
    made = real + (prompts // 2 if fault == "other prompts" else 0)
    x = world.samples(real)
    y = world.samples(made, 0.5 if fault == "repetitive" else 1.0)
    if fault == "shifted":
        y = y + 1.0
    if fault == "shuffled":
        made = rng.permutation(made)
    if fault == "mismatched":
        some = rng.permutation(made.size)[: made.size // 3]
        made[some] = rng.permutation(made[some])
    return Pair.of(real=x, generated=y), world.named(real, made)
