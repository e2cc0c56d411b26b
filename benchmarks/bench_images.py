"""A flow of images tuned for a trade-off, at other temperatures, or rejected: who wins?

Two judges, and five seeds of everything: autoencoder, flow, discriminator and judge. Settings were
fixed on other seeds. Trends are Page's tests over λ = 0.1, 1, 10 within seeds; a difference is
λ = 10 minus λ = 0.1.
"""

from __future__ import annotations

from functools import cache, partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import page_trend_test

from benchmarks.datasets import CACHE
from benchmarks.harness import Row, Summary, run
from examples.fashion_tuning import (
    BEFORE_REJECTION,
    BUDGETS,
    GROUPS,
    SLOPES,
    TEMPERATURES,
    Run,
    Size,
    half_width,
    measure,
)

if TYPE_CHECKING:
    from collections.abc import Callable

SEEDS = range(1, 6)  # settings were fixed on others
MEASURES = {
    "precision": 1,
    "recall": -1,
    "neighbors' precision": 1,
    "neighbors' recall": -1,
}
"""Sign of the change with λ that theory gives."""
WANTED = {"precision": 0.03, "recall": -0.15, "neighbors' precision": 0.10}
"""Smallest difference of λ = 10 and λ = 0.1."""
MINUTES = 5.0
REJECTED = [f"K = {budget:g}" for budget in BUDGETS]
BOTH = [f"λ = {lam:g}, K = 4" for lam in BEFORE_REJECTION]
SETTINGS = [
    "likelihood",
    "trained on",
    *GROUPS["tuning"],
    *(f"T = {value:g}" for value in TEMPERATURES),
    *REJECTED,
    *BOTH,
]


@cache
def measured(data: str, seed: int) -> Run:
    """A run, whose images and shares of classes are kept for the picture."""
    found = measure(data, Size(), seed)
    for kind in ("images", "shares"):
        np.savez(CACHE / f"tuning-{data}-{seed}-{kind}.npz", **getattr(found, kind))
    return found


def values(rows: dict[str, Row], setting: str, key: str) -> np.ndarray:
    """A figure of a setting for every seed, shape (5,)."""
    return np.array([rows[f"{setting}, seed {seed}"][key] for seed in SEEDS])


def mean_row(rows: dict[str, Row], setting: str) -> Row:
    """Means over seeds, and half of their 95% intervals."""
    found = {}
    for key in rows[f"{setting}, seed {SEEDS[0]}"]:
        one = values(rows, setting, key)
        found[key] = float(one.mean())
        found[f"± {key}"] = float(half_width(one))
    return found


def trend(rows: dict[str, Row], key: str) -> Row:
    """Page's test that a figure changes with λ as theory says."""
    table = [values(rows, setting, key) for setting in GROUPS["tuning"]]
    p_value = float(page_trend_test(MEASURES[key] * np.transpose(table)).pvalue)
    return {"p-value": p_value, "ratio": p_value, "bar": 0.01}


def difference(rows: dict[str, Row], key: str) -> Row:
    """Mean change from λ = 0.1 to λ = 10; the ratio is that of the wanted change to it."""
    change = values(rows, "λ = 10", key) - values(rows, "λ = 0.1", key)
    row = {"change": float(change.mean()), "± change": float(half_width(change))}
    if key in WANTED:
        ratio = WANTED[key] / row["change"]
        row |= {"ratio": ratio if ratio > 0 else float("inf"), "bar": 1.0}
    return row


def own_slope(rows: dict[str, Row], lam: float, settings: dict[float, str]) -> Row:
    """Mean α at λ of several settings; the ratio is that of the best other one to λ's own."""
    found = {name: values(rows, name, f"α at {lam:g}").mean() for name in settings.values()}
    own = found[settings[lam]]
    others = max(value for name, value in found.items() if name != settings[lam])
    return {name: float(value) for name, value in found.items()} | {
        "ratio": float(others / own),
        "bar": 1.0,
    }


def raw(rows: dict[str, Row]) -> Row:
    """Change of precision on raw images from λ = 0.1 to λ = 10, and from likelihood to λ = 10."""
    start, low, high = (
        values(rows, name, "precision on raw images")
        for name in ("likelihood", "λ = 0.1", "λ = 10")
    )
    return {
        "change": float((high - low).mean()),
        "± change": float(half_width(high - low)),
        "change from likelihood": float((high - start).mean()),
        "± change from likelihood": float(half_width(high - start)),
    }


def cost(rows: dict[str, Row]) -> Row:
    """CPU minutes of a seed: autoencoder, flow, discriminator and three tunings."""
    minutes = values(rows, "likelihood", "CPU minutes")
    return {
        "mean": float(minutes.mean()),
        "most": float(minutes.max()),
        "ratio": float(minutes.max() / MINUTES),
        "bar": 1.0,
    }


def undominated(rows: dict[str, Row], rivals: list[str], bar: bool) -> Row:
    """Temperatures below 1 that no rival of the same seed beats, by neighbors."""
    count = 0
    truncations = [value for value in TEMPERATURES if value < 1.0]
    for seed, value in product(SEEDS, truncations):
        row = rows[f"T = {value:g}, seed {seed}"]
        count += not any(
            rows[f"{name}, seed {seed}"]["neighbors' precision"] > row["neighbors' precision"]
            and rows[f"{name}, seed {seed}"]["neighbors' recall"] >= row["neighbors' recall"]
            for name in rivals
        )
    found = {"comparisons": len(SEEDS) * len(truncations), "undominated": count}
    return found | ({"ratio": count, "bar": 0} if bar else {})


def before_rejection(rows: dict[str, Row]) -> Row:
    """Recall at λ = 0.4 after K = 4: a flow tuned for 0.1 over maximum likelihood."""
    tuned, start = (values(rows, name, "recall") for name in ("λ = 0.1, K = 4", "K = 4"))
    return {
        "tuned": float(tuned.mean()),
        "likelihood": float(start.mean()),
        "seeds won": int((tuned > start).sum()),
    }


def cases(data: str) -> dict[str, Callable[[], Row] | Summary]:
    """The cases of one data set."""

    def row(setting: str, seed: int) -> Row:
        return dict(measured(data, seed).rows[setting])

    return {
        **{
            f"{setting}, seed {seed}": partial(row, setting, seed)
            for seed in SEEDS
            for setting in SETTINGS
        },
        **{f"{setting}, mean": Summary(partial(mean_row, setting=setting)) for setting in SETTINGS},
        **{f"trend of {key}": Summary(partial(trend, key=key)) for key in MEASURES},
        **{f"change of {key}": Summary(partial(difference, key=key)) for key in MEASURES},
        **{
            f"each at its own slope, λ = {lam:g}": Summary(
                partial(own_slope, lam=lam, settings={one: f"λ = {one:g}" for one in SLOPES})
            )
            for lam in SLOPES
        },
        "change of precision on raw images": Summary(raw),
        "CPU minutes": Summary(cost),
        "truncations undominated by tuning or rejection": Summary(
            partial(undominated, rivals=[*GROUPS["tuning"], *REJECTED], bar=False)
        ),
        "truncations undominated by tuning, rejection or both": Summary(
            partial(undominated, rivals=[*GROUPS["tuning"], *REJECTED, *BOTH], bar=True)
        ),
        "K = 4 follows: tuned for λ/4, λ, 4λ, at λ = 1": Summary(
            partial(
                own_slope,
                lam=1.0,
                settings={1.0: "λ = 0.25, K = 4", 4.0: "λ = 1, K = 4", 16.0: "λ = 4, K = 4"},
            )
        ),
        "K = 4 follows: recall, tuned for 0.1 or not": Summary(before_rejection),
    }


CASES = cases("fashion")

if __name__ == "__main__":
    run("images", "Fashion-MNIST, a flow tuned for a trade-off", CASES)
