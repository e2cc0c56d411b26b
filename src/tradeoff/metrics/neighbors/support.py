r"""Metrics of supports: improved precision and recall, density, coverage and similar ones.

Around every point lies a ball that reaches its k-th neighbor in its own set. What the metrics count
is who lies in whose ball. They are geometric: unlike the curve they estimate no property of the two
distributions alone, and their values depend on the numbers of samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._sides import Sides, by_name
from tradeoff._validation import check_choice, check_count, check_type, to_array
from tradeoff.engines import open_engine
from tradeoff.exceptions import InvalidInputError
from tradeoff.metrics.neighbors.blocks import sweep_blocks
from tradeoff.metrics.neighbors.counters import Balls, Closest, sweep
from tradeoff.metrics.neighbors.expectations import ball_sizes
from tradeoff.metrics.neighbors.metrics import METRICS, Counts, Held, median_square
from tradeoff.metrics.neighbors.nearest import OwnNeighbors, check_tile, nearest_in_own_set
from tradeoff.metrics.neighbors.points import exact_squares, points_of
from tradeoff.metrics.neighbors.scores import SupportMetrics
from tradeoff.metrics.neighbors.screen import tiles_of
from tradeoff.provenance import software_versions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt
    from torch import Tensor

    from tradeoff._validation import FloatArray
    from tradeoff.engines import Engine
    from tradeoff.metrics.neighbors.points import Points
    from tradeoff.metrics.neighbors.screen import Tiles

__all__ = ["COVER", "FOUR", "reach_of", "support_metrics"]

FOUR = ("precision", "recall", "density", "coverage")
COVER = 3
"""Neighbors that PR-cover reaches, in multiples of k."""
_SPOT_CHECKS = 64


@by_name
def support_metrics(
    *,
    real: Any,
    generated: Any,
    k: int = 5,
    metrics: Sequence[str] = FOUR,
    strict: bool = False,
    cover: int = COVER,
    real_neighbors: OwnNeighbors | None = None,
    tile: int | None = None,
    engine: Any = None,
    progress: bool = True,
) -> SupportMetrics:
    """Exact neighbor metrics of two sets of samples, in bounded memory.

    Every count equals that of a brute force in float64, whatever the tile, the threads or the
    device; tensors are compared where they are.

    Args:
        real: Features of real samples, shape (n, d): an array, memory-mapped or not, or a tensor.
        generated: Features of generated samples, shape (m, d).
        k: Rank of the neighbor that a ball reaches, the point itself not counted.
        metrics: Names from `METRICS`; several cost hardly more than one.
        strict: Whether a point on the surface of a ball is outside. On continuous data it makes
            no difference; with ties a strict ball may be empty.
        cover: Factor of PR-cover: a ball reaches the (cover · k)-th own neighbor and must hold k
            others.
        real_neighbors: Neighbors among real samples, from `own_neighbors`; computed if not given.
        tile: Rows of a tile.
        engine: Where pairs of both sides are compared: "local" for processes on this machine,
            "ray" for a cluster, or an engine; in this process if not given. Neighbors of a side
            in its own set are found here in any case.
        progress: False silences the progress line.

    Example:
        A model that repeats a few realistic samples: precise, and far from covering.

        >>> import numpy as np
        >>> from tradeoff import support_metrics
        >>> rng = np.random.default_rng(0)
        >>> real = rng.normal(size=(1000, 2))
        >>> generated = 0.05 * rng.normal(size=(1000, 2))
        >>> result = support_metrics(real=real, generated=generated, progress=False)
        >>> result.precision, result.recall < 0.02, result.coverage < 0.1
        (1.0, True, True)
        >>> round(result["coverage"].expected, 2)  # of a perfect model
        0.97
    """
    sides = points_of(real=real, generated=generated)
    wanted = _check_metrics(metrics)
    k, tile = check_count("k", k), check_tile(tile)
    counts = _count(
        *tiles_of(*sides, size=tile),
        metrics=wanted,
        ranks=_ranks(k, check_count("cover", cover)),
        strict=strict,
        known=real_neighbors,
        spread=None
        if engine is None
        else _Spread(Sides(*map(_array, (real, generated), sides)), open_engine(engine), tile),
        progress=progress,
    )
    near = (None, None) if counts.nearest is None else counts.nearest
    return SupportMetrics(
        scores={name: METRICS[name].score(counts) for name in wanted},
        nearest_distance=None if near[0] is None else np.sqrt(near[0]),
        nearest_index=near[1],
        provenance={
            "measured": "support metrics, exact neighbors",
            "k": k,
            "inside": "<" if strict else "<=",
            "cover": cover,
            "samples": {"real": len(sides[0]), "generated": len(sides[1])},
            "columns": sides[0].columns,
            "dtypes": [str(side.values.dtype).removeprefix("torch.") for side in sides],
            "device": str(sides[0].values.device),
            "versions": software_versions(),
        },
    )


def _check_metrics(metrics: Sequence[str]) -> tuple[str, ...]:
    names = (metrics,) if isinstance(metrics, str) else metrics
    if not isinstance(names, (tuple, list)):
        raise InvalidInputError(f"`metrics` must be a list of names. Got {metrics!r}.")
    if not names:
        raise InvalidInputError(f"`metrics` must name at least one of {', '.join(METRICS)}.")
    for name in names:
        check_choice("metrics", name, METRICS)
    return tuple(dict.fromkeys(names))


def _count(
    real: Tiles,
    generated: Tiles,
    *,
    metrics: Sequence[str],
    ranks: Mapping[str, int],
    strict: bool,
    known: OwnNeighbors | None,
    spread: _Spread | None = None,
    progress: bool,
) -> Counts:
    """Radii of both sides, then one sweep over the pairs of both."""
    n, m = len(real.points), len(generated.points)
    around_generated = list(dict.fromkeys(r for name in metrics for r in METRICS[name].generated))
    around_real, needed = _around_real(metrics, ranks, n)
    squares, index = _radii("real", real, needed, known, progress=progress)
    own, _ = _radii(
        "generated", generated, {ranks[r] for r in around_generated}, None, progress=progress
    )
    # Balls of rank k come first: of these the indices are added up.
    families = {name: squares[ranks[name]] for name in ranks if name in around_real}
    if "clipped" in around_real:
        reach = squares[ranks["k"]]
        families["clipped"] = reach.clamp(max=median_square(_numpy(reach)))
    others = {name: own[ranks[name]] for name in around_generated}
    balls = Sides(
        _balls(families, m, strict=strict, around=0), _balls(others, n, strict=strict, around=1)
    )
    nearest = Closest(real.norms.new_ones(n), m) if "authenticity" in metrics else None
    most_real = None
    if "realism" in metrics:
        reach = squares[ranks["k"]]
        most_real = Closest(reach * (reach <= median_square(_numpy(reach))), m)
    counters = [c for c in (*balls, nearest, most_real) if c is not None]
    held = {
        name: _sizes_of(real, squares, ranks[name], progress=progress)
        for name in dict.fromkeys(name for metric in metrics for name in METRICS[metric].ties)
    }
    label = "comparing both sides"
    if spread is None:
        sweep(real, generated, counters, label=label, progress=progress)
    else:
        spread.sweep(counters, label=label, progress=progress)
    return Counts(
        k=ranks["k"],
        strict=strict,
        far=ranks["far"],
        sizes=(n, m),
        real=_held(families, balls.real),
        index_sums=np.empty(0, np.int64) if balls.real is None else _numpy(balls.real.index_sums),
        generated=_held(others, balls.generated),
        squares={rank: _numpy(values) for rank, values in squares.items()},
        index=index,
        nearest=None if nearest is None else (_numpy(nearest.quotient), _numpy(nearest.index)),
        realism=None if most_real is None else _inverse(_numpy(most_real.quotient)),
        held=held,
    )


def _sizes_of(
    tiles: Tiles, squares: Mapping[int, Tensor], rank: int, *, progress: bool
) -> npt.NDArray[np.int64]:
    """Number of other real samples in the ball of a rank around each."""
    if rank not in squares:
        return np.full(len(tiles.points), rank)
    farther = _numpy(squares[rank + 1]) if rank + 1 in squares else None
    return ball_sizes(tiles.points.values, _numpy(squares[rank]), farther, rank, progress=progress)


@dataclass(frozen=True, eq=False)
class _Spread:
    """Both sides, and the engine on whose workers their pairs are compared."""

    sides: Sides[npt.NDArray[Any]]
    engine: Engine
    tile: int | None

    def sweep(self, counters: Sequence[Balls | Closest], *, label: str, progress: bool) -> None:
        """Show all pairs to the counters."""
        sweep_blocks(
            self.sides,
            counters,
            engine=self.engine,
            tile=self.tile,
            label=label,
            progress=progress,
        )


def _array(given: Any, points: Points) -> npt.NDArray[Any]:
    """An array to be sent to workers; one in a file stays what it is."""
    return given if isinstance(given, np.memmap) else to_array(points.values)


def reach_of(metrics: Sequence[str], *, k: int, samples: int, cover: int = COVER) -> int:
    """The farthest own neighbor of real samples that metrics look at; 0 if they look at none."""
    return max(_around_real(metrics, _ranks(k, cover), samples)[1], default=0)


def _ranks(k: int, cover: int) -> dict[str, int]:
    return {"first": 1, "k": k, "next": k + 1, "far": k * cover}


def _around_real(
    metrics: Sequence[str], ranks: Mapping[str, int], samples: int
) -> tuple[list[str], set[int]]:
    """Names of the balls around real samples, and the ranks of own neighbors that are needed."""
    around = list(dict.fromkeys(r for name in metrics for r in METRICS[name].real))
    if samples <= ranks["next"] and "next" in around:
        around.remove("next")  # too few samples to leave one out
    radii = [name for metric in metrics for name in METRICS[metric].radii]
    needed = {ranks[name] for name in (*around, *radii) if name in ranks}
    if "every" in radii:
        needed |= set(range(1, ranks["k"] + 1))
    # The next neighbor tells whether the last one of a ball is tied, and the first a copy.
    ties = {ranks[name] for metric in metrics for name in METRICS[metric].ties}
    needed |= {r for rank in ties for r in (1, rank, rank + 1) if r < samples}
    return around, needed


def _radii(
    name: str, tiles: Tiles, ranks: set[int], known: OwnNeighbors | None, *, progress: bool
) -> tuple[dict[int, Tensor], npt.NDArray[np.int64]]:
    """Squared distances to own neighbors, by rank, and the neighbors."""
    n = len(tiles.points)
    if not ranks:
        return {}, np.empty((n, 0), np.int64)
    ordered = sorted(ranks)
    if ordered[-1] >= n:
        raise InvalidInputError(
            f"`k` must leave enough neighbors: the metrics asked for reach the {ordered[-1]}-th, "
            f"and `{name}` has {n} samples. Lower `k` or add samples."
        )
    if known is None:
        found, index = nearest_in_own_set(
            tiles, ordered, label=f"neighbors among {name}", progress=progress
        )
        return {r: found[:, i].contiguous() for i, r in enumerate(ordered)}, _numpy(index)
    squares = tiles.norms.new_tensor(_check_known(known, tiles, ordered[-1]))
    return {r: squares[:, r - 1].contiguous() for r in ordered}, known.index


def _check_known(known: OwnNeighbors, tiles: Tiles, rank: int) -> FloatArray:
    """Neighbors that were computed elsewhere; some of them are compared with the samples."""
    import torch

    check_type("real_neighbors", known, OwnNeighbors)
    squares, n = np.asarray(known.squares), len(tiles.points)
    if len(squares) != n or squares.shape[1] < rank:
        raise InvalidInputError(
            f"`real_neighbors` must hold {rank} neighbors of {n} samples. Got "
            f"{squares.shape[1]} of {len(squares)}: call own_neighbors with ranks={rank}."
        )
    rows = torch.arange(0, n, -(-n // _SPOT_CHECKS), device=tiles.norms.device)
    farthest = torch.as_tensor(known.index[_numpy(rows), rank - 1], device=rows.device)
    exact = exact_squares(tiles.points, rows, tiles.points, farthest)
    if not np.array_equal(_numpy(exact), squares[_numpy(rows), rank - 1]):
        raise InvalidInputError("`real_neighbors` must be those of `real`. Distances differ.")
    return squares


def _balls(
    families: Mapping[str, Tensor], others: int, *, strict: bool, around: int
) -> Balls | None:
    import torch

    if not families:
        return None
    return Balls(torch.stack(list(families.values())), others, strict=strict, around=around)


def _held(families: Mapping[str, Tensor], balls: Balls | None) -> dict[str, Held]:
    if balls is None:
        return {}
    counted = zip(families, _numpy(balls.inside), _numpy(balls.holding), strict=True)
    return {name: Held(inside, holding) for name, inside, holding in counted}


def _inverse(quotient: FloatArray) -> FloatArray:
    """A copy of a real sample is infinitely realistic."""
    with np.errstate(divide="ignore"):
        return np.asarray(1.0 / quotient)


def _numpy(values: Tensor) -> npt.NDArray[Any]:
    return values.cpu().numpy()
