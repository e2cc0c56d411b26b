"""Small pictures of the columns of a table: their cells on both sides, and a map of pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tradeoff._text import printable, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tradeoff.tables import PairDifference

__all__ = ["BARS", "column_bars", "pair_map"]

BARS = (160, 36)
"""Width and height of the picture of a column."""
_MOST_MAPPED = 40
_CELL = 14
_LONGEST_NAME = 18
_LETTER = 6.6  # width of most letters in the map


def column_bars(real: Sequence[float], generated: Sequence[float]) -> tuple[str, str]:
    """Bars of both sides, next to each other in each cell, as paths of SVG.

    Args:
        real: Share of the real rows in each cell.
        generated: The same of generated rows.
    """
    width, height = BARS
    step = width / max(len(real), 1)
    highest = max((*real, *generated, 1e-9))
    paths = []
    for shares, shift in ((real, 0.1), (generated, 0.5)):
        bars = [
            f"M{(i + shift) * step:.1f} {height}v{-height * share / highest:.1f}h{0.4 * step:.1f}V"
            f"{height}z"
            for i, share in enumerate(shares)
            if share > 0
        ]
        paths.append("".join(bars))
    return paths[0], paths[1]


def pair_map(pairs: Sequence[PairDifference]) -> dict[str, Any] | None:
    """Squares for pairs whose dependence surely differs, and the names of their columns.

    Args:
        pairs: Pairs, the most different first.
    """
    known = [pair for pair in pairs if pair.is_established]
    names: list[str] = []
    for pair in known:
        new = [name for name in (pair.first, pair.second) if name not in names]
        if len(names) + len(new) <= _MOST_MAPPED:
            names += new
    if len(names) < 3:  # one pair needs no map
        return None
    place = {name: i for i, name in enumerate(names)}
    largest = max(pair.value for pair in known)
    squares = [
        {
            "x": _CELL * min(place[pair.first], place[pair.second]),
            "y": _CELL * max(place[pair.first], place[pair.second]),
            "opacity": f"{0.2 + 0.8 * pair.value / largest:.2f}",
            "title": f"{printable(pair.first)} and {printable(pair.second)}: {pair.value:.2f}",
        }
        for pair in known
        if pair.first in place and pair.second in place
    ]
    shown = [shortened(printable(name), _LONGEST_NAME) for name in names]
    ends = (_CELL * i + _LETTER * len(name) for i, name in enumerate(shown))
    return {
        "cell": _CELL,
        "width": round(max(ends)) + _CELL,
        "height": _CELL * len(names),
        "names": shown,
        "squares": squares,
    }
