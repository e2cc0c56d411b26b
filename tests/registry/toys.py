"""A metric family, an estimator and an encoder as another package would declare them."""

from dataclasses import dataclass

import numpy as np

from tradeoff._sides import Sides
from tradeoff.features.registry import EncoderDeclaration
from tradeoff.metrics import Family, Measured, Metric, Score
from tradeoff.ratio.registry import EstimatorDeclaration


def measure(pair, request):
    """How far apart the means of the first column are, and the first column itself."""
    real, generated = (side.x[:, 0] for side in pair)
    value = abs(float(real.mean() - generated.mean()))
    half, rest = pair.real_against_real(request.seed)
    expected = abs(float(half.x[:, 0].mean() - rest.x[:, 0].mean()))
    return Measured(
        scores={"toy.shift": Score(value=value, low=0.0, high=value + 1, expected=expected)},
        values=Sides({}, {"toy.shift": generated}),
        provenance={"toy": {"column": 0}},
    )


FAMILY = Family(
    "toy",
    "tests.registry.toys:measure",
    (Metric("toy.shift", "shift of the first column", "lower", (0.0, np.inf), "generated"),),
)


@dataclass(frozen=True)
class NearestMean:
    """Distances to the two means."""

    scale: float = 1.0

    def fit(self, *, real, generated, seed):
        return Means(real.mean(0), generated.mean(0), self.scale)


@dataclass(frozen=True, eq=False)
class Means:
    real: np.ndarray
    generated: np.ndarray
    scale: float

    def log_ratio(self, x):
        far, near = (((x - mean) ** 2).sum(1) for mean in (self.generated, self.real))
        return self.scale * (far - near)


ESTIMATOR = EstimatorDeclaration(
    "nearest-mean", "distances to the two means", "tests.registry.toys:NearestMean"
)


class Lengths:
    """Number of characters and of words of a text."""

    name = "text-length"
    kind = "text"
    preprocessing = "none"
    weights = "version 1"

    def prepare(self, sample):
        return sample.content

    def embed(self, prepared):
        return np.array([[len(text), len(text.split())] for text in prepared], float)


ENCODER = EncoderDeclaration(
    "text-length", "text", "characters and words", "tests.registry.toys:Lengths"
)
