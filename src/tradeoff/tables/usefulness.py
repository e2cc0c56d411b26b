"""Is a synthetic table as useful as real rows, to learn one column from the others?

A model is trained on generated rows, another one on as many real rows, and both are tested on the
same other real rows: half of them first, then the other half. The difference is paired by rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from tradeoff._threads import single_threaded
from tradeoff.exceptions import InvalidInputError
from tradeoff.inference import policy
from tradeoff.inference.shares import normal_quantile
from tradeoff.tables.columns import MISSING, Column, columns_of, features_of
from tradeoff.tables.result import Usefulness

if TYPE_CHECKING:
    from tradeoff._validation import FloatArray
    from tradeoff.features.table import TableEncoder
    from tradeoff.samples import Pair

__all__ = ["usefulness_of"]

_ROUNDS = 100  # of boosting


@single_threaded
def usefulness_of(
    pair: Pair, encoder: TableEncoder, target: str, *, level: float = 0.95, seed: int = 0
) -> Usefulness:
    """Train on generated and on real rows, and test both on other real rows.

    Args:
        pair: Features of both sides.
        encoder: The encoding of the table that made them.
        target: Name of the column that is learned.
        level: Confidence level.
        seed: Seed of the halves and of the models.

    Example:
        >>> import numpy as np
        >>> from tradeoff.data import open_source
        >>> from tradeoff.features.table import TableEncoder
        >>> from tradeoff.samples import Pair
        >>> from tradeoff.tables import usefulness_of
        >>> rng = np.random.default_rng(0)
        >>> x = rng.normal(size=(2, 400))
        >>> tables = [
        ...     [{"x": a, "positive": "yes" if b > 0 else "no"} for a, b in zip(x[0], x[0])],
        ...     [{"x": a, "positive": "yes" if b > 0 else "no"} for a, b in zip(x[1], x[0])],
        ... ]
        >>> encoder = TableEncoder.fit(tables[0])
        >>> x = [encoder.embed([encoder.prepare(row) for row in open_source(t)]) for t in tables]
        >>> found = usefulness_of(Pair.of(real=x[0], generated=x[1]), encoder, "positive")
        >>> found.measure, found.real > 0.95, found.generated < 0.6
        ('accuracy', True, True)
    """
    column = {one.name: one for one in columns_of(pair, encoder)}[target]
    others = features_of(encoder, leaving_out=target)
    x = [side.x[:, others] for side in pair]
    y, known, is_number = _wanted(column)
    x, y = [part[of] for part, of in zip(x, known, strict=True)], [y[i][known[i]] for i in (0, 1)]
    order = np.argsort(pair.real.draws_for(seed)[known[0]], kind="stable")
    halves = (order[: len(order) // 2], order[len(order) // 2 :])
    drawn = np.argsort(pair.generated.draws_for(seed)[known[1]], kind="stable")
    if min(len(halves[0]), len(drawn)) < policy.FEWEST_SAMPLES:
        raise InvalidInputError(
            f"`target` needs at least {2 * policy.FEWEST_SAMPLES} real and {policy.FEWEST_SAMPLES} "
            f"generated rows in which `{target}` is known. Got {len(order)} and {len(drawn)}."
        )
    right: list[list[FloatArray]] = [[], []]
    for train, test in (halves, halves[::-1]):
        size = min(len(train), len(drawn))  # of both, or more rows would be an advantage
        for i, rows in enumerate((train[:size], drawn[:size])):
            predicted = _predicted(
                x[i][rows], y[i][rows], x[0][test], is_number=is_number, seed=seed
            )
            right[i].append(_quality(predicted, y[0][test], is_number=is_number))
    real, made = (np.concatenate(one) for one in right)
    lost = real - made
    error = float(lost.std(ddof=1)) / lost.size**0.5
    distance = normal_quantile(level) * error
    return Usefulness(
        target=target,
        measure="R²" if is_number else "accuracy",
        real=float(real.mean()),
        generated=float(made.mean()),
        low=float(lost.mean()) - distance,
        high=float(lost.mean()) + distance,
    )


def _wanted(
    column: Column,
) -> tuple[list[npt.NDArray[np.generic]], list[npt.NDArray[np.bool_]], bool]:
    """Values of both sides, whether each is known, and whether they are numbers."""
    if column.numbers is not None and column.has_numbers:
        numbers = list(column.numbers)
        return list(numbers), [~np.isnan(one) for one in numbers], True
    words = np.asarray(column.words)
    values = [words[codes] for codes in column.codes]
    return list(values), [one != MISSING for one in values], False


def _predicted(
    x: FloatArray,
    y: npt.NDArray[np.generic],
    test: FloatArray,
    *,
    is_number: bool,
    seed: int,
) -> npt.NDArray[np.generic]:
    if np.unique(y).size < 2:  # nothing to learn
        return np.full(len(test), y[0])
    kind = HistGradientBoostingRegressor if is_number else HistGradientBoostingClassifier
    model = kind(max_iter=_ROUNDS, early_stopping=False, random_state=seed)
    return np.asarray(model.fit(x, y).predict(test))


def _quality(
    predicted: npt.NDArray[np.generic], true: npt.NDArray[np.generic], *, is_number: bool
) -> FloatArray:
    """Of each row: whether it is right, or a value whose mean is R²."""
    if not is_number:
        return np.asarray(predicted == true, dtype=float)
    wanted = np.asarray(true, dtype=float)
    squares = (np.asarray(predicted, dtype=float) - wanted) ** 2
    return np.asarray(1.0 - squares / max(float(wanted.var()), 1e-300))
