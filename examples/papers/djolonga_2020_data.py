"""Djolonga et al., 2020, on images and texts: models that drop or invent classes.

    python -m examples.papers.djolonga_2020_data --output pictures

Both sides are samples, so frontiers are estimated from the log-ratios of a classifier.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from benchmarks import datasets
from examples.papers.djolonga_parts import (
    BLUE,
    KINDS,
    MIDDLE,
    ORANGE,
    draw_frontiers,
    frontier,
    two_panels,
)
from examples.papers.gallery import Claim, Experiment, Measured, main
from examples.parts.style import INK, name
from tradeoff import CurveEstimate, RatioProfile, pr_curve
from tradeoff.core import renyi_frontier


def load_images(quick: bool) -> datasets.Parts:
    """Pixels of Fashion-MNIST."""
    return datasets.fashion_mnist(datasets.QUICK) if quick else datasets.fashion_pixels()


def load_texts(quick: bool) -> datasets.Parts:
    """Features of sentences, divided into two halves; their source is their class."""
    found = datasets.texts(datasets.QUICK if quick else datasets.FULL)
    return datasets.Parts(
        *(datasets.Labeled(*(x[half] for x in found)) for half in (np.s_[::2], np.s_[1::2]))
    )


@dataclass(frozen=True)
class Data:
    """Real data of some classes, and models with the first of all classes.

    Args:
        load: two disjoint parts, for the real side and for the models.
        size: samples of each side, at full and at reduced size.
        real: classes of the real data.
        fewer: classes of a model that drops some.
        more: classes of a model that invents some, which is the number of all classes.
        noun: what classes are called.
        dropped: what the first model drops.
        invented: what the last model invents.
    """

    load: Callable[[bool], datasets.Parts]
    size: tuple[int, int]
    real: int
    fewer: int
    more: int
    noun: str
    dropped: str
    invented: str

    def limit(self, known: int) -> RatioProfile:
        """The profile of real data and a model with so many classes, if these do not overlap."""
        label = np.arange(self.more)
        return RatioProfile.from_masses(
            p=(label < self.real) / self.real, q=(label < known) / known
        )


IMAGES = Data(
    load=load_images,
    size=(datasets.FULL, datasets.QUICK),
    real=5,
    fewer=2,
    more=10,
    noun="classes",
    dropped="three classes",
    invented="five classes",
)
TEXTS = Data(
    load=load_texts,
    size=(2400, 200),
    real=2,
    fewer=1,
    more=4,
    noun="sources",
    dropped="a source",
    invented="two sources",
)


class Frontiers(NamedTuple):
    """Estimates by number of classes, and the data."""

    estimates: dict[int, CurveEstimate]
    data: Data


def measure(data: Data, quick: bool) -> Measured:
    """Models that have fewer classes than the real data, the same, and more."""
    parts, size = data.load(quick), data.size[quick]
    real = datasets.balanced(parts.test, data.real, size, seed=0)
    estimates = {
        known: pr_curve(
            real=real,
            generated=datasets.balanced(parts.train, known, size, seed=known),
            estimator="kernel-logistic",
            progress=False,
        )
        for known in (data.fewer, data.real, data.more)
    }
    middle = [
        renyi_frontier(estimate.plug_in_profile(), order=1, kind="exclusive", weight=[0.5])
        for estimate in estimates.values()
    ]
    fewer, same, more = ((float(one.precision[0]), float(one.recall[0])) for one in middle)
    return Measured(
        {
            f"precision minus recall, {data.dropped} dropped": fewer[0] - fewer[1],
            f"recall minus precision, {data.invented} invented": more[1] - more[0],
            f"smaller of precision and recall, same {data.noun}": min(same),
            f"recall, {data.dropped} dropped": fewer[1],
            f"precision, {data.invented} invented": more[0],
        },
        Frontiers(estimates, data),
    )


def draw(shown: Frontiers) -> Figure:
    """Both kinds of frontier, and where they would be if classes did not overlap."""
    data = shown.data
    labels = {
        data.fewer: f"drops {data.dropped}",
        data.real: f"has all {data.noun}",
        data.more: f"invents {data.invented}",
    }
    figure, *axes = two_panels()
    for ax, kind in zip(axes, KINDS, strict=True):
        found = {
            labels[known]: frontier(estimate.plug_in_profile(), 1.0, kind)
            for known, estimate in shown.estimates.items()
        }
        draw_frontiers(ax, found, (ORANGE, INK, BLUE), f"{kind.capitalize()} frontiers")
        for known, color in ((data.fewer, ORANGE), (data.more, BLUE)):
            limit = frontier(data.limit(known), 1.0, kind)
            is_point = np.ptp(limit.recall) < 1e-6
            style = {"marker": "o", "markevery": [MIDDLE]} if is_point else {"linestyle": ":"}
            ax.plot(limit.recall, limit.precision, color=color, clip_on=False, **style)
        mark = "dots" if kind == "exclusive" else "dotted"
        name(ax, f"{mark}: no overlap\nof {data.noun}", (0.03, 0.4), INK, side="right")
    return figure


def claims(data: Data, slack: float) -> dict[str, Claim]:
    """What the paper and theory say; classes that overlap raise both numbers by some slack.

    With few samples the estimate tells classes apart less well.
    """
    recall, precision = data.fewer / data.real, data.real / data.more
    few = (0.03, 1.0)
    theory = "theory: at least {}/{}, with equality if " + data.noun + " do not overlap"
    return {
        f"precision minus recall, {data.dropped} dropped": Claim(
            "section 1, figure 1b: a dropped mode lowers recall", 0.1, quick=few
        ),
        f"recall minus precision, {data.invented} invented": Claim(
            "section 1, figure 1b: an invented mode lowers precision", 0.1, quick=few
        ),
        f"smaller of precision and recall, same {data.noun}": Claim(
            "section 1, figure 1b: for identical distributions, both are 1", 0.97
        ),
        f"recall, {data.dropped} dropped": Claim(
            theory.format(data.fewer, data.real),
            recall - 0.03,
            recall + slack,
            quick=(recall - 0.03, 0.95),
        ),
        f"precision, {data.invented} invented": Claim(
            theory.format(data.real, data.more),
            precision - 0.03,
            precision + slack,
            quick=(precision - 0.03, 0.95),
        ),
    }


EXPERIMENTS = (
    Experiment(
        "images",
        "real data",
        "Fashion-MNIST: a model that drops classes loses recall, one that invents them precision",
        claims(IMAGES, 0.4),
        partial(measure, IMAGES),
        draw,
    ),
    Experiment(
        "texts",
        "real data",
        "Sentences: the same for sources of texts",
        claims(TEXTS, 0.3),
        partial(measure, TEXTS),
        draw,
    ),
)

if __name__ == "__main__":
    main(EXPERIMENTS, __doc__)
