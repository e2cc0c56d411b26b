"""Explanations of known faults: groups, classes, words and rules, and their limits.

On known distributions, lower limits of groups must hold together, and identical distributions must
not show a group. On real data, the groups must be what is missing or invented.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import datasets
from benchmarks.bench_truth import over_seeds
from benchmarks.harness import Row, run
from benchmarks.laws import Mixture
from benchmarks.scenarios import table_models, text_models
from tradeoff import evaluate
from tradeoff._sides import Sides
from tradeoff.curves.estimate import estimate_curve
from tradeoff.data import open_source
from tradeoff.explain.explain import explain_pair
from tradeoff.explain.groups import coordinates_of, form_groups
from tradeoff.explain.names import words_name
from tradeoff.explain.shares import Flagged
from tradeoff.ratio.base import Projection, squared_distances
from tradeoff.samples import Pair, Side

if TYPE_CHECKING:
    from collections.abc import Callable

    from tradeoff.explain import Explanation
    from tradeoff.explain.groups import Formed

RUNS = 200
ALLOWED = 21  # of 200, at which a test of 5% does not reject
CLASSES = (
    "airplane automobile bird cat deer dog frog horse ship truck".split()  # noqa: SIM905
)
_FACTORS = {"recall": 5.0, "precision": 5.0}
_MEANS = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [4.0, 4.0], [8.0, 2.0]])
REAL = Mixture((0.25, 0.25, 0.25, 0.25), _MEANS[:4], (0.8,) * 4)
MADE = Mixture((0.4, 0.3, 0.05, 0.25), _MEANS[[0, 1, 2, 4]], (0.8,) * 4)


def formed(
    real: np.ndarray, generated: np.ndarray, estimator: str, kind: str, seed: int
) -> tuple[Formed | None, Projection]:
    """Groups of one run, and the map to the coordinates in which they are formed."""
    pair = Pair.of(real=real, generated=generated)
    single = estimate_curve(pair, estimator=estimator, folds=1, seed=seed, jobs=1, progress=False)
    places = coordinates_of(pair, single)
    found = form_groups(places, single, Flagged(kind, _FACTORS[kind]), level=0.95, seed=seed)
    forming = single.sides.map(lambda side: ~side.counted)
    return found, Projection.fit(real[forming.real], generated[forming.generated])


def limits_hold(estimator: str, *, runs: int = RUNS, n: int = 1000) -> Row:
    """Runs in which some lower limit of a group is above what the group truly contributes."""
    rng = np.random.default_rng(0)
    points = Sides(REAL(rng, 200_000), MADE(rng, 200_000))

    def violated(seed: int) -> dict[str, float]:
        draw = np.random.default_rng(50_000 + seed)
        real, generated = REAL(draw, n), MADE(draw, n)
        wrong = claimed = 0
        for kind in ("recall", "precision"):
            found, project = formed(real, generated, estimator, kind, seed)
            if found is None:
                continue
            truth = true_shares(found, project, points)
            wrong += int((found.counted.at_least > truth + 1e-3).any())
            claimed += int((found.counted.at_least > 0).sum())
        return {"violated": float(wrong > 0), "claimed": float(claimed)}

    found = over_seeds(violated, runs)
    failures = sum(one["violated"] for one in found)
    return {
        "runs": runs,
        "violated": int(failures),
        "groups claimed, mean": float(np.mean([one["claimed"] for one in found])),
        "ratio": failures / (ALLOWED * runs / RUNS),
        "bar": 1.0,
    }


def true_shares(found: Formed, project: Projection, points: Sides[np.ndarray]) -> np.ndarray:
    """What each group truly contributes to the loss, by the densities at many points."""
    flagged = found.flagged
    shares = []
    for x in points:
        log_ratio = np.log(
            np.maximum(REAL.density(x), 1e-300) / np.maximum(MADE.density(x), 1e-300)
        )
        part = np.argmin(squared_distances(project(x), found.centers), axis=1)
        counts = np.bincount(part[flagged(log_ratio)], minlength=len(found.centers))
        shares.append(counts / len(x))
    share = shares[flagged.own] - flagged.factor * shares[1 - flagged.own]
    return np.maximum(share, 0.0)  # up to the noise of the points


def nothing_claimed(estimator: str, *, runs: int = RUNS, n: int = 1000) -> Row:
    """Runs of identical distributions in which a group is claimed."""

    def claimed(seed: int) -> dict[str, float]:
        draw = np.random.default_rng(60_000 + seed)
        real, generated = REAL(draw, n), REAL(draw, n)
        found = [formed(real, generated, estimator, kind, seed)[0] for kind in _FACTORS]
        return {"any": float(any(f is not None and (f.counted.at_least > 0).any() for f in found))}

    failures = sum(one["any"] for one in over_seeds(claimed, runs))
    return {
        "runs": runs,
        "claimed": int(failures),
        "ratio": failures / (ALLOWED * runs / RUNS),
        "bar": 1.0,
    }


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
