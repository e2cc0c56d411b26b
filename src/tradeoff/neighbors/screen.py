r"""Matrix products that screen pairs of points: rigorous bounds of squared distances.

For rows :math:`\tilde x` and :math:`\tilde y`, centered, scaled by a power of two and rounded to
the type of the product, and squared norms :math:`a, b`, any order of summation gives

.. math:: |a + b - 2\langle\tilde x, \tilde y\rangle - s^2\|x - y\|^2| \le 2\kappa\,(a + b) .

Norms, already lowered by that much, ride along as two more columns: the product is a lower bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor, dtype

    from tradeoff.neighbors.points import Points

__all__ = ["MULTIPLE", "Screen", "Tiles", "tiles_of"]

_CENTER_ROWS = 4096
_CACHED_BYTES = 2**28
_TILE = 1024
MULTIPLE = 64
"""Tiles are padded to a multiple of so many rows, with points at infinite distance."""
_EXACT_BITS = 24
_OVERHEAD = 16  # roundings of a pair besides those of its sum
_SMALLEST_EXPONENT = -120
_LARGEST_EXPONENT = 500


@dataclass(frozen=True, eq=False)
class Screen:
    """Center, scale and type of the products, and how far they may be from the reference."""

    center: Tensor
    scale: float
    margin: float
    floor: float
    type: dtype

    def bounds(self, product: Tensor, norms: Tensor) -> tuple[Tensor, Tensor]:
        """Lower and upper bounds of squared distances, from products and both norms added."""
        lower = product.double()
        upper = lower + 4 * (self.margin * norms + self.floor)
        return lower / self.scale**2, upper / self.scale**2

    def threshold(self, squares: Tensor) -> Tensor:
        """What a product must exceed to rule out that a squared distance is at most so large.

        Rounded upward, and finite: padding lies beyond.
        """
        import torch

        rounded = (squares * self.scale**2).to(self.type)
        upward = rounded.nextafter(rounded.new_full((), math.inf))
        return upward.clamp(max=torch.finfo(self.type).max)


@dataclass(eq=False)
class Tiles:
    """One side, cut into tiles that are ready for a product; as many are kept as fit."""

    points: Points
    screen: Screen
    norms: Tensor
    cuts: list[slice]
    _kept: dict[int, Tensor] = field(default_factory=dict)

    def right(self, tile: int) -> Tensor:
        """Rows, ones and lowered norms, shape (padded rows, columns + 2)."""
        if tile in self._kept:
            return self._kept[tile]
        cut, screen = self.cuts[tile], self.screen
        rows = self.points.values[cut].double()
        n = len(rows)
        padded = -(-n // MULTIPLE) * MULTIPLE
        ready = rows.new_zeros((padded, self.points.columns + 2), dtype=screen.type)
        ready[:n, :-2] = (rows - screen.center).mul_(screen.scale)
        ready[:, -2] = 1.0
        ready[:n, -1] = self.norms[cut] * (1 - 2 * screen.margin) - screen.floor
        ready[n:, -1] = math.inf
        if (len(self._kept) + 1) * ready.nbytes <= _CACHED_BYTES:
            self._kept[tile] = ready
        return ready

    def left(self, tile: int) -> Tensor:
        """Rows times −2, lowered norms and ones, shape (padded rows, columns + 2)."""
        ready = self.right(tile) * -2.0
        ready[:, -2] = ready[:, -1] / -2.0
        ready[:, -1] = 1.0
        return ready


def tiles_of(*sides: Points, size: int | None = None) -> tuple[Tiles, ...]:
    """All sides on one screen; integers small enough are multiplied without any rounding."""
    import torch

    # A product in a faster, rougher mode bounds nothing in single precision.
    rough = torch.get_float32_matmul_precision() != "highest"
    kind = torch.float64 if rough else torch.float32
    integers = all(_is_integer(side.values[cut]) for side in sides for cut in side.cuts())
    center = torch.stack([_mean(side) for side in sides]).mean(0)
    center = center.round() if integers else center
    norms = [_squared_norms(side, center) for side in sides]
    largest = max(float(of_side.max()) for of_side in norms)
    exponent = 0 if largest == 0 else -math.ceil(math.log2(largest) / 2)
    scale = 2.0 ** max(min(exponent, _LARGEST_EXPONENT), -_LARGEST_EXPONENT)
    if integers and 4 * largest <= 2**_EXACT_BITS:
        screen = Screen(center, scale, 0.0, 0.0, kind)
    else:
        terms = (sides[0].columns + _OVERHEAD) * (2 if rough else 1)
        roundings = terms * torch.finfo(kind).eps / 2
        floor = terms * 2.0**_SMALLEST_EXPONENT  # what underflow may take away
        screen = Screen(center, scale, roundings / (1 - roundings), floor, kind)
    return tuple(
        Tiles(side, screen, of_side * scale**2, _cuts(len(side), size or _TILE))
        for side, of_side in zip(sides, norms, strict=True)
    )


def _cuts(n: int, size: int) -> list[slice]:
    """Parts of nearly one size, at most the given one, with little padding."""
    rows = -(-n // -(-n // size))
    rows = min(-(-rows // MULTIPLE) * MULTIPLE, size)
    return [slice(start, min(start + rows, n)) for start in range(0, n, rows)]


def _is_integer(rows: Tensor) -> bool:
    return not rows.is_floating_point() or bool((rows == rows.round()).all())


def _mean(points: Points) -> Tensor:
    return points.values[:: -(-len(points) // _CENTER_ROWS)].double().mean(0)


def _squared_norms(points: Points, center: Tensor) -> Tensor:
    norms = center.new_empty(len(points))
    for cut in points.cuts():
        norms[cut] = (points.values[cut].double() - center).square_().sum(1)
    return norms
