"""A knob whose best value is known: what the recommendation loses, and what the set misses.

Real samples come from eight Gaussians on a circle. The weights of the model are unequal; a
temperature evens them out and widens the modes, so that the best temperature lies in between. True
F-scores and areas come from densities on a grid.

The temperature of a transformer is that of the tutorial on text, with five seeds: for other texts
to train on and to measure against, other weights and other samples.
"""

from __future__ import annotations

import re
import runpy
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import binom, page_trend_test

from benchmarks.harness import Row, Summary, run
from tests.known.curves import curve_in_one_process, over_seeds
from tests.known.distributions import Mixture, ring_mixture
from tradeoff import RatioProfile
from tradeoff.comparison.sweep import choose
from tradeoff.goals import Best

if TYPE_CHECKING:
    from collections.abc import Callable

VALUES = (0.5, 1.0, 1.5, 2.0, 3.0)
GOALS = {"F-score": Best("f_score"), "area": Best("area")}
RUNS, PARTS, N = 200, 4, 2000
FIRST_SEED = 60_000
_REGRET = 0.01
_LEVEL = 0.95
_WEIGHTS = (0.22, 0.03) * 4
TUTORIAL = Path(__file__).parents[1] / "docs" / "tutorials" / "text.py"
SEEDS = 5
_SCORES = ("knn.precision", "knn.recall", "curve.precision", "curve.recall")
_TREND = 0.01


def real() -> Mixture:
    """Eight modes of equal weights."""
    return ring_mixture(8, 0.5)


def model(temperature: float) -> Mixture:
    """The model at a temperature."""
    modes = real()
    weights = np.array(_WEIGHTS) ** (1.0 / temperature)
    sds = np.array(modes.sds) * temperature**0.5
    return Mixture(tuple(weights / weights.sum()), modes.means, tuple(sds))


def true_scores() -> dict[str, np.ndarray]:
    """F-score and area of each value."""
    axis = np.linspace(-7, 7, 281)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    p = real().density(grid)
    curves = []
    for value in VALUES:
        q = model(value).density(grid)
        curves.append(RatioProfile.from_masses(p / p.sum(), q / q.sum()).curve())
    return {
        "F-score": np.array([curve.f_score(1.0) for curve in curves]),
        "area": np.array([curve.area for curve in curves]),
    }


def one_run(seed: int, n: int = N, estimator: str = "stack") -> dict[str, tuple[float, bool, int]]:
    """For each goal: regret, whether the set holds the best value, and its size."""
    rng = np.random.default_rng(seed)
    rows = real()(rng, n)
    estimates = {
        str(value): curve_in_one_process(
            {"real": rows, "generated": model(value)(rng, n)}, estimator=estimator, seed=seed
        )
        for value in VALUES
    }
    found = {}
    for name, truth in true_scores().items():
        chosen = choose(estimates, GOALS[name], _LEVEL)
        taken = VALUES.index(float(chosen.best))
        best = str(VALUES[int(truth.argmax())])
        found[name] = (float(truth.max() - truth[taken]), best in chosen.alike, len(chosen.alike))
    return found


def part(number: int) -> Row:
    """A quarter of the runs."""
    size = RUNS // PARTS
    found = over_seeds(lambda i: one_run(FIRST_SEED + number * size + i), size)
    return {
        f"{name}, {what}": float(np.mean([run[name][i] for run in found]))
        for name in GOALS
        for i, what in enumerate(("regret", "best in the set", "size of the set"))
    }


def all_runs(name: str, rows: dict[str, Row]) -> Row:
    """Means over all parts: regret at most 0.01, the best value in the set in 95% of the runs."""
    parts = [row for case, row in rows.items() if case.startswith("runs")]
    regret, held, size = (
        float(np.mean([row[f"{name}, {what}"] for row in parts]))
        for what in ("regret", "best in the set", "size of the set")
    )
    missed = round((1.0 - held) * RUNS)
    allowed = int(binom.ppf(1.0 - 1e-3, RUNS, 1.0 - _LEVEL))
    return {
        "regret": regret,
        "missed": missed,
        "allowed": allowed,
        "size of the set": size,
        "ratio": max(regret / _REGRET, missed / allowed),
        "bar": 1.0,
    }


def transformer(seed: int, **sizes: int) -> Row:
    """Scores of the tutorial's model by temperature, and the temperature that is recommended."""
    script = TUTORIAL.read_text()
    for name, value in ({"SEED": seed} | sizes).items():
        script, found = re.subn(rf"(?m)^{name} = .*", f"{name} = {value}", script)
        assert found == 1, f"the tutorial has no parameter {name}"
    with tempfile.TemporaryDirectory() as folder:
        changed = Path(folder, "text.py")
        changed.write_text(script)
        swept = runpy.run_path(str(changed))["found"]
    row: Row = {"recommended": swept.best}
    for temperature, one in swept.comparison.evaluations.items():
        row |= {f"{key} at {temperature}": one[key].value for key in _SCORES}
    return row


def trend(rows: dict[str, Row]) -> Row:
    """Page's test that neighbors' precision falls and their recall rises with the temperature."""
    runs = [row for case, row in rows.items() if case.startswith("transformer, seed")]

    def values(score: str) -> np.ndarray:
        return np.array([[v for key, v in run.items() if key.startswith(score)] for run in runs])

    p = {
        "knn.precision falls": page_trend_test(-values("knn.precision")).pvalue,
        "knn.recall rises": page_trend_test(values("knn.recall")).pvalue,
        # From 1.0 on, nonsense makes every kind of real text rarer.
        "curve.recall rises up to 1.0": page_trend_test(values("curve.recall")[:, :3]).pvalue,
    }
    return {f"{name}, p": value for name, value in p.items()} | {
        "ratio": float(max(p.values())),
        "bar": _TREND,
    }


CASES: dict[str, Callable[[], Row] | Summary] = {
    **{f"runs, part {number + 1}": (lambda k=number: part(k)) for number in range(PARTS)},
    **{
        f"all runs, {name}": Summary(lambda rows, name=name: all_runs(name, rows)) for name in GOALS
    },
    **{f"transformer, seed {seed}": (lambda k=seed: transformer(k)) for seed in range(SEEDS)},
    "transformer, all seeds": Summary(trend),
}

if __name__ == "__main__":
    run("knobs", "A temperature with a known best value, five values, N = 2,000, 200 runs", CASES)
