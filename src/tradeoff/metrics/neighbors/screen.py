r"""Matrix products that screen pairs of points: rigorous bounds of squared distances.

For rows :math:`\tilde x` and :math:`\tilde y`, centered, scaled by a power of two and rounded to
the type of the product, and squared norms :math:`a, b`, any order of summation gives

.. math:: |a + b - 2\langle\tilde x, \tilde y\rangle - s^2\|x - y\|^2| \le 2\kappa\,(a + b) .

Norms, already lowered by that much, ride along as two more columns: the product is a lower bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor, dtype

    from tradeoff.metrics.neighbors.points import Points

__all__ = ["MULTIPLE", "Screen", "Tiles", "tiles_of"]

_CENTER_ROWS = 4096
_CACHED_BYTES = 2**28
_NUMBERS_AT_ONCE = 2**18
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


@dataclass(frozen=True, eq=False)
class Tiles:
    """One side, ready for products of some rows at a time.

    As many rows as fit into a fixed amount of memory are kept ready, the others made when needed.
    """

    points: Points
    screen: Screen
    norms: Tensor
    size: int

    @cached_property
    def _kept(self) -> Tensor:
        row = (self.points.columns + 2) * self.screen.type.itemsize
        n = _CACHED_BYTES // row // MULTIPLE * MULTIPLE
        return self._make(slice(0, min(n, -(-len(self.points) // MULTIPLE) * MULTIPLE)))

    def cuts(self, size: int | None = None, start: int = 0) -> list[slice]:
        """Rows from a start to the end, at most so many at a time."""
        n = len(self.points)
        return [
            slice(i, min(i + (size or self.size), n)) for i in range(start, n, size or self.size)
        ]

    def right(self, cut: slice) -> Tensor:
        """Rows, ones and lowered norms, shape (padded rows, columns + 2)."""
        stop = -(-cut.stop // MULTIPLE) * MULTIPLE
        return self._kept[cut.start : stop] if stop <= len(self._kept) else self._make(cut)

    def left(self, cut: slice, memory: Tensor) -> Tensor:
        """Rows times −2, lowered norms and ones, in given memory, shape as on the right."""
        import torch

        right = self.right(cut)
        left = torch.mul(right, -2.0, out=memory[: len(right)])
        left[:, -2] = right[:, -1]
        left[:, -1] = 1.0
        return left

    def _make(self, cut: slice) -> Tensor:
        screen, columns = self.screen, self.points.columns
        padded = -(-(cut.stop - cut.start) // MULTIPLE) * MULTIPLE
        ready = self.norms.new_empty((padded, columns + 2), dtype=screen.type)
        step = max(MULTIPLE, _NUMBERS_AT_ONCE // columns)
        for start in range(0, padded, step):
            rows = self.points.values[cut.start + start : min(cut.stop, cut.start + start + step)]
            ready[start : start + len(rows), :-2] = (rows - screen.center).mul_(screen.scale)
        n = min(cut.stop, len(self.points)) - cut.start
        ready[n:, :-2] = 0.0
        ready[:, -2] = 1.0
        ready[:n, -1] = self.norms[cut] * (1 - 2 * screen.margin) - screen.floor
        ready[n:, -1] = math.inf
        return ready


def tiles_of(*sides: Points, size: int | None = None) -> tuple[Tiles, ...]:
    """All sides on one screen; integers small enough are multiplied without any rounding."""
    import torch

    rough = _is_rough()
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
        # What underflow may take away, of products and of the reference itself.
        floor = terms * (2.0**_SMALLEST_EXPONENT + 4 * 2.0**-1074 * scale**2)
        screen = Screen(center, scale, roundings / (1 - roundings), floor, kind)
    return tuple(
        Tiles(side, screen, of_side * scale**2, -(-(size or _TILE) // MULTIPLE) * MULTIPLE)
        for side, of_side in zip(sides, norms, strict=True)
    )


def _is_rough() -> bool:
    """Whether products may be computed in a faster mode, which bounds nothing in float32."""
    import torch

    try:
        return torch.get_float32_matmul_precision() != "highest"
    except RuntimeError:  # set by newer names, which this function does not know
        return True


def _is_integer(rows: Tensor) -> bool:
    return not rows.is_floating_point() or bool((rows == rows.round()).all())


def _mean(points: Points) -> Tensor:
    return points.values[:: -(-len(points) // _CENTER_ROWS)].double().mean(0)


def _squared_norms(points: Points, center: Tensor) -> Tensor:
    norms = center.new_empty(len(points))
    for cut in points.cuts():
        norms[cut] = (points.values[cut].double() - center).square_().sum(1)
    return norms
