"""Fitted members of a stack as plain arrays, applied to blocks of rows in single precision.

A part holds arrays and nothing else, so that it is saved and loaded without running code. Rows are
standardized before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from tradeoff.exceptions import InvalidInputError
from tradeoff.ratio.base import Projection
from tradeoff.ratio.classifier import ClassifierLogRatio
from tradeoff.ratio.gaussian import GaussiansLogRatio
from tradeoff.ratio.kernel_logistic import KernelLogisticLogRatio
from tradeoff.ratio.logistic import LinearLogRatio

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tradeoff.ratio.base import LogRatio, Standardizer
    from tradeoff.ratio.stack import Range

__all__ = ["AT_ONCE", "BLOCK", "PARTS", "Ranges", "Trees", "compile_member"]

Floats = npt.NDArray[np.float32]
Array = npt.NDArray[Any]

BLOCK = 8192
"""Rows that are scored together: many, since every node of a tree is one pass over a column."""
AT_ONCE = 512
"""Rows of a product, which stays in the cache."""
_FINEST = 16_000  # of columns in 16 bits, such that differences fit too
_LEAVES = 16
_DE_BRUIJN = 0x09AF  # times a power of two: its highest four bits number the power
_FARTHEST = 1e6


@dataclass(frozen=True, eq=False)
class Linear:
    """A linear function of all standardized columns."""

    is_wide: ClassVar[bool] = True
    weights: Floats
    constant: Floats

    @classmethod
    def of(cls, fitted: LinearLogRatio, given: Standardizer) -> Linear:
        """In the columns as they are standardized by `given`."""
        shift, factor = _between(given, fitted.standardize)
        return cls(
            _floats((factor * fitted.weights)[:, None]),
            _floats(fitted.intercept + shift @ fitted.weights)[None],
        )

    def __call__(self, rows: Floats) -> Floats:
        """Log-ratios of shape (n, 1)."""
        return np.asarray(rows @ self.weights + self.constant)


@dataclass(frozen=True, eq=False)
class Quadratic:
    """The difference of two Gaussian log-densities: a weighted sum of squares along its axes."""

    is_wide: ClassVar[bool] = False
    axes: Floats
    weights: Floats
    linear: Floats
    constant: Floats

    @classmethod
    def of(cls, fitted: GaussiansLogRatio) -> Quadratic:
        """Of columns that are projected already."""
        if fitted.project.axes is not None:
            raise InvalidInputError("A rule is frozen with Gaussians of projected columns only.")
        center, scale = fitted.project.standardize.center, fitted.project.standardize.scale
        k = len(center)
        form, linear, constant = np.zeros((k, k)), np.zeros(k), np.zeros(1)
        for sign, (mean, whiten, log_norm) in ((1.0, fitted.real), (-1.0, fitted.generated)):
            root = whiten / scale[:, None]  # y -> (y - center) / scale - mean, whitened
            offset = -(center / np.where(np.isinf(scale), 1.0, scale) + mean)
            offset = np.where(np.isinf(scale), -mean, offset) @ whiten
            form -= 0.5 * sign * root @ root.T
            linear -= sign * root @ offset
            constant += sign * (log_norm - 0.5 * offset @ offset)
        weights, axes = np.linalg.eigh(form)
        return cls(
            _floats(axes), _floats(weights[:, None]), _floats(linear[:, None]), _floats(constant)
        )

    def __call__(self, rows: Floats) -> Floats:
        """Log-ratios of shape (n, 1)."""
        squares = rows @ self.axes
        squares *= squares
        return np.asarray(squares @ self.weights + rows @ self.linear + self.constant)


@dataclass(frozen=True, eq=False)
class Kernels:
    """Gaussian kernels at landmarks, of which several log-ratios are linear functions.

    The exponent is linear in a row, its square and one, so that a single product gives it.
    """

    is_wide: ClassVar[bool] = False
    exponent: Floats
    coefficients: Floats
    constant: Floats

    @classmethod
    def of(cls, fitted: KernelLogisticLogRatio) -> Kernels:
        """Of columns that are projected already."""
        landmarks, scale = fitted.kernel.landmarks.astype(np.float64), fitted.kernel.scale
        exponent = np.concatenate(
            (
                2.0 * landmarks.T,
                -np.ones((1, len(landmarks))),
                -np.einsum("ij,ij->i", landmarks, landmarks)[None],
            )
        )
        return cls(_floats(exponent / scale), fitted.coefficients, _floats(fitted.intercepts))

    def __call__(self, rows: Floats) -> Floats:
        """Log-ratios of shape (n, fits)."""
        squares = np.einsum("ij,ij->i", rows, rows)[:, None]
        kernels = np.concatenate((rows, squares, np.ones_like(squares)), axis=1) @ self.exponent
        np.minimum(kernels, 0.0, out=kernels)
        return np.asarray(np.exp(kernels, out=kernels) @ self.coefficients + self.constant)


@dataclass(frozen=True, eq=False)
class Trees:
    """Boosted trees of at most 16 leaves, by the leaves that each node rules out.

    A node whose condition fails rules out the leaves on its left; of those that are left, the
    first is the one that a sample falls into. Columns are rounded to 16 bits.
    """

    is_wide: ClassVar[bool] = False
    scale: Floats  # (columns,)
    column: npt.NDArray[np.int16]  # (trees, nodes)
    threshold: npt.NDArray[np.int16]
    ruled_out: npt.NDArray[np.int16]
    values: Floats  # (trees, 16)
    constant: Floats

    @classmethod
    def of(cls, fitted: ClassifierLogRatio) -> Trees:
        """Of columns that are projected already; scikit-learn's trees as arrays."""
        model = fitted.model
        given = fitted.prepare
        center, scale = given.standardize.center, given.standardize.scale  # type: ignore[attr-defined]
        trees = [_unfold(tree[0].nodes) for tree in model._predictors]
        nodes = max(len(tree[0]) for tree in trees)
        column, ruled_out = (np.zeros((len(trees), nodes), np.int64) for _ in range(2))
        threshold = np.zeros((len(trees), nodes))
        values = np.zeros((len(trees), _LEAVES))
        for i, (found, leaves) in enumerate(trees):
            values[i, : len(leaves)] = leaves
            for j, (where, at, mask) in enumerate(found):
                column[i, j], threshold[i, j], ruled_out[i, j] = where, at, mask
        at = np.where(np.isinf(scale[column]), 0.0, threshold * scale[column]) + center[column]
        largest = np.full(len(center), 1e-30)
        np.maximum.at(largest, column.ravel(), np.abs(at).ravel())
        by = _FINEST / 1.02 / largest
        return cls(
            _floats(by),
            column.astype(np.int16),
            np.rint(at * by[column]).astype(np.int16),
            ruled_out.astype(np.uint16).view(np.int16),
            _floats(values),
            _floats([float(model._baseline_prediction.item()) + fitted.log_prior]),
        )

    def __call__(self, columns: Floats) -> Floats:
        """Log-ratios of columns of shape (k, n), shape (n, 1)."""
        scaled = columns * self.scale[:, None]
        fine = np.rint(np.clip(scaled, -_FINEST, _FINEST, out=scaled), out=scaled).astype(np.int16)
        total = np.full(columns.shape[1], self.constant[0])
        beyond, out = np.empty((2, total.size), np.int16)
        for tree in range(len(self.values)):
            out.fill(0)
            for node in range(self.column.shape[1]):
                if not self.ruled_out[tree, node]:
                    break
                # The sign of the difference, as 16 equal bits, keeps or drops the mask.
                np.subtract(self.threshold[tree, node], fine[self.column[tree, node]], out=beyond)
                np.right_shift(beyond, 15, out=beyond)
                np.bitwise_and(beyond, self.ruled_out[tree, node], out=beyond)
                np.bitwise_or(out, beyond, out=out)
            left = ~out.view(np.uint16)
            left &= -left
            total += self.values[tree, _RANK[(left * np.uint16(_DE_BRUIJN)) >> 12]]
        return total[:, None]


@dataclass(frozen=True, eq=False)
class Ranges:
    """How far and in how many columns a sample lies outside the range of each side."""

    is_wide: ClassVar[bool] = True
    low: Floats  # (sides, columns)
    high: Floats
    steepness: Floats  # (sides, 2, columns)

    @classmethod
    def of(cls, fitted: tuple[Range, ...], given: Standardizer) -> Ranges:
        """In the columns as they are standardized by `given`."""
        scale = np.where(np.isinf(given.scale), 1.0, given.scale)
        low, high = (
            np.stack([(getattr(side, end) - given.center) / scale for side in fitted])
            for end in ("low", "high")
        )
        with np.errstate(divide="ignore"):
            steepness = np.minimum(scale / np.stack([side.gap for side in fitted]), 1e30)
        constant = np.isinf(given.scale)
        low, high = np.where(constant, -np.inf, low), np.where(constant, np.inf, high)
        return cls(_floats(low), _floats(high), _floats(np.where(constant, 0.0, steepness)))

    def __call__(self, rows: Floats) -> Floats:
        """Whether, how far and in how many columns a sample lies outside, three for each side."""
        columns, found = np.ascontiguousarray(rows.T), []
        least, most = columns.min(1), columns.max(1)
        for low, high, steepness in zip(self.low, self.high, self.steepness, strict=True):
            count, farthest = np.zeros((2, len(rows)), np.float32)
            for sign, bound, steep, somewhere in (
                (-1.0, low, steepness[0], least < low),
                (1.0, high, steepness[1], most > high),
            ):
                if not somewhere.any():
                    continue
                beyond = np.float32(sign) * (columns[somewhere] - bound[somewhere, None])
                count += (beyond > 0).sum(0)
                beyond *= steep[somewhere, None]
                np.maximum(farthest, beyond.max(0), out=farthest)
            np.minimum(farthest, np.float32(_FARTHEST), out=farthest)
            found += [farthest > 0, np.log1p(farthest), np.log1p(count)]
        return np.stack(found, axis=1).astype(np.float32)


PARTS: Mapping[str, type[Any]] = {
    part.__name__.lower(): part for part in (Linear, Quadratic, Kernels, Trees, Ranges)
}
"""Kinds of parts by the name under which they are saved."""

_RANK = np.zeros(_LEAVES, np.int16)
_RANK[[(1 << i) * _DE_BRUIJN % 2**16 >> 12 for i in range(_LEAVES)]] = np.arange(_LEAVES)


def compile_member(member: LogRatio, project: Projection) -> Any:
    """A fitted member of a stack as arrays."""
    if isinstance(member, LinearLogRatio):
        return Linear.of(member, project.standardize)
    if isinstance(member, GaussiansLogRatio):
        return Quadratic.of(member)
    if isinstance(member, KernelLogisticLogRatio):
        return Kernels.of(member)
    if (
        isinstance(member, ClassifierLogRatio)
        and hasattr(member.model, "_predictors")
        and isinstance(member.prepare, Projection)
    ):
        return Trees.of(member)
    raise InvalidInputError(
        "For a frozen rule, `estimator` must be logistic, gaussians, trees, kernel-logistic or a "
        f"stack of them. Got {type(member).__name__}."
    )


def _between(given: Standardizer, wanted: Standardizer) -> tuple[Array, Array]:
    """Shift and factor from columns standardized one way to columns standardized another way."""
    constant = np.isinf(wanted.scale) | np.isinf(given.scale)
    factor = np.where(constant, 0.0, given.scale / np.where(constant, 1.0, wanted.scale))
    shift = (given.center - wanted.center) / np.where(constant, np.inf, wanted.scale)
    return shift, factor


def _unfold(nodes: Array) -> tuple[list[tuple[int, float, int]], list[float]]:
    """Column, threshold and leaves on the left of each inner node; and values of the leaves."""
    inner: list[tuple[int, float, int]] = []
    leaves: list[float] = []

    def visit(i: int) -> int:
        """The leaves below a node, as bits."""
        node = nodes[i]
        if node["is_leaf"]:
            leaves.append(float(node["value"]))
            return 1 << (len(leaves) - 1)
        left = visit(int(node["left"]))
        inner.append((int(node["feature_idx"]), float(node["num_threshold"]), left))
        return left | visit(int(node["right"]))

    visit(0)
    return inner, leaves


def _floats(values: npt.ArrayLike) -> Floats:
    return np.asarray(values, np.float32)
