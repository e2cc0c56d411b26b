r"""A frozen rule: a log-ratio that is fitted once, and from then on only applied.

A stack is fitted on one half of the rows; the other half teaches weights and calibration. Members
that hardly move the combined score are left out, and what remains is plain arrays in single
precision.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._files import replacing
from tradeoff._registry import resolve
from tradeoff._sides import Sides, by_name
from tradeoff._threads import single_threaded
from tradeoff._validation import FloatArray, check_matrix, check_seed
from tradeoff.core.held_out import HeldOutLogRatios
from tradeoff.exceptions import InvalidInputError
from tradeoff.ratio.base import Projection, Standardizer
from tradeoff.ratio.calibration import Isotonic
from tradeoff.ratio.combination import Combiner, MemberScores, WeightedSum
from tradeoff.ratio.ranges import Ranges
from tradeoff.ratio.registry import ESTIMATORS, find_estimator
from tradeoff.ratio.stack import FittedMembers, members_of
from tradeoff.samples import Pair

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from tradeoff.ratio.base import Estimator, Floats, Part
    from tradeoff.ratio.registry import EstimatorDeclaration
    from tradeoff.samples import Side

__all__ = ["FrozenRule"]

_PLACES = 8
_CALIBRATION = 4  # of 8 places: a smaller part leaves the tails of the ratio uncertain
_LEAST_SHARE = 0.02  # of the combined score, for a member to be kept
_FARTHEST = 1e6
_BLOCK = 8192  # rows that are scored together: every node of a tree is one pass over a column
_AT_ONCE = 512  # rows of a product, which stays in the cache
_SLOPES = np.geomspace(1 / 20, 20, 31)
_SCHEMA = "tradeoff.FrozenRule"


@dataclass(frozen=True, eq=False, kw_only=True)
class FrozenRule:
    """A log-ratio that is fitted and calibrated once, and then applied to any number of samples.

    It is made of plain arrays: saving and loading it runs no code. A sample has the same log-ratio
    in any batch, bit for bit on machines of one kind.

    Args:
        arrays: Everything that was fitted, by name.
        about: How it was made: estimator, seed, sizes, members and what leaving out others cost.

    Example:
        >>> import numpy as np
        >>> from tradeoff.ratio import FrozenRule
        >>> rng = np.random.default_rng(0)
        >>> real, generated = rng.normal(0, 1, (2000, 2)), rng.normal(0, 2, (2000, 2))
        >>> rule = FrozenRule.fit(real=real, generated=generated)
        >>> near, far = rule.log_ratio(np.array([[0.0, 0.0], [4.0, 4.0]]))
        >>> bool(near > 0 > far)
        True
    """

    arrays: Mapping[str, npt.NDArray[Any]] = field(repr=False)
    about: Mapping[str, Any]

    @classmethod
    @by_name
    @single_threaded
    def fit(
        cls,
        *,
        real: npt.ArrayLike,
        generated: npt.ArrayLike,
        estimator: Any = "stack",
        seed: int = 0,
    ) -> FrozenRule:
        """Fit on features of samples that will not be counted.

        Args:
            real: Features of real samples, shape (n, d).
            generated: Features of generated samples, shape (m, d).
            estimator: A stack, or one of logistic, gaussians, trees and kernel-logistic. Kernel
                densities in a stack, which cost thousands of kernels a sample, give way to a
                regression on narrow kernels.
            seed: Seed of the estimator and of the part that calibrates.
        """
        pair = Pair.of(real=real, generated=generated)
        model, seed = find_estimator(estimator), check_seed(seed)
        model = model.cheaper() if model.combines else model
        kinds = [_part_of(member) for member in members_of(model)]
        places = [side.keys_for(seed) % np.uint64(_PLACES) for side in pair]
        fitting = [side.x[place >= _CALIBRATION] for side, place in zip(pair, places, strict=True)]
        calibration = [
            [side.x[place == part] for part in range(_CALIBRATION)]
            for side, place in zip(pair, places, strict=True)
        ]
        for side, rows, rest in zip(pair, fitting, calibration, strict=True):
            _check_size(side, rows, rest)
        fitted = FittedMembers.fit(members_of(model), fitting[0], fitting[1], seed)
        project = fitted.project or Projection(Standardizer.fit(*fitting), None)
        parts: list[Part] = [
            kind.from_arrays(member.to_arrays(project))
            for kind, member in zip(kinds, fitted.members, strict=True)
        ]
        if len(parts) > 1:
            parts.append(Ranges.of(fitted.ranges, project.standardize))
        full = _Combined.learn(_Scorer.of(project, parts), calibration)
        kept = full.carrying()
        final = full if all(kept) else _Combined.learn(full.score.only(kept), calibration)
        names = [part.kind for part in parts]
        return cls(
            arrays=final.arrays,
            about={
                "estimator": repr(model),
                "seed": seed,
                "columns": pair.columns,
                "fitted_on": [len(rows) for rows in fitting],
                "calibrated_on": [sum(map(len, rows)) for rows in calibration],
                "parts": [name for name, keep in zip(names, kept, strict=True) if keep],
                "left_out": [name for name, keep in zip(names, kept, strict=True) if not keep],
                "cost_of_leaving_out": float(np.max(final.precision - full.precision)),
            },
        )

    @single_threaded
    def log_ratio(self, x: npt.ArrayLike) -> FloatArray:
        """Log p/q of samples of shape (n, d), in blocks of a fixed size."""
        rows = check_matrix("x", x)
        if rows.shape[1] != self.about["columns"]:
            raise InvalidInputError(
                f"`x` must have {self.about['columns']} columns, like the samples that the rule "
                f"was fitted on. Got {rows.shape[1]}."
            )
        return self._combine(self._score(rows))

    @cached_property
    def digest(self) -> str:
        """A hash of everything that the rule is made of."""
        found = blake2b(digest_size=16)
        for name in sorted(self.arrays):
            array = np.ascontiguousarray(self.arrays[name])
            found.update(f"{name} {array.dtype.str} {array.shape}".encode())
            found.update(array.tobytes())
        found.update(json.dumps(self.about, sort_keys=True).encode())
        return found.hexdigest()

    def save(self, path: str | Path) -> None:
        """Write arrays and what is known about them to one file, ``.npz``."""
        about = json.dumps({"schema": _SCHEMA, "digest": self.digest, "about": dict(self.about)})
        with replacing(path) as fresh, fresh.open("wb") as file:
            text = {"about": np.frombuffer(about.encode(), np.uint8)}
            np.savez(file, **{**self.arrays, **text})  # type: ignore[arg-type]

    @classmethod
    def load(cls, path: str | Path) -> FrozenRule:
        """Read a file that `save` wrote; nothing in it can run code."""
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            found = json.loads(arrays.pop("about").tobytes())
            rule = cls(arrays=arrays, about=found["about"])
            whole = found["schema"] == _SCHEMA and found["digest"] == rule.digest
        except FileNotFoundError:
            raise InvalidInputError(f"`{path}` does not exist.") from None
        except Exception:  # whatever a damaged archive raises
            whole = False
        if not whole:
            raise InvalidInputError(
                f"`{path}` is not a frozen rule, or is damaged: fit and save it again."
            )
        return rule

    @cached_property
    def _score(self) -> _Scorer:
        kinds = _kinds()
        parts = [
            kinds[kind].from_arrays(_named(self.arrays, f"part{i}"))
            for i, kind in enumerate(self.about["parts"])
        ]
        project = _named(self.arrays, "project")
        return _Scorer(project["center"], project["factor"], project.get("axes"), parts)

    @cached_property
    def _combine(self) -> Combiner:
        found = _named(self.arrays, "combine")
        weigh = None
        if "weights" in found:
            weigh = WeightedSum(Standardizer(found["center"], found["scale"]), found["weights"])
        return Combiner(weigh, Isotonic(found["scores"], found["log_ratios"]))


@dataclass(frozen=True, eq=False)
class _Scorer:
    """Scores of rows by parts, block by block."""

    center: Floats
    factor: Floats
    axes: Floats | None
    parts: Sequence[Part]

    @classmethod
    def of(cls, project: Projection, parts: Sequence[Part]) -> _Scorer:
        """Parts of columns as a projection makes them."""
        center, scale = project.standardize.center, project.standardize.scale
        axes = None if project.axes is None else project.axes.astype(np.float32)
        return cls(center.astype(np.float32), (1.0 / scale).astype(np.float32), axes, parts)

    def only(self, kept: Sequence[bool]) -> _Scorer:
        """Some of the parts."""
        return replace(self, parts=[p for p, keep in zip(self.parts, kept, strict=True) if keep])

    def __call__(self, x: npt.NDArray[Any]) -> MemberScores:
        """Log-ratios by every part, and how far rows lie outside."""
        return MemberScores.join(
            [self._padded(x[start : start + _BLOCK]) for start in range(0, len(x), _BLOCK)]
        )

    def _padded(self, x: npt.NDArray[Any]) -> MemberScores:
        rows = np.asarray(x, np.float32)
        if len(rows) < _BLOCK:
            rows = np.pad(rows, ((0, _BLOCK - len(rows)), (0, 0)), mode="edge")
        found = [scores[: len(x)] for scores in self._block(rows)]
        log_ratios, hints = (
            [scores for scores, part in zip(found, self.parts, strict=True) if part.is_hint == hint]
            for hint in (False, True)
        )
        none = np.empty((len(x), 0), np.float32)
        return MemberScores(
            np.concatenate((none, *log_ratios), axis=1), np.concatenate((none, *hints), axis=1)
        )

    def _block(self, rows: Floats) -> list[Floats]:
        """Scores of each part; products over rows that stay in the cache, trees over all."""
        found: list[list[Floats]] = [[] for _ in self.parts]
        narrow: list[Floats] = []
        for start in range(0, len(rows), _AT_ONCE):
            wide: Floats = rows[start : start + _AT_ONCE] - self.center
            wide *= self.factor
            np.clip(wide, -_FARTHEST, _FARTHEST, out=wide)
            narrow.append(wide if self.axes is None else wide @ self.axes)
            for scores, part in zip(found, self.parts, strict=True):
                if not part.by_columns:
                    scores.append(part(wide if part.is_wide else narrow[-1]))
        columns = np.ascontiguousarray(np.concatenate(narrow).T)
        for scores, part in zip(found, self.parts, strict=True):
            if part.by_columns:
                scores.append(part(columns))
        return [np.concatenate(scores) for scores in found]


@dataclass(frozen=True, eq=False)
class _Combined:
    """Parts, and what they are worth together by samples that they have not seen."""

    score: _Scorer
    scores: Sides[list[MemberScores]]
    combine: Combiner

    @classmethod
    def learn(cls, score: _Scorer, calibration: Sequence[Sequence[FloatArray]]) -> _Combined:
        """Weights and calibration, in parts of the samples that calibrate."""
        scores = Sides(*([score(rows) for rows in side] for side in calibration))
        return cls(score, scores, Combiner.learn(real=scores.real, generated=scores.generated))

    def carrying(self) -> list[bool]:
        """Which parts carry weight: those that move the combined score, and the best one."""
        parts, weigh = self.score.parts, self.combine.combine
        if weigh is None:
            return [True] * len(parts)
        pooled = MemberScores.join([*self.scores.real, *self.scores.generated])
        # The scores of the parts in their order; hints are those of the last.
        ends = np.cumsum([part.outputs for part in parts[:-1]])
        moved = [float(m.sum()) for m in np.split(weigh.spreads(pooled), ends)]
        return [one >= _LEAST_SHARE * sum(moved) or one == max(moved[:-1]) for one in moved]

    @property
    def precision(self) -> FloatArray:
        """Precision at some slopes, as counted among the samples that calibrate."""
        real, generated = (
            np.concatenate([self.combine(part) for part in side]) for side in self.scores
        )
        curve = HeldOutLogRatios(real=real, generated=generated).curve().clipped()
        return np.asarray(curve.precision(_SLOPES))

    @property
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Everything by name."""
        score, weigh, calibrate = self.score, self.combine.combine, self.combine.calibrate
        groups: dict[str, dict[str, Any]] = {
            "project": {"center": score.center, "factor": score.factor, "axes": score.axes},
            "combine": {"scores": calibrate.scores, "log_ratios": calibrate.log_ratios},
        }
        if weigh is not None:
            groups["combine"] |= {
                "weights": weigh.weights,
                "center": weigh.scale_hints.center,
                "scale": weigh.scale_hints.scale,
            }
        groups |= {f"part{i}": part.to_arrays() for i, part in enumerate(score.parts)}
        return {
            f"{group}.{name}": array
            for group, named in groups.items()
            for name, array in named.items()
            if array is not None
        }


def _part_of(member: Estimator) -> type[Part]:
    """What a member becomes, known before it is fitted."""
    if member.part is None:
        names = [found.name for found in ESTIMATORS.values() if _declared(found) is not None]
        raise InvalidInputError(
            f"For a frozen rule, `estimator` must be one of {', '.join(names)}, or a stack of "
            f"them. Got {member.name}."
        )
    return member.part


def _kinds() -> dict[str, type[Part]]:
    """Parts of all declared estimators, by the names under which they are saved."""
    found = (*map(_declared, ESTIMATORS.values()), Ranges)
    return {part.kind: part for part in found if part is not None}


def _declared(declaration: EstimatorDeclaration) -> type[Part] | None:
    part: type[Part] | None = getattr(resolve(declaration.configuration), "part", None)
    return part


def _named(arrays: Mapping[str, npt.NDArray[Any]], group: str) -> dict[str, Any]:
    start = f"{group}."
    return {name[len(start) :]: a for name, a in arrays.items() if name.startswith(start)}


def _check_size(side: Side, rows: FloatArray, parts: Sequence[FloatArray]) -> None:
    if not len(rows) or not all(len(part) for part in parts):
        raise InvalidInputError(
            f"`{side.name}` must hold more distinct samples to fit a rule, for example 100. "
            f"Got {side.distinct}."
        )
