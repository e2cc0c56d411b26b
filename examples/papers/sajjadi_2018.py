"""Sajjadi et al., 2018: classes that a model drops or invents.

    python -m examples.papers.sajjadi_2018 --output pictures

Curves follow the recipe of the paper: k-means with 20 clusters, the mean of several runs, here ten.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks import datasets
from examples.papers.gallery import Claim, Experiment, Measured, main
from examples.parts.style import COLORS, INK, name
from tradeoff import PRCurve, frechet_distance, reproduce
from tradeoff.metrics.moments import inception_score

CLASSES, FEWER_CLASSES = tuple(range(1, 11)), (1, 3, 5, 7, 10)
REAL_CLASSES = 5
BETA = 8.0
BLUE, ORANGE, GREEN = COLORS[:3]


class Scores(NamedTuple):
    """What is measured for models that know so many classes."""

    classes: tuple[int, ...]
    curves: list[PRCurve]
    frechet: np.ndarray
    inception: np.ndarray

    def f_scores(self, beta: float) -> np.ndarray:
        """With a large β they weigh recall more, with a small one precision."""
        return np.array([curve.f_score(beta) for curve in self.curves])


def cifar(quick: bool) -> datasets.Parts:
    """Features of CIFAR-10, test and training part."""
    if quick:
        return datasets.cifar10(datasets.QUICK)
    pool = datasets.cifar_pool()  # begins with the 10,000 images of the test part
    return datasets.Parts(
        *(datasets.Labeled(*(x[rows] for x in pool)) for rows in (np.s_[:10_000], np.s_[10_000:]))
    )


SOURCES: dict[str, Callable[[bool], datasets.Parts]] = {
    "MNIST": lambda _quick: datasets.mnist_pixels(),
    "Fashion-MNIST": lambda _quick: datasets.fashion_pixels(),
    "CIFAR-10": cifar,
}


def train_probabilities(images: datasets.Labeled, size: int) -> Callable[[np.ndarray], np.ndarray]:
    """Class probabilities by a logistic regression, for the inception score."""
    rows = np.random.default_rng(0).permutation(len(images.labels))[:size]
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=200))
    model.fit(images.features[rows], images.labels[rows])
    return model.predict_proba


def measure_classes(source: str, quick: bool) -> Measured:
    """Real images of five classes, and models that know the first 1 to 10 classes."""
    size, known = (400, FEWER_CLASSES) if quick else (4500, CLASSES)
    test, train = SOURCES[source](quick)
    if quick:  # fewer columns, too
        test, train = (datasets.Labeled(x[:, ::8], labels) for x, labels in (test, train))
    probabilities = train_probabilities(train, size)
    real = datasets.balanced(test, REAL_CLASSES, size, seed=0)
    curves, frechet, inception = [], [], []
    for q in known:
        made = datasets.balanced(train, q, size, seed=q)
        found = reproduce("sajjadi-2018", real=real, generated=made, seed=0, progress=False)
        curves.append(found.curve)
        frechet.append(frechet_distance(real=real, generated=made))
        inception.append(inception_score(probabilities(made), splits=1).mean)
    scores = Scores(known, curves, np.array(frechet), np.array(inception))
    recall, precision = scores.f_scores(BETA), scores.f_scores(1 / BETA)
    middle = known.index(REAL_CLASSES)
    values = {
        "increase in F8 from 1 to 5 classes": recall[middle] - recall[0],
        "smallest step of that increase": np.diff(recall[: middle + 1]).min(),
        "decrease in F1/8 from 5 to 10 classes": precision[middle] - precision[-1],
        "smallest step of that decrease": -np.diff(precision[middle:]).max(),
        "decrease in F8 from 5 to 10 classes": recall[middle] - recall[-1],
        "number of classes with the lowest FID": known[int(np.argmin(frechet))],
        "FID with a class dropped / with one invented": frechet[middle - 1] / frechet[middle + 1],
        "increase in inception score from 5 to 10 classes": inception[-1] - inception[middle],
    }
    return Measured({key: float(value) for key, value in values.items()}, scores)


def draw_classes(scores: Scores) -> Figure:
    """Two scores that cannot tell, and curves that can."""
    figure = Figure(figsize=(9.0, 4.0), layout="constrained")
    left, right = figure.subplots(1, 2)
    draw_scores(left, scores)
    slopes = np.geomspace(1e-3, 1e3, 400)
    for q, curve in zip(scores.classes, scores.curves, strict=True):
        color = BLUE if q < REAL_CLASSES else ORANGE if q > REAL_CLASSES else INK
        right.plot(
            curve.recall(slopes),
            curve.precision(slopes),
            color=color,
            linewidth=2.6 if q == REAL_CLASSES else 1.4,
        )
        if q in (1, REAL_CLASSES, 10):
            at = (curve.recall(0.8), curve.precision(0.8))
            right.annotate(
                f"{q}",
                at,
                (3, 3),
                textcoords="offset points",
                color=color,
                fontsize=10,
                weight="bold",
            )
    right.set(xlim=(0, 1.03), ylim=(0, 1.03), xlabel="recall", ylabel="precision", aspect="equal")
    right.set_title("Curves: classes dropped (blue) or invented (orange)", fontsize=10)
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def draw_scores(ax: Axes, scores: Scores) -> None:
    """FID and inception score against the number of classes, relative to their largest."""
    for values, color, label, at in (
        (scores.frechet, ORANGE, "FID", 0),
        (scores.inception, BLUE, "inception score", -1),
    ):
        shares = values / values.max()
        ax.plot(scores.classes, shares, "o-", color=color, linewidth=2)
        side, shift = ("left", -0.2) if at else ("right", 0.3)
        name(ax, label, (scores.classes[at] + shift, shares[at] + 0.04), color, side=side)
    ax.axvline(REAL_CLASSES, color=INK, linewidth=1, linestyle=":")
    ax.set(xlabel="number of classes in the model (real data: 5)", ylim=(0, 1.1))
    ax.set_ylabel("score relative to its maximum")
    ax.set_xticks(CLASSES)
    ax.set_title("FID and inception score by number of classes", fontsize=10)


RECALL = "figures 5 and 11: each class up to the fifth raises recall"
PRECISION = "figures 5 and 11: each class beyond the fifth lowers precision"
CLAIMS = {
    "increase in F8 from 1 to 5 classes": Claim(RECALL, low=0.3),
    "smallest step of that increase": Claim(RECALL, low=0.01, quick=(-0.05, 1.0)),
    "decrease in F1/8 from 5 to 10 classes": Claim(PRECISION, low=0.03, quick=(0.0, 1.0)),
    "decrease in F8 from 5 to 10 classes": Claim(
        "section 4.1: invented classes do not lower recall", high=0.06, quick=(-0.1, 0.1)
    ),
    "number of classes with the lowest FID": Claim(
        "section 4.1: FID is lowest for five classes", 5, 5
    ),
    "FID with a class dropped / with one invented": Claim(
        "section 4.1: FID is similar in both cases (here: by a factor of 1.5)",
        low=1 / 1.5,
        high=1.5,
        quick=(0.3, 3.0),
    ),
    "increase in inception score from 5 to 10 classes": Claim(
        "section 4.1: the inception score also rises with invented classes",
        low=0.5,
        quick=(-0.3, 10.0),
    ),
}
FRECHET = "FID with a class dropped / with one invented"


def claims_of(close: str, frechet: Claim = CLAIMS[FRECHET]) -> dict[str, Claim]:
    """What the paper says, with what is known of a data set.

    Args:
        close: Invented classes that 20 clusters do not separate from real ones.
        frechet: Claim about FID.
    """
    step = Claim(
        PRECISION,
        low=0.01,
        quick=(-0.05, 1.0),
        instead=(-0.1, 0.0),
        why_not=f"20 clusters do not separate every invented class from the real ones: {close}. "
        "Such a class is not detected, and it lowers the share of those that are.",
    )
    return CLAIMS | {"smallest step of that decrease": step, FRECHET: frechet}


KNOWN = {
    "MNIST": claims_of(
        "nines fall into the clusters of fours, and many eights into those of threes",
        replace(
            CLAIMS[FRECHET],
            instead=(1.5, 2.5),
            why_not="The dropped digit, 4, is farther from the other digits than the invented one, "
            "5: the distances of their means are 4.3 and 2.4.",
        ),
    ),
    "Fashion-MNIST": claims_of(
        "shirts fall into the clusters of pullovers",
        replace(
            CLAIMS[FRECHET],
            instead=(0.2, 0.5),
            why_not="The invented class, sandals, is farther from the others than the dropped one, "
            "coats, whose images are similar to those of pullovers.",
        ),
    ),
    "CIFAR-10": claims_of(
        "dogs fall into the clusters of cats, and trucks into those of automobiles"
    ),
}
EXPERIMENTS = tuple(
    Experiment(
        f"classes-{source.lower()}",
        "real data",
        f"Dropped and invented classes of {source}",
        KNOWN[source],
        partial(measure_classes, source),
        draw_classes,
    )
    for source in SOURCES
)

if __name__ == "__main__":
    main(EXPERIMENTS, __doc__)
