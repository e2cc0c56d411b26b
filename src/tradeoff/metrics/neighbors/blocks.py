"""Pairs of both sides in blocks, each a task of an engine: counts of blocks add up exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._progress import track
from tradeoff.engines import Failure
from tradeoff.exceptions import UnavailableError
from tradeoff.metrics.neighbors.counters import Balls, Closest, sweep
from tradeoff.metrics.neighbors.points import points_of
from tradeoff.metrics.neighbors.screen import tiles_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from tradeoff._sides import Sides
    from tradeoff.engines import Engine

__all__ = ["sweep_blocks"]

_ROWS = 50_000
Block = tuple[slice, slice]


@dataclass(frozen=True, eq=False)
class Mapped:
    """An array in a file, which every worker maps for itself."""

    path: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    offset: int

    def open(self) -> npt.NDArray[Any]:
        """The array, read when it is used."""
        return np.memmap(self.path, self.dtype, "r", self.offset, self.shape)


def sweep_blocks(
    sides: Sides[npt.NDArray[Any]],
    counters: Sequence[Balls | Closest],
    *,
    engine: Engine,
    tile: int | None,
    label: str,
    progress: bool,
    rows: int = _ROWS,
) -> None:
    """Show all pairs of both sides to the counters, block by block on the workers of an engine.

    Args:
        sides: Features of both sides, arrays.
        counters: Counters of whole sides, to which counts of blocks are added.
        engine: Where blocks are counted.
        tile: Rows of a tile within a block.
        label: Label of the progress line.
        progress: Whether to show a progress line.
        rows: Rows of each side in a block at most.
    """
    cuts = [
        [slice(i, min(i + rows, len(side))) for i in range(0, len(side), rows)] for side in sides
    ]
    blocks = [(x, y) for y in cuts[1] for x in cuts[0]]
    shared = ([_portable(side) for side in sides], [counter.plan() for counter in counters], tile)
    tasks = engine.run(count_block, shared, blocks, stays=True)
    for i, found in track(tasks, label, total=len(blocks), progress=progress):
        if isinstance(found, Failure):
            raise UnavailableError(f"A block of neighbors could not be counted: {found.sentence}")
        for counter, counted in zip(counters, found, strict=True):
            counter.merge(counted, *blocks[i])


def count_block(
    shared: tuple[list[Any], list[Any], int | None], block: Block
) -> list[dict[str, npt.NDArray[Any]]]:
    """A task: what the counters see in one block."""
    arrays, plans, tile = shared
    sides = [a.open() if isinstance(a, Mapped) else a for a in arrays]
    parts = {"real": sides[0][block[0]], "generated": sides[1][block[1]]}
    x, y = tiles_of(*points_of(**parts), size=tile)
    counters = [plan.counter(*block) for plan in plans]
    sweep(x, y, counters, label="", progress=False)
    return [counter.counted() for counter in counters]


def _portable(side: npt.NDArray[Any]) -> Any:
    """How a side is sent to workers: one in a file by its name, others as they are."""
    if not isinstance(side, np.memmap) or side.filename is None or not side.flags.c_contiguous:
        return np.asarray(side)
    mapped: Any = side
    while isinstance(mapped.base, np.memmap):  # of which this is a part
        mapped = mapped.base
    first, own = (array.__array_interface__["data"][0] for array in (mapped, side))
    return Mapped(str(side.filename), side.dtype, side.shape, int(mapped.offset + own - first))
