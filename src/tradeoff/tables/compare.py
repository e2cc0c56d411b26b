r"""Which columns of a table differ, and which pairs of columns depend on each other differently?

A column has cells: values that repeat, and intervals of the other numbers. In each of five parts of
the rows, cells in which generated rows are more frequent *in the other parts* form a set
:math:`A`; :math:`Q(A) - P(A)` on the part itself is never above the total variation distance in
expectation. Frequencies of intervals are smoothed by polynomials, so that few rows are enough.

For a pair of columns, generated rows are first given the real shares of repeated values, by
weights, and all other numbers are replaced with their ranks. What then differs is the dependence:
models with the right dependence and wrong single columns are not accused. All limits hold together
(Bonferroni), half of the level for columns and half for pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from tradeoff._progress import track
from tradeoff._sides import Sides
from tradeoff._threads import single_threaded
from tradeoff.inference import policy
from tradeoff.inference.shares import exact_upper_limits
from tradeoff.tables.columns import Column, columns_of
from tradeoff.tables.result import BrokenOrder, ColumnDifference, PairDifference, TableReport

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tradeoff._validation import FloatArray
    from tradeoff.features.table import TableEncoder
    from tradeoff.samples import Pair, Side

__all__ = ["compare_columns"]

_PARTS = 5
_INTERVALS, _DEGREE = 16, 4  # of a single column
_RANKS, _DEGREE_OF_PAIRS = 8, 2
_ROUNDS = 30  # of fitting weights
_MOST_WEIGHT = 20.0
_SHOWN_PAIRS = 20
_SHOWN_WORDS = 20
_PICTURED = (0.01, 0.99)  # quantiles between which intervals are equally wide


@single_threaded
def compare_columns(
    pair: Pair, encoder: TableEncoder, *, level: float = 0.95, seed: int = 0, progress: bool = True
) -> TableReport:
    """Compare all columns and all pairs of columns of two tables.

    Args:
        pair: Features of both sides.
        encoder: The encoding of the table that made them.
        level: Confidence level.
        seed: Seed of the parts.
        progress: Whether to show progress lines.

    Example:
        Two columns that depend on each other, and a model that has forgotten how:

        >>> import numpy as np
        >>> from tradeoff.features.table import TableEncoder
        >>> from tradeoff.data import open_source
        >>> from tradeoff.samples import Pair
        >>> from tradeoff.tables import compare_columns
        >>> rng = np.random.default_rng(0)
        >>> age = rng.normal(40, 10, (2, 500))
        >>> income = 3 * age + rng.normal(0, 10, (2, 500))
        >>> tables = [
        ...     [{"age": a, "income": i} for a, i in zip(age[0], income[0])],
        ...     [{"age": a, "income": i} for a, i in zip(age[1], rng.permutation(income[1]))],
        ... ]
        >>> encoder = TableEncoder.fit(tables[0])
        >>> x = [encoder.embed([encoder.prepare(row) for row in open_source(t)]) for t in tables]
        >>> pair = Pair.of(real=x[0], generated=x[1])
        >>> print(compare_columns(pair, encoder).sentences[0])
        Each column looks right; the dependence between `age` and `income` is lost.
    """
    columns = [one for one in columns_of(pair, encoder) if not one.is_single]
    rows = Sides(*(_Rows.of(side, seed) for side in pair))
    half = 0.5 * (1.0 - level)
    z = _quantile(half, len(columns))
    of_columns = [_of_column(column, rows, z, half / max(len(columns), 1)) for column in columns]
    couples = list(combinations(columns, 2))
    z = _quantile(half, len(couples))
    of_pairs = []
    for first, second in track(couples, "pairs of columns", total=len(couples), progress=progress):
        if (one := _of_pair(first, second, rows, z)) is not None:
            of_pairs.append(one)
    return TableReport(
        level=level,
        columns=_ranked(of_columns),
        pairs=_ranked(of_pairs)[: max(_SHOWN_PAIRS, sum(one.is_established for one in of_pairs))],
        orders=_broken_orders(columns, half),
    )


def _quantile(share: float, tests: int) -> float:
    return float(-ndtri(share / max(tests, 1)))


def _ranked(found: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(sorted(found, key=lambda one: (-one.at_least, -one.value)))


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows of a side: in which part each one is, and which ones belong together."""

    parts: npt.NDArray[np.intp]
    groups: npt.NDArray[np.intp] | None

    @classmethod
    def of(cls, side: Side, seed: int) -> _Rows:
        """Parts by content, so that the order of rows does not matter; groups stay together."""
        keys = side.group_keys_for(seed)
        if keys is not None:
            groups = np.unique(keys, return_inverse=True)[1]
            return cls(groups % _PARTS, groups)  # which are ordered by random keys
        parts = np.empty(len(side), dtype=np.intp)
        parts[side.order_for(seed)] = np.arange(len(side)) % _PARTS
        return cls(parts, None)

    def take(self, index: npt.NDArray[np.intp]) -> _Rows:
        """Some of the rows."""
        return _Rows(self.parts[index], None if self.groups is None else self.groups[index])


@dataclass(frozen=True, eq=False)
class _Cells:
    """Rows of one side in cells, with weights."""

    cells: npt.NDArray[np.intp]
    weights: FloatArray | None
    rows: _Rows

    def shares(self, count: int) -> FloatArray:
        """Share of each cell in each part, before division by the total, shape (parts, count)."""
        place = self.rows.parts * count + self.cells
        found = np.bincount(place, self.weights, minlength=_PARTS * count).astype(float)
        return found.reshape(_PARTS, count)

    def share_in(self, sets: npt.NDArray[np.bool_]) -> tuple[float, float]:
        """Share of the rows in the set of their part, and its variance."""
        is_in = sets[self.rows.parts, self.cells].astype(float)
        own = np.ones(is_in.size) if self.weights is None else self.weights
        weights = own / own.sum()
        share = float(weights @ is_in)
        centered = weights * (is_in - share)
        if self.rows.groups is not None:
            centered = np.bincount(self.rows.groups, centered)
        # As if one more row spoke against what was found.
        return share, float(centered @ centered + (weights**2).sum() / is_in.size)


def _held_out(sides: Sides[_Cells], smooth: Sequence[FloatArray]) -> tuple[float, float]:
    """Total variation distance by sets of cells that other parts choose, and its standard error.

    A cell is in a set if its smoothed excess is more than a standard error: others add noise.
    """
    shape = tuple(len(one) for one in smooth)
    shares = sides.map(lambda one: one.shares(int(np.prod(shape))))
    rest = shares.map(lambda one: one.sum(0) - one)
    frequent = rest.map(lambda one: one / np.maximum(one.sum(1, keepdims=True), 1e-300))
    both = 0.5 * (frequent.real + frequent.generated)
    fewer = 1.0 / rest.real.sum(1) + 1.0 / rest.generated.sum(1)
    excess = _smoothed(frequent.generated - frequent.real, smooth, shape)
    variance = _smoothed(both * fewer[:, None], [one**2 for one in smooth], shape)
    sets = excess > np.sqrt(np.maximum(variance, 0.0))
    (real, of_real), (made, of_made) = (one.share_in(sets) for one in sides)
    return made - real, policy.SHARED_PARTS * float(np.sqrt(of_real + of_made))


def _smoothed(
    values: FloatArray, smooth: Sequence[FloatArray], shape: tuple[int, ...]
) -> FloatArray:
    """Values of cells, smoothed along each of their axes; shape (parts, cells)."""
    found = values.reshape(-1, *shape)
    for axis, matrix in enumerate(smooth, 1):
        found = np.moveaxis(np.tensordot(found, matrix, axes=(axis, 1)), -1, axis)
    return found.reshape(values.shape)


def _projection(intervals: int, words: int, degree: int, *, constant: bool) -> FloatArray:
    """Polynomials on intervals, and every word for itself; shape (cells, cells)."""
    place = (np.arange(intervals) + 0.5) / max(intervals, 1)
    powers = np.linalg.qr(np.vander(place, degree + 1, increasing=True))[0]
    powers = powers if constant else powers[:, 1:]
    found = np.eye(intervals + words)
    found[:intervals, :intervals] = powers @ powers.T
    return found


def _of_column(column: Column, rows: Sides[_Rows], z: float, share: float) -> ColumnDifference:
    edges = _edges(column)
    intervals = edges.size + 1 if column.has_numbers else 0
    cells = Sides(*(_single(column, i, edges, intervals) for i in range(2)))
    count = intervals + len(column.words)
    smooth = _projection(intervals, len(column.words), _DEGREE, constant=True)
    sides = Sides(*(_Cells(one, None, of) for one, of in zip(cells, rows, strict=True)))
    value, error = _held_out(sides, [smooth])
    at_least = value - z * error
    counts = cells.map(lambda one: np.bincount(one, minlength=count))
    names, shown = _pictured(column)
    is_established = at_least > policy.SMALLEST_LOSS
    words = counts.map(lambda one: one[intervals:])
    sizes = cells.map(len)
    extremes: dict[str, Any] = _extremes(column, words, sizes, share) if is_established else {}
    return ColumnDifference(
        name=column.name,
        value=float(np.clip(value, 0.0, 1.0)),
        at_least=at_least if is_established else 0.0,
        statistic=_statistic(column, counts),
        cells=names,
        real=tuple(shown.real.tolist()),
        generated=tuple(shown.generated.tolist()),
        **extremes,
    )


def _edges(column: Column, *, wide: bool = False) -> FloatArray:
    """Limits of intervals that hold equally many of the other numbers, or are equally wide."""
    if column.numbers is None or not column.has_numbers:
        return np.empty(0)
    both = np.concatenate(
        [x[order] for x, order in zip(column.numbers, column.orders, strict=True)]
    )
    if wide:
        low, high = (float(np.quantile(both, share)) for share in _PICTURED)
        return np.unique(np.linspace(low, high, _INTERVALS - 1))
    return np.unique(np.quantile(both, np.arange(1, _INTERVALS) / _INTERVALS))


def _single(column: Column, side: int, edges: FloatArray, intervals: int) -> npt.NDArray[np.intp]:
    codes = column.codes[side]
    if column.numbers is None:
        return codes
    inside = np.searchsorted(edges, column.numbers[side], side="right")
    return np.where(codes < 0, inside, intervals + codes)


def _pictured(column: Column) -> tuple[tuple[str, ...], Sides[FloatArray]]:
    """Names and shares of cells for a picture: equal intervals, then the most frequent values."""
    edges = _edges(column, wide=True)
    intervals = edges.size + 1 if column.has_numbers else 0
    names = (*_interval_names(column, edges, intervals), *column.words)
    cells = Sides(*(_single(column, side, edges, intervals) for side in range(2)))
    shares = cells.map(lambda one: np.bincount(one, minlength=len(names)) / one.size)
    words = np.argsort(-np.maximum(*shares)[intervals:], kind="stable") + intervals
    kept = np.concatenate((np.arange(intervals), np.sort(words[:_SHOWN_WORDS])))
    rest = words[_SHOWN_WORDS:]
    found = tuple(names[i] for i in kept)
    if not rest.size:
        return found, shares
    joined = shares.map(lambda one: np.append(one[kept], one[rest].sum()))
    return (*found, f"{rest.size} others"), joined


def _interval_names(column: Column, edges: FloatArray, intervals: int) -> tuple[str, ...]:
    if not intervals:
        return ()
    ends = [f"{one:.4g}" for one in edges]
    return tuple(f"{a} to {b}" for a, b in zip(["", *ends], [*ends, ""], strict=True))


def _statistic(column: Column, counts: Sides[npt.NDArray[np.intp]]) -> float:
    """Kolmogorov-Smirnov distance of numbers, or Cramér's V of words."""
    if column.numbers is not None:
        x = [np.sort(one[~np.isnan(one)]) for one in column.numbers]
        if not all(one.size for one in x):
            return 1.0
        both = np.concatenate(x)
        below = [np.searchsorted(one, both, side="right") / one.size for one in x]
        return float(np.abs(below[0] - below[1]).max())
    real, made = (one / one.sum() for one in counts)
    mean, apart = 0.5 * (real + made), 0.25 * (real - made) ** 2
    return float(np.sqrt((apart / np.maximum(mean, 1e-300)).sum()))


def _extremes(
    column: Column, counts: Sides[npt.NDArray[np.intp]], sizes: Sides[int], share: float
) -> dict[str, Any]:
    """Categories and ends of the range that one side lacks, from the rows of each category."""
    found: dict[str, Any] = {}
    for name, own, other in (("never", 0, 1), ("unknown", 1, 0)):
        listed = []
        for i, word in enumerate(column.words):
            if counts[other][i] == 0:
                # If the other side had this category as often, it would hardly miss it by chance.
                limit = _lower(counts[own][i], sizes[own], share)
                if limit > _upper(0, sizes[other], share):
                    listed.append((word, limit))
        found[name] = tuple(sorted(listed, key=lambda one: -one[1]))
    if column.numbers is not None:
        real, made = (x[~np.isnan(x)] for x in column.numbers)
        if real.size and made.size:
            for name, beyond in (
                ("below", int((real < made.min()).sum())),
                ("above", int((real > made.max()).sum())),
            ):
                # Chance of so many extreme rows all being real, in a random order of all rows.
                ranks = np.arange(beyond)
                chance = np.log((real.size - ranks) / (real.size + made.size - ranks)).sum()
                if beyond and chance < np.log(share):
                    found[name] = _lower(beyond, sizes.real, share)
    return found


def _lower(count: int, size: int, share: float) -> float:
    return 1.0 - _upper(size - count, size, share)


def _upper(count: int, size: int, share: float) -> float:
    return float(exact_upper_limits(count, size, share))


def _of_pair(first: Column, second: Column, rows: Sides[_Rows], z: float) -> PairDifference | None:
    """The dependence between two columns; None if too few rows are left to compare."""
    both = (first, second)
    weights = _weights(both)
    if weights is None:
        return None
    intervals = [_RANKS if one.has_numbers else 0 for one in both]
    sizes = [ranks + len(one.words) for ranks, one in zip(intervals, both, strict=True)]
    found = []
    for side, weight in enumerate(weights):
        kept = np.flatnonzero(weight > 0)
        if kept.size < policy.FEWEST_OF_PAIR:
            return None
        codes = [_ranked_cells(one, side, weight) for one in both]
        cells = (codes[0] * sizes[1] + codes[1])[kept]
        found.append(_Cells(cells, weight[kept] if side else None, rows[side].take(kept)))
    sides = Sides(*found)
    left, right = (
        _projection(ranks, len(one.words), _DEGREE_OF_PAIRS, constant=bool(one.words))
        for ranks, one in zip(intervals, both, strict=True)
    )
    value, error = _held_out(sides, (left, right))
    at_least = value - z * error
    real, made = (_strength(both, one, sizes) for one in sides)
    return PairDifference(
        first=first.name,
        second=second.name,
        value=float(np.clip(value, 0.0, 1.0)),
        at_least=at_least if at_least > policy.SMALLEST_LOSS else 0.0,
        real=real,
        generated=made,
    )


def _weights(both: Sequence[Column]) -> Sides[FloatArray] | None:
    """Weights of generated rows that give them the real shares of repeated values in both columns.

    Rows whose value only one side has get weight 0 on both; None if no rows are left.
    """
    if not any(one.words for one in both):
        return Sides(*(np.ones(one.size) for one in both[0].codes))
    codes = [one.codes.map(lambda c: c + 1) for one in both]  # 0 are other numbers
    sizes = [len(one.words) + 1 for one in both]
    counts = [
        np.bincount(codes[0][i] * sizes[1] + codes[1][i], minlength=sizes[0] * sizes[1])
        .reshape(sizes)
        .astype(float)
        for i in range(2)
    ]
    for axis in (0, 1, 0, 1):  # leaving out rows of one column can empty a value of the other
        is_common = np.logical_and(*(one.sum(1 - axis) > 0 for one in counts))
        for one in counts:
            one[~is_common if axis == 0 else (slice(None), ~is_common)] = 0.0
    real, made = counts
    if not real.any() or not made.any():
        return None
    factors = np.where(made > 0, real.sum() / made.sum(), 0.0)
    for _ in range(_ROUNDS):
        for axis in (0, 1):
            wanted, now = real.sum(axis), (made * factors).sum(axis)
            scale = np.divide(wanted, now, out=np.zeros_like(wanted), where=now > 0)
            factors = np.minimum(factors * np.expand_dims(scale, axis), _MOST_WEIGHT)
    of_real = (real > 0).astype(float)
    found = Sides(of_real, factors / factors.max())
    return Sides(*(one[codes[0][i], codes[1][i]] for i, one in enumerate(found)))


def _ranked_cells(column: Column, side: int, weights: FloatArray) -> npt.NDArray[np.intp]:
    """Cells of a column for pairs: intervals of weighted ranks, then words; shape (n,)."""
    if not column.has_numbers:
        return column.codes[side]
    found = column.codes[side] + _RANKS
    order = column.orders[side]
    total = np.cumsum(weights[order])
    if total.size and total[-1] > 0:
        ranks = (total - 0.5 * weights[order]) / total[-1]
        found[order] = np.minimum((ranks * _RANKS).astype(np.intp), _RANKS - 1)
    return found


def _strength(both: Sequence[Column], rows: _Cells, sizes: Sequence[int]) -> float:
    """Correlation of ranks of two columns of numbers, or else Cramér's V, of weighted rows."""
    table = rows.shares(sizes[0] * sizes[1]).sum(0).reshape(sizes)
    table /= table.sum()
    across, along = table.sum(1), table.sum(0)
    outer = np.outer(across, along)
    if not any(one.words for one in both):
        ranks = np.arange(_RANKS) - 0.5 * (_RANKS - 1)
        scale = np.sqrt((across @ ranks**2) * (along @ ranks**2))
        return float(ranks @ (table - outer) @ ranks / scale)
    squares = np.divide((table - outer) ** 2, outer, out=np.zeros_like(table), where=outer > 0)
    used = [max(int((one > 0).sum()) - 1, 1) for one in (across, along)]
    by_chance = used[0] * used[1] / rows.cells.size
    return float(np.sqrt(max(squares.sum() - by_chance, 0.0) / min(used)))


def _broken_orders(columns: Sequence[Column], share: float) -> tuple[BrokenOrder, ...]:
    """Orders that all real rows keep and generated ones break.

    Only columns whose ranges overlap can break an order: others keep it whatever they are.
    """
    of_numbers = [one for one in columns if one.numbers is not None]
    couples = [
        couple
        for pair in combinations(of_numbers, 2)
        for couple in (pair, pair[::-1])
        if _can_break(*couple)
    ]
    each = share / (2 * max(len(couples), 1))
    found = []
    for smaller, larger in couples:
        real, made = (_breaks(smaller, larger, side) for side in range(2))
        if not real.size or not made.any() or real.any():
            continue
        limit = _lower(int(made.sum()), made.size, each) - _upper(0, real.size, each)
        if limit > policy.SMALLEST_LOSS:
            broken = float(made.mean())
            found.append(
                BrokenOrder(smaller=smaller.name, larger=larger.name, broken=broken, at_least=limit)
            )
    return tuple(sorted(found, key=lambda one: -one.at_least))


def _breaks(smaller: Column, larger: Column, side: int) -> npt.NDArray[np.bool_]:
    """Whether each row in which both numbers are known breaks the order."""
    assert smaller.numbers is not None
    assert larger.numbers is not None
    low, high = smaller.numbers[side], larger.numbers[side]
    is_known = ~np.isnan(low) & ~np.isnan(high)
    return np.asarray(low[is_known] > high[is_known])


def _can_break(smaller: Column, larger: Column) -> bool:
    """Whether real rows would break the order if the columns were independent."""
    assert smaller.numbers is not None
    assert larger.numbers is not None
    low, high = np.sort(smaller.numbers.real), np.sort(larger.numbers.real)
    low, high = low[~np.isnan(low)], high[~np.isnan(high)]
    if not low.size or not high.size:
        return False
    return (
        float(np.mean(np.searchsorted(high, low, side="left") / high.size))
        > policy.BROKEN_BY_CHANCE
    )
