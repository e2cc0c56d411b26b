"""A small diffusion model of images: rejection under a budget, and guidance, by two judges.

Five seeds of the diffusion model and of its discriminator; a data set has one autoencoder and one
judge. Changes are paired over seeds, with one-sided t-tests in the direction that the literature
reports. Two truths are known: real images that are chosen by how typical they are of their class,
which are all real; and guided Gaussian classes, by an exact model and by one that is too wide.
"""

from __future__ import annotations

import os
import time
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np
import torch
from scipy.stats import ttest_1samp

from benchmarks.datasets import CACHE
from benchmarks.harness import Row, Summary, run
from examples.fashion_guidance import (
    BUDGETS,
    DATA,
    GOALS,
    SCALES,
    Size,
    choose,
    examples,
    judge,
    measure,
    prepare,
    train,
)
from examples.fashion_tuning import half_width
from examples.parts.guided_classes import GuidedClasses
from tradeoff import HeldOutLogRatios, RatioProfile

if TYPE_CHECKING:
    from collections.abc import Callable

    from examples.fashion_guidance import Base, Model
    from tradeoff import PRCurve

SEEDS = range(1, 6)  # sizes were fixed on another one
SETTINGS = [*(f"w = {scale:g}" for scale in SCALES), *(f"K = {budget:g}" for budget in BUDGETS)]
FIRST = SEEDS[0]
BAR = 0.01
MINUTES = 60.0
REJECTION = {
    "area": 1,
    "overlap": 1,
    "k-NN precision": 1,
    "k-NN recall": 1,
    "Fréchet distance": -1,
}
GUIDANCE = {
    "k-NN precision": 1,
    "k-NN recall": -1,
    "area": 1,
    "overlap": 1,
    "precision": 1,
    "recall": -1,
}
"""The sign of a change that is reported for more of a knob."""
PAIRS = {
    ("w = 0", "K = 2"): REJECTION,
    ("w = 0", "K = 4"): REJECTION,
    ("w = 0", "w = 0.5"): GUIDANCE,
    ("w = 0", "w = 1"): GUIDANCE,
}
STRENGTHS = (0.0, 0.1, 0.25, 0.5)
"""How strongly images close to the mean of their class are preferred."""

DIMENSIONS, TRUTH_SIZE, TRUTH_SCALES = 16, 1000, (0.0, 0.1, 0.25, 0.5, 1.0)
SPREAD, WIDTH, WIDER = 1.0, 0.7, 0.85
"""Of the means of ten classes, of a class, and of a class of the model that is too wide."""


@cache
def base(data: str) -> Base:
    """What the seeds of a data set share."""
    return prepare(data, Size())


@cache
def model(data: str, seed: int) -> Model:
    """The diffusion model of a seed."""
    return train(base(data), Size(), seed)


@cache
def measured(data: str, seed: int) -> dict[str, Row]:
    """All settings of a seed; images of the first one are kept for the picture."""
    shared, begun = base(data), time.process_time()
    trained = model(data, seed)
    rows: dict[str, Row] = {**measure(shared, trained, Size(), seed)}
    rows["CPU minutes"] = {
        "autoencoder and judge": shared.minutes,
        "diffusion model and discriminator": trained.minutes,
        "all of this seed": (time.process_time() - begun) / 60,
    }
    if seed == FIRST:
        np.savez(CACHE / f"guidance-{data}.npz", **examples(shared, trained, seed))
    return rows


def seed_row(data: str, seed: int, setting: str) -> Row:
    """A setting of a seed."""
    return measured(data, seed)[setting]


def chosen(data: str, goal: str) -> Row:
    """What `sweep` recommends for a goal, first seed."""
    best, alike = recommended(data)[goal]
    return {"recommended": best, "alike": alike}


@cache
def recommended(data: str) -> dict[str, tuple[str, str]]:
    """Recommendations for all goals."""
    return choose(base(data), model(data, FIRST), Size(), FIRST)


def values(rows: dict[str, Row], data: str, setting: str, key: str) -> np.ndarray:
    """A figure of a setting for every seed, shape (5,)."""
    return np.array([rows[f"{data}, {setting}, seed {seed}"][key] for seed in SEEDS])


def mean_row(rows: dict[str, Row], data: str, setting: str) -> Row:
    """Means over seeds, and half of their 95% intervals."""
    found = {}
    for key in rows[f"{data}, {setting}, seed {FIRST}"]:
        one = values(rows, data, setting, key)
        found[key] = float(one.mean())
        found[f"± {key}"] = float(half_width(one))
    return found


def change(rows: dict[str, Row], data: str, before: str, after: str, key: str, sign: int) -> Row:
    """The change of a figure, and a one-sided paired t-test that it has the reported sign."""
    found = values(rows, data, after, key) - values(rows, data, before, key)
    test = ttest_1samp(sign * found, 0.0, alternative="greater")
    p_value = float(test.pvalue) if found.any() else 1.0  # no change in any seed is no evidence
    return {
        "change": float(found.mean()),
        "± change": float(half_width(found)),
        "reported": "rises" if sign > 0 else "falls",
        "seeds that do": int((sign * found > 0).sum()),
        "p-value": p_value,
        "ratio": p_value / BAR,
        "bar": 1.0,
    }


def beside(exact: PRCurve, found: Row) -> Row:
    """An exact curve next to what is measured."""
    return {
        "exact area": exact.area,
        "exact overlap": float(exact.precision(1.0)),
        "exact precision at λ = 20": float(exact.precision(20.0)),
        "measured overlap": found["overlap"],
        "k-NN precision": found["k-NN precision"],
        "k-NN recall": found["k-NN recall"],
    }


def typical(data: str, strength: float) -> Row:
    """Training images that are preferred if they are close to the mean of their class.

    Their weights are known, so the curve is, and all of them are real.
    """
    shared, size = base(data), Size()
    x, labels = shared.known
    means = torch.stack([x[labels == c].mean(0) for c in range(int(labels.max()) + 1)])
    weights = torch.softmax(-0.5 * strength * (x - means[labels]).double().square().sum(1), 0)
    torch.manual_seed(FIRST)
    rows = torch.multinomial(weights, size.samples)
    found = judge(shared.judged(shared.test), shared.judged(x[rows]))
    exact = RatioProfile.from_masses(np.full(len(x), 1 / len(x)), weights.numpy()).curve()
    return beside(exact, found)


def truth(wide: bool, scale: float) -> Row:
    """Guided Gaussian classes: the exact curve, the measured one, and nearest neighbors."""
    torch.manual_seed(0)
    means = SPREAD * torch.randn(10, DIMENSIONS, dtype=torch.float64)
    real = GuidedClasses(means, WIDTH, steps=50)
    guided = GuidedClasses(means, WIDER if wide else WIDTH, scale, steps=50)
    sides = real.sample(TRUTH_SIZE), guided.sample(TRUTH_SIZE)
    p, q = ((real.log_density(x) - guided.log_density(x)).clamp(-50, 50).numpy() for x in sides)
    exact = HeldOutLogRatios(real=p, generated=q).curve()
    found = judge(*(x.numpy() for x in sides))
    return beside(exact, found)


def minutes(rows: dict[str, Row]) -> Row:
    """CPU minutes of everything but the known truth and the recommendations."""
    spent = [row for case, row in rows.items() if "CPU minutes, seed" in case]
    shared = {case.partition(",")[0]: row for case, row in rows.items() if "CPU minutes" in case}
    total = sum(row["all of this seed"] for row in spent) + sum(
        row["autoencoder and judge"] for row in shared.values()
    )
    return {"minutes": total, "ratio": total / MINUTES, "bar": 1.0}


def cases() -> dict[str, Callable[[], Row] | Summary]:
    """All seeds and settings, then what follows from them."""
    made: dict[str, Callable[[], Row] | Summary] = {}
    for data in DATA:
        for seed in SEEDS:
            for setting in (*SETTINGS, "CPU minutes"):
                made[f"{data}, {setting}, seed {seed}"] = partial(seed_row, data, seed, setting)
        for goal in map(str, GOALS):
            made[f"{data}, sweep: {goal}"] = partial(chosen, data, goal)
        for setting in SETTINGS:
            made[f"{data}, {setting}, mean"] = Summary(
                partial(mean_row, data=data, setting=setting)
            )
        for strength in STRENGTHS:
            made[f"{data}, typical images, strength {strength:g}"] = partial(
                typical, data, strength
            )
        for (before, after), signs in PAIRS.items():
            for key, sign in signs.items():
                made[f"{data}, {before} to {after}: {key}"] = Summary(
                    partial(change, data=data, before=before, after=after, key=key, sign=sign)
                )
    for wide in (False, True):
        of = "too wide" if wide else "exact"
        for scale in TRUTH_SCALES:
            made[f"model {of}, w = {scale:g}"] = partial(truth, wide, scale)
    return made | {"CPU minutes in all": Summary(minutes)}


CASES = cases()

if __name__ == "__main__":
    os.environ["LOKY_MAX_CPU_COUNT"] = "1"  # so that CPU time is all in this process
    run("guidance", "A small diffusion model: guidance, and rejection under a budget", CASES)
