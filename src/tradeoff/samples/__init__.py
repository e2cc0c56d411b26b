"""Samples as everything that measures sees them: two sides with features, ids and groups."""

from tradeoff._sides import Sides
from tradeoff.samples.pair import Pair, Side, View, views_of

__all__ = ["Pair", "Side", "Sides", "View", "views_of"]
