"""Models that know q classes of real images, and sources of texts, of which the truth is known.

P is five classes and Q the first q classes, drawn disjointly from the pooled train and test images:
recall should be min(1, q/5) and precision min(1, 5/q). For texts, P has four sources and Q the
first q of them. Precision and recall are those of the headline, and each curve is read at its own
balanced slope. Figures are means over five seeds; the oracle was given the true classes.

    python -m benchmarks.bench_real --compare stack logistic --size 1000 --q 3 8 --seeds 3

compares estimators on the same samples and writes nothing.
"""

from __future__ import annotations

import argparse
import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
from scipy.stats import t as student

from benchmarks import datasets, oracle
from benchmarks.harness import Summary, run
from tests.known.curves import curve_in_one_process
from tradeoff import reproduce
from tradeoff._sides import Sides
from tradeoff.inference import policy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchmarks.harness import Row
    from tradeoff import PRCurve

RECIPES = ("sajjadi-2018", "simon-2019")
SEEDS = 5
METHODS = ("ours", "oracle", "oracle, plug-in", *RECIPES)
_DIFFERENCE = "ours − oracle"
_HALF_WIDTH = "± (95%)"


@dataclass(frozen=True)
class Experiment:
    """A labeled data set whose first `real` classes are P, and whose first q classes are Q."""

    load: Callable[[], datasets.Labeled]
    real: int
    qs: tuple[int, ...]

    def counts(self, labels: np.ndarray, size: int, q: int) -> Sides[np.ndarray]:
        """Samples of each class on both sides, `size` of them on each."""
        classes = len(np.bincount(labels))
        return Sides(*(_even(size, present, classes) for present in (self.real, q)))

    def draw(self, labels: np.ndarray, size: int, q: int, seed: int) -> Sides[np.ndarray]:
        """Disjoint rows of both sides."""
        return draw(labels, self.counts(labels, size, q), seed)

    def truth(self, q: int) -> tuple[float, float]:
        """True recall and precision."""
        return min(1.0, q / self.real), min(1.0, self.real / q)


class Texts(Experiment):
    """Sources with few sentences: half of each is for P, and the rest of the first q for Q."""

    def counts(self, labels: np.ndarray, size: int, q: int) -> Sides[np.ndarray]:
        """As many samples of each source as half of the smallest, at most `size`."""
        present = np.bincount(labels)
        each = min(size, present.min() // 2)
        return Sides(np.full(len(present), each), np.where(np.arange(len(present)) < q, each, 0))


IMAGES = tuple(range(1, 11))
EXPERIMENTS = {
    "CIFAR-10": Experiment(datasets.cifar_pool, 5, IMAGES),
    "Fashion-MNIST": Experiment(datasets.fashion_pool, 5, IMAGES),
    "texts": Texts(datasets.texts, 4, (1, 2, 3, 4)),
}


def draw(labels: np.ndarray, counts: Sides[np.ndarray], seed: int) -> Sides[np.ndarray]:
    """Disjoint rows of both sides; with one seed, P is the same whatever Q is."""
    rng = np.random.default_rng(seed)
    real, generated = [], []
    for label, (first, second) in enumerate(zip(*counts, strict=True)):
        rows = rng.permutation(np.flatnonzero(labels == label))
        if len(rows) < first + second:
            raise ValueError(f"class {label} has {len(rows)} samples, not {first + second}")
        real.append(rows[:first])
        generated.append(rows[first : first + second])
    return Sides(np.concatenate(real), np.concatenate(generated))


def headline(curve: PRCurve) -> np.ndarray:
    """Recall and precision of a curve without errors, around its own balanced slope."""
    slopes = {kind: curve.balanced_slope * by for kind, by in policy.COMMON_SLOPES.items()}
    found = [curve.recall(slopes["recall"]), curve.precision(slopes["precision"])]
    return np.minimum(found, 1.0)


def classes(
    name: str, size: int, q: int, *, estimator: Any = "stack", seeds: Sequence[int] = range(SEEDS)
) -> Row:
    """Means over seeds of ours and of the oracle; the recipes of the literature, for one seed."""
    experiment, pool = EXPERIMENTS[name], _pool(name)
    posterior = oracle.posteriors(name, experiment.load)
    drawn = [(seed, experiment.draw(pool.labels, size, q, seed)) for seed in seeds]
    figures = {
        "ours": joblib.Parallel(n_jobs=-1)(
            joblib.delayed(headline_of)(estimator, samples_of(pool, rows), seed)
            for seed, rows in drawn
        )
    }
    log_ratios = [oracle_log_ratios(posterior, pool.labels, rows) for _, rows in drawn]
    figures["oracle"] = [headline(oracle.counted(one)) for one in log_ratios]
    figures["oracle, plug-in"] = [headline(oracle.plug_in(one)) for one in log_ratios]
    theirs = published(samples_of(pool, drawn[0][1]))
    figures |= {method: [headline(curve)] for method, curve in theirs.items()}
    return row(figures, experiment.truth(q))


def row(figures: Mapping[str, Sequence[np.ndarray]], truth: tuple[float, float]) -> Row:
    """Mean errors by method, from the recall and precision of each seed."""
    errors = {
        method: np.array([np.abs(one - truth).mean() for one in found])
        for method, found in figures.items()
    }
    made: Row = {"true recall, precision": "{:.2f}, {:.2f}".format(*truth)}
    for method in ("ours", "oracle"):
        mean = np.mean(figures[method], axis=0)
        made[f"{method}: recall, precision"] = "{:.3f}, {:.3f}".format(*mean)
    made |= {f"{method}: error": float(found.mean()) for method, found in errors.items()}
    difference = errors["ours"] - errors["oracle"]
    return made | {
        _DIFFERENCE: float(difference.mean()),
        _HALF_WIDTH: half_width(difference),
    }


def half_width(values: np.ndarray, level: float = 0.95) -> float:
    """Half of the t-interval of a mean."""
    error = values.std(ddof=1) / np.sqrt(len(values))
    return float(error * student.ppf((1 + level) / 2, len(values) - 1))


def mean_error(rows: dict[str, Row], name: str, bar: float | None) -> Row:
    """Means over all q.

    The half-width is the mean of those of the rows: the rows share real samples, and the standard
    error of a mean of correlated values is at most the mean of their standard errors.
    """
    chosen = [found for case, found in rows.items() if case.startswith(f"{name}, q = ")]
    columns = [*(f"{method}: error" for method in METHODS), _DIFFERENCE, _HALF_WIDTH]
    made: Row = {column: float(np.mean([one[column] for one in chosen])) for column in columns}
    return made if bar is None else made | {"ratio": made["ours: error"], "bar": bar}


def oracle_log_ratios(
    posterior: np.ndarray, labels: np.ndarray, rows: Sides[np.ndarray]
) -> Sides[np.ndarray]:
    """Log p/q of the drawn samples by their posteriors, with the shares as drawn."""

    def shares(chosen: np.ndarray) -> np.ndarray:
        return np.bincount(chosen, minlength=posterior.shape[1]) / len(chosen)

    drawn, whole = rows.map(lambda one: shares(labels[one])), shares(labels)
    return rows.map(lambda one: oracle.log_ratio(posterior[one], drawn, whole))


def compare_estimators(
    estimators: Sequence[Any],
    *,
    data: str = "CIFAR-10",
    size: int = 1000,
    qs: Sequence[int] = (3, 8),
    seeds: Sequence[int] = range(3),
) -> list[Row]:
    """Errors of estimators on the same samples, one row for each q, seed and estimator.

    Args:
        estimators: Names or configurations of estimators.
        data: Name of an experiment.
        size: Samples of each side; for texts, at most so many of each source.
        qs: Classes that the model knows.
        seeds: Seeds of the samples and of the estimators.
    """
    experiment = EXPERIMENTS[data]
    pool = _pool(data)
    drawn = [(q, seed, experiment.draw(pool.labels, size, q, seed)) for q in qs for seed in seeds]
    names = [one if isinstance(one, str) else repr(one) for one in estimators]
    found = joblib.Parallel(n_jobs=-1)(
        joblib.delayed(headline_of)(estimator, samples_of(pool, rows), seed)
        for _, seed, rows in drawn
        for estimator in estimators
    )
    keys = [(q, seed, name) for q, seed, _ in drawn for name in names]
    return [
        {"q": q, "seed": seed, "estimator": name}
        | dict(zip(("recall error", "precision error"), np.abs(one - truth), strict=True))
        | {"error": float(np.abs(one - truth).mean())}
        for (q, seed, name), one in zip(keys, found, strict=True)
        for truth in [experiment.truth(q)]
    ]


def headline_of(estimator: Any, samples: dict[str, np.ndarray], seed: int) -> np.ndarray:
    """Recall and precision of the headline by an estimator."""
    found = curve_in_one_process(samples, estimator=estimator, seed=seed).headline
    return np.array([found["curve.recall"], found["curve.precision"]])


def images(parts: datasets.Parts, size: int, q: int) -> dict[str, np.ndarray]:
    """Five classes of the test part, and as many samples of q classes of the other."""
    real = datasets.balanced(parts.test, 5, size, seed=0)
    return {"real": real, "generated": datasets.balanced(parts.train, q, size, seed=q)}


def published(samples: dict[str, np.ndarray]) -> dict[str, PRCurve]:
    """The recipes of the literature, on as many samples of each side."""
    size = min(len(x) for x in samples.values())
    thinned = {side: _thin(x, size) for side, x in samples.items()}
    return {name: reproduce(name, **thinned, seed=0, progress=False).curve for name in RECIPES}


@functools.cache
def _pool(name: str) -> datasets.Labeled:
    return EXPERIMENTS[name].load()


def _thin(x: np.ndarray, size: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return x if len(x) == size else x[np.sort(rng.choice(len(x), size, replace=False))]


def _even(size: int, present: int, classes: int) -> np.ndarray:
    counts = np.zeros(classes, int)
    counts[:present] = np.diff(np.linspace(0, size, present + 1).round().astype(int))
    return counts


def samples_of(pool: datasets.Labeled, rows: Sides[np.ndarray]) -> dict[str, np.ndarray]:
    """Features of both sides."""
    return {side: pool.features[chosen] for side, chosen in rows._asdict().items()}


# Mean errors not to exceed. Fashion-MNIST and texts: what the stack without a kernel reached on one
# draw of the samples, without an allowance for the noise of that draw.
SIZES = {
    "CIFAR-10, N = 5,000": ("CIFAR-10", 5000, 0.088),
    "CIFAR-10, N = 1,000": ("CIFAR-10", 1000, None),
    "Fashion-MNIST, N = 5,000": ("Fashion-MNIST", 5000, 0.0634),
    "texts": ("texts", datasets.FULL, 0.0454),
}


def cases(estimator: Any = "stack") -> dict[str, Callable[[], Row] | Summary]:
    """A row for every q, and the mean of each data set and size after them."""
    made: dict[str, Callable[[], Row] | Summary] = {}
    for title, (name, size, bar) in SIZES.items():
        for q in EXPERIMENTS[name].qs:
            made[f"{title}, q = {q}"] = functools.partial(
                classes, name, size, q, estimator=estimator
            )
        made[f"{title}, mean"] = Summary(functools.partial(mean_error, name=title, bar=bar))
    return made


CASES = cases()


def main() -> None:
    """Run the benchmark, or compare estimators."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compare", nargs="+", metavar="ESTIMATOR", help="names of estimators")
    parser.add_argument("--data", default="CIFAR-10", choices=EXPERIMENTS)
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--q", type=int, nargs="+", default=[3, 8])
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    if given.compare is None:
        run("real", "Classes and sources dropped and invented, mean of five seeds", CASES)
        return
    seeds = range(given.seeds)
    for found in compare_estimators(
        given.compare, data=given.data, size=given.size, qs=given.q, seeds=seeds
    ):
        print(*(f"{x:.4f}" if isinstance(x, float) else x for x in found.values()), sep="\t")


if __name__ == "__main__":
    main()
