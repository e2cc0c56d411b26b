"""The fifteen sanity checks with the headline numbers of the default curve.

Sweeps are thinned to 11 points and sizes to 8, with 3 repeats; `--full` runs the published grid
with 10 repeats as `sanity-full`. Further columns are the fixed slopes of earlier versions, chosen
by one repeat with other seeds: precision at λ = 15 and 20, and recall at λ = 0.4.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import joblib
import numpy as np

from benchmarks.harness import Row, run
from benchmarks.sanity import Check, checks
from tests.known.curves import curve_in_one_process

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.sanity import Sides

SEED = 311_262
COLUMNS = (
    ("precision", "fidelity"),
    ("recall", "diversity"),
    ("precision at 15", "fidelity"),
    ("precision at 20", "fidelity"),
    ("recall at 0.4", "diversity"),
)
"""The headline, and what earlier versions read."""
WANTED = {"precision": 25, "recall": 27, "precision at 20": 25}
"""Rows of thirty that must pass."""


def headline(sides: Sides, seed: int) -> tuple[float, ...]:
    """A value for each column."""
    estimate = curve_in_one_process(sides._asdict(), seed=seed)
    curve, found = estimate.curve, estimate.headline
    return (
        found["curve.precision"],
        found["curve.recall"],
        curve.precision(15.0),
        curve.precision(20.0),
        curve.recall(0.4),
    )


def measure(
    check: Check, metric: Callable[[Sides, int], Sequence[float]], repeats: int, seed: int
) -> list[np.ndarray]:
    """Mean over repeats of each value of the metric, by scenario: shape (points, values)."""
    name = [ord(letter) for letter in check.name]

    def value(scenario: int, point: int, repeat: int) -> Sequence[float]:
        rng = np.random.default_rng([seed, *name, scenario, point, repeat])
        chosen = check.scenarios[scenario]
        return metric(chosen.draw(rng, chosen.sweep[point]).standardized(), repeat)

    # Many samples take longest; begun first, they do not leave a core waiting at the end.
    places = [
        (i, j, k)
        for i, scenario in enumerate(check.scenarios)
        for j in reversed(range(len(scenario.sweep)))
        for k in range(repeats)
    ]
    found = joblib.Parallel(n_jobs=-1)(joblib.delayed(value)(*place) for place in places)
    values = [np.zeros((len(s.sweep), len(found[0]))) for s in check.scenarios]
    for (i, j, _), one in zip(places, found, strict=True):
        values[i][j] += np.array(one) / repeats
    return values


def rows_passed(check: Check, *, repeats: int, seed: int = SEED) -> Row:
    """Which of the two rows of fidelity and of diversity pass, and values at ends and middle."""
    return judged(check, measure(check, headline, repeats, seed), COLUMNS)


def judged(check: Check, values: list[np.ndarray], columns: Sequence[tuple[str, str]]) -> Row:
    """Which rows each column of values passes, and values at ends and middle.

    Args:
        check: The check.
        values: Values by scenario, shape (points, columns) each.
        columns: Name and kind of each column, "fidelity" or "diversity".
    """
    row: Row = {}
    for column, (name, kind) in enumerate(columns):
        rules = check.fidelity if kind == "fidelity" else check.diversity
        series = [scenario[:, column] for scenario in values]
        row[name] = " ".join("pass" if rule.passes(series) else "fail" for rule in rules)
        row[f"{name}: ends and middle"] = "; ".join(
            " ".join(f"{s[i]:.2f}" for i in (0, len(s) // 2, -1)) for s in series
        )
    return row


def passed(rows: Sequence[Row], name: str) -> int:
    """Rows of thirty that pass."""
    return sum(row[name].split().count("pass") for row in rows)


def cases(points: int, sizes: int, repeats: int) -> dict[str, Callable[[], Row]]:
    """One for each check."""
    return {
        check.name: (lambda check=check: rows_passed(check, repeats=repeats))
        for check in checks(points, sizes)
    }


if __name__ == "__main__":
    full = "--full" in sys.argv
    record = run(
        "sanity-full" if full else "sanity",
        "Sanity checks, bounds and shape, "
        + ("full grid, 10 repeats" if full else "11 points, 8 sizes, 3 repeats"),
        cases(51, 20, 10) if full else cases(11, 8, 3),
    )
    for name, _ in COLUMNS:
        print(f"{name}: {passed(record['rows'], name)} of 30 rows")
