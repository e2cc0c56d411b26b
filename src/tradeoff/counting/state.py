"""What is accumulated over parts of the data: counts that add up to the same in any order.

A plan fixes everything beforehand: the rule, which samples it was fitted on, and which samples are
kept to be looked at. States of one plan merge; what they hold does not grow with the samples.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sized
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tradeoff._sides import Sides
from tradeoff._validation import check_choice, check_matrix, check_same_columns
from tradeoff.core.counts import BUCKETS, COUNTED_SLOPES, HeldOutCounts, count_errors
from tradeoff.counting.plan import SAMPLED_ROWS, CountingPlan, keys_of
from tradeoff.curves.counted import CountedCurve
from tradeoff.exceptions import InvalidInputError, first_line
from tradeoff.metrics.moments.exact import ExactSums

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tradeoff.counting.shards import Names
    from tradeoff.metrics.moments.frechet import Moments

__all__ = ["CountingState", "KeptSamples"]

_TEXTS = ("ids", "labels")
_LONG_NAMES = 4096  # bytes of the name and the class of a sample
_MOST_ROWS = 2**44  # beyond, sums of columns could overflow


@dataclass
class KeptSamples:
    """Some counted samples of one side, those with the lowest keys.

    Args:
        keys: Key of each, ascending, shape (k,).
        features: Features of each, shape (k, d).
        log_ratios: Log p/q of each, shape (k,).
        ids: Name of each.
        labels: Class of each, empty where it has none.
    """

    keys: npt.NDArray[np.uint64]
    features: npt.NDArray[np.float32]
    log_ratios: npt.NDArray[np.float64]
    ids: npt.NDArray[np.str_]
    labels: npt.NDArray[np.str_]

    @classmethod
    def join(cls, parts: Sequence[KeptSamples]) -> KeptSamples:
        """The lowest keys of all parts; equal ones in the order of their names."""
        joined = [np.concatenate([getattr(p, name) for p in parts]) for name in cls.__annotations__]
        keys, ids = joined[0], joined[3]
        order = np.lexsort((ids, keys))[:SAMPLED_ROWS]
        return cls(*(array[order] for array in joined))

    def check(self, *, like: KeptSamples, most: int) -> None:
        """Raise a ValueError unless there is one value of each kind per sample, in order.

        Args:
            like: Samples with the right types and columns.
            most: Largest number of samples.
        """
        for name, array in vars(self).items():
            wanted = vars(like)[name]
            if array.dtype.kind != wanted.dtype.kind or array.shape[1:] != wanted.shape[1:]:
                raise ValueError(f"{name} of kept samples have another type")
            if len(array) != len(self.keys) or len(array) > most:
                raise ValueError(f"there are {len(array)} {name} of kept samples")
        is_finite = np.isfinite(self.features).all() and not np.isnan(self.log_ratios).any()
        if not is_finite or (self.keys[1:] < self.keys[:-1]).any():
            raise ValueError("kept samples are not in order, or not finite")

    @property
    def independent(self) -> float | None:
        """Share of samples that are independent of each other; None if all are."""
        counts = np.unique(self.keys, return_counts=True)[1]
        if counts.size == self.keys.size:
            return None
        return float(counts.sum() / (counts**2).sum())


@dataclass
class _SideState:
    """What is accumulated of one side."""

    rows: int
    fitted: int
    counts: npt.NDArray[np.int64]
    sampled: KeptSamples
    sums: ExactSums | None

    @classmethod
    def empty(cls, plan: CountingPlan) -> _SideState:
        columns = int(plan.rule.about["columns"])
        none = KeptSamples(
            np.empty(0, np.uint64),
            np.empty((0, columns), np.float32),
            np.empty(0),
            np.empty(0, np.str_),
            np.empty(0, np.str_),
        )
        return cls(
            rows=0,
            fitted=0,
            counts=np.zeros((BUCKETS, COUNTED_SLOPES.size + 1), np.int64),
            sampled=none,
            sums=None if plan.grid is None else ExactSums.empty(columns),
        )

    @classmethod
    def of(cls, arrays: Mapping[str, npt.NDArray[Any]], name: str, empty: _SideState) -> _SideState:
        """One side of a state from its arrays; a ValueError if they cannot have been counted."""
        rows, fitted = map(int, _whole(arrays[f"{name}.rows"], (2,)))
        counts = _whole(arrays[f"{name}.counts"], empty.counts.shape)
        if not 0 <= fitted <= rows < _MOST_ROWS or counts.min() < 0 or counts.max() > rows:
            raise ValueError("there are impossible counts")
        if int(counts.sum()) != rows - fitted:
            raise ValueError("counts do not add up to the number of samples")
        sums = None
        if empty.sums is not None:
            count, columns, products = (
                _whole(arrays[f"{name}.sums.{key}"], np.shape(value))
                for key, value in vars(empty.sums).items()
            )
            sums = ExactSums(int(count), columns, products)
            if sums.count != rows or not sums.is_possible:
                raise ValueError("there are impossible sums")
        found = {key: arrays[f"{name}.sampled.{key}"] for key in vars(empty.sampled)}
        texts = {key: np.array(json.loads(found[key].tobytes()), np.str_) for key in _TEXTS}
        sampled = KeptSamples(**(found | texts))
        sampled.check(like=empty.sampled, most=min(rows - fitted, SAMPLED_ROWS))
        return cls(rows, fitted, counts, sampled, sums)

    def merge(self, other: _SideState) -> None:
        self.rows += other.rows
        self.fitted += other.fitted
        self.counts += other.counts
        self.sampled = KeptSamples.join([self.sampled, other.sampled])
        if self.sums is not None and other.sums is not None:
            self.sums.merge(other.sums)


class CountingState:
    """Counts of a frozen rule's errors, of any part of the data; states of one plan merge.

    Args:
        plan: What is counted.

    Example:
        >>> import numpy as np
        >>> from tradeoff.counting.state import CountingPlan, CountingState
        >>> rng = np.random.default_rng(0)
        >>> real, generated = rng.normal(0, 1, (4000, 2)), rng.normal(0, 2, (4000, 2))
        >>> plan = CountingPlan.of(real=real, generated=generated, estimator="gaussians")
        >>> first, second = CountingState(plan), CountingState(plan)
        >>> first.update("real", real)
        >>> second.update("generated", generated)
        >>> merged = first.merge(CountingState.from_bytes(second.to_bytes(), plan))
        >>> round(merged.result().curve.precision(1.0), 1)  # the truth is 0.50
        0.5
    """

    def __init__(self, plan: CountingPlan) -> None:
        self.plan = plan
        self.sides = Sides(_SideState.empty(plan), _SideState.empty(plan))

    def update(
        self,
        side: str,
        features: npt.ArrayLike,
        *,
        ids: Names | None = None,
        labels: Sequence[str | None] | None = None,
        groups: Sequence[object] | None = None,
    ) -> None:
        """Count samples of one side.

        Args:
            side: "real" or "generated".
            features: Features of the samples, shape (n, d); they are counted in single precision.
            ids: Name of each sample; its number if not given.
            labels: Class of each sample.
            groups: Group of each sample, whose members are not independent.
        """
        check_choice("side", side, Sides._fields)
        number = Sides._fields.index(side)
        rows = np.asarray(check_matrix(side, features), np.float32)
        for name, given in (("ids", ids), ("labels", labels)):
            if isinstance(given, Sized) and len(given) != len(rows):
                raise InvalidInputError(
                    f"`{name}` must have one entry per sample, {len(rows)}. Got {len(given)}."
                )
        state, plan = self.sides[number], self.plan
        check_same_columns(rule=int(plan.rule.about["columns"]), **{side: rows.shape[1]})
        keys = keys_of(rows, groups, plan.seed, f"{side}_groups")
        counted = keys >= np.uint64(plan.fitted_below[number])
        if state.sums is not None and plan.grid is not None:
            state.sums.update(plan.grid(rows))
        first = state.rows
        state.rows += len(rows)
        state.fitted += int((~counted).sum())
        if not counted.any():
            return
        log_ratios = plan.rule.log_ratio(rows[counted])
        state.counts += count_errors(log_ratios, keys[counted] % np.uint64(BUCKETS))
        kept = keys[counted] < np.uint64(plan.sampled_below(number))
        if kept.any():
            places = np.flatnonzero(counted)[kept]
            names = [f"{side}[{first + i}]" if ids is None else ids[i] for i in places]
            classes = ["" if labels is None else labels[i] or "" for i in places]
            some = KeptSamples(
                keys[places], rows[places], log_ratios[kept], np.array(names), np.array(classes)
            )
            state.sampled = KeptSamples.join([state.sampled, some])

    def merge(self, *others: CountingState) -> CountingState:
        """Add the samples of other states, which must have the same plan; returns itself."""
        for other in others:
            self._check(other.plan.digest)
            for own, their in zip(self.sides, other.sides, strict=True):
                own.merge(their)
        return self

    @property
    def _most_bytes(self) -> int:
        """Bytes of all arrays of a state, with long names of samples."""
        columns = int(self.plan.rule.about["columns"])
        side = 16 * columns**2 + SAMPLED_ROWS * (4 * columns + _LONG_NAMES) + (1 << 20)
        return len(self.sides) * side

    def _check(self, digest: str) -> None:
        if digest != self.plan.digest:
            raise InvalidInputError(
                "States must have the same plan to be merged: the same rule, encoder, bounds and "
                f"seed. Got {digest[:8]} and {self.plan.digest[:8]}."
            )

    def to_bytes(self) -> bytes:
        """Everything that was counted, compressed."""
        arrays: dict[str, npt.NDArray[Any]] = {
            "plan": np.frombuffer(self.plan.digest.encode(), np.uint8)
        }
        for name, state in zip(Sides._fields, self.sides, strict=True):
            if not state.rows:
                continue
            arrays[f"{name}.rows"] = np.array([state.rows, state.fitted])
            arrays[f"{name}.counts"] = state.counts
            for key, value in vars(state.sampled).items():
                arrays[f"{name}.sampled.{key}"] = _texts(value) if key in _TEXTS else value
            if state.sums is not None:
                for key, value in vars(state.sums).items():
                    arrays[f"{name}.sums.{key}"] = np.asarray(value)
        file = io.BytesIO()
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
        return file.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes, plan: CountingPlan) -> CountingState:
        """Read what `to_bytes` wrote, which must be of this plan."""
        state = cls(plan)
        with _damaged():
            with np.load(io.BytesIO(content), allow_pickle=False) as file:
                if sum(entry.file_size for entry in file.zip.infolist()) > state._most_bytes:
                    raise ValueError("it would fill the memory")
                arrays = {name: file[name] for name in file.files}
            digest = arrays["plan"].tobytes().decode()
        state._check(digest)
        with _damaged():
            known = {name for name in Sides._fields if f"{name}.rows" in arrays}
            if stray := [key for key in arrays if key.partition(".")[0] not in {"plan", *known}]:
                raise ValueError(f"{stray[0]} belongs to no side")
            state.sides = Sides(
                *(
                    _SideState.of(arrays, name, side) if name in known else side
                    for name, side in zip(Sides._fields, state.sides, strict=True)
                )
            )
        return state

    @property
    def sizes(self) -> dict[str, int]:
        """Number of samples that were read, by side."""
        return {n: s.rows for n, s in zip(Sides._fields, self.sides, strict=True)}

    def moments(self) -> Sides[Moments] | None:
        """Moments of all samples of both sides; None if the plan counts none."""
        if self.plan.grid is None:
            return None
        grid = self.plan.grid
        return Sides(*(side.sums.moments(grid) for side in self.sides if side.sums is not None))

    def counts(self) -> HeldOutCounts:
        """The errors of both sides."""
        groups = []
        for side in self.sides:
            independent = side.sampled.independent
            counted = side.rows - side.fitted
            groups.append(None if independent is None else independent * counted)
        return HeldOutCounts(
            real=self.sides[0].counts, generated=self.sides[1].counts, groups=Sides(*groups)
        )

    def result(self) -> CountedCurve:
        """The curve of what was counted."""
        for name, side in zip(Sides._fields, self.sides, strict=True):
            if side.rows == side.fitted:
                raise InvalidInputError(f"No samples of `{name}` were counted.")
        return CountedCurve.of(
            self.counts(),
            {
                "measured": "precision-recall curve, errors of a frozen rule",
                "plan": self.plan.digest,
                "rule": {**self.plan.rule.about, "digest": self.plan.rule.digest},
                "samples": self.sizes,
                "fitted_on": {n: s.fitted for n, s in zip(Sides._fields, self.sides, strict=True)},
                "seed": self.plan.seed,
            },
        )


@contextmanager
def _damaged() -> Iterator[None]:
    """Turn whatever damaged or crafted bytes raise into one sentence."""
    try:
        yield
    except Exception as error:
        raise InvalidInputError(
            f"The bytes of a state are damaged ({first_line(error)}): count its part again."
        ) from None


def _whole(array: npt.NDArray[Any], shape: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """An array of whole numbers of a shape, else a ValueError."""
    if array.dtype != np.int64 or array.shape != shape:
        raise ValueError(f"an array has shape {array.shape} and type {array.dtype}")
    return array


def _texts(values: npt.NDArray[np.str_]) -> npt.NDArray[np.uint8]:
    """Texts as bytes that do not depend on the longest text that was ever among them."""
    return np.frombuffer(json.dumps(values.tolist()).encode(), np.uint8)
