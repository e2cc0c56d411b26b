"""What is established of the columns of a table, and of pairs of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tradeoff._result import Result
from tradeoff._text import percent
from tradeoff.inference import policy

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["BrokenOrder", "ColumnDifference", "PairDifference", "TableReport", "Usefulness"]


@dataclass(frozen=True, kw_only=True)
class ColumnDifference(Result):
    """How one column differs between the two sides.

    Args:
        name: Name of the column.
        value: Total variation distance that held-out rows show, between 0 and 1.
        at_least: Lower confidence limit, which holds for all columns together; 0 if no difference
            is established.
        statistic: Kolmogorov-Smirnov distance of numbers, or Cramér's V of categories.
        cells: Intervals of the column's numbers, and its most frequent values.
        real: Share of the real rows in each cell.
        generated: Share of the generated rows in each cell.
        never: Categories that the model never makes, with the lower limit of their real share.
        unknown: Categories that only the model makes, with the lower limit of their share.
        below: Share of the real rows, at least, with numbers below the smallest generated one.
        above: The same above the largest generated one.

    Example:
        >>> from tradeoff.tables import ColumnDifference
        >>> ColumnDifference(
        ...     name="island", value=0.3, at_least=0.2, statistic=0.3, cells=("Biscoe", "Dream"),
        ...     real=(0.5, 0.5), generated=(0.8, 0.2),
        ... ).is_established
        True
    """

    name: str
    value: float
    at_least: float
    statistic: float
    cells: tuple[str, ...]
    real: tuple[float, ...]
    generated: tuple[float, ...]
    never: tuple[tuple[str, float], ...] = ()
    unknown: tuple[tuple[str, float], ...] = ()
    below: float = 0.0
    above: float = 0.0

    @property
    def is_established(self) -> bool:
        """Whether the column surely differs."""
        return self.at_least > 0.0


@dataclass(frozen=True, kw_only=True)
class PairDifference(Result):
    """How the dependence between two columns differs, apart from the columns themselves.

    Args:
        first: Name of a column.
        second: Name of the other one.
        value: Total variation distance that held-out rows show once the generated columns are
            given the real shares and ranks.
        at_least: Lower confidence limit, which holds for all pairs together; 0 if no difference is
            established.
        real: Strength of the dependence in real rows: Spearman's correlation of two columns of
            numbers, or else Cramér's V.
        generated: The same in generated rows.

    Example:
        >>> from tradeoff.tables import PairDifference
        >>> one = PairDifference(
        ...     first="age", second="income", value=0.4, at_least=0.3, real=0.7, generated=0.1
        ... )
        >>> one.change
        'lost'
    """

    first: str
    second: str
    value: float
    at_least: float
    real: float
    generated: float

    @property
    def is_established(self) -> bool:
        """Whether the dependence surely differs."""
        return self.at_least > 0.0

    @property
    def change(self) -> str:
        """Whether it is "lost", "weaker", "invented", "stronger", "reversed" or "different"."""
        real, made = abs(self.real), abs(self.generated)
        if made < policy.FORGOTTEN * real:
            return "lost"
        if real < policy.FORGOTTEN * made:
            return "invented"
        if self.real * self.generated < 0:
            return "reversed"
        if made < policy.AS_STRONG * real:
            return "weaker"
        return "stronger" if real < policy.AS_STRONG * made else "different"


@dataclass(frozen=True, kw_only=True)
class BrokenOrder(Result):
    """An order of two columns that all real rows keep and generated ones break.

    Args:
        smaller: Name of the column with the smaller number.
        larger: Name of the other one.
        broken: Share of the generated rows in which it is larger.
        at_least: Lower confidence limit of that share minus the upper limit among real rows.

    Example:
        >>> from tradeoff.tables import BrokenOrder
        >>> print(BrokenOrder(smaller="start", larger="end", broken=0.1, at_least=0.08))
        BrokenOrder(smaller='start', larger='end', broken=0.1, at_least=0.08)
    """

    smaller: str
    larger: str
    broken: float
    at_least: float


@dataclass(frozen=True, kw_only=True)
class Usefulness(Result):
    """How well a column is learned from generated rows, and from as many real rows.

    Args:
        target: Name of the column.
        measure: "accuracy" of categories, or "R²" of numbers, on other real rows.
        real: What a model reaches that was trained on real rows.
        generated: What a model reaches that was trained on generated rows.
        low: Lower confidence limit of what is lost, over rows; the two models are given.
        high: Upper confidence limit of it.

    Example:
        >>> from tradeoff.tables import Usefulness
        >>> found = Usefulness(
        ...     target="species", measure="accuracy", real=0.97, generated=0.62, low=0.3, high=0.4
        ... )
        >>> print(found.sentence)
        To predict `species` for real rows, a model trained on generated rows reaches an accuracy of
        0.62, one trained on as many real rows 0.97 (difference 0.30 to 0.40).
    """

    _derived = ("sentence",)

    target: str
    measure: str
    real: float
    generated: float
    low: float
    high: float

    @property
    def sentence(self) -> str:
        """Both next to each other."""
        measure = "an accuracy" if self.measure == "accuracy" else f"an {self.measure}"
        return (
            f"To predict `{self.target}` for real rows, a model trained on generated rows reaches "
            f"{measure} of {self.generated:.2f}, one trained on as many real rows {self.real:.2f} "
            f"(difference {self.low:.2f} to {self.high:.2f})."
        )


@dataclass(frozen=True, kw_only=True)
class TableReport(Result):
    """What is wrong with a table, column by column and pair by pair.

    Args:
        level: Confidence level of all statements on columns together, and of all on pairs.
        columns: All columns, the most different first.
        pairs: All pairs whose dependence differs, and the next ones, the most different first.
        orders: Orders of columns that real rows keep and generated ones break.
        use: How well a column is learned from generated rows; None if none was named.

    Example:
        >>> from tradeoff.tables import TableReport
        >>> TableReport(columns=(), pairs=()).sentences
        ()
    """

    _derived = ("sentences",)

    level: float = 0.95
    columns: tuple[ColumnDifference, ...]
    pairs: tuple[PairDifference, ...]
    orders: tuple[BrokenOrder, ...] = ()
    use: Usefulness | None = None

    @property
    def different(self) -> tuple[ColumnDifference, ...]:
        """Columns that surely differ."""
        return tuple(column for column in self.columns if column.is_established)

    @property
    def dependent(self) -> tuple[PairDifference, ...]:
        """Pairs whose dependence surely differs."""
        return tuple(pair for pair in self.pairs if pair.is_established)

    def without_values(self) -> TableReport:
        """The same without values of the data."""
        columns = (
            replace(one, cells=(), real=(), generated=(), never=(), unknown=())
            for one in self.columns
        )
        return replace(self, columns=tuple(columns))

    @property
    def faults(self) -> tuple[str, ...]:
        """What is wrong, the most different first."""
        found = []
        if self.different:
            names = [f"`{one.name}` (at least {percent(one.at_least)})" for one in self.different]
            found.append(f"Columns that differ: {_listed(names)}.")
        if self.dependent:
            found.append(self._of_pairs())
        found += [
            f"`{one.smaller}` never exceeds `{one.larger}` in real rows, but in at least "
            f"{percent(one.at_least)} of the generated ones."
            for one in self.orders[: policy.NAMED_GROUPS]
        ]
        found += _of_values(self.different)
        return tuple(found)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is wrong, and then what the rows are worth."""
        return self.faults if self.use is None else (*self.faults, self.use.sentence)

    def _of_pairs(self) -> str:
        changes = {pair.change for pair in self.dependent[: policy.NAMED_GROUPS]}
        change = changes.pop() if len(changes) == 1 else "different"
        names = [f"`{one.first}` and `{one.second}`" for one in self.dependent]
        start = "" if self.different else "Each column looks right; "
        text = f"{start}the dependence between {_listed(names, ', between ')} is {change}."
        return text[0].upper() + text[1:]


def _of_values(columns: Sequence[ColumnDifference]) -> list[str]:
    """Categories and ranges that are missing or invented, a sentence for each kind."""
    kinds = {
        "Never generated": [(f"`{c.name}` = {v}", share) for c in columns for v, share in c.never],
        "In no real row": [(f"`{c.name}` = {v}", share) for c in columns for v, share in c.unknown],
        "Real rows below every generated one": [(f"`{c.name}`", c.below) for c in columns],
        "Real rows above every generated one": [(f"`{c.name}`", c.above) for c in columns],
    }
    found = []
    for words, shares in kinds.items():
        ordered = sorted(shares, key=lambda one: -one[1])
        names = [f"{name} (at least {percent(share)})" for name, share in ordered if share > 0]
        if names:
            found.append(f"{words}: {_listed(names)}.")
    return found


def _listed(names: Sequence[str], separator: str = ", ") -> str:
    shown, rest = names[: policy.NAMED_GROUPS], len(names) - policy.NAMED_GROUPS
    return separator.join(shown) + (f", and {rest} more" if rest > 0 else "")
