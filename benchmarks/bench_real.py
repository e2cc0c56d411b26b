"""Models that know q classes of real images, and sources of texts, of which the truth is known.

P is five classes of the test part, Q the first q classes of the training part: recall should be
min(1, q/5) and precision min(1, 5/q). For texts, P has four sources and Q the first q of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks import datasets
from benchmarks.harness import Row, run
from tradeoff import pr_curve, reproduce
from tradeoff.core.headline import HEADLINE_PRECISION_LAM, HEADLINE_RECALL_LAM

if TYPE_CHECKING:
    from collections.abc import Callable

    from tradeoff import PRCurve

RECIPES = ("sajjadi-2018", "simon-2019")
_SLOPES = np.array([HEADLINE_RECALL_LAM, HEADLINE_PRECISION_LAM])


def images(parts: datasets.Parts, size: int, q: int) -> dict[str, np.ndarray]:
    """Five classes of the test part, and as many samples of q classes of the other."""
    real = datasets.balanced(parts.test, 5, size, seed=0)
    return {"real": real, "generated": datasets.balanced(parts.train, q, size, seed=q)}


def sources(found: datasets.Labeled, size: int, q: int) -> dict[str, np.ndarray]:
    """Half of the sentences of four sources, and as many of the other half's first q sources."""
    half = np.arange(len(found.labels)) % 2 == 0
    real, rest = (datasets.Labeled(found.features[h], found.labels[h]) for h in (half, ~half))
    return {
        "real": datasets.balanced(real, 4, size, seed=0),
        "generated": datasets.balanced(rest, q, size * q // 4, seed=q),
    }


def published(samples: dict[str, np.ndarray]) -> dict[str, PRCurve]:
    """The recipes of the literature, on as many samples of each side."""
    size = min(len(x) for x in samples.values())
    thinned = {side: _thin(x, size) for side, x in samples.items()}
    return {name: reproduce(name, **thinned, seed=0).curve for name in RECIPES}


def row(samples: dict[str, np.ndarray], recall: float, precision: float) -> Row:
    """Errors of recall at λ = 0.4 and precision at λ = 20, ours with its interval."""
    estimate = pr_curve(**samples, seed=0)
    interval = estimate.interval(_SLOPES)
    found = {"ours": estimate.curve} | published(samples)
    figures: Row = {
        "true recall, precision": f"{recall:.2f}, {precision:.2f}",
        "recall 95%": _limits(interval.recall[0]),
        "precision 95%": _limits(interval.precision[1]),
    }
    for name, curve in found.items():
        figures[f"{name}: recall, precision"] = (
            f"{curve.recall(_SLOPES[0]):.3f}, {curve.precision(_SLOPES[1]):.3f}"
        )
        errors = (
            abs(curve.recall(_SLOPES[0]) - recall),
            abs(curve.precision(_SLOPES[1]) - precision),
        )
        figures[f"{name}: error"] = float(np.mean(errors))
    return figures


def _limits(limits: np.ndarray) -> str:
    return "{:.3f} to {:.3f}".format(*np.clip(limits, 0, 1))


def _thin(x: np.ndarray, size: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return x if len(x) == size else x[np.sort(rng.choice(len(x), size, replace=False))]


def classes(load: Callable[[int], datasets.Parts], q: int, size: int = datasets.FULL) -> Row:
    """One row of the experiment on images."""
    return row(images(load(size), size, q), min(1.0, q / 5), min(1.0, 5 / q))


def texts(q: int, size: int = datasets.FULL) -> Row:
    """One row of the experiment on texts."""
    found = datasets.texts(size)
    smallest = 4 * (np.bincount(found.labels).min() // 2)
    return row(sources(found, smallest, q), q / 4, 1.0)


CASES: dict[str, Callable[[], Row]] = {
    **{f"CIFAR-10, q = {q}": (lambda q=q: classes(datasets.cifar10, q)) for q in range(1, 11)},
    **{
        f"Fashion-MNIST, q = {q}": (lambda q=q: classes(datasets.fashion_mnist, q))
        for q in range(1, 11)
    },
    **{f"texts, {q} of 4 sources": (lambda q=q: texts(q)) for q in range(1, 5)},
}

if __name__ == "__main__":
    run("real", "Classes and sources dropped and invented, errors at the headline slopes", CASES)
