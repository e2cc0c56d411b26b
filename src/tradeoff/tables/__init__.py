"""Tables: what is wrong with single columns, and with the dependence between two of them."""

from tradeoff.tables.compare import compare_columns
from tradeoff.tables.result import (
    BrokenOrder,
    ColumnDifference,
    PairDifference,
    TableReport,
    Usefulness,
)
from tradeoff.tables.usefulness import usefulness_of

__all__ = [
    "BrokenOrder",
    "ColumnDifference",
    "PairDifference",
    "TableReport",
    "Usefulness",
    "compare_columns",
    "usefulness_of",
]
