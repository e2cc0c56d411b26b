"""What is counted, and how: fixed before the first sample is counted."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tradeoff._codec import decoding
from tradeoff._files import replacing
from tradeoff._sides import Sides, by_name
from tradeoff._validation import check_matrix, check_seed
from tradeoff.core.counts import COUNTED_SLOPES
from tradeoff.metrics.moments.exact import Grid
from tradeoff.ratio.frozen import FrozenRule
from tradeoff.samples.keys import group_keys, mixed_keys, quick_keys

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Chosen", "CountingPlan", "choose_rows", "keys_of", "share_bounds"]

Chosen = tuple[npt.NDArray[np.uint64], npt.NDArray[np.float32]]
"""Keys and features of samples."""

SAMPLED_ROWS = 5_000
"""Counted samples of each side that are kept, to be looked at."""
_FITTED_ROWS = 20_000
_SPARE = 1.1  # of samples that may be kept, so that enough of them are
_ALL_KEYS = 2**64
_SCHEMA = 1


def share_bounds(size: int, rows: int = _FITTED_ROWS) -> int:
    """Bound of the keys of samples that the rule is fitted on: about `rows`, at most half."""
    return int(min(0.5, rows / max(size, 1)) * _ALL_KEYS)


def keys_of(
    features: npt.NDArray[np.float32], groups: Sequence[object] | None, seed: int, name: str
) -> npt.NDArray[np.uint64]:
    """Keys by which samples are divided: of their group, or else of their content."""
    if groups is None:
        return quick_keys(features, seed)
    return mixed_keys(group_keys(groups, len(features), name=name), seed + 1)


def choose_rows(
    features: npt.NDArray[Any], bound: int, *, groups: Sequence[object] | None = None, seed: int = 0
) -> Chosen:
    """Keys and features of the samples whose key lies below a bound."""
    rows = np.asarray(features, np.float32)
    keys = keys_of(rows, groups, seed, "groups")
    chosen = keys < np.uint64(bound)
    return keys[chosen], rows[chosen]


@dataclass(frozen=True, eq=False, kw_only=True)
class CountingPlan:
    """What is counted, and how; fixed before the first sample is counted.

    Args:
        rule: The log-ratio, fitted on samples whose key lies below `fitted_below`.
        sizes: Numbers of samples, about, for which the bounds were chosen.
        fitted_below: Bounds of the keys of the samples that the rule was fitted on, which are not
            counted.
        grid: How columns are rounded, if moments are wanted.
        seed: Seed of the keys.
        about: Where features come from, such as the encoder's name and weights.

    Example:
        >>> import numpy as np
        >>> from tradeoff.counting.state import CountingPlan
        >>> rng = np.random.default_rng(0)
        >>> real, generated = rng.normal(0, 1, (3000, 2)), rng.normal(0, 2, (3000, 2))
        >>> plan = CountingPlan.of(real=real, generated=generated, estimator="gaussians")
        >>> len(plan.digest)
        32
    """

    rule: FrozenRule
    sizes: Sides[int]
    fitted_below: Sides[int]
    grid: Grid | None = None
    seed: int = 0
    about: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    @by_name
    def of(
        cls,
        *,
        real: Any,
        generated: Any,
        estimator: Any = "stack",
        moments: bool = False,
        seed: int = 0,
        about: Mapping[str, Any] | None = None,
    ) -> CountingPlan:
        """The plan for samples that are in memory, with the rule fitted on a part of them.

        Args:
            real: Features of real samples, shape (n, d).
            generated: Features of generated samples, shape (m, d).
            estimator: Estimator of log p/q that can be frozen.
            moments: Whether moments are wanted too.
            seed: Seed of the division, and of the estimator.
            about: Where features come from.
        """
        seed = check_seed(seed)
        sides = Sides(check_matrix("real", real), check_matrix("generated", generated))
        sizes = sides.map(len)
        bounds = sizes.map(share_bounds)
        chosen = Sides(
            *(
                choose_rows(side, bound, seed=seed)
                for side, bound in zip(sides, bounds, strict=True)
            )
        )
        return cls.fit(
            chosen,
            sizes,
            bounds,
            estimator=estimator,
            moments=moments,
            seed=seed,
            about=about,
        )

    @classmethod
    def fit(
        cls,
        chosen: Sides[Chosen],
        sizes: Sides[int],
        fitted_below: Sides[int],
        *,
        estimator: Any,
        moments: bool,
        seed: int,
        about: Mapping[str, Any] | None = None,
    ) -> CountingPlan:
        """Fit the rule on keys and features of chosen samples, in whatever order they came."""
        real, generated = (rows[np.argsort(keys, kind="stable")] for keys, rows in chosen)
        return cls(
            rule=FrozenRule.fit(real=real, generated=generated, estimator=estimator, seed=seed),
            sizes=sizes,
            fitted_below=fitted_below,
            grid=Grid.of(np.concatenate((real, generated))) if moments else None,
            seed=seed,
            about=about or {},
        )

    @cached_property
    def digest(self) -> str:
        """A hash of everything that decides what is counted."""
        grid = () if self.grid is None else (self.grid.center, self.grid.exponent)
        found = blake2b(self.rule.digest.encode(), digest_size=16)
        found.update(COUNTED_SLOPES.tobytes())
        for array in grid:
            found.update(array.tobytes())
        plain = [_SCHEMA, self.fitted_below, self.sizes, self.seed, dict(self.about)]
        found.update(json.dumps(plain, sort_keys=True).encode())
        return found.hexdigest()

    def save(self, folder: str | Path) -> None:
        """Write ``rule.npz`` and ``plan.json`` into a folder that exists."""
        self.rule.save(Path(folder) / "rule.npz")
        grid = (
            None if self.grid is None else [self.grid.center.tolist(), self.grid.exponent.tolist()]
        )
        plain = {
            "digest": self.digest,
            "sizes": self.sizes,
            "fitted_below": self.fitted_below,
            "grid": grid,
            "seed": self.seed,
            "about": dict(self.about),
        }
        with replacing(Path(folder) / "plan.json") as fresh:  # last: a plan is there whole or not
            fresh.write_text(json.dumps(plain), encoding="utf-8")

    @classmethod
    def load(cls, folder: str | Path) -> CountingPlan:
        """Read what `save` wrote."""
        with decoding(f"`{Path(folder) / 'plan.json'}`"):
            found = json.loads((Path(folder) / "plan.json").read_text(encoding="utf-8"))
            grid = found["grid"]
            plan = cls(
                rule=FrozenRule.load(Path(folder) / "rule.npz"),
                sizes=Sides(*found["sizes"]),
                fitted_below=Sides(*found["fitted_below"]),
                grid=None
                if grid is None
                else Grid(np.array(grid[0], np.float32), np.array(grid[1], np.int64)),
                seed=found["seed"],
                about=found["about"],
            )
            if plan.digest != found["digest"]:
                raise ValueError("the digest does not fit")
        return plan

    def sampled_below(self, side: int) -> int:
        """Bound of the keys of counted samples that are kept."""
        wanted = _SPARE * SAMPLED_ROWS / max(self.sizes[side], 1)
        return min(_ALL_KEYS - 1, self.fitted_below[side] + int(min(1.0, wanted) * _ALL_KEYS))
