"""Explanations of known faults: groups, classes, words and rules, and their limits.

On known distributions, lower limits of groups must hold together, and identical distributions must
not show a group. On real data, the groups must be what is missing or invented.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import datasets
from benchmarks.harness import Row, run
from benchmarks.scenarios import text_models
from tests.known.curves import over_seeds
from tests.known.groups import (
    limits_hold,
    nothing_claimed,
)
from tests.known.scenarios import table_models
from tradeoff import evaluate
from tradeoff._sides import Sides
from tradeoff.curves.estimate import estimate_curve
from tradeoff.data import open_source
from tradeoff.explain.explain import explain_pair
from tradeoff.explain.groups import coordinates_of, form_groups
from tradeoff.explain.names import words_name
from tradeoff.explain.shares import Flagged
from tradeoff.samples import Pair, Side

if TYPE_CHECKING:
    from collections.abc import Callable

    from tradeoff.explain import Explanation

CLASSES = (
    "airplane automobile bird cat deer dog frog horse ship truck".split()  # noqa: SIM905
)


def explained(real: Side, generated: Side, seed: int) -> Explanation:
    """The explanation of two sides with default settings."""
    pair = Pair(real, generated)
    options: dict[str, Any] = {"seed": seed, "jobs": 1, "progress": False}
    estimate = estimate_curve(pair, **options)
    single = estimate_curve(pair, folds=1, **options)
    return explain_pair(
        pair, estimate, single, losses=estimate.losses(), sources=Sides(None, None), seed=seed
    )


def images(
    name: str, rows: np.ndarray, foreign: np.ndarray | None = None, *, labeled: bool = True
) -> Side:
    """Images of CIFAR-10 with their classes, and foreign ones without."""
    pool = datasets.cifar_pool()
    x = pool.features[rows]
    labels: list[str | None] = [CLASSES[int(label)] for label in pool.labels[rows]]
    if foreign is not None:
        x = np.concatenate((x, foreign))
        labels += [None] * len(foreign)
    ids = tuple(f"{name}[{i}]" for i in range(len(x)))
    return Side(name=name, features=x, ids=ids, labels=tuple(labels) if labeled else ())


def dropped_classes(*, n: int = 5000, runs: int = 10) -> Row:
    """Two classes dropped: purity of the two largest groups, and classes that are marked."""
    labels = datasets.cifar_pool().labels

    def one(seed: int) -> dict[str, Any]:
        rng = np.random.default_rng(70_000 + seed)
        gone = rng.choice(10, 2, replace=False)
        order = rng.permutation(len(labels))
        rest = order[n:]
        real = images("real", order[:n])
        found = explained(real, images("generated", rest[~np.isin(labels[rest], gone)][:n]), seed)
        assert found.missed is not None
        names = {CLASSES[i] for i in gone}
        largest = sorted(found.missed.groups, key=lambda group: -group.size)[:2]
        marked = {one.name for one in found.classes if one.missed_at_least > 0}
        purity = [_purity(group.name) for group in largest]
        return {"dropped": sorted(names), "purity": purity, "marked": marked == names}

    found = over_seeds(one, runs)
    purities = [round(p, 3) for one in found for p in one["purity"]]
    median = float(np.median(purities))
    return {
        "runs": runs,
        "dropped": [" and ".join(one["dropped"]) for one in found],
        "purity": purities,
        "median purity": median,
        "only they are marked": sum(one["marked"] for one in found),
        "ratio": max(0.9 / median, 0.9 * runs / max(sum(one["marked"] for one in found), 1)),
        "bar": 1.0,
    }


def _purity(name: str) -> float:
    """Share of the first class in the name of a group."""
    return float(name.split(",")[0].rpartition(" (")[2].rstrip("%)")) / 100.0


def foreign_images(*, n: int = 5000, runs: int = 3) -> Row:
    """30% of generated images from another data set: how many of the invented groups are."""
    labels, foreign = datasets.cifar_pool().labels, datasets.foreign_pool().features

    def one(seed: int) -> dict[str, float]:
        rng = np.random.default_rng(80_000 + seed)
        order, alien = rng.permutation(len(labels)), rng.permutation(len(foreign))
        count = int(0.3 * n)
        made = images("generated", order[n : 2 * n - count], foreign[alien[:count]])
        pair = Pair(images("real", order[:n]), made)
        single = estimate_curve(pair, folds=1, seed=seed, jobs=1, progress=False)
        places = coordinates_of(pair, single)
        groups = form_groups(places, single, Flagged("precision", 5.0), level=0.95, seed=seed)
        assert groups is not None
        members = np.concatenate(groups.members)
        return {"share": float((members >= n - count).mean())}

    share = min(one["share"] for one in over_seeds(one, runs))
    return {"runs": runs, "foreign, smallest share": share, "ratio": 0.98 / share, "bar": 1.0}


def removed_source() -> Row:
    """Texts without one source: words of the largest group that are among its most telling."""
    real, models = text_models(2000)
    lines = datasets.text_lines()
    texts = [text for _, source in lines for text in source]
    telling = (words_name(texts, np.arange(len(lines[0][1])), most=30) or "").split(", ")
    result = evaluate(
        real=open_source(real),
        generated=open_source(models["a source removed"]),
        metrics="curve",
        encoder="all-minilm-l6-v2",
        diagnose=False,
        explain=True,
        progress=False,
    )
    assert result.explanation is not None
    assert result.explanation.missed is not None
    group = max(result.explanation.missed.groups, key=lambda one: one.size)
    words = group.name.split(", ")
    hits = sum(word in telling for word in words)
    return {"words": words, "telling": hits, "ratio": 3 / max(hits, 1), "bar": 1.0}


def undiagnosed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows without the column that tells malignant tumors."""
    return [{k: v for k, v in row.items() if k != "diagnosis"} for row in rows]


def benign_only() -> Row:
    """A table without malignant rows: the rule of the largest group, and what it holds."""
    real, models = table_models()
    result = evaluate(
        real=undiagnosed(real),
        generated=undiagnosed(models["benign only"]),
        metrics="curve",
        diagnose=False,
        explain=True,
        progress=False,
    )
    assert result.explanation is not None
    assert result.explanation.missed is not None
    group = max(result.explanation.missed.groups, key=lambda one: one.size)
    held = [row for row in real if all(_holds(part, row) for part in group.name.split(" and "))]
    share = float(np.mean([row["diagnosis"] == "malignant" for row in held]))
    return {
        "rule": group.name,
        "rows": len(held),
        "malignant": share,
        "ratio": 0.9 / share,
        "bar": 1.0,
    }


def _holds(condition: str, row: dict[str, Any]) -> bool:
    for sign in (" > ", " ≤ "):
        name, found, number = condition.partition(sign)
        if found:
            return (row[name] > float(number)) == (sign == " > ")
    raise ValueError(condition)


CASES: dict[str, Callable[[], Row]] = {
    "limits hold together, logistic": lambda: limits_hold("logistic"),
    "limits hold together, stack": lambda: limits_hold("stack"),
    "no group for identical distributions, logistic": lambda: nothing_claimed("logistic"),
    "no group for identical distributions, stack": lambda: nothing_claimed("stack"),
    "images, two classes dropped": dropped_classes,
    "images, 30% foreign": foreign_images,
    "texts, a source removed": removed_source,
    "table, malignant rows removed": benign_only,
}

if __name__ == "__main__":
    run("explain", "Explanations of known faults", CASES)
